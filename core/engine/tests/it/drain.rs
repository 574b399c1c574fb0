//! Hooks, the spool, and the drain behind them.

use crate::client::ACME;
use crate::world::World;
use scrollback_core::{
    Adapter, AdapterSpec, Call, Env, Hook, Host, Level, Limit, Moment, Outcome, PayloadError, Plan,
    PlanError, Presence, Read, Registry, Reply, Seen, Standing, Unit, Wanted,
};
use scrollback_engine::TailOptions;
use scrollback_engine::drain::{self, DrainError, DrainReport, Draining, Patience};
use scrollback_engine::hook::{HookCall, Hooked, hook};
use scrollback_engine::spool::{Spool, SpoolRecord};
use scrollback_store::{Access, Mode, Picked, SessionFilter, Store};
use serde::Deserialize;
use std::borrow::Cow;
use std::fs;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

/// What the client tells its hook.
#[derive(Deserialize)]
struct Payload<'p> {
    moment: Cow<'p, str>,
    session: Cow<'p, str>,
    path: Option<Cow<'p, str>>,
    last: Option<Cow<'p, str>>,
    /// Whether the session's transcript is to be found by its name.
    #[serde(default)]
    locate: bool,
}

struct AcmeAdapter(AdapterSpec);

static ADAPTER: AcmeAdapter = AcmeAdapter(AdapterSpec::new("acme", "Acme", &[Level::User]));

impl Adapter for AcmeAdapter {
    fn spec(&self) -> &AdapterSpec {
        &self.0
    }

    fn detect(&self, _env: &dyn Env) -> Presence {
        Presence::Absent
    }

    fn standing(&self, _env: &dyn Env) -> Result<Vec<Standing>, PlanError> {
        Ok(Vec::new())
    }

    fn plan(&self, _env: &dyn Env, _wanted: &Wanted<'_>) -> Result<Plan, PlanError> {
        Ok(Plan::default())
    }

    fn hook<'p>(&self, _env: &dyn Env, call: &Call<'p>) -> Result<Hook<'p>, PayloadError> {
        let payload: Payload<'p> =
            serde_json::from_slice(call.payload).map_err(|error| PayloadError::new(error.to_string()))?;
        let named = payload.locate.then(|| Read::Session(payload.session.clone()));
        Ok(Hook {
            moment: match &*payload.moment {
                "prompt" => Moment::Prompt,
                "stop" => Moment::Stop,
                "end" => Moment::SessionEnd,
                _ => Moment::Other,
            },
            host: Host::Own,
            session: Some(payload.session),
            cwd: None,
            read: payload
                .path
                .map(|path| Read::Path(Cow::Owned(path.into_owned().into())))
                .into_iter()
                .chain(named)
                .collect(),
            expect: None,
            seen: payload.last.map(Seen::Reply).into_iter().collect(),
        })
    }

    fn probe(&self, session: &str, _cwd: &Path) -> String {
        format!("{{\"session\":\"{session}\"}}")
    }

    fn reply<'c>(&self, _call: &Call<'_>, outcome: Outcome<'c>) -> Reply<'c> {
        match outcome {
            Outcome::Failed(_) => Reply { failed: true, ..Reply::default() },
            _ => Reply { stdout: "{}".into(), ..Reply::default() },
        }
    }

    fn limit(&self, _moment: Moment) -> Limit {
        Limit(10_000, Unit::Chars)
    }
}

fn registry() -> Registry {
    Registry::default().with_parser(&ACME).unwrap().with_adapter(&ADAPTER).unwrap()
}

fn payload(moment: &str, session: &str, path: Option<&Path>, last: Option<&str>) -> String {
    serde_json::json!({"moment": moment, "session": session, "path": path, "last": last}).to_string()
}

fn call(world: &World, payload: &[u8], off: bool) -> Hooked {
    let call = Call { event: None, level: None, payload };
    let given = HookCall {
        client: "acme",
        call,
        directory: None,
        began: Instant::now(),
        capture: off.then_some(Mode::Off),
        project: None,
        unpersisted: true,
    };
    hook(world, &registry(), &world.root().join("data"), &given)
}

fn recorded(world: &World, payload: &str) {
    let done = call(world, payload.as_bytes(), false);
    assert_eq!((done.ring, &done.trouble, &*done.reply.stdout), (true, &None, "{}"));
}

fn spool(world: &World) -> Spool {
    Spool::of(&world.root().join("data"))
}

fn try_drain(world: &World, patience: Patience) -> Result<DrainReport, DrainError> {
    let registry = registry();
    let mut store = Store::open(&world.root().join("data/store.db"), Access::Write)?;
    let options = TailOptions::default();
    let draining =
        Draining { env: world, registry: &registry, options: &options, patience, unpersisted: true };
    draining.run(&mut store, &spool(world))
}

fn drained(world: &World, patience: Patience) -> DrainReport {
    let report = try_drain(world, patience).unwrap();
    assert!(!spool(world).has_some(), "{report:?}");
    report
}

