#![expect(clippy::disallowed_methods, reason = "the files, variables and programs of a machine")]

use super::*;
use scrollback_core::Timestamp;
use std::collections::BTreeMap;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use tempfile::TempDir;

/// A machine in a temporary directory.
struct Machine {
    root: PathBuf,
    /// None in a process that works in another's directory.
    _folder: Option<TempDir>,
}

impl Machine {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let machine = Self { root: folder.path().to_owned(), _folder: Some(folder) };
        fs::create_dir(machine.at("bin")).unwrap();
        machine
    }

    fn at(&self, name: &str) -> PathBuf {
        self.root.join(name)
    }

    fn data(&self) -> PathBuf {
        self.at("data")
    }

    fn write(&self, name: &str, text: &str) -> PathBuf {
        fs::write(self.at(name), text).unwrap();
        self.at(name)
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.at(name)).unwrap()
    }

    /// Puts a program on the machine's PATH: a shell script.
    fn program(&self, name: &str, script: &str) {
        let path = self.write(&format!("bin/{name}"), &format!("#!/bin/sh\n{script}\n"));
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    }

    fn apply(&self, plan: &Plan) -> Result<Applied, ApplyError> {
        apply(plan, self, &self.data())
    }

    /// Returns every path below the machine's root outside the data directory, with mode and content.
    fn all(&self) -> BTreeMap<PathBuf, (u32, String)> {
        fn walk(path: &Path, all: &mut BTreeMap<PathBuf, (u32, String)>) {
            for entry in fs::read_dir(path).unwrap() {
                let path = entry.unwrap().path();
                let found = fs::symlink_metadata(&path).unwrap();
                let text = if found.is_file() {
                    fs::read_to_string(&path).unwrap()
                } else if found.is_symlink() {
                    fs::read_link(&path).unwrap().display().to_string()
                } else {
                    String::new()
                };
                all.insert(path.clone(), (found.mode(), text));
                if found.is_dir() && !path.ends_with("data") {
                    walk(&path, all);
                }
            }
        }
        let mut all = BTreeMap::new();
        walk(&self.root, &mut all);
        all.remove(&self.data());
        all
    }
}

impl Env for Machine {
    fn var(&self, name: &str) -> Option<String> {
        (name == "PATH").then(|| self.at("bin").display().to_string())
    }
    fn home(&self) -> Option<PathBuf> {
        Some(self.root.clone())
    }
    fn current_dir(&self) -> Option<PathBuf> {
        self.home()
    }
    fn login(&self) -> Option<String> {
        None
    }
    fn now(&self) -> Timestamp {
        Timestamp::from_millis(0).unwrap()
    }
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        fs::read(path)
    }
    fn list(&self, _path: &Path) -> io::Result<Vec<PathBuf>> {
        Ok(Vec::new())
    }
}

fn edit(path: PathBuf, before: Option<&str>, after: Option<&str>, memo: Option<&str>) -> Step {
    let bytes = |text: Option<&str>| text.map(|text| text.as_bytes().to_vec());
    Step::Edit {
        path,
        before: bytes(before),
        after: bytes(after),
        mkdir: vec![],
        memo: memo.map(str::to_owned),
    }
}

fn run(args: &[&str], undo: &[&str], rewrites: Vec<PathBuf>) -> Step {
    Step::Run {
        program: "agent",
        args: args.iter().map(OsString::from).collect(),
        undo: undo.iter().map(OsString::from).collect(),
        rewrites,
        else_tell: "run agent yourself".to_owned(),
    }
}

fn plan(steps: Vec<Step>) -> Plan {
    Plan { steps }
}

