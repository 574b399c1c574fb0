//! Events that several sessions claim: the order of reading does not matter.

use crate::client;
use crate::world::{World, events, export, jsonl, session_row};
use proptest::prelude::*;
use scrollback_engine::TailOptions;
use scrollback_store::{Filter, Query, Sort};
use std::fmt::Write as _;
use std::thread;
use std::time::Duration;

/// Sets up the transcripts, each a little younger than the one before.
fn world(files: &[(&str, String)]) -> World {
    let world = World::new();
    for (name, bytes) in files {
        world.append(&format!("{name}.jsonl"), bytes);
        thread::sleep(Duration::from_millis(9));
    }
    world
}

fn orders(n: usize) -> Vec<Vec<usize>> {
    if n == 0 {
        return vec![Vec::new()];
    }
    let shorter = orders(n - 1);
    (0..n).flat_map(|at| shorter.iter().map(move |order| insert(order, at, n - 1))).collect()
}

fn insert(order: &[usize], at: usize, what: usize) -> Vec<usize> {
    let mut order = order.to_vec();
    order.insert(at, what);
    order
}

/// Reads the transcripts in every order, at once, and by two readers; returns what all of them give.
fn in_every_order(files: &[(&str, String)]) -> World {
    let at_once = world(files);
    at_once.tail();
    let expected = at_once.export();
    for order in orders(files.len()) {
        let world = world(files);
        for at in &order {
            world.tail_one(&format!("{}.jsonl", files[*at].0));
        }
        assert_eq!(world.export(), expected, "in the order {order:?}, and at once");
        let again = world.again();
        assert_eq!((again.stored, again.replaced, again.withdrawn), (0, 0, 0), "{order:?}");
        assert_eq!(world.export(), expected, "{order:?}, and again");
    }
    let together = world(files);
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| together.tail_with(&TailOptions { batch: 1, ..TailOptions::default() }));
        }
    });
    assert_eq!(together.export(), expected, "by two at once, and by one");
    at_once
}

fn ids(world: &World, session: &str) -> Vec<String> {
    let names = ["1", "2", "3", "4", "5", "6", "7", "8"];
    let name = |id| names.iter().find(|name| client::id(name) == id).unwrap();
    events(&world.store(), session).iter().map(|event| (*name(event.line.id)).to_owned()).collect()
}

const ORIGIN: [&str; 5] = [
    r#"{"id":"1","text":"first words","at":"2026-01-01T10:00:00Z"}"#,
    r#"{"id":"2","role":"assistant","text":"second words","usage":["r1",10,20],"holder":"2"}"#,
    r#"{"id":"3","call":"c","input":{"cmd":"third"}}"#,
    r#"{"id":"4","result":"done","call":"c"}"#,
    r#"{"id":"5","text":"fifth words","at":"2026-01-01T10:09:00Z","title":"the origin's title","holder":"5"}"#,
];

/// Returns the origin's lines as a copy of it has them, with `more` in each.
fn copies(more: &str) -> Vec<String> {
    ORIGIN.iter().map(|line| line.replace("{\"id\"", &format!("{{{more}\"id\""))).collect()
}

fn lines(of: &[String], more: &[&str]) -> String {
    jsonl(&of.iter().map(String::as_str).chain(more.iter().copied()).collect::<Vec<_>>())
}

