//! Decoders that wait for what comes next.

use crate::world::{World, jsonl};

#[test]
fn what_is_held_back_is_said_after_a_minute_without_opening_the_file() {
    let world = World::new();
    world.append("a.jsonl", jsonl(&[r#"{"text":"one"}"#, r#"{"text":"two","hold":true}"#]));
    world.tail();
    assert_eq!(world.texts("a"), ["one"]);
    world.pass_seconds(30);
    assert_eq!(world.tail().stored, 0);
    world.pass_seconds(40);
    let report = world.tail();
    assert_eq!((report.stored, report.opened, report.sources_changed), (1, 0, 0));
    assert_eq!(world.texts("a"), ["one", "two"]);
    let idle = world.tail();
    assert_eq!((idle.stored, idle.opened), (0, 0));
    world.append("a.jsonl", jsonl(&[r#"{"text":"three"}"#]));
    world.tail();
    assert_eq!(world.texts("a"), ["one", "two", "three"]);
    let at_once = World::new();
    at_once.append(
        "a.jsonl",
        jsonl(&[r#"{"text":"one"}"#, r#"{"text":"two","hold":true}"#, r#"{"text":"three"}"#]),
    );
    at_once.tail();
    assert_eq!(world.export(), at_once.export());
}

#[test]
fn an_unfinished_last_line_is_read_after_a_day() {
    let world = World::new();
    world.append("a.jsonl", "{\"text\":\"one\"}\n{\"text\":\"two\"}");
    world.tail();
    assert_eq!(world.texts("a"), ["one"]);
    world.pass_seconds(25 * 3600);
    world.tail();
    assert_eq!(world.texts("a"), ["one", "two"]);
    assert_eq!(world.tail().opened, 0);
}

#[test]
fn half_a_line_is_looked_at_once_after_a_day() {
    let world = World::new();
    world.append("a.jsonl", "{\"text\":\"one\"}\n{\"text\":\"tw");
    world.tail();
    world.pass_seconds(25 * 3600);
    assert_eq!(world.tail().opened, 1);
    assert_eq!(world.tail().opened, 0);
    world.append("a.jsonl", "o\"}\n");
    world.tail();
    assert_eq!(world.texts("a"), ["one", "two"]);
}
