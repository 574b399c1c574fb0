//! The laws of an adapter. Each takes the adapter and the folder of its fixtures and panics where it is broken.

use crate::World;
use crate::home::{Home, done, edits, entries, write};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use scrollback_core::{
    Adapter, Call, Env as _, Half, HookLine, Host, Level, McpEntry, Memos, Moment, Outcome, Plan, PlanError,
    Presence, Read, Step, Wanted,
};
use scrollback_engine::apply::check;
use std::fs;
use std::path::{Path, PathBuf};

/// How large a payload may be that an adapter must stand.
const HUGE: usize = 50 << 20;

fn line(program: &str) -> HookLine {
    HookLine { program: program.into(), args: vec!["--home".to_owned(), "/srv/my store".to_owned()] }
}

fn hook() -> HookLine {
    line("/opt/scrollback/bin/scrollback")
}

/// Returns the entries that are tried: a program here, a server elsewhere.
fn servers() -> [McpEntry; 2] {
    [
        McpEntry::Program {
            name: "scrollback".to_owned(),
            command: "/opt/scrollback/bin/scrollback".into(),
            args: vec!["mcp".to_owned(), "--home".to_owned(), "/srv/my store".to_owned()],
        },
        McpEntry::Http {
            name: "scrollback".to_owned(),
            url: "https://memory.example/mcp".to_owned(),
            headers: vec![("Authorization".to_owned(), "Bearer ${MEMORY_TOKEN}".to_owned())],
        },
    ]
}

/// Calls `law` for every home, level and server.
fn each(adapter: &dyn Adapter, folder: &str, law: impl Fn(&Home, Level, &McpEntry)) {
    for level in adapter.spec().levels {
        for server in servers() {
            for home in Home::all(folder) {
                law(&home, *level, &server);
            }
        }
    }
}

/// Asking what is here and what should change changes nothing; a plan names whole paths, saw what is there, and can
/// be carried out.
///
/// # Panics
///
/// If it does not.
pub fn planning_writes_nothing(adapter: &dyn Adapter, folder: &str) {
    each(adapter, folder, |home, level, server| {
        let before = home.tree();
        assert!(matches!(adapter.detect(&home.world), Presence::Found { .. }), "{}: not found", home.name);
        let standing = adapter.standing(&home.world);
        let standing = standing.unwrap_or_else(|error| panic!("{}: {error}", home.name));
        assert!(standing.is_empty(), "{}: {standing:?}", home.name);
        let hook = hook();
        let plan = home.plan(adapter, level, Half::Stand(&hook), Half::Stand(server));
        let leaves = home.plan(adapter, level, Half::Leave, Half::Leave);
        assert_eq!(leaves, Plan::default(), "{}: nothing is wanted", home.name);
        assert_eq!(home.tree(), before, "{}: planning writes", home.name);
        let mut edited = 0;
        for step in &plan.steps {
            if let Step::Edit { path, before, after, .. } = step {
                assert!(path.is_absolute(), "{}: {}", home.name, path.display());
                assert_eq!(before, &fs::read(path).ok(), "{}: {}", home.name, path.display());
                assert_ne!(before, after, "{}: {} does not change", home.name, path.display());
                edited += 1;
            }
        }
        assert!(edited > 0, "{}: an install edits nothing", home.name);
        check(&plan).unwrap_or_else(|error| panic!("{}: {error}", home.name));
    });
}

/// Once a plan is carried out, the same call plans nothing more, and both halves stand.
///
/// # Panics
///
/// If it does not.
pub fn a_second_install_changes_nothing(adapter: &dyn Adapter, folder: &str) {
    each(adapter, folder, |home, level, server| {
        let hook = hook();
        home.install(adapter, level, &hook, server);
        let again = home.plan(adapter, level, Half::Stand(&hook), Half::Stand(server));
        assert!(edits(&again).is_empty(), "{}, {level:?}: {:#?}", home.name, edits(&again));
        let again = home.plan(adapter, level, Half::Stand(&hook), Half::Leave);
        assert_eq!(again, Plan::default(), "{}, {level:?}", home.name);
        let standing = adapter.standing(&home.world);
        let standing = standing.unwrap_or_else(|error| panic!("{}: {error}", home.name));
        let [at] = &standing[..] else { panic!("{}, {level:?}: {standing:?}", home.name) };
        let program = Some(Path::new("/opt/scrollback/bin/scrollback"));
        assert!(
            at.hooks.iter().all(|hook| hook.program.as_deref() == program),
            "{}: {standing:?}",
            home.name
        );
        assert!(at.level == level && !at.hooks.is_empty() && at.current, "{}: {standing:?}", home.name);
    });
}

