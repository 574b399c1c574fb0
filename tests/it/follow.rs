//! `tail --follow`: what is appended is searchable, once, whatever else runs beside it.

use crate::support::{assert_same, of_type, sandbox, values};
use scrollback_tests::{Ran, Sandbox};
use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

const GONE: &str = "\"standing\":\"gone\"";
/// A condition is waited for no longer than this.
const LIMIT: Duration = Duration::from_secs(60);

struct Follower(Option<Child>);

impl Follower {
    fn start(sandbox: &Sandbox, args: &[&str]) -> Self {
        let args: Vec<&str> = ["tail", "--follow", "--json"].iter().chain(args).copied().collect();
        let mut command = sandbox.command(&args);
        Self(Some(command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()))
    }

    fn signal(&self, name: &str) {
        let id = self.0.as_ref().unwrap().id().to_string();
        #[expect(clippy::disallowed_methods, reason = "a signal from outside")]
        let sent = std::process::Command::new("kill").args(["-s", name, &id]).status().unwrap();
        assert!(sent.success());
    }

    /// Ends it and returns what it printed: a line a look with something new, then everything together.
    fn stop(mut self, signal: &str) -> Vec<serde_json::Value> {
        self.signal(signal);
        let ran = Ran::of(self.0.take().unwrap().wait_with_output().unwrap());
        assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{}", ran.stdout);
        values(&ran.stdout)
    }

    fn kill(mut self) {
        let mut child = self.0.take().unwrap();
        child.kill().unwrap();
        child.wait().unwrap();
    }
}

impl Drop for Follower {
    fn drop(&mut self) {
        if let Some(child) = &mut self.0 {
            let _dead = child.kill().and_then(|()| child.wait());
        }
    }
}