#[test]
fn files_change_are_made_and_go() {
    let machine = Machine::new();
    let (a, b) = (machine.write("a", "old"), machine.write("b", "ours"));
    let new = Step::Edit {
        path: machine.at("p/q/c"),
        before: None,
        after: Some(b"new".to_vec()),
        mkdir: vec![machine.at("p"), machine.at("p/q")],
        memo: Some("m".to_owned()),
    };
    let done = machine
        .apply(&plan(vec![
            edit(a.clone(), Some("old"), Some("changed"), Some("[1]")),
            edit(b.clone(), Some("ours"), None, None),
            new,
            Step::Tell("trust".to_owned()),
            Step::Note("fyi".to_owned()),
        ]))
        .unwrap();
    assert_eq!(machine.read("a"), "changed");
    assert_eq!(machine.read("a.bak"), "old");
    assert_eq!(machine.read("p/q/c"), "new");
    assert!(!b.exists() && !machine.at("b.bak").exists());
    assert_eq!(done.wrote, [a.clone(), machine.at("p/q/c")]);
    assert_eq!((done.removed, done.backups), (vec![b], vec![machine.at("a.bak")]));
    assert_eq!((done.told, done.notes), (vec!["trust".to_owned()], vec!["fyi".to_owned()]));
    let memos = memos(&machine.data()).unwrap();
    assert_eq!(memos, [(a, "[1]".to_owned()), (machine.at("p/q/c"), "m".to_owned())].into());
    // What a plan made goes when it holds nothing.
    machine.apply(&plan(vec![edit(machine.at("p/q/c"), Some("new"), None, None)])).unwrap();
    assert!(!machine.at("p").exists());
    assert_eq!(super::memos(&machine.data()).unwrap().len(), 1);
}

#[test]
fn a_directory_that_was_there_or_holds_something_stays() {
    let machine = Machine::new();
    let steps = |name: &str| Step::Edit {
        path: machine.at(name).join("c"),
        before: None,
        after: Some(b"new".to_vec()),
        mkdir: vec![machine.at(name)],
        memo: Some(String::new()),
    };
    fs::create_dir(machine.at("there")).unwrap();
    machine.apply(&plan(vec![steps("there"), steps("made")])).unwrap();
    machine.write("made/theirs", "x");
    let gone = |name: &str| edit(machine.at(name).join("c"), Some("new"), None, None);
    machine.apply(&plan(vec![gone("there"), gone("made")])).unwrap();
    assert!(machine.at("there").is_dir());
    assert_eq!(machine.read("made/theirs"), "x");
}

#[test]
fn backups_of_ours_do_not_keep_a_directory() {
    let machine = Machine::new();
    for theirs in [false, true] {
        let c = machine.at("made/c");
        let made = Step::Edit {
            path: c.clone(),
            before: None,
            after: Some(b"1".to_vec()),
            mkdir: vec![machine.at("made")],
            memo: Some(String::new()),
        };
        machine.apply(&plan(vec![made])).unwrap();
        machine.apply(&plan(vec![edit(c.clone(), Some("1"), Some("2"), Some(""))])).unwrap();
        assert_eq!(machine.read("made/c.bak"), "1");
        if theirs {
            machine.write("made/c.bak", "edited");
        }
        machine.apply(&plan(vec![edit(c, Some("2"), None, None)])).unwrap();
        assert_eq!(machine.at("made").exists(), theirs);
    }
    assert_eq!(machine.read("made/c.bak"), "edited");
}

#[test]
fn a_file_that_changed_since_is_left_and_so_are_the_others() {
    let machine = Machine::new();
    let (a, b) = (machine.write("a", "old"), machine.write("b", "changed by hand"));
    let before = machine.all();
    for (path, saw) in [(&b, Some("old")), (&b, None), (&machine.at("c"), Some("x"))] {
        let steps = vec![
            edit(a.clone(), Some("old"), Some("new"), Some("[]")),
            edit(path.clone(), saw, Some("new"), None),
        ];
        let error = machine.apply(&plan(steps)).unwrap_err();
        assert!(matches!(&error, ApplyError::Changed { path: at } if at == path), "{error}");
    }
    assert_eq!(machine.all(), before);
    assert!(!machine.data().exists());
}

