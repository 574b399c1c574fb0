//! Bad transcripts: each costs only itself.

use crate::world::{World, jsonl};
use scrollback_engine::{Problem, TailOptions, TailReport};
use scrollback_store::{Counted, Why};
use std::fs::{self, File};
use std::os::unix::fs::{PermissionsExt as _, symlink};

const KEY: &str = "sk-ant-api03-NqVwYS81VP7Hb1DX8pPd5khxE3pyIgKpaUnArl63XykWZeiNNCiia_3anXn9_k3ksu9mI4ROnl89Sm995ytbxA-k7jqevAA";

/// Tails a bad transcript between two good ones; the good ones are read whatever it is.
fn beside(bad: impl FnOnce(&World)) -> (World, TailReport) {
    let world = World::new();
    world.append("a-good.jsonl", jsonl(&[r#"{"text":"before"}"#, r#"{"text":"too"}"#]));
    world.append("z-good.jsonl", jsonl(&[r#"{"text":"after"}"#]));
    bad(&world);
    let report = world.tail_with(&TailOptions { max_line: 40_000, ..TailOptions::default() });
    assert_eq!(world.texts("a-good"), ["before", "too"]);
    assert_eq!(world.texts("z-good"), ["after"]);
    (world, report)
}

fn bytes(bad: impl AsRef<[u8]>) -> (World, TailReport) {
    beside(|world| world.append("bad.jsonl", bad))
}

/// Returns what the report says of the bad transcript: the record and the words.
fn said(report: &TailReport) -> Vec<(Option<u64>, String)> {
    let of_bad = |problem: &&Problem| problem.path.ends_with("bad.jsonl");
    report.problems.iter().filter(of_bad).map(|problem| (problem.record, problem.what.clone())).collect()
}

/// Says whether the report names that record, with that word in it.
fn names(report: &TailReport, record: u64, word: &str) -> bool {
    said(report).iter().any(|(at, what)| *at == Some(record) && what.contains(word))
}

#[test]
fn what_is_not_json_is_kept_raw() {
    let (world, report) = bytes("{\"text\":\"one\"}\nhello there\n{\"text\":\"two\"}\n");
    assert_eq!(world.texts("bad"), ["one", "two"]);
    assert_eq!((report.records, report.unreadable), (6, 1));
    assert!(names(&report, 2, "kept raw"), "{report:?}");
    assert_eq!(world.raw(), [b"hello there"]);
    let record = world.store().raw_records().unwrap().remove(0);
    assert_eq!((record.record, record.offset, record.length), (1, 15, 12));
    assert_eq!(record.path, world.path("bad.jsonl"));
}

#[test]
fn half_a_line_waits_for_the_rest() {
    let (world, report) = bytes("{\"text\":\"one\"}\n{\"text\":\"tw");
    assert_eq!((world.texts("bad"), said(&report)), (vec!["one".to_owned()], vec![]));
    assert!(world.raw().is_empty());
    world.append("bad.jsonl", "o\"}\n");
    world.tail();
    assert_eq!(world.texts("bad"), ["one", "two"]);
}

#[test]
fn several_values_on_a_line_are_several_records() {
    let (world, report) =
        bytes("{\"text\":\"one\"}{\"text\":\"two\"} {\"text\":\"three\"}\n{\"text\":\"four\"}\n");
    assert_eq!(world.texts("bad"), ["one", "two", "three", "four"]);
    assert_eq!((report.records, report.unreadable), (7, 0));
}

#[test]
fn behind_a_torn_half_the_whole_record_is_read() {
    let (world, report) = bytes("{\"text\":\"to{\"id\":\"whole\",\"text\":\"whole\"}\n{\"text\":\"next\"}\n");
    assert_eq!(world.texts("bad"), ["whole", "next"]);
    assert!(names(&report, 1, "not finished"), "{report:?}");
    assert_eq!(world.raw(), [b"{\"text\":\"to"]);
}

#[test]
fn a_line_over_the_limit_is_kept_raw_and_redacted() {
    let long = format!(r#"{{"text":"{} {KEY} {}"}}"#, "x".repeat(50_000), "y ".repeat(30_000));
    let (world, report) = bytes(format!("{{\"text\":\"one\"}}\n{long}\n{{\"text\":\"two\"}}\n"));
    assert_eq!(world.texts("bad"), ["one", "two"]);
    assert!(names(&report, 2, "over the limit"), "{report:?}");
    let store = world.store();
    let record = store.raw_records().unwrap().remove(0);
    assert_eq!((record.why, record.record, record.length), (Why::Long, 1, long.len() as u64 + 1));
    let kept = String::from_utf8(store.raw_bytes(record.row).unwrap()).unwrap();
    let (before, after) = long.split_once(KEY).unwrap();
    assert!(kept.starts_with(before) && kept.ends_with(after), "{}", kept.len());
    assert!(!kept.contains(&KEY[13..]) && kept.contains("[redacted:"), "{}", &kept[before.len()..][..60]);
    world.tail_with(&TailOptions { again: true, max_line: 40_000, ..TailOptions::default() });
    assert_eq!(world.raw().len(), 1);
}

#[test]
fn a_refused_record_is_redacted() {
    let (world, _) = bytes(format!("{KEY} is no JSON\n"));
    let raw = String::from_utf8(world.raw().remove(0)).unwrap();
    assert!(raw.ends_with(" is no JSON") && !raw.contains(&KEY[20..]), "{raw}");
}

#[test]
fn invalid_utf_8_and_half_a_surrogate_pair_cost_one_character() {
    let (world, _) = bytes(b"{\"text\":\"a\xffb\"}\n{\"text\":\"a\\ud83db\"}\n{\"text\":\"c\"}\n");
    assert_eq!(world.texts("bad"), ["a\u{fffd}b", "a\u{fffd}b", "c"]);
    let (world, report) = bytes(b"{\"id\":\"\xff\",\"text\":\"lost id\"}\n{\"text\":\"c\"}\n");
    assert_eq!(world.texts("bad"), ["c"]);
    assert!(names(&report, 1, "kept raw"), "{report:?}");
    assert_eq!(world.raw(), [b"{\"id\":\"\xff\",\"text\":\"lost id\"}"]);
}

#[test]
fn nul_bytes_are_left_out_and_named() {
    let (world, report) =
        bytes(b"{\"text\":\"one\"}\n\0\0\0\0{\"text\":\"two\"}\n\0\0\n{\"text\":\"a\\u0000b\"}\n");
    assert_eq!(world.texts("bad"), ["one", "two", "a\0b"]);
    assert!(names(&report, 2, "NUL") && names(&report, 3, "NUL"), "{report:?}");
}

#[test]
fn deep_nesting_is_read_or_kept() {
    let deep = format!("{}{}", "[".repeat(10_000), "]".repeat(10_000));
    let (world, report) = bytes(format!(
        "{{\"call\":\"c\",\"input\":{deep}}}\n{{\"other\":{deep},\"text\":\"two\"}}\n{{\"text\":{deep}}}\n{deep}\n{}\n",
        "[".repeat(10_000)
    ));
    assert_eq!(world.texts("bad"), [deep.clone(), "two".to_owned()]);
    assert!((3..=5).all(|record| names(&report, record, "kept raw")), "{report:?}");
    assert_eq!(world.raw().len(), 3);
    assert!(world.export().contains(&deep));
}

#[test]
fn an_unknown_kind_is_kept_raw_and_counted() {
    let (world, report) =
        bytes("{\"kind\":\"dream\",\"x\":1}\n{\"kind\":\"dream\",\"x\":2}\n{\"text\":\"two\"}\n");
    assert_eq!((report.not_understood, world.texts("bad").len()), (2, 1));
    assert_eq!(world.raw(), [b"{\"kind\":\"dream\",\"x\":1}", b"{\"kind\":\"dream\",\"x\":2}"]);
    let counts = world.store().kind_counts().unwrap();
    let dream = counts.iter().find(|count| count.kind == "dream").unwrap();
    assert_eq!((dream.n, dream.counted, dream.version.as_str()), (2, Counted::Unknown, "1.2.3"));
    let record = world.store().raw_records().unwrap().remove(0);
    assert_eq!((record.why, record.kind.as_str()), (Why::Unknown, "dream"));
}

#[test]
fn a_time_of_another_century_is_a_time() {
    let (world, _) = bytes(jsonl(&[
        r#"{"text":"old","at":"1823-01-01T00:00:00Z"}"#,
        r#"{"text":"far","at":"9999-12-29T23:59:59Z"}"#,
        r#"{"text":"none","at":"12026-01-01T00:00:00Z"}"#,
    ]));
    assert_eq!(world.texts("bad"), ["old", "far", "none"]);
    let export = world.export();
    assert!(export.contains("1823-01-01T") && export.contains("9999-12-29T") && !export.contains("12026"));
}

#[test]
fn a_file_that_shrank_is_read_from_its_start() {
    let (world, _) = bytes(jsonl(&[r#"{"id":"1","text":"one"}"#, r#"{"id":"2","text":"two"}"#]));
    world.rewrite("bad.jsonl", jsonl(&[r#"{"id":"1","text":"one"}"#]));
    assert_eq!(world.tail().stored, 0);
    world.append("bad.jsonl", jsonl(&[r#"{"id":"3","text":"three"}"#]));
    assert_eq!(world.tail().stored, 1);
    let mut texts = world.texts("bad");
    texts.sort();
    assert_eq!(texts, ["one", "three", "two"]);
}

#[test]
fn a_replaced_file_is_read_from_its_start() {
    let (world, _) = bytes(jsonl(&[r#"{"id":"1","text":"one"}"#, r#"{"id":"2","text":"two"}"#]));
    world.replace("bad.jsonl", jsonl(&[r#"{"id":"0","text":"zero"}"#, r#"{"id":"2","text":"two"}"#]));
    assert_eq!(world.tail().stored, 1);
    assert_eq!(world.texts("bad"), ["one", "zero", "two"]);
}

#[test]
fn a_file_edited_in_place_is_read_from_its_start() {
    let (world, _) = bytes(jsonl(&[r#"{"id":"1","text":"one"}"#, r#"{"id":"2","text":"two"}"#]));
    world.rewrite("bad.jsonl", jsonl(&[r#"{"id":"1","text":"one"}"#, r#"{"id":"2","text":"2nd"}"#]));
    let report = world.tail();
    assert_eq!((report.stored, report.replaced), (0, 1));
    assert_eq!(world.texts("bad"), ["one", "2nd"]);
}

#[test]
#[expect(clippy::disallowed_methods, reason = "a FIFO is made by a program")]
fn what_is_no_file_is_named() {
    let (_, report) = beside(|world| fs::create_dir(world.path("bad.jsonl")).unwrap());
    assert!(report.problems.is_empty() || said(&report)[0].1.contains("directory"), "{report:?}");
    let (_, report) = beside(|world| {
        let fifo = std::process::Command::new("mkfifo").arg(world.path("bad.jsonl")).status();
        assert!(fifo.unwrap().success());
    });
    assert!(said(&report)[0].1.contains("FIFO"), "{report:?}");
    assert_eq!(report.skipped, 1);
    let (_, report) = beside(|world| symlink("bad.jsonl", world.path("bad.jsonl")).unwrap());
    assert!(said(&report)[0].1.contains("symlink loop"), "{report:?}");
    let (_, report) = beside(|world| symlink("..", world.path("up")).unwrap());
    assert!(report.problems.is_empty(), "{report:?}");
}

#[test]
fn an_unreadable_file_is_named() {
    let mut readable = false;
    let (world, report) = beside(|world| {
        world.append("bad.jsonl", "{\"text\":\"secret\"}\n");
        fs::set_permissions(world.path("bad.jsonl"), fs::Permissions::from_mode(0o000)).unwrap();
        readable = File::open(world.path("bad.jsonl")).is_ok();
    });
    if readable {
        println!("not tested: this user may read every file");
        return;
    }
    assert_eq!(said(&report).len(), 1, "{report:?}");
    fs::set_permissions(world.path("bad.jsonl"), fs::Permissions::from_mode(0o600)).unwrap();
    world.tail();
    assert_eq!(world.texts("bad"), ["secret"]);
}

#[test]
fn a_pattern_that_matches_nothing_is_named() {
    let world = World::new();
    world.append("a.jsonl", "{\"id\":\"1\",\"text\":\"one\"}\n");
    let nothing = format!("{}/no*such", world.root().display());
    let paths = vec![nothing.clone(), world.path("").to_str().unwrap().to_owned()];
    let report = world.tail_with(&TailOptions { paths, ..TailOptions::default() });
    assert_eq!((report.unmatched, report.stored), (vec![nothing], 1));
}

#[test]
fn a_file_that_no_parser_knows_is_named() {
    let world = World::new();
    world.append("a.jsonl", "{\"id\":\"1\",\"text\":\"one\"}\n");
    world.append("bad.jsonl", "something else\n");
    let paths = vec![world.path("").to_str().unwrap().to_owned()];
    let report = world.tail_with(&TailOptions { paths, ..TailOptions::default() });
    assert_eq!((report.stored, report.skipped), (1, 1));
    assert!(said(&report)[0].1.contains("no parser knows"), "{report:?}");
}

#[test]
fn a_decoder_that_panics_costs_one_record() {
    let lines = [
        r#"{"session":"S","text":"one"}"#,
        r#"{"text":"one","hold":true}"#,
        r#"{"do":"panic"}"#,
        r#"{"text":"one"}"#,
    ];
    let (world, report) = bytes(jsonl(&lines));
    assert!(names(&report, 3, "the parser failed on this record"), "{report:?}");
    assert_eq!(world.raw(), [lines[2].as_bytes()]);
    assert!(world.texts("S").contains(&"one".to_owned()));
    // What it knew before stays known, whether it was read at once or not.
    let pieces = World::new();
    for line in lines {
        pieces.append("bad.jsonl", jsonl(&[line]));
        pieces.tail();
    }
    let export = pieces.export();
    let once = World::new();
    once.append("bad.jsonl", jsonl(&lines));
    once.tail();
    assert_eq!(once.export(), export);
}

#[test]
fn a_decoder_that_says_nothing_is_counted() {
    let (world, report) = bytes("{\"do\":\"silent\"}\n{\"text\":\"two\"}\n");
    assert_eq!((report.not_understood, world.texts("bad").len()), (1, 1));
    assert_eq!(world.raw(), [b"{\"do\":\"silent\"}"]);
}
