//! Which session a record is of, and what its events are named by.

use crate::support::{At, at, events, read, read_lines, rests_on_path, sessions, told};
use scrollback_core::{EventId, text_digest};

const PLAIN: [&str; 4] = [
    r#"{"role":"system","content":"Be kind."}"#,
    r#"{"role":"user","content":"ok"}"#,
    r#"{"role":"assistant","content":"Yes."}"#,
    r#"{"role":"user","content":"ok"}"#,
];
const TIMED: [&str; 3] = [
    r#"{"role":"system","content":"Be kind."}"#,
    r#"{"role":"user","content":"ok","ts":1796068800}"#,
    r#"{"role":"assistant","content":"Yes."}"#,
];

#[test]
fn a_copy_elsewhere_is_the_same_session_if_anything_but_the_path_names_it() {
    let (here, there) = (read(at("/srv/a/log.jsonl"), &TIMED), read(at("/srv/b/other.jsonl"), &TIMED));
    assert_eq!(here, there);
    assert_eq!(sessions(&here), [&text_digest(TIMED[1])[..32]], "the first record with a time names it");
    assert!(!rests_on_path(&here));
    assert_eq!(events(&here).len(), 3);
}

#[test]
fn the_path_names_what_nothing_else_does_and_it_is_said() {
    let (here, there) = (read(at("/srv/a/log.jsonl"), &PLAIN), read(at("/srv/b/log.jsonl"), &PLAIN));
    assert!(rests_on_path(&here) && rests_on_path(&there));
    let (one, other) = (sessions(&here), sessions(&there));
    assert!(one.len() == 1 && other.len() == 1 && one != other, "{one:?} {other:?}");
    assert!(one[0].starts_with("log-"), "{one:?}");
    let both: Vec<_> = told(&here).into_iter().filter(|event| told(&there).contains(event)).collect();
    assert!(both.is_empty(), "two files of one name have no event in common: {both:?}");
}

#[test]
fn the_name_of_the_home_directory_is_no_part_of_the_path() {
    let mine = At { home: "/home/dev", ..at("/home/dev/logs/a.jsonl") };
    let yours = At { home: "/Users/else", ..at("/Users/else/logs/a.jsonl") };
    assert_eq!(sessions(&read(mine, &PLAIN)), sessions(&read(yours, &PLAIN)));
}

#[test]
fn a_file_that_was_compressed_is_the_session_it_was() {
    let plain = sessions(&read(at("/srv/a/log.jsonl"), &PLAIN));
    for compressed in ["/srv/a/log.jsonl.zst", "/srv/a/log.jsonl.gz"] {
        assert_eq!(sessions(&read(at(compressed), &PLAIN)), plain, "{compressed}");
    }
}