#[test]
fn a_change_in_the_last_moment_undoes_the_rest() {
    let machine = Machine::new();
    let (a, b) = (machine.write("a", "old"), machine.write("b", "old"));
    let steps =
        vec![edit(a, Some("old"), Some("new"), Some("[]")), edit(b, Some("old"), Some("new"), Some("[]"))];
    let error = carry_out(&plan(steps), &machine, &machine.data(), &mut |point| {
        if point == Point::Step(0) {
            machine.write("b", "by hand");
        }
        Ok(())
    });
    assert!(matches!(error, Err(ApplyError::Changed { .. })), "{error:?}");
    assert_eq!((machine.read("a"), machine.read("b")), ("old".to_owned(), "by hand".to_owned()));
    assert!(memos(&machine.data()).unwrap().is_empty());
}

#[test]
fn links_stay_links_and_modes_stay() {
    let machine = Machine::new();
    fs::create_dir(machine.at("dotfiles")).unwrap();
    let real = machine.write("dotfiles/real", "old");
    fs::set_permissions(&real, fs::Permissions::from_mode(0o640)).unwrap();
    symlink("dotfiles/real", machine.at("middle")).unwrap();
    symlink(machine.at("middle"), machine.at("link")).unwrap();
    symlink("dotfiles/later", machine.at("dangling")).unwrap();
    let steps = vec![
        edit(machine.at("link"), Some("old"), Some("new"), Some("[]")),
        edit(machine.at("dangling"), None, Some("made"), Some("[]")),
    ];
    machine.apply(&plan(steps)).unwrap();
    assert_eq!(fs::read_link(machine.at("link")).unwrap(), machine.at("middle"));
    assert_eq!(fs::read_link(machine.at("middle")).unwrap(), Path::new("dotfiles/real"));
    assert_eq!(
        (machine.read("dotfiles/real"), machine.read("dotfiles/later")),
        ("new".into(), "made".into())
    );
    let mode = |name: &str| fs::metadata(machine.at(name)).unwrap().mode() & 0o777;
    assert_eq!((mode("dotfiles/real"), mode("link.bak")), (0o640, 0o640));
    symlink(machine.at("loop"), machine.at("loop")).unwrap();
    let error = machine.apply(&plan(vec![edit(machine.at("loop"), None, Some("x"), None)]));
    assert!(matches!(error, Err(ApplyError::Io { .. })), "{error:?}");
}

#[test]
fn what_is_read_only_is_refused_before_anything_is_written() {
    let machine = Machine::new();
    let (a, b) = (machine.write("a", "old"), machine.write("b", "old"));
    fs::set_permissions(&b, fs::Permissions::from_mode(0o444)).unwrap();
    fs::create_dir(machine.at("shut")).unwrap();
    fs::set_permissions(machine.at("shut"), fs::Permissions::from_mode(0o555)).unwrap();
    let before = machine.all();
    for (path, saw) in [(b, Some("old")), (machine.at("shut/c"), None), (machine.at("bin"), None)] {
        let steps = vec![edit(a.clone(), Some("old"), Some("new"), None), edit(path, saw, Some("x"), None)];
        let error = machine.apply(&plan(steps)).unwrap_err();
        assert!(matches!(error, ApplyError::ReadOnly { .. } | ApplyError::NotAFile { .. }), "{error}");
        assert_eq!(machine.all(), before);
    }
}

#[test]
fn backups_replace_only_backups() {
    let machine = Machine::new();
    let a = machine.write("a", "1");
    machine.write("a.bak", "the user's own");
    let change = |before, after| machine.apply(&plan(vec![edit(a.clone(), Some(before), Some(after), None)]));
    change("1", "2").unwrap();
    change("2", "3").unwrap();
    assert_eq!((machine.read("a.bak"), machine.read("a.bak.1")), ("the user's own".into(), "2".into()));
    machine.write("a.bak.1", "edited");
    change("3", "4").unwrap();
    assert_eq!((machine.read("a.bak.1"), machine.read("a.bak.2")), ("edited".into(), "3".into()));
}

const WHERE: &str = "SCROLLBACK_TEST_APPLY";

