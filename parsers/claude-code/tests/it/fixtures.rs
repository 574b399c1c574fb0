//! What must hold for every transcript at hand: those beside this crate, and those in the directory that the
//! environment variable `SCROLLBACK_FIXTURES` names, which holds a folder a client.

use crate::support::{Reading, events, lines, read, said};
use scrollback_core::{Body, EventId, Parser, Probe, Role, Said, Score};
use scrollback_parser_claude_code::ClaudeCode;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Files beside transcripts that are none.
const OTHERS: [&str; 6] = [
    "hook-payloads.jsonl",
    "mcp-messages.jsonl",
    "requests-summary.jsonl",
    "steps.jsonl",
    "history.jsonl",
    "journal.jsonl",
];

#[expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "a test asks where its input is, and says if it is nowhere"
)]
fn shared() -> Option<PathBuf> {
    let root = std::env::var_os("SCROLLBACK_FIXTURES").map(PathBuf::from);
    if root.is_none() {
        println!("SCROLLBACK_FIXTURES is not set: the shared fixtures are skipped");
    }
    root
}

fn own() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures")
}

fn walk(root: &Path, found: &mut Vec<PathBuf>) {
    let mut paths: Vec<PathBuf> =
        std::fs::read_dir(root).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    for path in paths {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if path.is_dir() {
            walk(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "jsonl")
            && !OTHERS.contains(&&*name)
            && !name.ends_with(".events.jsonl")
        {
            found.push(path);
        }
    }
}

fn transcripts() -> Vec<PathBuf> {
    let mut found = Vec::new();
    walk(&own(), &mut found);
    assert!(found.len() >= 15, "the crate's own fixtures are gone: {found:?}");
    if let Some(shared) = shared() {
        walk(&shared.join("claude-code"), &mut found);
    }
    found
}

#[test]
fn every_record_is_accounted_for() {
    for path in transcripts() {
        for (index, record) in read(&path).iter().enumerate() {
            let torn = path.ends_with("hand/damaged.jsonl") && index == 10;
            match record {
                Ok(said) => assert!(!said.is_empty(), "{} says nothing of record {index}", path.display()),
                Err(error) => assert!(torn, "{} record {index}: {error}", path.display()),
            }
        }
    }
}

#[test]
fn only_what_is_made_up_is_unknown() {
    for path in transcripts() {
        if path.starts_with(own().join("hand")) {
            continue;
        }
        let heard = read(&path);
        let unknown: Vec<&str> = said(&heard)
            .filter_map(|said| match said {
                Said::Unknown { kind, .. } => Some(&**kind),
                _ => None,
            })
            .collect();
        let expected: &[&str] = if path.ends_with("v1.0.0-edge-cases.jsonl") {
            &[
                "user without content",
                "user of another shape",
                "not an object",
                "no type",
                "not an object",
                "not an object",
                "user block without type",
            ]
        } else {
            &[]
        };
        assert_eq!(unknown, expected, "{}", path.display());
    }
}

/// Openings of what a client writes for a user, and of what only stands in results.
const WRAPPERS: [&str; 22] = [
    "<command-message>",
    "<command-name>",
    "<command-args>",
    "<local-command-",
    "Caveat: The messages below",
    "Base directory for this skill:",
    "<bash-",
    "<system-reminder>",
    "<task-notification>",
    "Stop hook feedback:",
    "<user-prompt-submit-hook>",
    "<post-tool-use-hook>",
    "This session is being continued from a previous conversation",
    "Implement the following plan:",
    "<teammate-message",
    "<cross-session-message",
    "<user-memory-input>",
    "<persisted-output>",
    "<tool_use_error>",
    "[Request interrupted",
    "<ide_",
    "<fork-boilerplate>",
];

#[test]
fn nothing_injected_is_said_by_a_user() {
    let mut users = 0;
    for path in transcripts() {
        let heard = read(&path);
        for event in events(&heard) {
            if let Body::Message { role: Role::User, text, .. } = &event.body {
                users += 1;
                let wrapper = WRAPPERS.iter().find(|wrapper| text.trim_start().starts_with(**wrapper));
                assert_eq!(wrapper, None, "{}: {text}", path.display());
            }
        }
    }
    assert!(users > 40, "{users}");
}

#[test]
fn reading_in_one_run_and_in_many_says_the_same() {
    for path in transcripts() {
        let text = std::fs::read(&path).unwrap();
        let mut reading = Reading::of(&path);
        let many: Vec<_> = lines(text)
            .into_iter()
            .map(|line| {
                reading.resume();
                reading.line(line)
            })
            .collect();
        assert_eq!(read(&path), many, "{}", path.display());
    }
}

#[test]
fn an_id_within_a_file_stands_for_one_thing() {
    for path in transcripts() {
        let heard = read(&path);
        let mut held: BTreeMap<EventId, &Body<'_>> = BTreeMap::new();
        for event in events(&heard) {
            if let Some(body) = held.insert(event.id, &event.body) {
                assert_eq!(body, &event.body, "{}", path.display());
            }
        }
    }
}

#[test]
fn rubbish_between_records_changes_nothing_but_itself() {
    let rubbish = lines(
        [
            &b"\xff\xfe\0\0"[..],
            b"{",
            b"[[[[",
            b"null",
            b"{\"type\":null}",
            b"{\"type\":\"user\"}",
            b"{\"type\":\"user\",\"message\":{\"content\":[null,1,\"x\",[],{}]}}",
        ]
        .join(&b'\n'),
    );
    for path in transcripts() {
        let clean = read(&path);
        let mut reading = Reading::of(&path);
        let text = std::fs::read(&path).unwrap();
        let mut between = lines(text).into_iter().enumerate().map(|(index, line)| {
            let heard = reading.line(line);
            // A row without a session belongs to the one before it; there is none before the first.
            if index > 0 {
                drop(reading.line(rubbish[index % 5]));
            }
            heard
        });
        assert!(clean.iter().all(|heard| Some(heard) == between.next().as_ref()), "{}", path.display());
    }
    let mut reading = Reading::of(Path::new("x.jsonl"));
    for line in rubbish {
        drop(reading.line(line));
        reading.resume();
    }
}

#[test]
fn its_own_are_known_and_no_others() {
    let sure = |path: &Path| {
        let text = std::fs::read(path).unwrap();
        let head = &text[..text.len().min(64 * 1024)];
        ClaudeCode.score(&Probe { path, head, schema: None })
    };
    for path in transcripts() {
        assert_eq!(sure(&path), Score::Sure, "{}", path.display());
    }
    let Some(shared) = shared() else { return };
    let mut others = 0;
    for client in std::fs::read_dir(shared).unwrap().map(|entry| entry.unwrap().path()) {
        if client.is_dir() && !client.ends_with("claude-code") {
            let mut found = Vec::new();
            walk(&client, &mut found);
            others += found.len();
            for path in found {
                assert_eq!(sure(&path), Score::No, "{}", path.display());
            }
        }
    }
    assert!(others > 0);
}

/// What is counted of a transcript: calls, results, responses, output tokens.
type Numbers = (usize, usize, usize, u64);

fn numbers(path: &Path) -> Numbers {
    let heard = read(path);
    let (mut calls, mut results) = (0, 0);
    for event in events(&heard) {
        calls += usize::from(matches!(&event.body, Body::ToolCall { tool, .. } if tool != "shell"));
        results += usize::from(matches!(&event.body, Body::ToolResult { tool: None, .. }));
    }
    let mut output: BTreeMap<&str, u64> = BTreeMap::new();
    for said in said(&heard) {
        if let Said::Usage { response, usage, .. } = said {
            let held = output.entry(response).or_default();
            *held = usage.output.unwrap_or(0).max(*held);
        }
    }
    (calls, results, output.len(), output.values().sum())
}

#[test]
fn calls_results_responses_and_tokens_are_counted_once() {
    let real = "projects/-home-dev-demo/9f8ea63d-16ca-413c-a289-7019a50ed6a9.jsonl";
    assert_eq!(numbers(&own().join("real-2.1.332").join(real)), (9, 9, 15, 630));
    let Some(shared) = shared() else { return };
    let compacted = "v2.1.39-compaction-subagents/ae4a77f8-aedd-4bc1-888f-c94edc91af04";
    let table: [(&str, Numbers); 12] = [
        ("v1.0.111-session", (13, 13, 13, 3306)),
        ("v1.0.117-resumed-excerpt", (24, 26, 34, 3122)),
        ("v2.0.5-api-errors-document-excerpt", (28, 24, 25, 2211)),
        // Without the client's own rows, whose tokens are all zero: one here, four in the one with API errors.
        ("v2.0.76-compaction-excerpt", (10, 10, 12, 2038)),
        ("v2.1.38-agent-progress", (16, 16, 12, 1586)),
        (compacted, (24, 24, 17, 2204)),
        (&format!("{compacted}/subagents/agent-aac57f5"), (12, 12, 3, 7)),
        ("v2.1.56-api-error-excerpt", (17, 18, 16, 1423)),
        ("v2.1.56-images-microcompact-prlink-excerpt", (25, 24, 26, 2169)),
        ("v2.1.71-task-notification-queue-excerpt", (19, 18, 23, 6227)),
        ("v2.1.332/projects/-home-dev-demo/62e78605-b693-49fa-81fe-b86effbe5d33", (3, 3, 5, 210)),
        ("v2.1.332/projects/-home-dev-demo/dcf9d770-e29f-440f-aedf-d24cadb331ee", (3, 3, 6, 252)),
    ];
    for (name, expected) in table {
        assert_eq!(numbers(&shared.join("claude-code").join(format!("{name}.jsonl"))), expected, "{name}");
    }
}

/// Returns the events of a transcript, each with the response its row reports, if any.
fn ids(path: &Path) -> BTreeMap<EventId, Option<String>> {
    let mut found = BTreeMap::new();
    for record in read(path).into_iter().flatten() {
        let response = record.iter().find_map(|said| match said {
            Said::Usage { response, .. } => Some(response.to_string()),
            _ => None,
        });
        for said in record {
            if let Said::Event(event) = said {
                found.insert(event.id, response.clone());
            }
        }
    }
    found
}

#[test]
fn a_fork_repeats_the_ids_of_its_origin() {
    let demo = own().join("real-2.1.332/projects/-home-dev-demo");
    let branch = own().join("hand/branch");
    // The origin, the fork, how many events they share, and how many are the fork's own.
    let mut pairs = vec![
        (
            demo.join("9f8ea63d-16ca-413c-a289-7019a50ed6a9.jsonl"),
            demo.join("fd652871-ecae-4c92-b8b9-67bcf75a67a8.jsonl"),
            (15, 8),
        ),
        (
            branch.join("30000000-0000-4000-8000-000000000003.jsonl"),
            branch.join("30000000-0000-4000-8000-000000000004.jsonl"),
            (5, 2),
        ),
    ];
    if let Some(shared) = shared() {
        let projects = shared.join("claude-code/v2.1.332/projects");
        let [demo, tui] = [projects.join("-home-dev-demo"), projects.join("-home-dev-tui")];
        pairs.push((
            demo.join("62e78605-b693-49fa-81fe-b86effbe5d33.jsonl"),
            demo.join("dcf9d770-e29f-440f-aedf-d24cadb331ee.jsonl"),
            (21, 4),
        ));
        pairs.push((
            tui.join("f678ed55-e8da-4a14-8647-036f18474c9c.jsonl"),
            tui.join("77635635-c5b8-4a88-acf8-13e5eb70c23f.jsonl"),
            (20, 5),
        ));
    }
    for (origin, fork, expected) in pairs {
        let [origin, fork] = [origin, fork].map(|path| ids(&path));
        let same: Vec<_> =
            fork.iter().filter_map(|(id, response)| Some((response, origin.get(id)?))).collect();
        assert_eq!((same.len(), fork.len() - same.len()), expected);
        for (copied, first) in same {
            // A copy may have lost its tokens, but never says them under another key.
            assert!(copied.is_none() || copied == first, "{copied:?} {first:?}");
        }
    }
}

#[test]
fn the_tokens_of_a_copy_go_where_its_event_goes() {
    let demo = own().join("real-2.1.332/projects/-home-dev-demo");
    let heard = read(&demo.join("fd652871-ecae-4c92-b8b9-67bcf75a67a8.jsonl"));
    let copies: BTreeSet<_> = said(&heard)
        .filter_map(|said| match said {
            Said::Event(event) => {
                matches!(event.origin, scrollback_core::Origin::Copied { .. }).then_some(event.id)
            }
            _ => None,
        })
        .collect();
    let responses: BTreeSet<&str> = said(&heard)
        .filter_map(|said| match said {
            Said::Usage { response, whose: scrollback_core::Whose::HolderOf(event), .. } => {
                copies.contains(event).then_some(&**response)
            }
            _ => None,
        })
        .collect();
    assert_eq!(responses.len(), 2, "{responses:?}");
}
