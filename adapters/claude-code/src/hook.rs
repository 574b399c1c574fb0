//! What a payload means, and what is printed.

use crate::wire::Payload;
use scrollback_core::{Call, Env, Hook, Host, Moment, Outcome, PayloadError, Read, Reply, Seen, Text};
use std::borrow::Cow;
use std::path::{Component, Path};

/// Says what a payload means.
pub(crate) fn hook<'p>(env: &dyn Env, call: &Call<'p>) -> Result<Hook<'p>, PayloadError> {
    let payload: Payload<'p> = serde_json::from_slice(call.payload)
        .map_err(|error| PayloadError::new(format!("expected one JSON object: {error}")))?;
    let event = payload.hook_event_name.as_deref().or(call.event).unwrap_or_default();
    let moment = moment(event);
    let host = host(env, &payload);
    let mut read = Vec::new();
    let agent = payload.agent_transcript_path.clone();
    for path in [payload.transcript_path, agent].into_iter().flatten() {
        read.push(Read::Path(sound(path)?));
    }
    let mut seen = Vec::new();
    match moment {
        Moment::Prompt if payload.agent_id.is_none() => {
            seen.extend(payload.prompt.map(|text| Seen::Prompt(text.0)));
        }
        // A sub-agent's payload names the parent's session; its last message is in its own transcript.
        // Where the turn failed it is the error, which the transcript has as one.
        Moment::Stop if payload.agent_id.is_none() => {
            seen.extend(payload.last_assistant_message.map(|text| Seen::Reply(text.0)));
        }
        _ => {}
    }
    Ok(Hook {
        moment,
        host,
        session: payload.session_id.map(|id| id.0),
        cwd: payload.cwd.map(|cwd| path_of(cwd.0)),
        read,
        expect: None,
        seen,
    })
}

fn moment(event: &str) -> Moment {
    match event {
        "SessionStart" => Moment::SessionStart,
        "UserPromptSubmit" => Moment::Prompt,
        "Stop" => Moment::Stop,
        "StopFailure" => Moment::StopFailure,
        "SubagentStop" => Moment::SubagentStop,
        "PreCompact" | "PostCompact" => Moment::Compaction,
        "PostToolUse" | "PostToolUseFailure" => Moment::ToolResult,
        "SessionEnd" => Moment::SessionEnd,
        _ => Moment::Other,
    }
}

/// Returns who runs the hook. Cursor and Copilot run this client's hook files, and Copilot, Gemini and Qwen set
/// its variables too: those say nothing.
fn host<'p>(env: &dyn Env, payload: &Payload<'p>) -> Host<'p> {
    let path = payload.transcript_path.as_deref().unwrap_or_default();
    if payload.cursor_version.is_some() || path.contains("/.cursor/") {
        return Host::Foreign(Cow::Borrowed("cursor"));
    }
    if env.var("COPILOT_CLI").is_some() || path.contains("/.copilot/") {
        return Host::Foreign(Cow::Borrowed("copilot-cli"));
    }
    if path.contains("/.grok/") {
        return Host::Foreign(Cow::Borrowed("grok"));
    }
    Host::Own
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
    // The client takes what begins with a brace for JSON; plain text would do too, but not text with a brace.
    let json = serde_json::json!({
        "hookSpecificOutput": { "hookEventName": event, "additionalContext": text }
    });
    Reply { stdout: Cow::Owned(json.to_string()), ..Reply::default() }
}
