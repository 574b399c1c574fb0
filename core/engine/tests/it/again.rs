//! Reading at once, in pieces, and once more.

use crate::world::{World, jsonl};
use inotify::{EventMask, Inotify, WatchMask};
use proptest::prelude::*;
use scrollback_engine::TailOptions;

/// Ids from memory, a session that only the first line names, pairs, usage, a withdrawal, a record held back.
const TALK: [&str; 13] = [
    r#"{"session":"A","text":"ok","at":"2026-01-01T10:00:00Z"}"#,
    r#"{"text":"ok","at":"2026-01-01T10:00:01Z"}"#,
    r#"{"call":"c","tool":"Bash","input":{"cmd":"ls -l"}}"#,
    r#"{"result":"é½","call":"c"}"#,
    r#"{"text":"waits","hold":true}"#,
    r#"{"id":"x","role":"assistant","text":"one","open":true}"#,
    r#"{"id":"x","role":"assistant","text":"two","usage":["r",3,4]}"#,
    r#"{"kind":"later","n":1}"#,
    "{\"id\":\"broken\",\"text\":}",
    r#"{"text":"ok"}"#,
    r#"{"withdraw":{"turns":1}}"#,
    r#"{"do":"nothing"}"#,
    r#"{"text":"ok","title":"T"}"#,
];

fn one_go(files: &[(&str, &str)]) -> String {
    let world = World::new();
    for (name, bytes) in files {
        world.append(name, bytes);
    }
    world.tail();
    world.export()
}

#[test]
fn a_second_tail_stores_nothing() {
    let world = World::new();
    world.append("a.jsonl", jsonl(&TALK));
    let first = world.tail();
    assert_eq!((first.stored, first.sources_changed, first.opened), (8, 1, 1), "{first:?}");
    let export = world.export();
    let second = world.tail();
    assert_eq!((second.stored, second.replaced, second.withdrawn, second.opened), (0, 0, 0, 0));
    assert_eq!((second.sources, second.by_parser), (1, vec![("acme".to_owned(), 1, 0)]));
    assert_eq!(world.export(), export);
}