#[test]
fn two_files_that_begin_alike_are_two_if_their_ids_are_counters() {
    let lines =
        [r#"{"id":1,"role":"user","content":"hello"}"#, r#"{"id":2,"role":"assistant","content":"hi"}"#];
    assert_ne!(sessions(&read(at("/srv/a/x.jsonl"), &lines)), sessions(&read(at("/srv/b/x.jsonl"), &lines)));
    let lines = [r#"{"id":"0f0c9d1e2b3a4c5d","role":"user","content":"hello"}"#];
    assert_eq!(sessions(&read(at("/srv/a/x.jsonl"), &lines)), sessions(&read(at("/srv/b/x.jsonl"), &lines)));
}

#[test]
fn what_was_read_keeps_its_ids_however_the_file_grows() {
    let grown = [
        r#"{"role":"user","content":"first"}"#,
        r#"{"role":"assistant","content":"second","ts":1796068800}"#,
        r#"{"role":"user","content":"third","session_id":"s-1"}"#,
        r#"{"role":"user","content":"fourth"}"#,
    ];
    for lines in [&PLAIN[..], &TIMED, &grown] {
        let (whole, _) = read_lines(at("/srv/a/x.jsonl"), lines, false, false);
        let (in_pieces, _) = read_lines(at("/srv/a/x.jsonl"), lines, true, false);
        assert_eq!(whole, in_pieces);
        for length in 0..lines.len() {
            let (part, _) = read_lines(at("/srv/a/x.jsonl"), &lines[..length], false, false);
            assert_eq!(told(&part), told(&whole)[..told(&part).len()], "{length} lines of {lines:?}");
        }
    }
    // What carries nothing is of the session that was decided; what names one is of that.
    assert_eq!(sessions(&read(at("/srv/a/x.jsonl"), &grown)).len(), 2);
}

#[test]
fn instructions_before_the_session_is_known_stand_in_their_own_place() {
    let (said, _) = read_lines(at("/srv/a/x.jsonl"), &TIMED[..1], false, false);
    assert!(events(&said).is_empty(), "they wait");
    let said = read(at("/srv/a/x.jsonl"), &TIMED);
    let first = &events(&said)[0];
    assert_eq!((first.body.kind(), first.order.place), ("injected", Some((0, 0))));
    assert_eq!(sessions(&said).len(), 1);
    // If nothing comes after them, they are there all the same when the session is over.
    assert_eq!(events(&read(at("/srv/a/x.jsonl"), &TIMED[..1])).len(), 1);
}

#[test]
fn many_instructions_are_a_session_of_their_own() {
    let lines = [PLAIN[0]; 40];
    let (said, _) = read_lines(at("/srv/a/x.jsonl"), &lines, true, false);
    assert_eq!(events(&said).len(), 40, "what waits is bounded");
    let mut ids: Vec<_> = told(&said).into_iter().map(|(id, _)| id).collect();
    ids.dedup();
    assert_eq!(ids.len(), 40, "each is the n-th of its kind");
    assert!(rests_on_path(&said));
}

#[test]
fn names_are_made_of_what_is_documented() {
    let lines = [
        r#"{"session_id":"s","role":"user","content":"ok"}"#,
        r#"{"session_id":"s","role":"user","content":"ok"}"#,
        r#"{"session_id":"s","id":"m9","role":"assistant","content":[{"type":"text","text":"a"},{"type":"tool_use","id":"c","name":"T","input":1}]}"#,
        r#"{"session_id":"s","role":"assistant","content":"b","reasoning":"r","tool_calls":[{"id":"c2","function":{"name":"T","arguments":"{}"}}]}"#,
    ];
    let expected = |client: &str, session: &str| -> Vec<String> {
        let (ok, last) = (text_digest("ok"), text_digest("r\nb\nc2\nT\n{}"));
        let m9 = text_digest("a\nc\nT\n1");
        let parts: [&[&str]; 7] = [
            &["user", &ok, "0", "0"],
            &["user", &ok, "1", "0"],
            &["m9", "assistant", &m9, "0"],
            &["m9", "assistant", &m9, "1"],
            &["assistant", &last, "0", "thinking"],
            &["assistant", &last, "0", "0"],
            &["assistant", &last, "0", "call.0"],
        ];
        parts.iter().map(|parts| EventId::of(client, &[&[session], *parts].concat()).to_string()).collect()
    };
    let ids = |at: At<'_>| -> Vec<String> { told(&read(at, &lines)).into_iter().map(|(id, _)| id).collect() };
    let here = at("/srv/a/x.jsonl");
    assert_eq!(ids(here), expected("jsonl", "s"));
    assert_eq!(ids(At { client: Some("acme"), ..here }), expected("acme", "s"));
    let labelled = At { client: Some("acme"), session: Some("mine"), ..here };
    assert_eq!(ids(labelled), expected("acme", "mine"), "the user's word goes before the record's");
    assert_eq!(sessions(&read(labelled, &lines)), ["mine"]);
    assert!(!rests_on_path(&read(At { session: Some("mine"), ..here }, &PLAIN)));
}

/// Returns the words of each event of several sources, an event once.
fn words(sources: &[&[&str]]) -> Vec<String> {
    let mut known = std::collections::HashMap::new();
    for (n, lines) in sources.iter().enumerate() {
        for event in events(&read(at(&format!("/srv/{n}/x.jsonl")), lines)) {
            known.insert(event.id, format!("{} {:?}", event.body.kind(), event.body));
        }
    }
    let mut words: Vec<String> = known.into_values().collect();
    words.sort();
    words
}

#[test]
fn lines_that_share_an_id_are_each_kept() {
    // The blocks of one answer, and a counter that began again.
    let lines = [
        r#"{"session_id":"s","id":"msg_1","role":"assistant","content":"part one"}"#,
        r#"{"session_id":"s","id":"msg_1","role":"assistant","content":[{"type":"tool_use","id":"t1","name":"ls","input":{}}]}"#,
        r#"{"session_id":"s","id":"msg_1","role":"assistant","content":"part two"}"#,
        r#"{"session_id":"s","id":1,"role":"user","content":"a"}"#,
        r#"{"session_id":"s","id":1,"role":"user","content":"b"}"#,
    ];
    assert_eq!(words(&[&lines]).len(), 5);
    assert_eq!(words(&[&lines[..4], &lines[4..]]).len(), 5, "in two files");
    assert_eq!(words(&[&lines, &lines]).len(), 5, "a copy gives the same");
}

#[test]
fn the_same_words_at_another_time_are_said_again() {
    let lines = [
        r#"{"session_id":"s","time":"2026-01-01T10:00:00Z","role":"user","content":"yes"}"#,
        r#"{"session_id":"s","time":"2026-01-01T10:01:00Z","role":"user","content":"yes"}"#,
        r#"{"session_id":"s","time":"2026-01-02T09:00:00Z","role":"user","content":"yes"}"#,
        r#"{"session_id":"s","time":"01/03/2026 09:00","role":"user","content":"yes"}"#,
    ];
    assert_eq!(words(&[&lines[..2], &lines[2..]]).len(), 4, "a log that goes on in another file");
    assert_eq!(words(&[&lines, &lines[1..], &lines]).len(), 4, "one whose beginning was dropped, and a copy");
}