/// An install and an uninstall give the same bytes, whichever half went first; nothing that was made stays.
///
/// # Panics
///
/// If it does not.
pub fn an_uninstall_gives_the_bytes_back(adapter: &dyn Adapter, folder: &str) {
    each(adapter, folder, |home, level, server| {
        let before = home.tree();
        let hook = hook();
        home.install(adapter, level, &hook, server);
        assert_ne!(home.tree(), before, "{}: nothing was installed", home.name);
        home.uninstall(adapter, level);
        assert_trees(home, level, &before);
        for half in [(Half::Absent, Half::Leave), (Half::Leave, Half::Absent)] {
            home.install(adapter, level, &hook, server);
            home.apply(&home.plan(adapter, level, half.0, half.1));
            home.uninstall(adapter, level);
            assert_trees(home, level, &before);
        }
        let again = home.plan(adapter, level, Half::Absent, Half::Absent);
        assert_eq!(again, Plan::default(), "{}: something is left", home.name);
    });
}

fn assert_trees(home: &Home, level: Level, before: &std::collections::BTreeMap<PathBuf, Option<Vec<u8>>>) {
    let after = home.tree();
    let paths: std::collections::BTreeSet<_> = before.keys().chain(after.keys()).collect();
    for path in paths {
        let text = |tree: &std::collections::BTreeMap<PathBuf, Option<Vec<u8>>>| {
            tree.get(path)
                .map(|bytes| String::from_utf8_lossy(bytes.as_deref().unwrap_or_default()).into_owned())
        };
        assert_eq!(text(&after), text(before), "{}, {level:?}: {}", home.name, path.display());
    }
}

/// Every line that others wrote is still there after an install, but for the comma behind it.
///
/// # Panics
///
/// If it is not.
pub fn what_others_wrote_stays(adapter: &dyn Adapter, folder: &str) {
    each(adapter, folder, |home, level, server| {
        let before = home.tree();
        home.install(adapter, level, &hook(), server);
        let after = home.tree();
        for (path, bytes) in &before {
            let Some(bytes) = bytes else { continue };
            let lines = |bytes: &[u8]| -> Vec<String> {
                let text = String::from_utf8_lossy(bytes).into_owned();
                text.lines().map(|line| line.trim().trim_end_matches(',').to_owned()).collect()
            };
            let now = after.get(path).and_then(Option::as_deref).unwrap_or_default();
            // What stands on one line grows on it: the other laws see to that.
            if lines(bytes).len() < 2 {
                continue;
            }
            let mut now = lines(now).into_iter();
            for line in lines(bytes) {
                let stands = line.ends_with(['{', '[']) || line.ends_with("{}") || line.ends_with("[]");
                assert!(
                    stands || now.any(|it| it == line),
                    "{}, {level:?}: {} has lost {line:?}, or it stands elsewhere",
                    home.name,
                    path.display()
                );
            }
        }
    });
}

/// A file that does not parse is named with line and column, and no plan is made.
///
/// # Panics
///
/// If it is not.
pub fn malformed_settings_are_refused(adapter: &dyn Adapter, folder: &str) {
    each(adapter, folder, |home, level, server| {
        let hook = hook();
        let plan = home.plan(adapter, level, Half::Stand(&hook), Half::Stand(server));
        for step in plan.steps {
            let Step::Edit { path, before, mkdir, .. } = step else { continue };
            for directory in &mkdir {
                done(directory, fs::create_dir_all(directory));
            }
            for rubbish in ["[", "{\"a\": 1,\n  \"b\": oops}\n", "a = 1\na = 2\n", "\u{0}"] {
                write(&path, rubbish);
                let tree = home.tree();
                for hook in [Half::Stand(&hook), Half::Absent] {
                    let server = if hook == Half::Absent { Half::Absent } else { Half::Stand(server) };
                    match home.try_plan(adapter, level, hook, server) {
                        Err(PlanError::Malformed { path: at, line, column, what }) => {
                            assert_eq!(at, path, "{}: another file is named", home.name);
                            assert!(line > 0 && column > 0 && !what.is_empty(), "{line}:{column}: {what}");
                        }
                        other => panic!("{}: {} with {rubbish:?}: {other:?}", home.name, path.display()),
                    }
                }
                assert_eq!(home.tree(), tree, "{}: a refused plan writes", home.name);
            }
            match before {
                Some(before) => write(&path, &String::from_utf8_lossy(&before)),
                None => done(&path, fs::remove_file(&path)),
            }
        }
    });
}

