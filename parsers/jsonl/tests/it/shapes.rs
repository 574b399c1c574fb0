//! What is said of a record, and what is not.

use crate::support::{at, events, read, read_lines};
use scrollback_core::{Body, Parser, Probe, Said, Score};
use scrollback_parser_jsonl::Jsonl;
use std::path::Path;

/// Returns the kinds that were not understood.
fn unknown(lines: &[&str]) -> Vec<String> {
    let said = read(at("/srv/a/x.jsonl"), lines);
    said.iter()
        .filter_map(|said| if let Said::Unknown { kind, .. } = said { Some(kind.to_string()) } else { None })
        .collect()
}

#[test]
fn what_is_not_understood_is_named_as_its_reader_knows_it() {
    let cases = [
        (r#"{"type":"heartbeat"}"#, "heartbeat"),
        (r#"{"theme":"dark"}"#, "no role or content"),
        (r#"{"role":"moderator","content":"x"}"#, "role moderator"),
        (r#"{"role":"user"}"#, "role user: no content"),
        (r#"{"role":"assistant","content":null,"audio":{"transcript":"spoken"}}"#, "assistant: no words"),
        (r#"{"type":"user","note":"x"}"#, "user: no content"),
        (r#"{"role":"user","content":7}"#, "a content that is neither text nor blocks"),
        (r#"{"role":"user","content":[{"type":"hologram"}]}"#, "block hologram"),
        (r#"{"role":"user","content":[{"x":1}]}"#, "block without a kind"),
        (r#"{"role":"user","content":[{"type":"image"}]}"#, "block image: no data and no address"),
        (r#"{"role":"user","content":[{"type":"text"}]}"#, "block text: no text"),
        (r#"{"type":"tool_call","input":{}}"#, "a call without a tool's name"),
        ("[1]", "a line that is no object"),
        ("7", "a line that is no object"),
    ];
    for (line, kind) in cases {
        assert_eq!(unknown(&[line]), [kind], "{line}");
    }
    let (said, refused) = read_lines(at("/srv/a/x.jsonl"), &[r#"{"role":"user","content":"#], false, true);
    assert!(said.is_empty() && refused == 1, "what is no JSON is refused");
}

#[test]
fn what_a_record_does_not_say_is_absent() {
    let said = read(
        at("/srv/a/2026-11-30/x.jsonl"),
        &[
            r#"{"role":"user","content":"hi","time":"noon","duration":12.5,"cwd":"src"}"#,
            r#"{"role":"tool","content":"out"}"#,
        ],
    );
    let events = events(&said);
    assert!(events.iter().all(|event| event.at.is_none() && event.model.is_none()), "{events:?}");
    let facts = said.iter().any(|said| matches!(said, Said::Remark(what) if what.starts_with("Facts")));
    assert!(!facts, "a directory that is not absolute says nothing: {said:?}");
    let Body::ToolResult { call_id, tool: None, error: false, exit_status: None, .. } = &events[1].body
    else {
        panic!("{:?}", events[1]);
    };
    assert_eq!(**call_id, events[1].id.to_string(), "a result without a call's id is its own");
}

/// Every word that is said stands in its record.
#[test]
fn nothing_is_said_that_is_not_written() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures");
    let mut said_words = 0;
    for path in scrollback_testkit::fixtures(folder) {
        let text = std::fs::read_to_string(&path).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        // Escapes undone, so that what is said can be looked for.
        let written = text.replace("\\\"", "\"").replace("\\u00e9", "é").replace("\\ud83d", "\u{fffd}");
        for event in events(&read(at("/srv/a/x.jsonl"), &lines)) {
            let words = match &event.body {
                Body::Message { text, .. } | Body::Thinking { text } | Body::Injected { text, .. } => text,
                Body::ToolCall { input, .. } => input,
                Body::ToolResult { output, .. } => output,
                other => panic!("{other:?}"),
            };
            for line in words.lines() {
                assert!(written.contains(line) || text.contains(line), "{}: {line:?}", path.display());
                said_words += 1;
            }
        }
    }
    assert!(said_words > 40, "{said_words}");
}

#[test]
fn only_what_shows_roles_and_contents_may_be_a_transcript() {
    let score = |head: &str| {
        Jsonl.score(&Probe { path: Path::new("/srv/x.jsonl"), head: head.as_bytes(), schema: None })
    };
    let long = format!(r#"{{"role":"user","content":"{}"#, "x".repeat(70_000));
    for yes in [
        r#"{"role":"user","content":"hi"}"#,
        "{\"type\":\"start\"}\n{\"type\":\"user\",\"message\":{\"content\":\"hi\"}}\n",
        "{\"role\":\"system\",\"content\":\"x\"}\n{\"cut",
        &long[..64 << 10],
    ] {
        assert_eq!(score(yes), Score::Maybe, "{}", &yes[..yes.len().min(100)]);
    }
    for no in [
        "{\"theme\":\"dark\"}\n{\"content\":\"x\"}\n",
        r#"{"role":"admin","permissions":["read"]}"#,
        r#"{"role":"user"}"#,
        r#"{"level":"info","message":"role: user"}"#,
        "plain text\n",
    ] {
        assert_eq!(score(no), Score::No, "{no}");
    }
}