fn events(world: &World) -> usize {
    let store = Store::open(&world.root().join("data/store.db"), Access::Read).unwrap();
    let sessions = store.sessions(&SessionFilter::default()).unwrap();
    sessions.iter().map(|session| store.events(session, &Picked::ALL).unwrap().len()).sum()
}

fn line(id: &str, text: &str) -> String {
    format!("{{\"id\":\"{id}\",\"session\":\"s\",\"role\":\"assistant\",\"text\":\"{text}\"}}\n")
}

#[test]
fn what_a_hook_names_is_read_and_the_spool_is_empty_then() {
    let world = World::new();
    world.append("a.jsonl", line("1", "one"));
    world.append("b.jsonl", line("2", "not named"));
    recorded(&world, &payload("stop", "s", Some(&world.path("a.jsonl")), None));
    let report = drained(&world, Patience::NONE);
    assert_eq!((report.records, report.sources, report.stored), (1, 1, 1), "{report:?}");
    // Once more, nothing is new.
    recorded(&world, &payload("stop", "s", Some(&world.path("a.jsonl")), None));
    assert_eq!(drained(&world, Patience::NONE).stored, 0);
    assert_eq!(events(&world), 1);
}

#[test]
fn a_message_that_was_announced_is_waited_for() {
    let world = World::new();
    world.append("a.jsonl", line("1", "the question"));
    let path = world.path("a.jsonl");
    recorded(&world, &payload("stop", "s", Some(&path), Some("The last word.")));
    let report = thread::scope(|scope| {
        scope.spawn(|| {
            // Longer than the slowest flush that was seen of Claude Code's terminal.
            thread::sleep(Duration::from_millis(300));
            world.append("a.jsonl", line("2", "The last word."));
        });
        drained(&world, Patience::LONG)
    });
    assert_eq!((report.stored, report.came, report.missing), (2, 1, 0), "{report:?}");
    // One that does not come is not waited for for ever: the hook's word is all there is.
    recorded(&world, &payload("stop", "s", Some(&path), Some("Written late.")));
    let short = Patience { announced: Duration::from_millis(60), ..Patience::LONG };
    let report = drained(&world, short);
    let counts = (report.stored, report.came, report.missing, report.told);
    assert_eq!(counts, (0, 0, 1, 1), "{report:?}");
    let row = |store: &Store| store.find_session(None, "s").unwrap().remove(0);
    let last = |world: &World| {
        let store = world.store();
        store.events(&row(&store), &Picked::ALL).unwrap().pop().unwrap().line
    };
    let told = last(&world);
    assert_eq!((told.body.text(), told.evidence.len()), ("Written late.", 1));
    // Then it comes after all: one event, the transcript's, which the other's id leads to.
    let late = serde_json::json!({"id": "3", "session": "s", "role": "assistant", "text": " Written late.\n",
        "at": told.at.unwrap().to_string()});
    world.append("a.jsonl", format!("{late}\n"));
    assert_eq!(world.tail().replaced, 1);
    let now = last(&world);
    assert_eq!((now.body.text(), now.evidence.len(), events(&world)), (" Written late.\n", 0, 3));
    assert_ne!(now.id, told.id);
    let (_, found) = world.store().event(told.id).unwrap().unwrap();
    assert_eq!(found.line.id, now.id);
    assert_eq!(world.store().find_event(&told.id.to_string()[..12]).unwrap(), [told.id]);
    // A payload that names another session's transcript makes up nothing.
    recorded(&world, &payload("stop", "parent", Some(&path), Some("Of whom?")));
    let report = drained(&world, short);
    assert_eq!((report.missing, report.told, events(&world)), (1, 0, 3), "{report:?}");
    // Whose secret may be in it is known by its digest alone, and not made up.
    recorded(&world, &payload("stop", "s", Some(&path), Some("The password: Tr0ub4dor&3x9")));
    assert!(!fs::read_to_string(world.root().join("data/spool/current")).unwrap().contains("Tr0ub4dor"));
    let report = drained(&world, short);
    assert_eq!((report.missing, report.told, events(&world)), (1, 0, 3), "{report:?}");
}

#[test]
fn the_next_hook_of_any_session_catches_up() {
    let world = World::new();
    world.append("interrupted.jsonl", line("1", "no stop came for this"));
    recorded(&world, &payload("prompt", "t", Some(&world.path("not-there-yet.jsonl")), None));
    let report = drained(&world, Patience::NONE);
    assert_eq!((report.stored, report.trouble.len()), (1, 0), "{report:?}");
}

#[test]
fn a_session_that_is_named_without_its_transcript_is_looked_for() {
    let world = World::new();
    world.append("a.jsonl", line("1", "somewhere in here"));
    recorded(&world, &serde_json::json!({"moment": "stop", "session": "s", "locate": true}).to_string());
    let report = drained(&world, Patience::NONE);
    assert_eq!((report.stored, report.trouble.len()), (1, 0), "{report:?}");
}