/// A program is found whatever its path holds, and another one takes its place: ours is known by its call.
///
/// # Panics
///
/// If it is not.
pub fn a_program_may_lie_anywhere(adapter: &dyn Adapter, folder: &str) {
    let programs = [
        "/Users/Ann O'Neil/my tools/scrollback",
        "/srv/$HOME/`x`/\"q\"/scrollback",
        "/opt/acme/acme-recorder",
        "/ü/日本/scrollback-0.2",
        "scrollback",
    ];
    for level in adapter.spec().levels {
        for home in Home::all(folder) {
            let before = home.tree();
            for program in programs {
                let line = line(program);
                home.apply(&home.plan(adapter, *level, Half::Stand(&line), Half::Leave));
                let standing = adapter.standing(&home.world);
                let standing = standing.unwrap_or_else(|error| panic!("{}: {error}", home.name));
                assert!(
                    standing.len() == 1 && !standing[0].hooks.is_empty() && standing[0].current,
                    "{program}: {standing:?}"
                );
                let again = home.plan(adapter, *level, Half::Stand(&line), Half::Leave);
                assert_eq!(again, Plan::default(), "{}: {program}", home.name);
            }
            home.uninstall(adapter, *level);
            assert_trees(&home, *level, &before);
        }
    }
}

/// An install for the user takes a project's out; one for a project beside the user's is refused.
///
/// # Panics
///
/// If it is not so.
pub fn one_level_is_enough(adapter: &dyn Adapter, folder: &str) {
    if adapter.spec().levels != [Level::User, Level::Project] {
        return;
    }
    let [server, _] = servers();
    for home in Home::all(folder) {
        let (before, hook) = (home.tree(), hook());
        home.install(adapter, Level::Project, &hook, &server);
        let applied = home.install(adapter, Level::User, &hook, &server);
        assert!(!applied.notes.is_empty(), "{}: it is not said that the project's goes", home.name);
        let standing = adapter.standing(&home.world);
        let standing = standing.unwrap_or_else(|error| panic!("{}: {error}", home.name));
        assert!(standing.len() == 1 && standing[0].level == Level::User, "{}: {standing:?}", home.name);
        let beside = home.try_plan(adapter, Level::Project, Half::Stand(&hook), Half::Leave);
        assert!(matches!(beside, Err(PlanError::Refused(_))), "{}: {beside:?}", home.name);
        home.uninstall(adapter, Level::User);
        assert_trees(&home, Level::User, &before);
    }
}

/// Where the client is not, nothing is installed for the user, nothing stands, and nothing is made.
///
/// # Panics
///
/// If it is not so.
pub fn nobody_home_is_left_alone(adapter: &dyn Adapter, _folder: &str) {
    let home = Home::empty();
    let (before, hook) = (home.tree(), hook());
    let [server, _] = servers();
    assert_eq!(adapter.detect(&home.world), Presence::Absent);
    assert_eq!(adapter.standing(&home.world), Ok(Vec::new()));
    for level in adapter.spec().levels {
        assert_eq!(home.plan(adapter, *level, Half::Absent, Half::Absent), Plan::default());
    }
    let plan = home.try_plan(adapter, Level::User, Half::Stand(&hook), Half::Stand(&server));
    assert!(matches!(plan, Err(PlanError::Refused(_))), "{plan:?}");
    // The home directory is no project.
    let at_home = home.world.clone().current_dir(home.world.home().unwrap_or_default());
    let memos = Memos::new();
    let wanted = Wanted { level: Level::Project, hook: Half::Stand(&hook), mcp: Half::Leave, memos: &memos };
    let plan = adapter.plan(&at_home, &wanted);
    let project = adapter.spec().levels.contains(&Level::Project);
    assert!(!project || matches!(plan, Err(PlanError::Refused(_))), "{plan:?}");
    assert_eq!(home.tree(), before);
}

fn payloads(folder: &str) -> Vec<PathBuf> {
    let folder = Path::new(folder).join("payloads");
    let mut paths = entries(&folder);
    paths.retain(|path| path.extension().is_some_and(|is| is == "json"));
    paths.sort();
    assert!(!paths.is_empty(), "{}: no payload", folder.display());
    paths
}

fn call(payload: &[u8]) -> Call<'_> {
    Call { event: None, level: None, payload }
}