/// Waits until so many events are stored.
fn wait_for(sandbox: &Sandbox, events: usize) {
    let began = Instant::now();
    let mut seen = 0;
    while began.elapsed() < LIMIT {
        if sandbox.store().exists() {
            let ran = sandbox.run(&["export"]);
            // It may not be made yet.
            seen = if ran.code == 0 { of_type(&ran.stdout, "event").len() } else { 0 };
            if seen >= events {
                break;
            }
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    assert_eq!(seen, events, "events stored");
}

fn append(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    OpenOptions::new().create(true).append(true).open(path).unwrap().write_all(text.as_bytes()).unwrap();
}

fn line(session: usize, n: usize) -> String {
    let role = if n.is_multiple_of(2) { "user" } else { "assistant" };
    format!(
        "{{\"id\":\"session-{session}-line-{n:06}\",\"session_id\":\"s{session}\",\"role\":\"{role}\",\"content\":\"line {n} of session {session}\"}}\n"
    )
}

#[test]
fn two_hundred_files_grow_at_once_and_nothing_is_read_twice() {
    const FILES: usize = 200;
    const LINES: usize = 12;
    let sandbox = sandbox();
    let folder = sandbox.home().join("talks");
    fs::create_dir_all(&folder).unwrap();
    let follower = Follower::start(&sandbox, &["--path", "talks"]);
    std::thread::scope(|scope| {
        for writer in 0..4 {
            let folder = &folder;
            scope.spawn(move || {
                for n in 0..LINES {
                    for file in (0..FILES).filter(|file| file % 4 == writer) {
                        let path = folder.join(format!("{file}.jsonl"));
                        let line = line(file, n);
                        // Half a line is there for a while.
                        let (first, rest) = line.split_at(line.len() / 2);
                        append(&path, first);
                        append(&path, rest);
                    }
                }
            });
        }
    });
    wait_for(&sandbox, FILES * LINES);
    let told = follower.stop("TERM");
    let total = told.last().unwrap();
    let count = |key: &str| usize::try_from(total[key].as_u64().unwrap()).unwrap();
    assert_eq!(
        (count("records"), count("events"), count("stored")),
        (FILES * LINES, FILES * LINES, FILES * LINES)
    );
    assert_eq!((count("replaced"), count("unreadable"), count("not_understood")), (0, 0, 0));
    let bytes: u64 =
        fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().metadata().unwrap().len()).sum();
    assert_eq!(total["bytes"].as_u64().unwrap(), bytes, "bytes read");
    let beside = sandbox.beside();
    beside.well(&["tail", "--path", "talks"]);
    assert_same(&beside.export(), &sandbox.export(), "read in one go");
}

#[test]
fn new_directories_are_found_and_it_stops_when_it_is_told() {
    for signal in ["INT", "TERM"] {
        let sandbox = sandbox();
        // Nothing is there, not even the client's directory.
        let follower = Follower::start(&sandbox, &[]);
        let project = sandbox.home().join(".claude/projects/-home-dev-app");
        let row = |n: usize| {
            format!(
                "{{\"parentUuid\":null,\"isSidechain\":false,\"userType\":\"external\",\"cwd\":\"/home/dev/app\",\
                 \"sessionId\":\"5f9c1f2e-0000-4000-8000-000000000001\",\"version\":\"2.1.71\",\"type\":\"user\",\
                 \"message\":{{\"role\":\"user\",\"content\":\"prompt {n}\"}},\"uuid\":\"5f9c1f2e-0000-4000-8000-0000000001{n:02}\",\
                 \"timestamp\":\"2026-03-01T10:00:{n:02}.000Z\"}}\n"
            )
        };
        let path = project.join("5f9c1f2e-0000-4000-8000-000000000001.jsonl");
        append(&path, &row(0));
        wait_for(&sandbox, 1);
        append(&path, &row(1));
        append(
            &project.with_file_name("-home-dev-other").join("5f9c1f2e-0000-4000-8000-000000000002.jsonl"),
            &row(2).replace("000001\",\"v", "000002\",\"v"),
        );
        wait_for(&sandbox, 3);
        let told = follower.stop(signal);
        assert_eq!(told.last().unwrap()["stored"], 3, "{told:?}");
    }
}

#[test]
fn a_follower_and_others_at_once_store_each_event_once() {
    let sandbox = sandbox();
    let folder = sandbox.home().join("talks");
    fs::create_dir_all(&folder).unwrap();
    let followers = [(); 2].map(|()| Follower::start(&sandbox, &["--path", "talks"]));
    for n in 0..20 {
        for file in 0..10 {
            append(&folder.join(format!("{file}.jsonl")), &line(file, n));
        }
        if n % 5 == 4 {
            let ran = sandbox.run(&["tail", "--path", "talks"]);
            assert!(ran.code == 0, "a one-shot tail beside them: {} {}", ran.code, ran.stderr);
        }
    }
    wait_for(&sandbox, 200);
    let stored: Vec<u64> = followers
        .into_iter()
        .map(|one| one.stop("TERM").last().unwrap()["stored"].as_u64().unwrap())
        .collect();
    assert!(stored.iter().sum::<u64>() <= 200, "{stored:?}");
    let beside = sandbox.beside();
    beside.well(&["tail", "--path", "talks"]);
    assert_same(&beside.export(), &sandbox.export(), "read in one go");
}

#[test]
fn one_that_is_killed_costs_nothing() {
    let sandbox = sandbox();
    let folder = sandbox.home().join("talks");
    let path = folder.join("0.jsonl");
    append(&path, "");
    for round in 0..6 {
        let follower = Follower::start(&sandbox, &["--path", "talks"]);
        for n in 0..30 {
            append(&path, &line(0, round * 30 + n));
        }
        if round % 2 == 0 {
            wait_for(&sandbox, (round + 1) * 30);
        }
        follower.kill();
    }
    sandbox.run(&["tail", "--path", "talks"]);
    assert_eq!(of_type(&sandbox.export(), "event").len(), 180);
    let beside = sandbox.beside();
    beside.well(&["tail", "--path", "talks"]);
    assert_same(&beside.export(), &sandbox.export(), "read in one go");
}

#[test]
fn a_rollout_that_is_archived_or_compressed_while_it_is_followed_stays_one_source() {
    let sandbox = sandbox();
    sandbox.put_recorded();
    sandbox.well(&["tail"]);
    let before = sandbox.export();
    let rollouts = scrollback_tests::transcripts(&sandbox.home().join(".codex/sessions"));
    let (archived, packed) = (&rollouts[0], &rollouts[1]);
    let follower = Follower::start(&sandbox, &[]);
    let archive = sandbox.home().join(".codex/archived_sessions");
    fs::create_dir_all(&archive).unwrap();
    fs::rename(archived, archive.join(archived.file_name().unwrap())).unwrap();
    let bytes = fs::read(packed).unwrap();
    let mut beside = packed.clone().into_os_string();
    beside.push(".zst");
    append(Path::new(&beside), "");
    fs::File::create(&beside).unwrap().write_all(&zstd::encode_all(bytes.as_slice(), 3).unwrap()).unwrap();
    fs::remove_file(packed).unwrap();
    let began = Instant::now();
    let mut standing = String::new();
    while began.elapsed() < LIMIT {
        standing = sandbox.run(&["coverage", "--json"]).stdout;
        if standing.contains(".zst") && standing.contains("archived_sessions") && !standing.contains(GONE) {
            break;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    let told = follower.stop("TERM");
    assert!(!standing.contains(GONE) && !standing.contains("\"standing\":\"missing\""), "{standing}");
    assert_eq!(told.last().unwrap()["records"], 0, "{told:?}");
    assert_same(&before, &sandbox.export(), "moved and compressed");
}
