//! What is known of sessions.

use crate::world::{World, jsonl, session_row};
use scrollback_store::{Filter, Query, Sort};

#[test]
fn a_title_said_of_the_holder_of_an_event_finds_its_session() {
    for first in ["a.jsonl", "b.jsonl"] {
        let world = World::new();
        world.append("a.jsonl", jsonl(&[r#"{"title":"Of B","holder":"b1"}"#, r#"{"id":"a1","text":"a"}"#]));
        world.append("b.jsonl", jsonl(&[r#"{"id":"b1","text":"b","usage":["r",1,2]}"#]));
        world.tail_one(first);
        world.tail();
        let store = world.store();
        assert_eq!(session_row(&store, "b").line.title.as_deref(), Some("Of B"), "{first} first");
        assert_eq!(session_row(&store, "a").line.title, None);
    }
}

#[test]
fn usage_said_before_its_event_waits_for_it() {
    let world = World::new();
    world.append(
        "a.jsonl",
        jsonl(&[r#"{"usage":["r",5,7],"holder":"b1"}"#, r#"{"usage":["r",6,1],"holder":"b1"}"#]),
    );
    world.tail();
    world.append("b.jsonl", jsonl(&[r#"{"id":"b1","text":"b"}"#]));
    world.tail();
    let store = world.store();
    let usage = store.usage_of(&session_row(&store, "b")).unwrap();
    assert_eq!((usage.len(), usage[0].usage.input, usage[0].usage.output), (1, Some(6), Some(7)));
}

#[test]
fn a_result_finds_the_tool_of_a_call_that_is_read_later() {
    let world = World::new();
    world.append("a.jsonl", jsonl(&[r#"{"session":"S","rank":2,"result":"out","call":"c","id":"r"}"#]));
    world.tail();
    assert!(world.export().contains(r#""tool":"unknown""#));
    world.append(
        "b.jsonl",
        jsonl(&[r#"{"session":"S","rank":1,"call":"c","tool":"Grep","input":{},"id":"c"}"#]),
    );
    world.tail();
    let export = world.export();
    assert!(!export.contains("unknown") && export.matches(r#""tool":"Grep""#).count() == 2, "{export}");
}

#[test]
fn a_project_learnt_late_is_found_by_search() {
    let world = World::new();
    world.append("a.jsonl", jsonl(&[r#"{"text":"early words"}"#, r#"{"cwd":"/nowhere/app"}"#]));
    world.tail();
    let store = world.store();
    let project = session_row(&store, "a").line.project.unwrap();
    assert!(project.ends_with("app"), "{project}");
    let query = Query::parse("early").unwrap();
    let filter = Filter { project: Some("app"), ..Filter::default() };
    assert_eq!(store.search(&query, &filter, Sort::default(), 9).unwrap().hits.len(), 1);
}
