//! The ids that `docs/formats.md` shows are the ids that are made.

use scrollback_core::{EventId, NAMESPACE, Parser};
use scrollback_parser_claude_code::ClaudeCode;
use scrollback_parser_codex::Codex;
use scrollback_parser_jsonl::Jsonl;
use scrollback_testkit::{Reader, World};
use scrollback_tests::{fixtures_of, page};
use std::collections::BTreeMap;

/// A row of the table of examples.
#[derive(Debug)]
struct Example {
    client: String,
    fixture: String,
    record: u64,
    kind: String,
    parts: Vec<String>,
    id: EventId,
}

fn examples() -> Vec<Example> {
    let page = page("docs/formats.md");
    let (_, after) = page.split_once("## Worked examples").unwrap();
    let rows =
        after.lines().skip_while(|line| !line.starts_with('|')).take_while(|line| line.starts_with('|'));
    rows.skip(2)
        .map(|row| {
            let cells: Vec<&str> = row.split('|').map(str::trim).collect();
            let bare = |cell: &str| cell.trim_matches('`').to_owned();
            Example {
                client: bare(cells[1]),
                fixture: bare(cells[2]),
                record: cells[3].parse().unwrap_or_else(|error| panic!("{error}: {row}")),
                kind: bare(cells[4]),
                parts: cells[6].split(' ').filter(|part| *part != "␟").map(bare).collect(),
                id: bare(cells[7]).parse().unwrap_or_else(|error| panic!("{error}: {row}")),
            }
        })
        .collect()
}

/// Returns the id that a client and the parts of a row give.
fn computed(client: &str, parts: &[String]) -> EventId {
    let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
    match parts.as_slice() {
        [row, part] if client == "claude-code" => EventId::part_of(row, part),
        _ => None,
    }
    .unwrap_or_else(|| EventId::of(client, &parts))
}

#[test]
fn the_worked_examples_are_what_the_parsers_give() {
    let parsers: [(&str, &dyn Parser); 3] =
        [("claude-code", &ClaudeCode), ("codex", &Codex), ("jsonl", &Jsonl)];
    let world = World::new("/home/dev");
    let mut count: BTreeMap<String, usize> = BTreeMap::new();
    for example in examples() {
        assert_eq!(computed(&example.client, &example.parts), example.id, "{example:?}");
        let parser = parsers.iter().find(|(client, _)| *client == example.client).unwrap().1;
        let path = fixtures_of(&example.client).join(&example.fixture);
        let bytes = std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let mut reader = Reader::new(parser, &world, &path);
        for line in bytes.split(|byte| *byte == b'\n') {
            reader.line(line);
        }
        reader.end();
        // What was held back is said with a later record; the record's own place is where it stands.
        let found = reader.events.iter().find(|(id, ..)| *id == example.id);
        let (_, index, body) = found.unwrap_or_else(|| panic!("no such event in the fixture: {example:?}"));
        assert!(*index + 1 >= example.record, "record {index}: {example:?}");
        let kind: String = example.kind.split('_').map(capital).collect();
        assert!(body.starts_with(&format!("{kind} {{")), "{example:?}: {body}");
        *count.entry(example.client).or_default() += 1;
    }
    for (client, least) in [("claude-code", 8), ("codex", 8), ("jsonl", 6)] {
        assert!(count[client] >= least, "{client}: {count:?}");
    }
}

fn capital(word: &str) -> String {
    word.char_indices().map(|(at, c)| if at == 0 { c.to_ascii_uppercase() } else { c }).collect()
}

#[test]
fn the_namespace_is_written_down() {
    let namespace = NAMESPACE.to_string();
    assert!(page("docs/formats.md").contains(&format!("`{namespace}`")), "{namespace}");
}