#[test]
fn two_equal_prompts_are_two_events() {
    let world = World::new();
    world.append("a.jsonl", jsonl(&[r#"{"text":"go on"}"#, r#"{"text":"go on"}"#]));
    world.tail();
    world.append("a.jsonl", jsonl(&[r#"{"text":"go on"}"#]));
    world.tail();
    assert_eq!(world.texts("a"), ["go on"; 3]);
}

#[test]
fn of_a_thousand_unchanged_files_none_is_opened() {
    let world = World::new();
    for n in 0..1000 {
        world.append(&format!("{n}.jsonl"), jsonl(&[r#"{"text":"hello"}"#]));
    }
    assert_eq!(world.tail().stored, 1000);
    let mut inotify = Inotify::init().unwrap();
    inotify.watches().add(world.path(""), WatchMask::OPEN).unwrap();
    let report = world.tail();
    assert_eq!((report.sources, report.opened), (1000, 0));
    let opened = |inotify: &mut Inotify| {
        let mut buffer = vec![0; 1 << 16];
        match inotify.read_events(&mut buffer) {
            Ok(events) => events.filter(|event| !event.mask.contains(EventMask::ISDIR)).count(),
            Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => 0,
            Err(error) => panic!("{error}"),
        }
    };
    assert_eq!(opened(&mut inotify), 0);
    world.append("7.jsonl", jsonl(&[r#"{"text":"more"}"#]));
    let mut drained = opened(&mut inotify);
    assert_eq!(drained, 1, "our own append");
    assert_eq!(world.tail().opened, 1);
    drained = opened(&mut inotify);
    assert_eq!(drained, 1);
}

#[test]
fn a_file_cut_at_every_byte_gives_what_it_gives_at_once() {
    let all = jsonl(&TALK);
    let expected = one_go(&[("a.jsonl", &all)]);
    let world = World::new();
    for byte in all.as_bytes() {
        world.append("a.jsonl", [*byte]);
        world.tail();
    }
    assert_eq!(world.export(), expected);
}

#[test]
fn small_batches_and_pieces_of_any_size_give_the_same() {
    let all = jsonl(&TALK);
    let expected = one_go(&[("a.jsonl", &all)]);
    for batch in [1, 2, 3] {
        for piece in [1000, 37, 64, 101] {
            let world = World::new();
            for part in all.as_bytes().chunks(piece) {
                world.append("a.jsonl", part);
                world.tail_with(&TailOptions { batch, ..TailOptions::default() });
            }
            assert_eq!(world.export(), expected, "batches of {batch}, pieces of {piece}");
        }
    }
}

#[test]
fn two_sources_interleaved_give_the_same() {
    let (one, other) = (jsonl(&TALK), jsonl(&TALK).replace("\"A\"", "\"B\"").replace("\"x\"", "\"y\""));
    let expected = one_go(&[("a.jsonl", &one), ("b.jsonl", &other)]);
    let world = World::new();
    for (one, other) in one.as_bytes().chunks(53).zip(other.as_bytes().chunks(53)) {
        world.append("b.jsonl", other);
        world.append("a.jsonl", one);
        world.tail_with(&TailOptions { batch: 2, ..TailOptions::default() });
    }
    assert_eq!(world.export(), expected);
}

#[test]
fn everything_again_changes_nothing() {
    let world = World::new();
    world.append("a.jsonl", jsonl(&TALK));
    world.tail();
    let export = world.export();
    for _ in 0..2 {
        let report = world.again();
        assert_eq!((report.stored, report.replaced, report.withdrawn, report.opened), (0, 0, 0, 1));
        assert_eq!(world.export(), export);
    }
}

fn line() -> impl Strategy<Value = String> {
    let words = prop::sample::select(vec!["ok", "go on", "yes"]);
    let id = 0..5u8;
    prop_oneof![
        4 => words.clone().prop_map(|text| format!(r#"{{"text":"{text}"}}"#)),
        4 => (id.clone(), words.clone(), any::<bool>())
            .prop_map(|(id, text, open)| format!(r#"{{"id":"{id}","record":"r{id}","text":"{text}","open":{open}}}"#)),
        1 => (id.clone(), words.clone()).prop_map(|(id, text)| format!(r#"{{"id":"{id}","text":"{text}","from":"x"}}"#)),
        1 => words.clone().prop_map(|text| format!(r#"{{"text":"{text}","hold":true}}"#)),
        2 => (1..4u8).prop_map(|n| format!(r#"{{"withdraw":{{"turns":{n}}}}}"#)),
        1 => id.clone().prop_map(|id| format!(r#"{{"withdraw":{{"record":"r{id}"}}}}"#)),
        1 => id.clone().prop_map(|id| format!(r#"{{"withdraw":{{"event":"{id}"}}}}"#)),
        1 => (id.clone(), words.clone()).prop_map(|(id, text)| format!(r#"{{"title":"{text}","holder":"{id}"}}"#)),
        1 => id.prop_map(|id| format!(r#"{{"usage":["r{id}",{id},1],"holder":"{id}"}}"#)),
        1 => Just(r#"{"kind":"dream"}"#.to_owned()),
        1 => Just("{\"torn\":".to_owned()),
        1 => Just(r#"{"do":"panic"}"#.to_owned()),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn whatever_is_written_pieces_and_once_more_give_the_same(
        lines in prop::collection::vec(line(), 1..16),
        pieces in prop::collection::vec((1..90usize, any::<bool>()), 1..9),
        batch in 1..4u64,
    ) {
        let all: String = lines.iter().flat_map(|line| [line, "\n"]).collect();
        let expected = one_go(&[("a.jsonl", &all)]);
        let world = World::new();
        let mut rest = all.as_bytes();
        for (piece, again) in pieces.into_iter().cycle() {
            let (now, later) = rest.split_at(piece.min(rest.len()));
            world.append("a.jsonl", now);
            world.tail_with(&TailOptions { batch, again, ..TailOptions::default() });
            rest = later;
            if rest.is_empty() {
                break;
            }
        }
        prop_assert_eq!(world.export(), expected.clone());
        let again = world.tail_with(&TailOptions { batch, again: true, ..TailOptions::default() });
        prop_assert_eq!((again.stored, again.replaced, again.withdrawn), (0, 0, 0));
        prop_assert_eq!(world.export(), expected.clone());
        world.rewrite("a.jsonl", format!("{{\"do\":\"nothing\"}}\n{all}"));
        let rewritten = world.tail_with(&TailOptions { batch, ..TailOptions::default() });
        prop_assert_eq!((rewritten.stored, rewritten.replaced, rewritten.withdrawn), (0, 0, 0));
        prop_assert_eq!(world.export(), expected);
    }
}
