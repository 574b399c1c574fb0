//! Installed lines, run as a client runs them: by a shell, with the payload on standard input.

use crate::support::{assert_same, now, sandbox, text};
use scrollback_store::{Access, Store};
use scrollback_tests::{Ran, Sandbox, recorded, transcripts};
use serde_json::{Value, json};
use std::fs::{self, File};
use std::io::{Read as _, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// How long anything may take here; only a failure takes as long.
const LONG: Duration = Duration::from_secs(60);
/// What the client gives a hook before it goes on without it.
const PATIENCE: Duration = Duration::from_secs(10);

/// Returns a machine on which both clients are set up.
fn machine() -> Sandbox {
    set_up(sandbox())
}

fn set_up(machine: Sandbox) -> Sandbox {
    machine.write(".claude/settings.json", "{}");
    machine.write(".codex/config.toml", "");
    let ran = machine.run(&["setup", "--yes"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (3, ""), "{}", ran.stdout);
    machine
}

/// Returns what a look at everything says, in which nothing must be amiss but that Codex's user has reviewed nothing.
fn checked(machine: &Sandbox, how: &[&str]) -> String {
    let ran = machine.run(how);
    let all = format!("{}{}", ran.stdout, ran.stderr);
    assert_eq!(ran.code, 3, "{all}");
    let amiss: Vec<&str> =
        all.lines().filter(|line| line.contains("hooks.json wait for your review")).collect();
    assert_eq!(amiss.len(), 1, "{all}");
    for word in ["not there", "setup` ", "not read", "did not arrive"] {
        assert!(!all.contains(word), "{word}: {all}");
    }
    all
}

/// Returns the line of Claude Code's event.
fn line(machine: &Sandbox, event: &str) -> String {
    let settings = fs::read(machine.home().join(".claude/settings.json")).unwrap();
    let settings: Value = serde_json::from_slice(&settings).unwrap();
    text(&settings["hooks"][event][0]["hooks"][0], "command").to_owned()
}

/// Starts a shell with the line in a group of its own, as a client does, with pipes on all three.
fn start(machine: &Sandbox, line: &str, payload: &[u8]) -> Child {
    #[expect(clippy::disallowed_methods, reason = "the shell a client runs lines with")]
    let mut shell = Command::new("/bin/sh");
    shell
        .args(["-c", line])
        .env_clear()
        .env("HOME", machine.home())
        .env("USER", "dev")
        .env("PATH", "/usr/bin:/bin");
    shell.env("CLAUDE_PROJECT_DIR", machine.home()).current_dir(machine.home()).process_group(0);
    shell.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = shell.spawn().unwrap();
    // A line that reads nothing closes it.
    let _taken = child.stdin.take().unwrap().write_all(payload);
    child
}

/// Runs a line to its end, which both pipes must reach in time; the client must see nothing.
fn fire(machine: &Sandbox, line: &str, payload: &[u8]) -> i32 {
    let began = Instant::now();
    let ran = Ran::of(start(machine, line, payload).wait_with_output().unwrap());
    assert_eq!((ran.stdout.as_str(), ran.stderr.as_str()), ("", ""), "{line}");
    assert!(began.elapsed() < PATIENCE, "{line}: the client has given up on it");
    ran.code
}

fn payload(event: &str, transcript: &Path, message: &str) -> Vec<u8> {
    let session = transcript.file_stem().unwrap().to_str().unwrap();
    let payload = json!({"session_id": session, "transcript_path": transcript, "hook_event_name": event,
        "cwd": "/srv", "last_assistant_message": message});
    payload.to_string().into_bytes()
}

/// Returns a row of the client's: a message of the assistant.
fn row(session: &str, n: usize, said: &str) -> String {
    let uuid = format!("00000000-0000-4000-8000-{n:012}");
    let message =
        json!({"id": format!("m{n}"), "role": "assistant", "content": [{"type": "text", "text": said}]});
    let row = json!({"type": "assistant", "uuid": uuid, "sessionId": session, "cwd": "/srv", "message": message,
        "timestamp": now(), "parentUuid": null, "isSidechain": false, "version": "2.1.332"});
    format!("{row}\n")
}

fn transcript(machine: &Sandbox, session: &str, rows: &str) -> PathBuf {
    machine.write(format!(".claude/projects/-srv/{session}.jsonl"), rows)
}

fn append(path: &Path, rows: &str) {
    File::options().append(true).open(path).unwrap().write_all(rows.as_bytes()).unwrap();
}

/// Waits until the drain has left and the spool is empty.
fn drained(machine: &Sandbox) {
    let until = Instant::now() + LONG;
    let spool = scrollback_engine::spool::Spool::of(&machine.data());
    while spool.has_some() || scrollback_engine::drain::runs(&machine.data()) {
        assert!(Instant::now() < until, "the drain does not come to an end: {}", log(machine));
        std::thread::sleep(Duration::from_millis(10));
    }
}

fn log(machine: &Sandbox) -> String {
    fs::read_to_string(machine.data().join("capture.log")).unwrap_or_default()
}

fn found(machine: &Sandbox, word: &str) -> usize {
    machine.well(&["search", "--json", word]).lines().count()
}

#[test]
fn every_installed_line_arrives_wherever_the_program_lies() {
    let plain = sandbox();
    let odd = plain.home().join("a b/it's \"$HOME\"/`x`");
    fs::create_dir_all(&odd).unwrap();
    let odd = sandbox().var("SCROLLBACK_HOME", odd.to_str().unwrap());
    for machine in [machine(), set_up(odd)] {
        let tried = checked(&machine, &["doctor"]);
        assert_eq!(tried.matches("7 of 7 hooks arrived").count(), 2, "{tried}");
        for event in ["SessionStart", "Stop", "SessionEnd"] {
            assert_eq!(fire(&machine, &line(&machine, event), b"{}"), 0);
        }
        let status = checked(&machine, &["status", "--check"]);
        assert!(status.contains("of the last 7 hooks, half took under"), "{status}");
        // A trial is no session.
        assert_eq!(machine.well(&["sessions"]).matches("trial").count(), 0);
    }
}

#[test]
fn a_program_that_is_gone_or_cannot_run_keeps_every_turn_going_and_is_said() {
    let machine = machine();
    checked(&machine, &["status", "--check"]);
    let program = machine.data().join("bin/scrollback-under-test");
    let modes = fs::metadata(&program).unwrap().permissions();
    let rows = row("s", 1, "xylophone");
    let at = transcript(&machine, "11111111-1111-4111-8111-111111111111", &rows);
    for gone in [false, true] {
        if gone {
            fs::remove_file(&program).unwrap();
        } else {
            fs::set_permissions(&program, fs::Permissions::from_mode(0o644)).unwrap();
        }
        for event in ["SessionStart", "UserPromptSubmit", "Stop"] {
            assert_eq!(fire(&machine, &line(&machine, event), &payload(event, &at, "xylophone")), 0);
        }
        for command in [&["status", "--check"][..], &["doctor"]] {
            let ran = machine.run(command);
            let said = format!("{}{}", ran.stdout, ran.stderr);
            assert!(ran.code == 3 && said.contains("is not there or cannot be run"), "{said}");
        }
        let mended = machine.run(&["setup", "--yes"]);
        assert_eq!(mended.code, 0, "{mended:?}");
        assert_eq!(fs::metadata(&program).unwrap().permissions(), modes);
        machine.run(&["tail"]);
        checked(&machine, &["status", "--check"]);
    }
    assert_eq!(found(&machine, "xylophone"), 1);
}

#[test]
fn twenty_hooks_at_once_on_one_session_and_on_twenty() {
    let machine = machine();
    let one = transcript(&machine, "22222222-2222-4222-8222-222222222200", "");
    let mut transcripts = Vec::new();
    for n in 1..=20 {
        append(&one, &row("22222222-2222-4222-8222-222222222200", n, "zebra"));
        let session = format!("22222222-2222-4222-8222-2222222222{n:02}");
        transcripts.push(transcript(&machine, &session, &row(&session, 100 + n, "giraffe")));
    }
    let stop = line(&machine, "Stop");
    let calls = std::iter::repeat_n(&one, 20).map(|at| (at, "zebra"));
    let calls: Vec<_> = calls.chain(transcripts.iter().map(|at| (at, "giraffe"))).collect();
    let children: Vec<Child> =
        calls.iter().map(|(at, said)| start(&machine, &stop, &payload("Stop", at, said))).collect();
    for child in children {
        let ran = Ran::of(child.wait_with_output().unwrap());
        assert_eq!((ran.code, ran.stdout.as_str(), ran.stderr.as_str()), (0, "", ""));
    }
    drained(&machine);
    let hits =
        |word| machine.well(&["search", "--json", "--sort", "newest", "--limit", "99", word]).lines().count();
    assert_eq!((hits("zebra"), hits("giraffe")), (20, 20), "{}", log(&machine));
}

#[test]
fn what_hooks_bring_in_is_what_a_tail_reads() {
    let machine = machine();
    machine.put_recorded();
    let stop = line(&machine, "Stop");
    for at in transcripts(&machine.home().join(".claude/projects")) {
        assert_eq!(fire(&machine, &stop, &payload("Stop", &at, "")), 0);
    }
    drained(&machine);
    // Codex's transcripts are read by a session's start, which looks at everything that changed unseen.
    let hooks: Value =
        serde_json::from_slice(&fs::read(machine.home().join(".codex/hooks.json")).unwrap()).unwrap();
    let start = text(&hooks["hooks"]["SessionStart"][0]["hooks"][0], "command");
    let begins = json!({"hook_event_name": "SessionStart", "session_id": "x", "cwd": "/srv"});
    assert_eq!(fire(&machine, start, begins.to_string().as_bytes()), 0);
    drained(&machine);
    let beside = machine.beside();
    beside.well(&["tail"]);
    assert_same(&machine.export(), &beside.export(), "hooks and a tail");
    assert!(!transcripts(&recorded("codex")).is_empty());
}

#[test]
fn the_drain_outlives_its_client_and_holds_none_of_its_pipes() {
    let machine = machine();
    let session = "33333333-3333-4333-8333-333333333333";
    let at = transcript(&machine, session, &row(session, 1, "before"));
    // The last message is announced and not written yet: the drain waits for it.
    let mut client = start(
        &machine,
        &format!("{}\nexec sleep 60", line(&machine, "Stop").replace("exec ", "").replace("; exit 0", "")),
        &payload("Stop", &at, "afterwards"),
    );
    let until = Instant::now() + LONG;
    // The store is made by the drain.
    let is_read = || machine.run(&["search", "--json", "before"]).stdout.lines().count() == 1;
    while !scrollback_engine::drain::runs(&machine.data()) || !is_read() {
        assert!(Instant::now() < until, "no drain: {}", log(&machine));
        std::thread::sleep(Duration::from_millis(5));
    }
    // The client's group is killed, as a terminal that closes does; its pipes end though the drain goes on.
    #[expect(clippy::disallowed_methods, reason = "how a group is killed")]
    let killed =
        Command::new("/bin/sh").args(["-c", &format!("kill -KILL -{}", client.id())]).status().unwrap();
    assert!(killed.success());
    let mut rest = Vec::new();
    client.stdout.take().unwrap().read_to_end(&mut rest).unwrap();
    client.stderr.take().unwrap().read_to_end(&mut rest).unwrap();
    assert_eq!(rest, b"");
    client.wait().unwrap();
    assert!(scrollback_engine::drain::runs(&machine.data()), "it waits still: {}", log(&machine));
    append(&at, &row(session, 2, "afterwards"));
    drained(&machine);
    assert_eq!(found(&machine, "afterwards"), 1, "{}", log(&machine));
    let runs = log(&machine).lines().filter(|line| line.contains(" drain: ")).count();
    assert_eq!(runs, 1, "one line a run: {}", log(&machine));
}

/// Has a hook run while the store is as `broken` leaves it; once it is mended, the next run has everything.
fn next_run_has_everything(broken: impl FnOnce(&Sandbox) -> Box<dyn FnOnce()>) {
    let machine = machine();
    let session = "44444444-4444-4444-8444-444444444444";
    let at = transcript(&machine, session, &row(session, 1, "first"));
    assert_eq!(fire(&machine, &line(&machine, "Stop"), &payload("Stop", &at, "first")), 0);
    drained(&machine);
    let mend = broken(&machine);
    append(&at, &row(session, 2, "second"));
    let code = fire(&machine, &line(&machine, "Stop"), &payload("Stop", &at, "second"));
    assert!(code == 0 || code == 1, "{code}");
    mend();
    append(&at, &row(session, 3, "third"));
    assert_eq!(fire(&machine, &line(&machine, "Stop"), &payload("Stop", &at, "third")), 0);
    drained(&machine);
    for word in ["second", "third"] {
        assert_eq!(found(&machine, word), 1, "{word}: {}", log(&machine));
    }
    let beside = machine.beside();
    beside.well(&["tail"]);
    assert_same(&machine.export(), &beside.export(), "after the store was mended");
}

#[test]
fn a_locked_store_is_waited_for_by_nobody() {
    next_run_has_everything(|machine| {
        // Held for longer than a drain waits for it: what the drain leaves is in the spool.
        let path = machine.store();
        let (held, release) = (std::sync::mpsc::channel::<()>(), std::sync::mpsc::channel::<()>());
        let (is_held, released) = (held.0, release.1);
        let holder = std::thread::spawn(move || {
            let mut store = Store::open(&path, Access::Write).unwrap();
            let writer = store.writer().unwrap();
            is_held.send(()).unwrap();
            released.recv().unwrap();
            drop(writer);
        });
        held.1.recv().unwrap();
        Box::new(move || {
            release.0.send(()).unwrap();
            holder.join().unwrap();
        })
    });
}

#[test]
fn a_store_of_a_newer_version_is_left_alone() {
    next_run_has_everything(|machine| {
        let path = machine.store();
        // `PRAGMA user_version`: four bytes at 60 (sqlite.org/fileformat.html, 1.3).
        let version = |bytes: [u8; 4]| {
            let mut store = fs::read(&path).unwrap();
            let before = <[u8; 4]>::try_from(&store[60..64]).unwrap();
            store[60..64].copy_from_slice(&bytes);
            #[expect(clippy::disallowed_methods, reason = "the store of a newer version")]
            fs::write(&path, store).unwrap();
            before
        };
        let before = version([0, 0, 3, 0xe7]);
        let path = path.clone();
        Box::new(move || {
            let mut store = fs::read(&path).unwrap();
            assert_eq!(store[60..64], [0, 0, 3, 0xe7], "nothing wrote it");
            store[60..64].copy_from_slice(&before);
            #[expect(clippy::disallowed_methods, reason = "the store of this version again")]
            fs::write(&path, store).unwrap();
        })
    });
}

#[test]
fn a_directory_that_is_gone_is_made_again() {
    let machine = machine();
    let session = "55555555-5555-4555-8555-555555555555";
    let at = transcript(&machine, session, &row(session, 1, "first"));
    let program = fs::read(machine.data().join("bin/scrollback-under-test")).unwrap();
    fs::remove_dir_all(machine.data()).unwrap();
    let own = machine.write("scrollback", program);
    fs::set_permissions(&own, fs::Permissions::from_mode(0o755)).unwrap();
    let stop = format!("{} hook claude-code Stop --home {}", own.display(), machine.data().display());
    assert_eq!(fire(&machine, &stop, &payload("Stop", &at, "first")), 0);
    drained(&machine);
    assert_eq!(found(&machine, "first"), 1);
}

#[test]
fn a_full_disk_fails_the_write_and_nothing_else() {
    let machine = machine();
    let session = "66666666-6666-4666-8666-666666666666";
    let at = transcript(&machine, session, &row(session, 1, "first"));
    // No file may grow: each write fails as on a full disk.
    let full = format!("trap '' XFSZ; ulimit -f 0; {}", line(&machine, "Stop"));
    assert_eq!(fire(&machine, &full, &payload("Stop", &at, "first")), 1, "the local write failed");
    drained(&machine);
    append(&at, &row(session, 2, "second"));
    assert_eq!(fire(&machine, &line(&machine, "Stop"), &payload("Stop", &at, "second")), 0);
    drained(&machine);
    assert_eq!((found(&machine, "first"), found(&machine, "second")), (1, 1), "{}", log(&machine));
}

#[test]
fn a_transcript_that_is_missing_or_elsewhere_is_not_read() {
    let machine = machine();
    let other = machine.write("private/diary.jsonl", row("s", 1, "secretive"));
    let climbing = machine.home().join(".claude/projects/../../private/diary.jsonl");
    let link = machine.home().join(".claude/projects/-srv/77777777-7777-4777-8777-777777777777.jsonl");
    fs::create_dir_all(link.parent().unwrap()).unwrap();
    std::os::unix::fs::symlink(&other, &link).unwrap();
    let missing = machine.home().join(".claude/projects/-srv/88888888-8888-4888-8888-888888888888.jsonl");
    for at in [&other, &climbing, &link, &missing] {
        assert_eq!(fire(&machine, &line(&machine, "SubagentStop"), &payload("SubagentStop", at, "")), 0);
    }
    drained(&machine);
    // A link out of the client's folder is refused by a hook, whoever made it.
    assert_eq!(found(&machine, "secretive"), 0, "{}", log(&machine));
}
