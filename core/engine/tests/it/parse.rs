//! Without a store the same comes out.

use crate::client::ACME;
use crate::world::{World, events, jsonl};
use scrollback_core::{EventLine, Line, Registry};

fn parsed(world: &World, name: &str) -> (Vec<EventLine>, Vec<Line>, scrollback_engine::ParseReport) {
    let registry = Registry::default().with_parser(&ACME).unwrap();
    let (mut events, mut others) = (Vec::new(), Vec::new());
    let report = scrollback_engine::parse(world, &registry, &world.path(name), Some("acme"), &mut |line| {
        match line {
            Line::Event(event) => events.push(event.clone()),
            other => others.push(other.clone()),
        }
        Ok(())
    });
    (events, others, report.unwrap())
}

#[test]
fn parse_says_what_the_store_holds() {
    let world = World::new();
    world.append(
        "a.jsonl",
        jsonl(&[
            r#"{"text":"ok","at":"2026-01-01T10:00:00Z","title":"T"}"#,
            r#"{"text":"ok"}"#,
            r#"{"call":"c","tool":"Grep","input":{"a":[1,2]}}"#,
            r#"{"result":"found","call":"c"}"#,
            r#"{"kind":"thinking","text":"hm"}"#,
            r#"{"kind":"injected","text":"by a hook"}"#,
            r#"{"kind":"dream"}"#,
            r#"{"do":"panic"}"#,
            r#"{"do":"silent"}"#,
            "{\"text\":\"torn{\"id\":\"w\",\"text\":\"whole\"}",
            r#"{"text":"my key is sk-ant-api03-NqVwYS81VP7Hb1DX8pPd5khxE3pyIgKpaUnArl63XykWZeiNNCiia_3anXn9_k3ksu9mI4ROnl89Sm995ytbxA-k7jqevAA"}"#,
            r#"{"text":"picture","file":"aGVsbG8="}"#,
            r#"{"role":"assistant","text":"bye","model":"m","usage":["r",1,2]}"#,
        ]),
    );
    let report = world.tail();
    let (lines, others, parse) = parsed(&world, "a.jsonl");
    let stored = events(&world.store(), "a");
    assert_eq!((lines.len(), stored.len()), (10, 10));
    for (line, stored) in lines.iter().zip(&stored) {
        let (line, stored) =
            (serde_json::to_string(line).unwrap(), serde_json::to_string(&stored.line).unwrap());
        assert_eq!(line, stored);
    }
    assert_eq!((parse.events, parse.records), (report.events, report.records));
    assert_eq!(parse.not_understood, report.not_understood);
    assert_eq!(others.len(), 2, "a session and a usage: {others:?}");
}

#[test]
fn parse_says_a_revision_once_more_with_its_number() {
    let world = World::new();
    world.append(
        "a.jsonl",
        jsonl(&[r#"{"id":"1","text":"a"}"#, r#"{"id":"2","text":"b"}"#, r#"{"id":"1","text":"c"}"#]),
    );
    let (lines, _, _) = parsed(&world, "a.jsonl");
    let said: Vec<_> =
        lines.iter().map(|line| (line.body.text(), line.seq, line.turn, line.revision)).collect();
    assert_eq!(said, [("a", 0, 1, None), ("b", 1, 2, None), ("c", 0, 1, Some(1))]);
    world.tail();
    let stored = events(&world.store(), "a");
    assert_eq!(serde_json::to_string(&stored[0].line).unwrap(), serde_json::to_string(&lines[2]).unwrap());
}
