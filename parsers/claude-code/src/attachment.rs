//! Attachment rows: what the client put before the model between messages, and what a person typed meanwhile.

use crate::injected::{passage, stripped};
use crate::results::Joined;
use crate::said::Put;
use crate::session::{digest16, key};
use crate::user::is_human;
use crate::wire::{Attached, Content, Rendered, Row, is_true};
use scrollback_core::{Body, By, InjectedBy, Role, Turn};
use serde_json::value::RawValue;
use std::borrow::Cow;

/// Says what an attachment row says.
pub(crate) fn attachment<'r>(put: &mut Put<'_, 'r>, row: &Row<'r>, attached: &Attached<'r>) {
    let kind = attached.kind.as_deref().unwrap_or_default().to_owned();
    match kind.as_str() {
        "queued_command" => queued(put, attached),
        "hook_additional_context" => hook(put, row, attached, true),
        "hook_success" => {
            let event = attached.hook_event.as_deref().unwrap_or_default();
            let reaches = matches!(event, "SessionStart" | "UserPromptSubmit" | "UserPromptExpansion");
            hook(put, row, attached, reaches && !keeps_rendered(put));
        }
        "hook_blocking_error"
        | "hook_stopped_continuation"
        | "async_hook_response"
        | "async_hook_response_batch"
        | "hook_deferred_tool" => hook(put, row, attached, false),
        "invoked_skills" | "skill_mention" | "dynamic_skill" => once(put, row, InjectedBy::Skill),
        "instructions" | "nested_memory" => once(put, row, InjectedBy::Instructions),
        _ if is_reminder(&kind) => match rendered(row) {
            Some(text) => drop(put.body("0", Body::injected(InjectedBy::Reminder, text))),
            None => put.events.nothing("attachment not shown"),
        },
        _ if is_boilerplate(&kind) => put.events.nothing("attachment"),
        _ if row.rendered.is_none() => put.events.nothing("attachment not shown"),
        _ => put.unknown(format!("attachment {kind}")),
    }
}

/// Says a prompt that was taken into the running turn, or what else came through the queue.
fn queued<'r>(put: &mut Put<'_, 'r>, attached: &Attached<'r>) {
    let mode = attached.command_mode.as_deref().unwrap_or("prompt");
    let human = matches!(mode, "prompt" | "bash") && is_human(attached.origin) && !is_true(attached.is_meta);
    if let Some(at) = attached.timestamp.as_deref().and_then(|at| at.parse().ok()) {
        put.at = Some(at);
    }
    let mut joined = Joined::default();
    let mut part = None;
    match attached.prompt.map(Content::of) {
        Some(Content::Text(text)) => {
            part = Some(0);
            joined.text(text);
        }
        Some(Content::Blocks(blocks)) => {
            for (index, block) in blocks.into_iter().enumerate() {
                match block.kind.as_deref() {
                    Some("text") => joined.text(block.text.unwrap_or_default().0),
                    Some("image" | "document") => joined.media(block),
                    _ => continue,
                }
                part.get_or_insert(index);
            }
        }
        Some(Content::Raw(_)) | None => {}
    }
    let (text, attachments) = joined.finish();
    let Some(part) = part.filter(|_| !text.trim().is_empty() || !attachments.is_empty()) else {
        return put.events.nothing("blank");
    };
    let part = part.to_string();
    if human && passage(&text).is_none() {
        let message = Body::Message { role: Role::User, text, attachments };
        let by = if put.thread.agent.is_some() { By::Agent(None) } else { By::Person };
        let event = put.event(&part, message).by(by).turn(Turn::Joins);
        put.push(event);
    } else {
        put.body(&part, Body::injected(InjectedBy::Other, text));
    }
}

/// Says a hook's output: as the model got it, else, where it must have got it, as the hook wrote it.
fn hook<'r>(put: &mut Put<'_, 'r>, row: &Row<'r>, attached: &Attached<'r>, reaches: bool) {
    let written = if reaches { attached.content.map(lines) } else { None };
    match rendered(row).or(written).filter(|text| !text.trim().is_empty()) {
        Some(text) => drop(put.body("0", Body::injected(InjectedBy::Hook, text))),
        None => put.events.nothing("hook output not shown"),
    }
}

