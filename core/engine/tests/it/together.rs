//! Dry runs, and two tails at once.

use crate::world::{World, events, jsonl};
use scrollback_engine::TailOptions;
use std::fmt::Write as _;
use std::thread;

const LINES: [&str; 4] = [
    r#"{"text":"one","title":"T","usage":["r",1,1]}"#,
    r#"{"kind":"dream"}"#,
    "no json",
    r#"{"text":"two"}"#,
];

#[test]
fn a_dry_run_stores_nothing_and_says_what_it_would() {
    let world = World::new();
    world.append("a.jsonl", jsonl(&LINES));
    drop(world.store());
    let before = std::fs::read(world.store_path()).unwrap();
    let dry = world.tail_with(&TailOptions { dry_run: true, batch: 1, ..TailOptions::default() });
    assert_eq!(std::fs::read(world.store_path()).unwrap(), before);
    assert!(
        world.export().is_empty() && world.raw().is_empty() && world.store().sources().unwrap().is_empty()
    );
    let mut wet = world.tail();
    wet.seconds = dry.seconds;
    assert_eq!(dry, wet);
    assert_eq!((wet.stored, wet.not_understood, wet.unreadable), (2, 1, 1));
}

#[test]
fn two_tails_at_once_store_each_event_once() {
    let mut bytes = String::new();
    for n in 0..900 {
        writeln!(bytes, r#"{{"text":"prompt {}"}}"#, n % 10).unwrap();
    }
    let expected = World::new();
    expected.append("a.jsonl", &bytes);
    expected.append("b.jsonl", &bytes);
    expected.tail();
    for round in 0..3 {
        let world = World::new();
        drop(world.store());
        let (half, rest) = bytes.split_at(bytes.len() / 2 + round * 7);
        for part in [half, rest] {
            world.append("a.jsonl", part);
            world.append("b.jsonl", part);
            let stored: u64 = thread::scope(|scope| {
                let tail = || world.tail_with(&TailOptions { batch: 7, ..TailOptions::default() }).stored;
                let all: Vec<_> = (0..3).map(|_| scope.spawn(tail)).collect();
                all.into_iter().map(|one| one.join().unwrap()).sum()
            });
            assert_eq!(stored, (0..2).map(|_| part.matches('\n').count() as u64).sum::<u64>());
        }
        assert_eq!(world.export(), expected.export());
        assert_eq!(events(&world.store(), "a").len(), 900);
    }
}