/// Random bytes, a payload cut anywhere and one of 50 MB are errors or hooks, and never a panic; so are the replies.
///
/// # Panics
///
/// If it is not so.
pub fn payloads_never_panic(adapter: &dyn Adapter, folder: &str) {
    let world = World::new(folder);
    let stand = |payload: &[u8]| {
        let call = Call { event: Some("Stop"), level: Some(Level::User), payload };
        drop(adapter.hook(&world, &call));
        for outcome in [Outcome::Recorded, Outcome::Context("text"), Outcome::Off, Outcome::Failed("why")] {
            adapter.reply(&call, outcome);
        }
    };
    for path in payloads(folder) {
        let bytes = done(&path, fs::read(&path));
        assert!(adapter.hook(&world, &call(&bytes)).is_ok(), "{}: not understood", path.display());
        let whole = bytes.trim_ascii_end().len();
        for cut in 0..whole {
            stand(&bytes[..cut]);
            assert!(adapter.hook(&world, &call(&bytes[..cut])).is_err(), "{}: cut at {cut}", path.display());
        }
        let huge = vec![b'x'; HUGE];
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let grown = text.replacen('{', &format!("{{\"filler\": \"{}\",", String::from_utf8_lossy(&huge)), 1);
        assert!(adapter.hook(&world, &call(grown.as_bytes())).is_ok(), "{}: grown", path.display());
    }
    stand("[".repeat(HUGE / 50).as_bytes());
    stand(format!("{{\"x\": {}", "[".repeat(100_000)).as_bytes());
    for text in ["", "null", "[]", "7", "\"x\"", "{}", "{\"session_id\": 7}", "{\"cwd\": \"\\ud800\"}"] {
        stand(text.as_bytes());
    }
    let mut runner = TestRunner::new(Config { cases: 512, failure_persistence: None, ..Config::default() });
    let ran = runner.run(&prop::collection::vec(any::<u8>(), 0..256), |bytes| {
        stand(&bytes);
        Ok(())
    });
    ran.unwrap_or_else(|error| panic!("{error}"));
}

/// Each payload means what its golden says. `SCROLLBACK_BLESS=1` writes the goldens anew.
///
/// # Panics
///
/// If it does not.
pub fn payloads_mean_what_was_agreed(adapter: &dyn Adapter, folder: &str) {
    let world = World::new("/home/dev");
    for path in payloads(folder) {
        let bytes = done(&path, fs::read(&path));
        let hook = adapter.hook(&world, &call(&bytes));
        let hook = hook.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let (golden, text) = (path.with_extension("hook"), format!("{hook:#?}\n"));
        if crate::golden::blessing() {
            write(&golden, &text);
        }
        assert_eq!(done(&golden, fs::read_to_string(&golden)), text, "{}", golden.display());
    }
}

/// A trial is a session that starts where it says, and asks for no transcript to be read.
///
/// # Panics
///
/// If it is not.
pub fn a_trial_is_a_session_that_starts(adapter: &dyn Adapter, folder: &str) {
    let (world, cwd) = (World::new(folder), Path::new("/srv/it's a \"project\""));
    let payload = adapter.probe("trial-1", cwd);
    let hook = adapter.hook(&world, &call(payload.as_bytes())).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(hook.session.as_deref(), Some("trial-1"));
    assert_eq!(hook.cwd.as_deref(), Some(cwd));
    assert_eq!((hook.moment, hook.host, hook.seen.len()), (Moment::SessionStart, Host::Own, 0));
    assert!(!hook.read.iter().any(|read| matches!(read, Read::Path(_))), "{:?}", hook.read);
}

/// A reply is empty, or one JSON object where the client takes text for the model; standard error stays empty, and
/// only a failure fails.
///
/// # Panics
///
/// If it is not so.
pub fn replies_are_what_the_client_takes(adapter: &dyn Adapter, folder: &str) {
    let world = World::new("/home/dev");
    let text = "what was \"said\" {before}\n\u{1f600}";
    for path in payloads(folder) {
        let bytes = done(&path, fs::read(&path));
        let call = call(&bytes);
        let moment = adapter.hook(&world, &call).map_or(Moment::Other, |hook| hook.moment);
        for outcome in [Outcome::Recorded, Outcome::Off, Outcome::Failed("disk full")] {
            let reply = adapter.reply(&call, outcome);
            assert!(reply.stdout.is_empty() && reply.stderr.is_empty(), "{}: {reply:?}", path.display());
            assert_eq!(reply.failed, matches!(outcome, Outcome::Failed(_)), "{}", path.display());
        }
        let reply = adapter.reply(&call, Outcome::Context(text));
        assert!(reply.stderr.is_empty() && !reply.failed, "{}: {reply:?}", path.display());
        if adapter.limit(moment).0 == 0 {
            assert_eq!(reply.stdout, "", "{}: nothing is taken here", path.display());
        } else {
            let said: serde_json::Value = serde_json::from_str(&reply.stdout)
                .unwrap_or_else(|error| panic!("{}: {error}: {}", path.display(), reply.stdout));
            let held = said.to_string().contains(&serde_json::Value::from(text).to_string());
            assert!(said.is_object() && held, "{}: {said}", path.display());
        }
    }
}
