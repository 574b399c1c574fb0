//! Tokens: each response once, however often its client says them.

use crate::support::{of_kind, of_type, sandbox, text};
use scrollback_tests::{fixtures, transcripts};
use serde_json::Value;
use std::collections::BTreeSet;

fn output(usage: &[Value]) -> u64 {
    usage.iter().map(|line| line["output"].as_u64().unwrap_or(0)).sum()
}

#[test]
fn a_response_is_counted_once_in_a_whole_store() {
    let sandbox = sandbox();
    sandbox.put_recorded();
    sandbox.well(&["tail"]);
    let usage = of_type(&sandbox.export(), "usage");
    assert!(usage.len() > 40, "{} responses", usage.len());
    let responses: BTreeSet<(&str, &str)> =
        usage.iter().map(|line| (text(line, "client"), text(line, "response"))).collect();
    assert_eq!(responses.len(), usage.len(), "a response stands in two sessions");
}

#[test]
fn the_numbers_of_the_table_come_out() {
    let Some(fixtures) = fixtures("the_numbers_of_the_table_come_out") else { return };
    let folder = fixtures.join("claude-code");
    // File; tool calls, tool results, responses, output tokens. A response with no token at all is no line: one of
    // v2.0.76, four of v2.1.56-api-error.
    let table: [(&str, [u64; 4]); 12] = [
        ("v1.0.111-session", [13, 13, 13, 3306]),
        ("v1.0.117-resumed-excerpt", [24, 26, 34, 3122]),
        ("v2.0.5-api-errors-document-excerpt", [28, 24, 25, 2211]),
        ("v2.0.76-compaction-excerpt", [10, 10, 12, 2038]),
        ("v2.1.38-agent-progress", [16, 16, 12, 1586]),
        ("v2.1.39-compaction-subagents/ae4a77f8-aedd-4bc1-888f-c94edc91af04.jsonl", [24, 24, 17, 2204]),
        ("agent-aac57f5", [12, 12, 3, 7]),
        ("v2.1.56-api-error-excerpt", [17, 18, 16, 1423]),
        ("v2.1.56-images", [25, 24, 26, 2169]),
        ("v2.1.71-", [19, 18, 23, 6227]),
        ("62e78605-b693-49fa-81fe-b86effbe5d33.jsonl", [3, 3, 5, 210]),
        ("dcf9d770", [3, 3, 6, 252]),
    ];
    let files = transcripts(&folder);
    let mut wrong = Vec::new();
    for (part, expected) in table {
        let file = files.iter().find(|file| file.to_string_lossy().contains(part)).unwrap();
        let sandbox = sandbox();
        let name = file.file_name().unwrap().to_owned();
        let file = sandbox.put(file, name);
        sandbox.read(&[file]);
        let export = sandbox.export();
        let usage = of_type(&export, "usage");
        let count = |kind: &str| of_kind(&export, kind).len() as u64;
        let found = [count("tool_call"), count("tool_result"), usage.len() as u64, output(&usage)];
        if found != expected {
            wrong.push(format!("{part}: {found:?}, not {expected:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_fork_adds_only_what_is_its_own() {
    let Some(fixtures) = fixtures("a_fork_adds_only_what_is_its_own") else { return };
    let demo = fixtures.join("claude-code/v2.1.332/projects/-home-dev-demo");
    let sandbox = sandbox();
    let files = ["62e78605-b693-49fa-81fe-b86effbe5d33", "dcf9d770-e29f-440f-aedf-d24cadb331ee"]
        .map(|id| sandbox.put(&demo.join(format!("{id}.jsonl")), format!("{id}.jsonl")));
    sandbox.read(&files);
    let usage = of_type(&sandbox.export(), "usage");
    assert_eq!((usage.len(), output(&usage)), (6, 252));
    let own: Vec<&Value> =
        usage.iter().filter(|line| text(line, "session").starts_with("dcf9d770")).collect();
    assert_eq!(own.len(), 1, "{own:?}");
}
