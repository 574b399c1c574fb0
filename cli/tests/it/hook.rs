//! `hook` as a client runs it: whatever it is given, it ends with 0 or 1 and prints nothing the client did not ask for.

use crate::home::Home;
use std::fs;
use std::io::Write as _;
use std::process::Stdio;

/// Runs it with that on standard input; returns how it ended and what it printed.
fn hook(home: &Home, args: &[&str], payload: &[u8]) -> (i32, String) {
    let mut child = home
        .program(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // It need not read what it does not want.
    let _taken = child.stdin.take().unwrap().write_all(payload);
    let done = child.wait_with_output().unwrap();
    let printed = [done.stdout, done.stderr].concat();
    (done.status.code().unwrap(), String::from_utf8(printed).unwrap())
}

#[test]
fn no_line_and_no_payload_makes_a_client_stumble() {
    let home = Home::empty();
    let huge = vec![b'['; 50 << 20];
    let payloads: [&[u8]; 6] = [b"", b"{}", b"[1,", b"\xff\xfe\0", b"{\"session_id\":\"../x\"}", &huge];
    let lines: [&[&str]; 6] = [
        &["hook", "codex", "Stop"],
        &["hook", "nobody"],
        &["hook", "../x", "../y", "--home"],
        &["hook", "--level", "neither", "--unknown", "codex"],
        &["hook", "codex", "{\"type\":3}"],
        &["hook"],
    ];
    for line in lines {
        for payload in payloads {
            assert_eq!(hook(&home, line, payload), (0, String::new()), "{line:?}");
        }
    }
    let log = fs::read_to_string(home.data().join("capture.log")).unwrap();
    assert!(log.contains("hook: no adapter is called \"nobody\""), "{log}");
    assert!(log.contains("names no client"), "{log}");
}

#[test]
fn a_drain_with_nothing_to_do_leaves_nothing_behind() {
    let home = Home::empty();
    assert_eq!(hook(&home, &["drain"], b""), (0, String::new()));
    assert!(!home.data().exists());
}

#[test]
#[expect(clippy::disallowed_methods, reason = "what a hook left is laid out")]
fn a_drain_finds_its_directory_wherever_it_is_started() {
    let home = Home::empty();
    let root = home.data().parent().unwrap().to_owned();
    fs::create_dir_all(root.join("kept/spool")).unwrap();
    fs::write(root.join("kept/spool/current"), "{\"v\":1,\"client\":\"nobody\",\"at\":0}\n").unwrap();
    let ran = home.program(&["drain", "--home", "kept"]).current_dir(&root).output().unwrap();
    assert_eq!(ran.status.code(), Some(0));
    let log = fs::read_to_string(root.join("kept/capture.log")).unwrap();
    assert!(log.contains("1 hooks, 0 damaged") && log.contains("transcripts of \"nobody\""), "{log}");
    assert_eq!(fs::read_dir(root.join("kept/spool")).unwrap().count(), 1, "the key alone is left");
}
