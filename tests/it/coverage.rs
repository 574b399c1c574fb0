//! Every record of every fixture is accounted for, and what is not understood is a list somebody can read.

use crate::support::sandbox;
use scrollback_core::{Parser, Said};
use scrollback_engine::source::values as parts;
use scrollback_parser_claude_code::ClaudeCode;
use scrollback_parser_codex::Codex;
use scrollback_store::{Access, Counted, Store, Why};
use scrollback_testkit::{Reader, World};
use scrollback_tests::{fixtures, fixtures_of, transcripts};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

fn parsers() -> [(&'static str, &'static dyn Parser); 2] {
    [("claude-code", &ClaudeCode), ("codex", &Codex)]
}

/// What a parser says of a transcript, counted without the engine.
#[derive(Debug, Default, PartialEq, Eq)]
struct Account {
    records: u64,
    events: u64,
    nothing: u64,
    unknown: u64,
    unreadable: u64,
}

/// Reads a transcript with its parser alone.
fn account(parser: &dyn Parser, path: &Path) -> Account {
    let world = World::new("/home/dev");
    let bytes = std::fs::read(path).unwrap();
    let mut reader = Reader::new(parser, &world, path);
    let mut account = Account::default();
    let mut lines = 0;
    for line in bytes.split(|byte| *byte == b'\n').filter(|line| !line.trim_ascii().is_empty()) {
        let before = reader.said.len();
        let whole = reader.line(line);
        let found = reader.said.get(before..).unwrap_or_default();
        let unknown = found.iter().filter(|(_, said)| said.starts_with("Unknown {")).count();
        if whole {
            account.records += 1;
            account.unknown += u64::from(unknown > 0);
        } else {
            // One line may hold several records, each of them readable or not.
            let (mut readable, mut all) = (0, 0);
            for part in parts(line.trim_ascii()) {
                all += 1;
                readable += u64::from(part.whole);
            }
            let all = u64::max(all, 1);
            account.records += all;
            account.unreadable += all - if all > 1 { readable } else { 0 };
        }
        lines += 1;
    }
    assert!(lines > 0 && reader.silent == 0, "{}: {} silent", path.display(), reader.silent);
    reader.end();
    account.events = reader.events.len() as u64;
    let mut nothing: BTreeMap<u64, bool> = BTreeMap::new();
    for (record, said) in &reader.said {
        *nothing.entry(*record).or_insert(true) &= said.starts_with("Nothing(");
    }
    account.nothing = nothing.values().filter(|nothing| **nothing).count() as u64;
    account
}

/// Reads the transcripts of a folder into a store; returns them, the store and what the summary said.
fn read(folder: &Path) -> (scrollback_tests::Sandbox, Vec<PathBuf>, Store, serde_json::Value) {
    let sandbox = sandbox();
    // In place, a file that just came would not be idle, and what is held back to its end not told.
    let files = transcripts(&sandbox.put(folder, "fixtures"));
    let mut args = vec!["tail".to_owned(), "--json".to_owned()];
    for file in &files {
        args.extend(["--path".to_owned(), file.to_string_lossy().into_owned()]);
    }
    let summary = serde_json::from_str(&sandbox.well(&args)).unwrap();
    let store = Store::open(&sandbox.store(), Access::Read).unwrap();
    (sandbox, files, store, summary)
}

