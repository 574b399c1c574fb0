//! What a payload means, and what is printed.

use crate::wire::Payload;
use scrollback_core::{Call, Hook, Host, Moment, Outcome, PayloadError, Read, Reply, Seen, Text};
use std::borrow::Cow;
use std::path::{Component, Path};

/// Says what a payload means.
pub(crate) fn hook<'p>(call: &Call<'p>) -> Result<Hook<'p>, PayloadError> {
    let payload: Payload<'p> = serde_json::from_slice(call.payload)
        .map_err(|error| PayloadError::new(format!("expected one JSON object: {error}")))?;
    if payload.kind.as_deref() == Some("agent-turn-complete") {
        return Ok(notified(payload));
    }
    let event = payload.hook_event_name.as_deref().or(call.event).unwrap_or_default();
    let moment = moment(event);
    let mut read = Vec::new();
    let agent = payload.agent_transcript_path.clone();
    for path in [payload.transcript_path, agent].into_iter().flatten() {
        read.push(Read::Path(sound(path)?));
    }
    let mut seen = Vec::new();
    match moment {
        // A sub-agent's prompt is its task, written by the agent above it.
        Moment::Prompt if payload.agent_id.is_none() => {
            seen.extend(payload.prompt.map(|text| Seen::Prompt(text.0)));
        }
        Moment::Stop => seen.extend(payload.last_assistant_message.map(|text| Seen::Reply(text.0))),
        _ => {}
    }
    Ok(Hook {
        moment,
        host: Host::Own,
        session: payload.session_id.map(|id| id.0),
        cwd: payload.cwd.map(|cwd| path_of(cwd.0)),
        read,
        expect: None,
        seen,
    })
}

/// Says what a line of `notify` means: a turn is complete. The thread may be one the client hides.
fn notified(payload: Payload<'_>) -> Hook<'_> {
    let session = payload.thread_id.map(|id| id.0);
    Hook {
        moment: Moment::Stop,
        host: Host::Own,
        read: session.clone().map(Read::Session).into_iter().collect(),
        session,
        cwd: payload.cwd.map(|cwd| path_of(cwd.0)),
        expect: None,
        seen: Vec::new(),
    }
}

fn moment(event: &str) -> Moment {
    match event {
        "SessionStart" => Moment::SessionStart,
        "UserPromptSubmit" => Moment::Prompt,
        "Stop" => Moment::Stop,
        "SubagentStop" => Moment::SubagentStop,
        "PreCompact" | "PostCompact" => Moment::Compaction,
        "PostToolUse" => Moment::ToolResult,
        "Interrupt" => Moment::Interrupt,
        "SessionEnd" => Moment::SessionEnd,
        _ => Moment::Other,
    }
}

/// Returns the path of a transcript as the client names it: absolute, and without a way up.
fn sound(path: Text<'_>) -> Result<Cow<'_, Path>, PayloadError> {
    let found = Path::new(&*path);
    if !found.is_absolute() || found.components().any(|part| part == Component::ParentDir) {
        return Err(PayloadError::new(format!(
            "a transcript's path is absolute and has no `..`: {:?}",
            &*path
        )));
    }
    Ok(path_of(path.0))
}

fn path_of(path: Cow<'_, str>) -> Cow<'_, Path> {
    match path {
        Cow::Borrowed(path) => Cow::Borrowed(Path::new(path)),
        Cow::Owned(path) => Cow::Owned(path.into()),
    }
}

/// Returns the payload of a session that starts.
pub(crate) fn probe(session: &str, cwd: &Path) -> String {
    let (event, source) = ("SessionStart", "startup");
    serde_json::json!({ "hook_event_name": event, "source": source, "session_id": session, "cwd": cwd })
        .to_string()
}

/// Returns what the client expects: nothing, or at a session's start and at a prompt what the model is to know.
pub(crate) fn reply<'c>(call: &Call<'_>, outcome: Outcome<'c>) -> Reply<'c> {
    let failed = matches!(outcome, Outcome::Failed(_));
    let Outcome::Context(text) = outcome else { return Reply { failed, ..Reply::default() } };
    let event = serde_json::from_slice::<Payload<'_>>(call.payload)
        .ok()
        .and_then(|payload| payload.hook_event_name.map(|event| event.0.into_owned()))
        .or_else(|| call.event.map(str::to_owned))
        .unwrap_or_default();
    if !matches!(moment(&event), Moment::SessionStart | Moment::Prompt) {
        return Reply::default();
    }
    let json = serde_json::json!({
        "hookSpecificOutput": { "hookEventName": event, "additionalContext": text }
    });
    Reply { stdout: Cow::Owned(json.to_string()), ..Reply::default() }
}