#[test]
fn a_hook_is_no_way_to_read_any_file() {
    let world = World::new();
    fs::create_dir_all(world.root().join("private")).unwrap();
    let secret = world.root().join("private/notes.jsonl");
    #[expect(clippy::disallowed_methods, reason = "a file of a test")]
    fs::write(&secret, line("1", "mine")).unwrap();
    world.append("a.jsonl", line("2", "theirs"));
    let linked = world.path("linked.jsonl");
    std::os::unix::fs::symlink(&secret, &linked).unwrap();
    let climbing = world.path("").join("../private/notes.jsonl");
    for path in [&secret, &linked, &climbing] {
        recorded(&world, &payload("stop", "../x", Some(path), None));
    }
    let report = drained(&world, Patience::NONE);
    assert_eq!((report.stored, report.trouble.len()), (0, 3), "{report:?}");
}

#[test]
fn twenty_hooks_at_once_leave_every_event_once() {
    let world = World::new();
    thread::scope(|scope| {
        for n in 0..20 {
            let world = &world;
            scope.spawn(move || {
                let name = format!("{}.jsonl", n % 10);
                world.append(&name, line(&format!("e{n}"), &format!("text {n}")));
                recorded(world, &payload("stop", &format!("s{}", n % 10), Some(&world.path(&name)), None));
            });
        }
    });
    let report = drained(&world, Patience::NONE);
    assert_eq!((report.records, report.damaged), (20, 0), "{report:?}");
    assert_eq!(events(&world), 20);
}

#[test]
fn what_a_store_does_not_take_stays_for_the_next() {
    let world = World::new();
    world.append("a.jsonl", line("1", "kept"));
    recorded(&world, &payload("stop", "s", Some(&world.path("a.jsonl")), None));
    drained(&world, Patience::NONE);
    let store = world.root().join("data/store.db");
    // Where a database has its version.
    let version = |version: u8| {
        use std::os::unix::fs::FileExt as _;
        fs::File::options().write(true).open(&store).unwrap().write_at(&[0, 0, 0, version], 60).unwrap();
    };
    version(99);
    world.append("a.jsonl", line("2", "kept too"));
    recorded(&world, &payload("stop", "s", Some(&world.path("a.jsonl")), None));
    let error = try_drain(&world, Patience::NONE).unwrap_err().to_string();
    assert!(error.contains("99"), "{error}");
    assert!(spool(&world).has_some());
    version(1);
    assert_eq!(drained(&world, Patience::NONE).stored, 1);
    assert_eq!(events(&world), 2);
}

#[test]
fn rubbish_leaves_nothing_and_fails_nobody() {
    let world = World::new();
    let huge = payload("stop", &"x".repeat(1 << 20), None, None);
    for payload in ["", "[]", "{", "null", "{\"moment\":3}", "\u{0}"] {
        let done = call(&world, payload.as_bytes(), false);
        assert!(!done.ring && !done.reply.failed && done.trouble.is_some(), "{payload:?}: {done:?}");
    }
    assert!(!spool(&world).has_some());
    assert!(call(&world, huge.as_bytes(), false).ring);
    let of_nobody = HookCall {
        client: "nobody",
        call: Call { event: None, level: None, payload: b"{}" },
        directory: None,
        began: Instant::now(),
        capture: None,
        project: None,
        unpersisted: true,
    };
    let done = hook(&world, &registry(), &world.root().join("data"), &of_nobody);
    assert!(!done.ring && done.reply == Reply::default(), "{done:?}");
}

#[test]
fn off_leaves_the_session_and_the_time() {
    let world = World::new();
    world.append("a.jsonl", line("1", "one"));
    let payload = payload("stop", "s", Some(&world.path("a.jsonl")), Some("one"));
    let done = call(&world, payload.as_bytes(), true);
    assert_eq!((done.ring, done.trouble), (true, None));
    let records = spool(&world).peek().unwrap();
    let at = records[0].at;
    let expected = SpoolRecord {
        v: 1,
        client: "acme".to_owned(),
        at,
        session: Some("s".to_owned()),
        capture: Some("off".to_owned()),
        ..SpoolRecord::default()
    };
    assert_eq!(records, [expected]);
    let report = try_drain(&world, Patience::NONE).unwrap();
    assert_eq!((report.records, report.sources, report.stored), (1, 0, 0));
}

#[test]
fn a_directory_that_cannot_be_written_is_said_and_waited_for_by_nobody() {
    let world = World::new();
    // A file in the directory's place: nobody can write there, root neither.
    #[expect(clippy::disallowed_methods, reason = "a file of a test")]
    fs::write(world.root().join("data"), "").unwrap();
    let done = call(&world, payload("stop", "s", None, None).as_bytes(), false);
    assert!(!done.ring && done.reply.failed && done.trouble.is_some(), "{done:?}");
}

#[test]
fn one_drain_runs_at_a_time() {
    let world = World::new();
    let data = world.root().join("data");
    assert!(!drain::runs(&data));
    let lock = drain::lock(&data).unwrap().unwrap();
    assert!(drain::runs(&data));
    assert!(drain::lock(&data).unwrap().is_none());
    drop(lock);
    assert!(!drain::runs(&data) && drain::lock(&data).unwrap().is_some());
}
