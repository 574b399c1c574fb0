//! A process that reads is killed at any moment.

use crate::world::{Dice, World};
use scrollback_engine::TailOptions;
use std::fmt::Write as _;
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

const WHERE: &str = "SCROLLBACK_TEST_KILL";

/// What the killed process does: it reads, over and over.
#[test]
#[ignore = "run by the test below, in a process of its own"]
fn reads_until_it_is_killed() {
    #[expect(clippy::disallowed_methods, reason = "how the parent tells where")]
    let root = std::env::var(WHERE).expect("run by another test");
    let world = World::at(Path::new(&root));
    loop {
        // Another process may hold the store for a moment; nothing else may go wrong.
        if let Err(error) = world.try_tail(&TailOptions { batch: 2, ..TailOptions::default() }) {
            std::fs::File::create(world.root().join("failed")).unwrap();
            panic!("{error}");
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "a process that can be killed")]
fn start(root: &Path) -> Child {
    std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--ignored", "--exact", "kill::reads_until_it_is_killed"])
        .env(WHERE, root)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

#[test]
fn killed_at_any_moment_nothing_is_lost_and_nothing_comes_twice() {
    let mut dice = Dice::new(7);
    let mut all = String::new();
    for n in 0..600 {
        // Ids come from memory: a mark that is not of one moment with it would show.
        let word = ["ok", "go on", "again"][n % 3];
        writeln!(all, r#"{{"text":"{word}"}}"#).unwrap();
        if n % 7 == 0 {
            writeln!(all, r#"{{"id":"r{n}","text":"{}","usage":["u{n}",{n},1]}}"#, "long ".repeat(n % 90))
                .unwrap();
        }
        if n % 50 == 49 {
            writeln!(all, r#"{{"withdraw":{{"turns":2}}}}"#).unwrap();
        }
    }
    let expected = World::new();
    expected.append("a.jsonl", &all);
    expected.tail();

    let world = World::new();
    drop(world.store());
    let (mut rest, mut kills) = (all.as_bytes(), 0);
    let started = Instant::now();
    while kills < 30 || (!rest.is_empty() && started.elapsed() < Duration::from_secs(15)) {
        assert!(started.elapsed() < Duration::from_secs(60), "only {kills} kills");
        let mut child = start(world.root());
        let until = Instant::now() + Duration::from_millis(20 + dice.throw(300));
        while Instant::now() < until {
            let piece = usize::try_from(1 + dice.throw(200)).unwrap().min(rest.len());
            let (now, later) = rest.split_at(piece);
            world.append("a.jsonl", now);
            rest = later;
            std::thread::sleep(Duration::from_millis(dice.throw(12)));
        }
        assert!(child.try_wait().unwrap().is_none(), "it ended by itself");
        child.kill().unwrap();
        child.wait().unwrap();
        kills += 1;
    }
    assert!(!world.root().join("failed").exists(), "a tail failed");
    let before = world.store().sources().unwrap().first().map_or(0, |row| row.counts.records);
    assert!(before > 0, "the killed processes stored something");
    world.append("a.jsonl", rest);
    world.tail();
    assert_eq!(world.export(), expected.export(), "after {kills} kills");
}