fn assert_accounted_for(client: &str, parser: &dyn Parser, folder: &Path) {
    let (_sandbox, files, store, summary) = read(folder);
    let sources = store.sources().unwrap();
    let kinds = store.kind_counts().unwrap();
    let raw = store.raw_records().unwrap();
    assert_eq!(sources.len(), files.len(), "{client}");
    assert_eq!(summary["skipped"], 0, "{summary}");
    let mut total = Account::default();
    for source in &sources {
        let path = source.path.display();
        assert_eq!(source.parser, client, "{path}");
        let found = source.counts;
        let found = Account {
            records: found.records,
            events: found.events,
            nothing: found.nothing,
            unknown: found.unknown,
            unreadable: found.unreadable,
        };
        assert_eq!(found, account(parser, &source.path), "{path}");
        // The counts by kind add up to those of the source: a kind that is never seen may be met twice in a record.
        let of_kind = |counted: Counted| -> u64 {
            kinds
                .iter()
                .filter(|kind| kind.source == source.row && kind.counted == counted)
                .map(|kind| kind.n)
                .sum()
        };
        assert_eq!(of_kind(Counted::Nothing), found.nothing, "{path}");
        assert!(of_kind(Counted::Unknown) >= found.unknown, "{path}");
        total.records += found.records;
        total.events += found.events;
        total.unknown += found.unknown;
        total.unreadable += found.unreadable;
    }
    for (key, sum) in [
        ("records", total.records),
        ("events", total.events),
        ("not_understood", total.unknown),
        ("unreadable", total.unreadable),
    ] {
        assert_eq!(summary[key], sum, "{key}: {summary}");
    }
    // What was not understood is kept raw, each record of its own bytes once.
    let kept = |why: Why| raw.iter().filter(|record| record.why == why).count() as u64;
    assert!(kept(Why::Unknown) <= total.unknown && kept(Why::Unreadable) <= total.unreadable, "{client}");
    assert_eq!(kept(Why::Unknown) > 0, total.unknown > 0, "{client}");
    assert_eq!(kept(Why::Unreadable) > 0, total.unreadable > 0, "{client}");
    for record in &raw {
        let line = std::fs::read(&record.path).unwrap();
        let from = usize::try_from(record.offset).unwrap();
        let bytes = store.raw_bytes(record.row).unwrap();
        let window = &line[from..from + usize::try_from(record.length).unwrap()];
        assert!(
            window.windows(bytes.len()).any(|part| part == bytes.as_slice()),
            "{}: record {} is not kept as the client wrote it",
            record.path.display(),
            record.record
        );
    }
}

#[test]
fn every_record_of_the_repository_is_accounted_for() {
    for (client, parser) in parsers() {
        assert_accounted_for(client, parser, &fixtures_of(client));
    }
}

#[test]
fn every_record_elsewhere_is_accounted_for() {
    let Some(fixtures) = fixtures("every_record_elsewhere_is_accounted_for") else { return };
    for (client, parser) in parsers() {
        assert_accounted_for(client, parser, &fixtures.join(client));
    }
}

#[test]
fn what_is_not_understood_is_this_and_nothing_else() {
    let expected = scrollback_tests::page("tests/expected/not-understood.txt");
    let mut known = BTreeSet::new();
    let mut why = false;
    for line in expected.lines() {
        if line.starts_with('#') {
            why = true;
        } else if line.is_empty() {
            why = false;
        } else {
            assert!(why, "no line with `#` says why: {line}");
            assert!(known.insert(line.to_owned()), "twice: {line}");
        }
    }
    let Some(fixtures) = fixtures("what_is_not_understood_is_this_and_nothing_else") else { return };
    let mut found: BTreeMap<String, u64> = BTreeMap::new();
    for (client, _) in parsers() {
        let (_sandbox, _, store, _) = read(&fixtures.join(client));
        for kind in store.kind_counts().unwrap().iter().filter(|kind| kind.counted == Counted::Unknown) {
            *found.entry(format!("{client} {} {:?}", or_dash(&kind.version), kind.kind)).or_default() +=
                kind.n;
        }
        for record in store.raw_records().unwrap().iter().filter(|record| record.why != Why::Unknown) {
            *found.entry(format!("{client} - {:?}", record.kind)).or_default() += 1;
        }
    }
    let found: BTreeSet<String> = found.into_iter().map(|(kind, n)| format!("{kind} {n}")).collect();
    assert_eq!(found, known, "tests/expected/not-understood.txt lists what is not understood, and why");
}

fn or_dash(version: &str) -> &str {
    if version.is_empty() { "-" } else { version }
}

#[test]
fn nothing_said_is_no_account() {
    // The account of this file looks for these words in what a decoder said.
    let unknown = Said::Unknown { kind: "x".into(), version: None };
    assert!(format!("{unknown:?}").starts_with("Unknown {"));
    assert!(format!("{:?}", Said::Nothing("x".into())).starts_with("Nothing("));
}