#[test]
fn a_copied_record_is_at_home_where_it_was_first_written() {
    let own = [r#"{"id":"6","text":"sixth","at":"2026-01-02T10:00:00Z","usage":["r2",1,2],"holder":"6"}"#];
    let fork = lines(&copies("\"from\":\"z\","), &own);
    // The copy's file is the older and its name the smaller: only what the record says makes the difference.
    let world = in_every_order(&[("b", fork), ("z", jsonl(&ORIGIN))]);
    assert_eq!(
        (ids(&world, "z"), ids(&world, "b")),
        (vec!["1", "2", "3", "4", "5"].into_iter().map(String::from).collect(), vec!["6".to_owned()])
    );
    let store = world.store();
    let (origin, copy) = (session_row(&store, "z"), session_row(&store, "b"));
    assert_eq!(
        (origin.line.title.as_deref(), copy.line.title.as_deref()),
        (Some("the origin's title"), None)
    );
    assert_eq!((store.usage_of(&origin).unwrap().len(), store.usage_of(&copy).unwrap().len()), (1, 1));
    assert_eq!((origin.line.turns, copy.line.turns), (2, 1));
    assert_eq!(copy.line.started_at.unwrap().to_string(), "2026-01-02T10:00:00.000Z");
}

#[test]
fn the_index_finds_an_event_in_its_home_alone() {
    let fork = lines(&copies("\"from\":\"z\","), &[]);
    for first in ["b.jsonl", "z.jsonl"] {
        let world = world(&[("b", fork.clone()), ("z", jsonl(&ORIGIN))]);
        world.tail_one(first);
        world.tail();
        let store = world.store();
        let found = |session: Option<&str>| {
            let session = session.map(|session| session_row(&store, session).row);
            let query = Query::parse("second words").unwrap();
            let filter = Filter { session, ..Filter::default() };
            store.search(&query, &filter, Sort::Newest, 9).unwrap().hits.len()
        };
        assert_eq!((found(Some("z")), found(Some("b")), found(None)), (1, 0, 1), "{first} first");
    }
}

#[test]
fn a_link_said_late_decides_what_both_claim() {
    let fork = lines(&copies(""), &[r#"{"id":"6","text":"sixth","link":"z"}"#]);
    let world = in_every_order(&[("b", fork), ("z", jsonl(&ORIGIN))]);
    assert_eq!((ids(&world, "z").len(), ids(&world, "b")), (5, vec!["6".to_owned()]));
}

#[test]
fn where_nothing_is_said_the_older_file_is_home() {
    let world = in_every_order(&[("z", jsonl(&ORIGIN)), ("b", lines(&copies(""), &[]))]);
    assert_eq!(ids(&world, "z").len(), 5);
    assert!(!world.export().contains("\"session\":\"b\",\"seq\""));
}

#[test]
fn a_fork_of_a_fork() {
    let second = lines(&copies(""), &[r#"{"id":"6","text":"sixth"}"#, r#"{"link":"a"}"#]);
    let third = lines(
        &copies(""),
        &[r#"{"id":"6","text":"sixth"}"#, r#"{"id":"7","text":"seventh"}"#, r#"{"link":"b"}"#],
    );
    // The forks are older files than what they are forks of.
    let world = in_every_order(&[("c", third.clone()), ("b", second), ("a", jsonl(&ORIGIN))]);
    assert_eq!(
        (ids(&world, "a").len(), ids(&world, "b"), ids(&world, "c")),
        (5, vec!["6".to_owned()], vec!["7".to_owned()])
    );
    // The one in the middle was never read: its link is not known, and the older file is home.
    let world = in_every_order(&[("c", third), ("a", jsonl(&ORIGIN))]);
    assert_eq!(ids(&world, "c").len(), 7);
}

#[test]
fn a_link_in_the_middle_decides_for_those_around_it() {
    // Neither a nor c says anything of the other; b, which claims nothing, is what joins them.
    let a = jsonl(&[r#"{"id":"1","text":"one"}"#]);
    let c = jsonl(&[r#"{"id":"1","text":"one"}"#, r#"{"link":"b"}"#]);
    let b = jsonl(&[r#"{"id":"8","text":"eight","link":"a"}"#]);
    let world = in_every_order(&[("c", c), ("b", b), ("a", a)]);
    assert_eq!(ids(&world, "a"), ["1"]);
}

#[test]
fn an_origin_never_seen_leaves_the_event_with_the_copy() {
    let fork = lines(&copies("\"from\":\"gone\","), &[]);
    let world = in_every_order(&[("b", fork)]);
    let store = world.store();
    for event in events(&store, "b") {
        assert_eq!(event.line.copied_from.as_deref(), Some("gone"));
    }
    assert_eq!(session_row(&store, "b").line.title.as_deref(), Some("the origin's title"));
}

#[test]
fn copies_fill_what_the_home_leaves_open_and_no_more() {
    let home = jsonl(&[r#"{"id":"1","text":"x"}"#, r#"{"id":"2","text":"y","model":"m-home"}"#]);
    let one = jsonl(&[
        r#"{"id":"1","text":"x","from":"z","at":"2026-01-03T00:00:00Z","model":"m-one"}"#,
        r#"{"id":"2","text":"other words","from":"z","model":"m-one"}"#,
    ]);
    let two = jsonl(&[r#"{"id":"1","text":"x","from":"z","at":"2026-01-02T00:00:00Z","model":"m-two"}"#]);
    let world = in_every_order(&[("two", two), ("one", one), ("z", home)]);
    let store = world.store();
    let held = events(&store, "z");
    assert_eq!(held[0].line.at.unwrap().to_string(), "2026-01-02T00:00:00.000Z", "the older copy's");
    assert_eq!(held[0].line.model.as_deref(), Some("m-two"));
    assert_eq!((held[1].line.model.as_deref(), held[1].line.body.text()), (Some("m-home"), "y"));
    assert_eq!(held[1].line.revision, None);
}

#[test]
fn the_home_says_late_what_a_copy_filled() {
    let home = jsonl(&[r#"{"id":"1","text":"x"}"#]);
    let copy = jsonl(&[r#"{"id":"1","text":"x","from":"z","model":"m-copy"}"#]);
    let world = world(&[("b", copy), ("z", home)]);
    world.tail();
    assert!(world.export().contains("m-copy"));
    world.append("z.jsonl", jsonl(&[r#"{"id":"1","text":"x","model":"m-home"}"#]));
    world.tail();
    assert!(world.export().contains("m-home") && !world.export().contains("m-copy"));
}

#[test]
fn a_withdrawal_in_a_copy_does_not_follow_the_event_home() {
    let fork =
        lines(&copies("\"from\":\"z\","), &[r#"{"id":"6","text":"sixth"}"#, r#"{"withdraw":{"turns":2}}"#]);
    let world = in_every_order(&[("b", fork), ("z", jsonl(&ORIGIN))]);
    let withdrawn = |session| events(&world.store(), session).iter().filter(|event| event.withdrawn).count();
    assert_eq!((withdrawn("z"), withdrawn("b")), (0, 1));
}

#[derive(Debug, Clone)]
struct Session {
    claims: Vec<(u8, u8, u8)>,
    links: Vec<u8>,
}

fn session() -> impl Strategy<Value = Session> {
    (prop::collection::vec((0..3u8, 0..4u8, 0..4u8), 0..5), prop::collection::vec(0..4u8, 0..2))
        .prop_map(|(claims, links)| Session { claims, links })
}

fn transcript(session: &Session) -> String {
    let mut bytes = String::new();
    for (event, origin, facts) in &session.claims {
        let from = match origin {
            0 => String::new(),
            1 => r#","from":"""#.to_owned(),
            n => format!(r#","from":"s{n}""#),
        };
        let at = if facts & 1 == 1 {
            format!(r#","at":"2026-01-0{}T00:00:00Z""#, 1 + origin)
        } else {
            String::new()
        };
        let model = if facts & 2 == 2 { format!(r#","model":"m{origin}""#) } else { String::new() };
        let more = format!(r#""usage":["r{event}",{},1],"holder":"{event}""#, facts + 1);
        writeln!(bytes, r#"{{"id":"{event}","text":"words {event}"{from}{at}{model},{more}}}"#).unwrap();
    }
    for link in &session.links {
        writeln!(bytes, r#"{{"link":"s{link}"}}"#).unwrap();
    }
    bytes
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn whatever_is_claimed_the_order_does_not_matter(sessions in prop::collection::vec(session(), 3), order in 0..6usize) {
        let files: Vec<(&str, String)> = ["s0", "s1", "s2"].into_iter().zip(sessions.iter().map(transcript)).collect();
        let at_once = world(&files);
        at_once.tail();
        let one_by_one = world(&files);
        for at in &orders(3)[order] {
            one_by_one.tail_one(&format!("{}.jsonl", files[*at].0));
        }
        prop_assert_eq!(export(&one_by_one.store()), export(&at_once.store()));
        let expected = one_by_one.export();
        let again = one_by_one.again();
        prop_assert_eq!((again.stored, again.replaced), (0, 0));
        prop_assert_eq!(one_by_one.export(), expected);
    }
}