/// The plan that is cut off: a file that an earlier plan changed, a new one in a new directory, a third.
fn cut_off(machine: &Machine) -> Plan {
    let mut steps = vec![
        edit(machine.at("a"), Some("first"), Some("second"), Some("is")),
        edit(machine.at("made/b"), None, Some("second"), Some("is")),
        edit(machine.at("c"), Some("old"), Some("second"), Some("is")),
    ];
    if let Step::Edit { mkdir, .. } = &mut steps[1] {
        mkdir.push(machine.at("made"));
    }
    plan(steps)
}

/// What the process does that is ended: it carries a plan out up to a point, and dies as from a signal.
#[test]
#[ignore = "run by the test below, in a process of its own"]
fn carries_out_until_it_is_ended() {
    let given = std::env::var(WHERE).expect("run by another test");
    let (at, root) = given.split_once(':').unwrap();
    let machine = Machine { root: root.into(), _folder: None };
    let mut left: usize = at.parse().unwrap();
    let done = carry_out(&cut_off(&machine), &machine, &machine.data(), &mut |_| {
        if left == 0 {
            std::process::abort();
        }
        left -= 1;
        Ok(())
    });
    done.unwrap();
}

/// Says whether the process was ended before it was done.
fn ended_at(machine: &Machine, at: usize) -> bool {
    let mut child = std::process::Command::new(std::env::current_exe().unwrap());
    child.args(["--ignored", "--exact", "apply::tests::carries_out_until_it_is_ended"]);
    let ran = child.env(WHERE, format!("{at}:{}", machine.root.display())).output().unwrap();
    assert!(ran.status.success() || ran.status.code().is_none(), "{}", String::from_utf8_lossy(&ran.stdout));
    !ran.status.success()
}

#[test]
fn ended_anywhere_each_file_is_old_or_new_and_the_memo_is_of_that() {
    let mut points = 0;
    for at in 0.. {
        let machine = Machine::new();
        let paths = [machine.write("a", "old"), machine.at("made/b"), machine.write("c", "old")];
        // An install came before: its memos hold until the files change.
        machine.apply(&plan(vec![edit(paths[0].clone(), Some("old"), Some("first"), Some("was"))])).unwrap();
        if !ended_at(&machine, at) {
            break;
        }
        points += 1;
        let memos = memos(&machine.data()).unwrap();
        for (path, old, was) in
            [(&paths[0], Some("first"), Some("was")), (&paths[1], None, None), (&paths[2], Some("old"), None)]
        {
            let now = fs::read_to_string(path).ok();
            let memo = memos.get(path).map(String::as_str);
            if now.as_deref() == Some("second") {
                assert_eq!(memo, Some("is"), "{at}: {}", path.display());
            } else {
                assert_eq!((now.as_deref(), memo), (old, was), "{at}: {}", path.display());
            }
        }
        // What is left is done by the next plan, which finds no lock and takes what was staged away.
        let mut left = cut_off(&machine);
        left.steps.retain(
            |step| matches!(step, Step::Edit { path, after, .. } if fs::read(path).ok().as_ref() != after.as_ref()),
        );
        machine.apply(&left).unwrap();
        assert!(paths.iter().all(|path| fs::read(path).unwrap() == b"second"));
        machine.apply(&plan(vec![edit(paths[1].clone(), Some("second"), None, None)])).unwrap();
        assert!(!machine.at("made").exists(), "{at}");
        let staged = machine.all().into_keys().filter(|path| path.extension().is_some_and(|is| is == "tmp"));
        assert_eq!(staged.collect::<Vec<_>>(), [] as [PathBuf; 0], "{at}");
    }
    assert_eq!(points, 7);
}

#[test]
fn staged_files_of_an_ended_process_go() {
    let machine = Machine::new();
    let a = machine.write("a", "old");
    machine.write(".scrollback-x1.tmp", "half");
    machine.write(".scrollback-notes", "the user's");
    machine.apply(&plan(vec![edit(a, Some("old"), Some("new"), None)])).unwrap();
    assert!(!machine.at(".scrollback-x1.tmp").exists());
    assert!(machine.at(".scrollback-notes").exists());
}

