//! Other content under an id that is held.

use crate::world::{World, events, jsonl};
use std::fmt::Write as _;

const KEY: &str = "sk-ant-api03-NqVwYS81VP7Hb1DX8pPd5khxE3pyIgKpaUnArl63XykWZeiNNCiia_3anXn9_k3ksu9mI4ROnl89Sm995ytbxA-k7jqevAA";

fn revision(world: &World, session: &str, at: usize) -> Option<u64> {
    events(&world.store(), session)[at].line.revision
}

const SAID: [&str; 4] = [
    r#"{"id":"1","text":"one"}"#,
    r#"{"id":"2","text":"two"}"#,
    r#"{"id":"1","text":"one, rather"}"#,
    r#"{"id":"3","text":"three"}"#,
];

#[test]
fn a_later_record_revises_where_the_first_stands() {
    let world = World::new();
    world.append("a.jsonl", jsonl(&SAID));
    let report = world.tail();
    assert_eq!((report.stored, report.replaced, report.events), (3, 1, 4));
    assert_eq!(world.texts("a"), ["one, rather", "two", "three"]);
    assert_eq!((revision(&world, "a", 0), revision(&world, "a", 1)), (Some(1), None));
    world.append("a.jsonl", jsonl(&[SAID[0]]));
    assert_eq!(world.tail().replaced, 1);
    assert_eq!((world.texts("a")[0].as_str(), revision(&world, "a", 0)), ("one", Some(2)));
}

#[test]
fn reading_everything_again_revises_nothing() {
    let world = World::new();
    world.append("a.jsonl", jsonl(&SAID));
    world.append("a.jsonl", jsonl(&[SAID[0]]));
    world.tail();
    let export = world.export();
    for _ in 0..2 {
        let report = world.again();
        assert_eq!((report.stored, report.replaced), (0, 0));
        assert_eq!(world.export(), export);
    }
}

#[test]
fn a_rewrite_that_changes_the_head_revises_nothing() {
    for more in [&SAID[..0], &SAID[..1]] {
        let world = World::new();
        world.append("a.jsonl", jsonl(&SAID));
        world.append("a.jsonl", jsonl(more));
        world.tail();
        let export = world.export();
        for head in ["{\"do\":\"nothing\"}\n", "{\"do\":\"nothing\",\"x\":1}\n\n", ""] {
            world.rewrite("a.jsonl", format!("{head}{}{}", jsonl(&SAID), jsonl(more)));
            let report = world.tail();
            assert_eq!((report.opened, report.stored, report.replaced), (1, 0, 0), "{head}");
            assert_eq!(world.export(), export, "{head}");
        }
        world.append("a.jsonl", jsonl(&[r#"{"id":"2","text":"two, rather"}"#]));
        assert_eq!(world.tail().replaced, 1);
        assert_eq!(world.texts("a")[1], "two, rather");
    }
}

#[test]
fn a_record_rewritten_where_it_stood_is_revised() {
    let mut bytes = String::new();
    for n in 0..400 {
        writeln!(bytes, r#"{{"id":"n{n}","text":"words of {n}"}}"#).unwrap();
    }
    let world = World::new();
    world.append("a.jsonl", &bytes);
    world.tail();
    world.rewrite("a.jsonl", bytes.replace("words of 390", "WORDS OF 390"));
    let report = world.tail();
    assert_eq!((report.stored, report.replaced), (0, 1), "{report:?}");
    assert_eq!(world.texts("a")[390], "WORDS OF 390");
}

#[test]
fn a_copy_never_revises() {
    let origin = jsonl(&[r#"{"id":"1","text":"as it was"}"#]);
    let copy = jsonl(&[
        r#"{"id":"1","text":"as the copy has it","from":"a"}"#,
        r#"{"id":"1","text":"again","from":"a"}"#,
    ]);
    for order in [["a.jsonl", "b.jsonl"], ["b.jsonl", "a.jsonl"]] {
        let world = World::new();
        world.append("a.jsonl", &origin);
        world.append("b.jsonl", &copy);
        for name in order {
            world.tail_one(name);
        }
        assert_eq!(
            (world.texts("a"), revision(&world, "a", 0)),
            (vec!["as it was".to_owned()], None),
            "{order:?}"
        );
    }
    let world = World::new();
    world.append("a.jsonl", &origin);
    world.append("a.jsonl", jsonl(&[r#"{"id":"1","text":"shortened","from":"x"}"#]));
    world.tail();
    assert_eq!((world.texts("a"), revision(&world, "a", 0)), (vec!["as it was".to_owned()], None));
}

#[test]
fn contents_that_differ_only_in_a_secret_are_two() {
    let other = KEY.replace("yIgK", "KIgy");
    let world = World::new();
    world.append("a.jsonl", jsonl(&[&format!(r#"{{"id":"1","text":"my key: {KEY}"}}"#)]));
    world.append("a.jsonl", jsonl(&[&format!(r#"{{"id":"1","text":"my key: {other}"}}"#)]));
    assert_eq!(world.tail().replaced, 1);
    let text = world.texts("a").remove(0);
    assert!(text.starts_with("my key: [redacted:") && !text.contains(&KEY[20..]), "{text}");
    assert_eq!(revision(&world, "a", 0), Some(1));
}

#[test]
fn a_session_of_two_files_is_the_same_whichever_is_read_first() {
    let first = jsonl(&[r#"{"session":"S","rank":1,"id":"1","text":"early"}"#, r#"{"id":"2","text":"two"}"#]);
    let second =
        jsonl(&[r#"{"session":"S","rank":2,"id":"1","text":"late"}"#, r#"{"id":"3","text":"three"}"#]);
    let mut exports = Vec::new();
    for order in [["x.jsonl", "y.jsonl"], ["y.jsonl", "x.jsonl"]] {
        let world = World::new();
        world.append("x.jsonl", &first);
        world.append("y.jsonl", &second);
        for name in order {
            world.tail_one(name);
        }
        let export = world.export();
        assert_eq!(world.again().replaced, 0);
        assert_eq!(world.export(), export);
        assert_eq!(world.texts("S"), ["late", "two", "three"]);
        exports.push(export);
    }
    assert_eq!(exports[0], exports[1]);
}
