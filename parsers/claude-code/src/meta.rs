//! Rows beside the conversation: titles, links, and the many that carry nothing for us.

use crate::blocks::injected;
use crate::injected::{Passage, passage};
use crate::said::Put;
use crate::session::{Thread, row_part};
use crate::user::text_block;
use crate::wire::{Block, Content, Message, Row};
use scrollback_core::{Body, Events, Facts, InjectedBy, Lineage, Role, TitleRank, Whose};
use std::borrow::Cow;

/// Types of rows known to carry nothing for us. `progress` repeats what stands elsewhere.
const NOTHING: [&str; 40] = [
    "progress",
    "agent-color",
    "agent-setting",
    "last-prompt",
    "mode",
    "permission-mode",
    "repl-mode",
    "tag",
    "worktree-state",
    "relocated",
    "cost-state",
    "fork-context-ref",
    "queue-operation",
    "file-history-snapshot",
    "file-history-delta",
    "attribution-snapshot",
    "content-replacement",
    "frame-link",
    "observer-ref",
    "ended-by-model",
    "resume-head-vouch",
    "data-flow-records",
    "data-flow-incomplete",
    "derived-from",
    "tools-used",
    "atis-latch",
    "isolation-latch",
    "session-owner",
    "dev-mods",
    "memory-mode",
    "hybrid-organization",
    "bridge-session",
    "history-suppression",
    "artifact-comment-monitor",
    "artifact-autoreact-ledger",
    "host-row",
    "api-request",
    "api-request-shape",
    "api-request-blob",
    "api-request-resumed",
];

const FACTS: [&str; 6] = ["summary", "custom-title", "agent-name", "ai-title", "continued-in", "pr-link"];

/// Says whether rows of that type are written by this client, beside its conversation's.
pub(crate) fn is_known(kind: &str) -> bool {
    NOTHING.contains(&kind) || FACTS.contains(&kind)
}

/// Says what a row beside the conversation says.
pub(crate) fn meta<'r>(
    kind: &str,
    row: &mut Row<'r>,
    thread: &Thread<'r>,
    version: Option<Cow<'r, str>>,
    events: &mut Events<'r>,
) {
    let title = |rank, title: Option<scrollback_core::Text<'r>>| {
        title.filter(|title| !title.trim().is_empty()).map(|title| (rank, title.0))
    };
    let (whose, title) = match kind {
        "summary" => {
            let leaf = row.leaf_uuid.as_deref().filter(|leaf| !leaf.is_empty());
            (
                leaf.map(|leaf| Whose::HolderOf(row_part(leaf, "0"))),
                title(TitleRank::Summary, row.summary.take()),
            )
        }
        "custom-title" => (None, title(TitleRank::Given, row.custom_title.take())),
        "agent-name" => (None, title(TitleRank::Agent, row.agent_name.take())),
        "ai-title" => (None, title(TitleRank::Generated, row.ai_title.take())),
        "continued-in" => return continued(row, thread, events),
        "pr-link" => return pull_request(row, thread, events),
        _ => match NOTHING.iter().find(|known| **known == kind) {
            Some(known) => return events.nothing(*known),
            None => return events.unknown(kind.to_owned(), version),
        },
    };
    let whose = match (whose, kind) {
        (Some(whose), _) => whose,
        (None, "summary") => return events.nothing("summary of nothing"),
        (None, _) => Whose::Session(thread.session.clone()),
    };
    match title {
        Some(title) => events.facts(whose, Facts { title: Some(title), ..Facts::default() }),
        None => events.nothing("empty title"),
    }
}

fn pull_request<'r>(row: &mut Row<'r>, thread: &Thread<'r>, events: &mut Events<'r>) {
    match row.pr_url.take().filter(|address| !address.is_empty()) {
        Some(address) => events.facts(
            Whose::Session(thread.session.clone()),
            Facts { pull_request: Some(address.0), ..Facts::default() },
        ),
        None => events.nothing("pr-link"),
    }
}

fn continued<'r>(row: &mut Row<'r>, thread: &Thread<'r>, events: &mut Events<'r>) {
    match row.continued_in_session_id.take().filter(|next| !next.is_empty() && **next != *thread.session) {
        Some(next) => events.facts(
            Whose::Session(next.0),
            Facts {
                parent_session: Some(thread.session.clone()),
                lineage: Some(Lineage::Continuation),
                ..Facts::default()
            },
        ),
        None => events.nothing("continued-in"),
    }
}

/// Says what a `system` row says.
pub(crate) fn system<'r>(put: &mut Put<'_, 'r>, row: &Row<'r>) {
    let text = || match row.content.map(Content::of) {
        Some(Content::Text(text)) => Some(text),
        Some(Content::Blocks(blocks)) => Some(words(blocks)),
        _ => None,
    };
    match row.subtype.as_deref().unwrap_or_default() {
        "local_command" => match text().map(|text| (passage(&text), text)) {
            Some((Some(Passage::Injected(by, text)), _)) => injected(put, "0", by, text),
            Some((Some(Passage::Command(typed)), _)) => {
                injected(put, "0", InjectedBy::Command, Cow::Owned(typed));
            }
            Some((Some(Passage::Nothing(what)), _)) => put.events.nothing(what),
            Some((Some(Passage::Shell(_) | Passage::ShellOutput { .. }), text)) => {
                let message =
                    Message { content: Some(Content::Blocks(vec![text_block(text)])), ..Message::default() };
                crate::user::user(put, row, message);
            }
            Some((_, text)) => injected(put, "0", InjectedBy::Command, text),
            None => put.events.nothing("local_command"),
        },
        "voice_call_talk" => match text().filter(|text| !text.trim().is_empty()) {
            Some(text) => drop(put.body("0", Body::message(Role::User, text))),
            None => put.events.nothing("voice_call_talk"),
        },
        "away_summary" => injected(put, "0", InjectedBy::Other, text().unwrap_or_default()),
        subtype => {
            if let Some(known) = SYSTEM.iter().find(|known| **known == subtype) {
                put.events.nothing(*known);
            } else {
                put.unknown(format!("system {subtype}"));
            }
        }
    }
}

fn words<'r>(blocks: Vec<Block<'r>>) -> Cow<'r, str> {
    let texts: Vec<Cow<'r, str>> =
        blocks.into_iter().filter_map(|block| block.text.map(|text| text.0)).collect();
    Cow::Owned(texts.join("\n"))
}

/// Subtypes of `system` rows known to carry nothing for us.
const SYSTEM: [&str; 23] = [
    "compact_boundary",
    "microcompact_boundary",
    "api_error",
    "stop_hook_summary",
    "turn_duration",
    "informational",
    "scheduled_task_fire",
    "memory_saved",
    "agents_killed",
    "permission_retry",
    "bridge_status",
    "cloud_session_status",
    "file_snapshot",
    "model_fallback",
    "model_consent_fallback",
    "model_refusal_fallback",
    "model_refusal_no_fallback",
    "rewind_stand_in",
    "placed",
    "tool_host_result",
    "away_summary",
    "local_command",
    "voice_call_talk",
];