/// Says whether the client is of a version that keeps what the model got, so that none kept means none sent.
fn keeps_rendered(put: &Put<'_, '_>) -> bool {
    let version = put.version.as_deref().unwrap_or_default();
    let mut numbers = version.split(['.', '-']).map(|number| number.parse::<u32>().unwrap_or(0));
    let [major, minor, patch] =
        [numbers.next(), numbers.next(), numbers.next()].map(Option::unwrap_or_default);
    (major, minor, patch) >= (2, 1, 200)
}

/// Says what the client repeats after every compaction, the first time.
fn once<'r>(put: &mut Put<'_, 'r>, row: &Row<'r>, by: InjectedBy) {
    let Some(text) = rendered(row) else { return put.events.nothing("attachment not shown") };
    let seen = key(b't', &format!("{}\u{1f}{}", put.thread.session, digest16(&text)));
    if put.memory.get(&seen).is_some() {
        return put.events.nothing("attachment repeated");
    }
    put.memory.put(&seen, Some(b"1"));
    put.body("0", Body::injected(by, text));
}

/// Returns the text the model got, each item without its outer reminder tag; none if it got none.
fn rendered<'r>(row: &Row<'r>) -> Option<Cow<'r, str>> {
    let items: Vec<Rendered<'r>> = serde_json::from_str(row.rendered?.get()).ok()?;
    let mut joined = Joined::default();
    for item in items {
        match item.content {
            Some(Content::Text(text)) => joined.text(stripped(&text)),
            Some(Content::Blocks(blocks)) => {
                for text in blocks.into_iter().filter_map(|block| block.text) {
                    joined.text(stripped(&text.0));
                }
            }
            Some(Content::Raw(_)) | None => {}
        }
    }
    Some(joined.finish().0).filter(|text| !text.trim().is_empty())
}

/// Returns a string, or a list of strings a line each.
fn lines(raw: &RawValue) -> Cow<'_, str> {
    match serde_json::from_str::<Vec<scrollback_core::Text<'_>>>(raw.get()) {
        Ok(lines) => Cow::Owned(lines.iter().map(|line| &**line).collect::<Vec<_>>().join("\n")),
        Err(_) => serde_json::from_str::<scrollback_core::Text<'_>>(raw.get()).unwrap_or_default().0,
    }
}

fn is_reminder(kind: &str) -> bool {
    matches!(
        kind,
        "file"
            | "directory"
            | "already_read_file"
            | "pdf_reference"
            | "edited_text_file"
            | "edited_image_file"
            | "selected_lines_in_ide"
            | "selected_lines_in_diff"
            | "opened_file_in_ide"
            | "at_mention_reference"
            | "mcp_resource"
            | "relevant_memories"
            | "memory_update"
            | "plan_file_reference"
            | "task_status"
            | "task_reminder"
            | "todo_reminder"
            | "diagnostics"
            | "teammate_mailbox"
            | "goal_status"
            | "critical_system_reminder"
            | "compact_file_reference"
            | "date_change"
    ) || kind.starts_with("plan_mode")
}

/// The same in every session, or not for the model.
fn is_boilerplate(kind: &str) -> bool {
    const OPENINGS: [&str; 5] =
        ["output_style", "auto_mode", "ultra_effort_", "workflow_", "batching_reminder"];
    matches!(
        kind,
        "environment"
            | "model"
            | "date"
            | "session_context"
            | "language"
            | "sandbox_instructions"
            | "skill_listing"
            | "agent_listing_delta"
            | "deferred_tools_delta"
            | "deferred_tools_record"
            | "mcp_instructions_delta"
            | "remote_session_change"
            | "prompt_snapshot"
            | "prompt_render_point"
            | "command_permissions"
            | "total_tokens_reminder"
            | "token_usage"
            | "budget_usd"
            | "output_token_usage"
            | "ultrathink_effort"
            | "agent_mention"
            | "team_context"
            | "coordinator_context"
            | "structured_output"
            | "max_turns_reached"
            | "thinking_stripped"
            | "fork_briefing"
            | "plugin_note"
            | "advisor_tool"
            | "tool_offer_record"
            | "hook_non_blocking_error"
            | "hook_error_during_execution"
            | "hook_system_message"
            | "hook_cancelled"
            | "hook_permission_decision"
    ) || OPENINGS.iter().any(|opening| kind.starts_with(opening))
}
