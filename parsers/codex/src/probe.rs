//! Telling a rollout from everything else.

use crate::names;
use crate::wire::Head;
use scrollback_core::{Probe, Score};

const ENVELOPES: [&str; 7] = [
    "session_meta",
    "response_item",
    "event_msg",
    "turn_context",
    "compacted",
    "world_state",
    "token_usage_record",
];

/// Says how sure it is that the source is a rollout.
pub(crate) fn score(probe: &Probe<'_>) -> Score {
    let named = probe.path.file_name().is_some_and(|name| {
        let name = name.to_string_lossy();
        let stem = name.split(".jsonl").next().unwrap_or_default();
        stem.starts_with("rollout-") && names::name(stem).is_some()
    });
    let Some(first) = probe.lines().next() else { return if named { Score::Maybe } else { Score::No } };
    match serde_json::from_slice::<Head<'_>>(first) {
        Ok(head) => line(&head),
        // Perhaps the first line is longer than the head: base instructions stand in it.
        Err(error) if error.is_eof() && opens_like_one(first) => Score::Sure,
        Err(_) if named => Score::Maybe,
        Err(_) => Score::No,
    }
}

fn line(head: &Head<'_>) -> Score {
    let timed = head.timestamp.get().is_some();
    match head.kind.get() {
        Some(kind) if ENVELOPES.contains(&kind) && head.payload.0 && timed => Score::Sure,
        // A bare file whose first line is gone.
        Some("message" | "reasoning" | "function_call") if head.payload.0 => Score::No,
        Some("message") if head.role.get().is_some() && !timed && head.id.get().is_none() => Score::Maybe,
        None if head.id.get().is_some() && timed && head.instructions.0 => Score::Sure,
        None if head.record_type.is("state") => Score::Maybe,
        _ => Score::No,
    }
}

fn opens_like_one(line: &[u8]) -> bool {
    let start = line.get(..line.len().min(200)).unwrap_or_default();
    let start = String::from_utf8_lossy(start);
    let start: String = start.chars().filter(|c| !c.is_whitespace()).collect();
    let enveloped = start.contains(r#""type":"session_meta""#) && start.starts_with(r#"{""#);
    let bare = start.starts_with(r#"{"id":""#) && start.contains(r#","instructions":""#);
    enveloped || bare
}
