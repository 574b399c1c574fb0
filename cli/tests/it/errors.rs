//! What goes wrong, and how the program says so.

use crate::home::{Home, MAIN};
use std::fs;
use std::io::Read as _;
use std::process::Stdio;

/// Checks the code of a run that prints nothing, and what it complains of.
fn refuses(home: &Home, args: &[&str], code: i32, complaint: &str) {
    let ran = home.run(args);
    assert_eq!(ran.code, code, "{args:?}: {}", ran.stderr);
    assert_eq!(ran.stdout, "", "{args:?}");
    assert!(ran.stderr.contains(complaint), "{args:?}: {}", ran.stderr);
}

#[test]
fn a_command_line_that_is_not_understood_is_64() {
    let home = Home::filled();
    for args in [
        &[][..],
        &["nonsense"],
        &["search"],
        &["search", "--since", "soon", "x"],
        &["search", "--kind", "nothing", "x"],
        &["show", "--json", "--raw", MAIN],
        &["completions", "tcsh"],
        &["stats", "--by", "hour"],
    ] {
        let ran = home.run(args);
        assert_eq!((ran.code, ran.stdout.as_str()), (64, ""), "{args:?}");
        assert!(!ran.stderr.is_empty());
    }
    refuses(&home, &["search", "--", "---"], 64, "no word to look for");
    refuses(&home, &["search", "NOT", "x"], 64, "NOT needs a word");
    let ran = home.program(&["sessions"]).env("SCROLLBACK_RAW", "some").output().unwrap();
    assert_eq!(ran.status.code(), Some(64));
}

#[test]
fn help_and_version_are_no_failures() {
    let home = Home::empty();
    for args in [&["--help"][..], &["-V"], &["help", "tail"], &["show", "--help"]] {
        assert!(!home.run(args).well().is_empty());
    }
}

#[test]
fn no_store_says_what_to_do() {
    let home = Home::empty();
    for args in [
        &["sessions"][..],
        &["search", "x"],
        &["show", "x"],
        &["expand", "abcd"],
        &["export"],
        &["stats"],
        &["reparse"],
    ] {
        refuses(&home, args, 1, "scrollback tail");
    }
    assert!(!home.data().exists());
}

#[test]
fn a_name_that_fits_none_or_several_says_so() {
    let home = Home::filled();
    refuses(&home, &["show", "nothing-like-it"], 1, "no session is named");
    refuses(&home, &["show", &MAIN[..8]], 1, "names 2 sessions");
    refuses(&home, &["show", &MAIN[..8]], 1, "Find out why the retry test is flaky");
    refuses(&home, &["show", &format!("{MAIN}:9")], 1, "there is no turn 9");
    refuses(&home, &["sessions", "--session", "e11"], 1, "no session is named");
    refuses(&home, &["expand", "abc"], 1, "at least 4 hexadecimal digits");
    refuses(&home, &["expand", "xyzw"], 1, "is no event's id");
    refuses(&home, &["expand", "00000000"], 1, "no event's id begins with");
}

#[test]
fn a_store_that_is_none_is_left_as_it_is() {
    let home = Home::empty();
    fs::create_dir_all(home.data()).unwrap();
    let store = home.data().join("store.db");
    let bytes = b"this is no database, but it is long enough to be taken for one".repeat(20);
    put(&store, &bytes);
    refuses(&home, &["sessions"], 1, "is damaged");
    refuses(&home, &["tail"], 1, "is damaged");
    assert_eq!(fs::read(&store).unwrap(), bytes);
}

#[expect(clippy::disallowed_methods, reason = "a file of the test's own")]
fn put(path: &std::path::Path, bytes: &[u8]) {
    fs::write(path, bytes).unwrap();
}

#[test]
fn a_second_tail_leaves_with_75() {
    let home = Home::filled();
    let lock = fs::File::create(home.data().join("tail.lock")).unwrap();
    lock.lock().unwrap();
    refuses(&home, &["tail"], 75, "another `tail`");
    refuses(&home, &["reparse"], 75, "another `tail`");
}

#[test]
fn a_reader_that_leaves_is_no_failure() {
    let home = Home::filled();
    let mut child = home.program(&["export"]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let mut said = String::new();
    child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    assert_eq!((child.wait().unwrap().code(), said.as_str()), (Some(0), ""));
}
