//! What clients take back.

use crate::world::{World, events, jsonl};
use scrollback_store::{Filter, Query, Sort};

const TALK: [&str; 6] = [
    r#"{"id":"1","text":"first prompt","record":"r1"}"#,
    r#"{"id":"2","role":"assistant","text":"first answer","record":"r2"}"#,
    r#"{"id":"3","text":"second prompt","record":"r3"}"#,
    r#"{"id":"4","role":"assistant","text":"second answer","record":"r4"}"#,
    r#"{"id":"5","text":"third prompt","record":"r5"}"#,
    r#"{"id":"6","role":"assistant","text":"third answer","record":"r6"}"#,
];
const AFTER: [&str; 1] = [r#"{"id":"7","text":"fourth prompt"}"#];

/// Reads the talk, a withdrawal and what follows, in one go and line by line and once more; returns the numbers
/// of the events withdrawn.
fn withdrawn(by: &str) -> Vec<usize> {
    let lines: Vec<&str> = TALK.into_iter().chain([by]).chain(AFTER).collect();
    let world = World::new();
    world.append("a.jsonl", jsonl(&lines));
    let report = world.tail();
    let export = world.export();
    let held = events(&world.store(), "a");
    assert_eq!(held.len(), 7, "withdrawn events stay stored");
    let gone: Vec<usize> = (0..7).filter(|at| held[*at].withdrawn).collect();
    assert_eq!(report.withdrawn, gone.iter().filter(|at| **at < 6).count() as u64);
    let (mut seq, mut turn) = (0, 0);
    for event in held.iter().filter(|event| !event.withdrawn) {
        turn += u64::from(event.line.body.text().ends_with("prompt"));
        assert_eq!((event.line.seq, event.line.turn), (seq, turn));
        seq += 1;
    }
    for (at, event) in held.iter().enumerate() {
        let text = event.line.body.text();
        let query = Query::parse(&format!("\"{text}\"")).unwrap();
        let hits = world.store().search(&query, &Filter::default(), Sort::Newest, 9).unwrap().hits.len();
        assert_eq!(hits, usize::from(!gone.contains(&at)), "{text}");
    }
    for _ in 0..2 {
        let again = world.again();
        assert_eq!((again.stored, again.withdrawn, again.replaced), (0, 0, 0));
        assert_eq!(world.export(), export, "again");
    }
    world.rewrite(
        "a.jsonl",
        format!("{{\"do\":\"nothing\"}}\n{}", jsonl(&lines).replace("\"order\":[0,2]", "\"order\":[0,3]")),
    );
    assert_eq!(world.tail().withdrawn, 0);
    assert_eq!(world.export(), export, "rewritten");
    let pieces = World::new();
    for line in lines {
        pieces.append("a.jsonl", jsonl(&[line]));
        pieces.tail();
    }
    assert_eq!(pieces.export(), export, "line by line");
    gone
}

#[test]
fn one_event() {
    assert_eq!(withdrawn(r#"{"withdraw":{"event":"4"}}"#), [3]);
}

#[test]
fn from_a_record_on() {
    assert_eq!(withdrawn(r#"{"withdraw":{"record":"r4"}}"#), [3, 4, 5]);
    assert_eq!(withdrawn(r#"{"withdraw":{"record":"never said"}}"#), [] as [usize; 0]);
}

#[test]
fn from_a_place_on() {
    assert_eq!(withdrawn(r#"{"withdraw":{"order":[0,2]}}"#), [2, 3, 4, 5, 6]);
}

#[test]
fn the_last_turns() {
    assert_eq!(withdrawn(r#"{"withdraw":{"turns":1}}"#), [4, 5]);
    assert_eq!(withdrawn(r#"{"withdraw":{"turns":2}}"#), [2, 3, 4, 5]);
    assert_eq!(withdrawn(r#"{"withdraw":{"turns":9}}"#), [0, 1, 2, 3, 4, 5]);
}

#[test]
fn the_last_turns_twice() {
    let world = World::new();
    let back = r#"{"withdraw":{"turns":1}}"#;
    world.append("a.jsonl", jsonl(&[TALK[0], TALK[2], TALK[4], back, AFTER[0], back, back]));
    world.tail();
    assert_eq!(world.texts("a"), ["first prompt"]);
    let export = world.export();
    assert_eq!(world.again().withdrawn, 0);
    assert_eq!(world.export(), export);
}

#[test]
fn the_last_turns_of_a_session_whose_files_have_ranks() {
    let world = World::new();
    world.append(
        "a.jsonl",
        jsonl(&[
            r#"{"session":"S","rank":1700000000000,"id":"1","text":"one"}"#,
            r#"{"id":"2","text":"two"}"#,
        ]),
    );
    world.append("b.jsonl", jsonl(&[r#"{"session":"S","rank":1800000000000,"id":"3","text":"three"}"#]));
    world.tail();
    world.append("b.jsonl", jsonl(&[r#"{"withdraw":{"turns":2}}"#]));
    world.tail();
    assert_eq!(world.texts("S"), ["one"]);
}

#[test]
fn by_id_and_by_place_before_the_events_come() {
    let world = World::new();
    world.append(
        "a.jsonl",
        jsonl(&[r#"{"session":"S","withdraw":{"event":"2"}}"#, r#"{"withdraw":{"order":[7,1]}}"#]),
    );
    world.tail();
    world.append(
        "b.jsonl",
        jsonl(&[r#"{"session":"S","rank":7,"id":"1","text":"one"}"#, r#"{"id":"3","text":"three"}"#]),
    );
    world.append(
        "c.jsonl",
        jsonl(&[r#"{"session":"S","rank":9,"id":"2","text":"two"}"#, r#"{"id":"4","text":"four"}"#]),
    );
    world.tail();
    assert_eq!(world.texts("S"), ["one", "four"]);
    assert_eq!(events(&world.store(), "S").len(), 4);
}
