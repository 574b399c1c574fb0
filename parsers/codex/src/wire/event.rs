//! Event messages, and the items in them: what the client showed.

use super::item::Part;
use super::loose::{Flag, FromText, List, Number, Object, Word};
use super::meta::Tokens;
use scrollback_core::Text;
use serde::Deserialize;
use serde_json::value::RawValue;
use std::borrow::Cow;

/// The payload of `event_msg`, and likewise the item of an `item_completed`: of any kind, flat. The old events and
/// the newer items that say the same share the names of their fields.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Happened<'r> {
    #[serde(rename = "type", borrow)]
    pub(crate) kind: Word<'r>,
    /// The kind within the kind: of a prompt, of a sub-agent's activity, of an extension.
    #[serde(rename = "kind")]
    pub(crate) sort: Word<'r>,
    pub(crate) item: Object<Box<Happened<'r>>>,

    pub(crate) id: Word<'r>,
    #[serde(alias = "callId")]
    pub(crate) call_id: Word<'r>,
    pub(crate) item_id: Word<'r>,
    pub(crate) event_id: Word<'r>,
    #[serde(alias = "turnId")]
    pub(crate) turn_id: Word<'r>,
    pub(crate) thread_id: Word<'r>,

    pub(crate) message: Option<&'r RawValue>,
    pub(crate) text: Option<&'r RawValue>,
    pub(crate) content: Option<&'r RawValue>,
    pub(crate) summary_text: Option<&'r RawValue>,
    pub(crate) raw_content: Option<&'r RawValue>,
    pub(crate) user_facing_hint: Option<&'r RawValue>,
    pub(crate) review_output: Option<&'r RawValue>,

    pub(crate) reason: Word<'r>,
    pub(crate) error: Option<&'r RawValue>,
    pub(crate) num_turns: Number,
    /// Seconds since 1970.
    pub(crate) completed_at: Number,
    pub(crate) thread_name: Word<'r>,
    pub(crate) thread_settings: Option<&'r RawValue>,
    pub(crate) turn_attribution: Option<&'r RawValue>,
    pub(crate) info: Option<&'r RawValue>,

    pub(crate) status: Word<'r>,
    pub(crate) success: Flag,
    pub(crate) source: Word<'r>,
    pub(crate) command: Option<&'r RawValue>,
    pub(crate) cwd: Option<&'r RawValue>,
    pub(crate) exit_code: Number,
    pub(crate) aggregated_output: Option<&'r RawValue>,
    pub(crate) stdout: Option<&'r RawValue>,
    pub(crate) stderr: Option<&'r RawValue>,
    pub(crate) changes: Option<&'r RawValue>,
    pub(crate) server: Word<'r>,
    pub(crate) namespace: Word<'r>,
    pub(crate) tool: Word<'r>,
    pub(crate) name: Word<'r>,
    pub(crate) arguments: Option<&'r RawValue>,
    pub(crate) invocation: Option<&'r RawValue>,
    pub(crate) result: Option<&'r RawValue>,
    pub(crate) output: Option<&'r RawValue>,
    pub(crate) content_items: Option<&'r RawValue>,
    pub(crate) query: Option<&'r RawValue>,
    pub(crate) action: Option<&'r RawValue>,
    pub(crate) results: Option<&'r RawValue>,
    pub(crate) path: Option<&'r RawValue>,
    pub(crate) revised_prompt: Option<&'r RawValue>,
    pub(crate) saved_path: Word<'r>,
    pub(crate) duration_ms: Option<&'r RawValue>,
    pub(crate) prompt: Option<&'r RawValue>,
    pub(crate) agents_states: Option<&'r RawValue>,

    pub(crate) new_thread_id: Word<'r>,
    pub(crate) new_agent_nickname: Word<'r>,
    pub(crate) new_agent_role: Word<'r>,
    pub(crate) agent_thread_id: Word<'r>,
    pub(crate) agent_path: Word<'r>,
    pub(crate) receiver_thread_ids: Option<&'r RawValue>,
    pub(crate) receiver_agents: Option<&'r RawValue>,
}

impl Happened<'_> {
    /// Returns the id that ties it to a call or an item.
    pub(crate) fn ident(&self) -> Option<&str> {
        [&self.id, &self.call_id, &self.item_id, &self.event_id].into_iter().find_map(|id| id.get())
    }
}

/// Who caused a turn.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Attribution<'r> {
    #[serde(borrow)]
    pub(crate) parent_turn_id: Word<'r>,
    pub(crate) initiating_agent_path: Word<'r>,
}

/// The counts in a `token_count`.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct TokenInfo<'r> {
    pub(crate) total_token_usage: Object<Tokens>,
    pub(crate) last_token_usage: Object<Tokens>,
    /// Only other programs write it.
    #[serde(borrow)]
    pub(crate) model: Word<'r>,
}

/// What a call of an MCP server asked for, in the old event.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Invocation<'r> {
    #[serde(borrow)]
    pub(crate) server: Word<'r>,
    pub(crate) tool: Word<'r>,
    pub(crate) arguments: Option<&'r RawValue>,
}

/// What an MCP server gave back; the old event puts it under `Ok`, or a message under `Err`.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct McpOutcome<'r> {
    #[serde(borrow)]
    pub(crate) content: List<Part<'r>>,
    #[serde(rename = "structuredContent")]
    pub(crate) structured: Option<&'r RawValue>,
    #[serde(rename = "isError", alias = "is_error")]
    pub(crate) is_error: Flag,
    #[serde(rename = "Ok")]
    pub(crate) ok: Object<Box<McpOutcome<'r>>>,
    #[serde(rename = "Err")]
    pub(crate) err: Option<Text<'r>>,
}

/// Why a turn failed.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Failure<'r> {
    #[serde(borrow)]
    pub(crate) message: Option<Text<'r>>,
}

/// A sub-agent as its parent names it.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct SpawnedAgent<'r> {
    #[serde(borrow)]
    pub(crate) thread_id: Word<'r>,
    pub(crate) agent_id: Word<'r>,
    pub(crate) agent_nickname: Word<'r>,
    pub(crate) nickname: Word<'r>,
    pub(crate) agent_role: Word<'r>,
}

impl<'r> FromText<'r> for SpawnedAgent<'r> {
    fn from_text(_: Cow<'r, str>) -> Option<Self> {
        None
    }
}

/// What a review found.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct ReviewOutput<'r> {
    #[serde(borrow)]
    pub(crate) overall_explanation: Option<Text<'r>>,
    pub(crate) findings: List<Finding<'r>>,
}

/// One finding of a review.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Finding<'r> {
    #[serde(borrow)]
    pub(crate) title: Option<Text<'r>>,
    pub(crate) body: Option<Text<'r>>,
    pub(crate) code_location: Object<CodeLocation<'r>>,
}

impl<'r> FromText<'r> for Finding<'r> {
    fn from_text(_: Cow<'r, str>) -> Option<Self> {
        None
    }
}

/// Where a finding is.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct CodeLocation<'r> {
    #[serde(borrow)]
    pub(crate) absolute_file_path: Word<'r>,
    pub(crate) line_range: Object<LineRange>,
}

/// Lines of a file.
#[derive(Debug, Default, Clone, Copy, Deserialize)]
#[serde(default)]
pub(crate) struct LineRange {
    pub(crate) start: Number,
    pub(crate) end: Number,
}