#[test]
fn commands_are_looked_up_run_and_undone() {
    let machine = Machine::new();
    let (a, state) = (machine.write("a", "old"), machine.write("state", "[]"));
    let steps = vec![
        run(&["add", "x y"], &["remove", "x y"], vec![state]),
        edit(a.clone(), Some("old"), Some("new"), Some("[]")),
        run(&["fail"], &[], vec![]),
    ];
    // Not there: told, and the rest is done.
    let done = machine.apply(&plan(vec![steps[0].clone()])).unwrap();
    assert_eq!((done.told, done.ran), (vec!["run agent yourself".to_owned()], vec![]));
    machine.program("agent", r#"[ "$1" = fail ] && { echo no >&2; exit 3; }; echo "$1:$2" >> "$HOME/state""#);
    let error = machine.apply(&plan(steps.clone())).unwrap_err();
    assert_eq!(error.to_string(), "`agent fail` failed: exit status: 3: no");
    assert_eq!(machine.read("a"), "old");
    assert_eq!(machine.read("state"), "[]add:x y\nremove:x y\n");
    assert_eq!(machine.read("state.bak"), "[]");
    assert!(memos(&machine.data()).unwrap().is_empty());
    let done = machine.apply(&plan(steps[..2].to_vec())).unwrap();
    assert_eq!(done.ran, ["agent add 'x y'"]);
    assert_eq!(machine.read("a"), "new");
}

#[test]
fn an_undo_that_fails_is_told() {
    let machine = Machine::new();
    machine.program("agent", r#"[ "$1" = add ]"#);
    let error = machine.apply(&plan(vec![run(&["add"], &["remove"], vec![]), run(&["fail"], &[], vec![])]));
    let Err(ApplyError::Half { cause, left }) = error else { panic!("{error:?}") };
    assert!(matches!(*cause, ApplyError::Command { .. }), "{cause}");
    assert_eq!(left, ["`agent remove` failed: exit status: 1: "]);
}

#[test]
fn a_picture_touches_nothing() {
    let machine = Machine::new();
    let a = machine.write("a", "1\n2\n3\n4\n5\n");
    let before = machine.all();
    let steps = vec![
        edit(a.clone(), Some("1\n2\n3\n4\n5\n"), Some("1\n2\n3\n4\nfive\n"), None),
        edit(machine.at("b"), None, Some("new\n"), None),
        run(&["add", "it's"], &[], vec![]),
        Step::Tell("trust it".to_owned()),
    ];
    check(&plan(steps.clone())).unwrap();
    let (a, b) = (a.display(), machine.at("b"));
    let expected = format!(
        "--- {a}\n+++ {a}\n@@ -2,4 +2,4 @@\n 2\n 3\n 4\n-5\n+five\n--- /dev/null\n+++ {}\n@@ -0,0 +1 @@\n+new\n\
         $ agent add 'it'\\''s'\n# trust it\n",
        b.display()
    );
    assert_eq!(diff(&plan(steps)), expected);
    assert_eq!(memos(&machine.data()).unwrap(), Memos::new());
    machine.apply(&Plan::default()).unwrap();
    assert_eq!(machine.all(), before);
    assert!(!machine.data().exists());
}

#[test]
fn a_journal_that_is_not_understood_is_left() {
    let machine = Machine::new();
    let a = machine.write("a", "old");
    fs::create_dir(machine.data()).unwrap();
    for text in ["{", "{\"version\": 2, \"new\": 1}", ""] {
        machine.write("data/installed.json", text);
        let error = machine.apply(&plan(vec![edit(a.clone(), Some("old"), Some("new"), None)]));
        assert!(matches!(error, Err(ApplyError::Journal { .. })), "{error:?}");
        assert_eq!(
            (machine.read("data/installed.json"), machine.read("a")),
            (text.to_owned(), "old".to_owned())
        );
    }
}
