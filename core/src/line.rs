//! The line format: what `parse` and `export` print, what sinks and third parties read. One JSON object a line,
//! `type` first; nothing is `null`, absent means unknown.

use crate::{EventId, InjectedBy, Lineage, NoticeClass, Role, Timestamp, Usage};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// One line.
#[derive(Debug, Clone, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Line {
    /// The first line of a file.
    Scrollback {
        /// The version of the format.
        format: u32,
    },
    /// What is known of a session.
    Session(SessionLine),
    /// Something that happened.
    Event(EventLine),
    /// A response's tokens.
    Usage(UsageLine),
    /// The client took an event back.
    Withdraw {
        /// The event.
        id: EventId,
        /// The client.
        client: String,
        /// The event's session.
        session: String,
    },
}

/// What is known of a session.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[expect(
    missing_docs,
    reason = "each field is the fact of its name in `Facts`, or is counted from the events"
)]
pub struct SessionLine {
    pub client: String,
    pub session: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent_session: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lineage: Option<Lineage>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_version: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started_at: Option<Timestamp>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<Timestamp>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end_reason: Option<String>,
    pub turns: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_prompt: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pull_request: Option<String>,
}

/// Something that happened: an [`Event`](crate::Event) as it stands in a store, with its place and its actor.
#[derive(Debug, Clone, Serialize)]
pub struct EventLine {
    /// The identity.
    pub id: EventId,
    /// The client.
    pub client: String,
    /// The home session.
    pub session: String,
    /// Which event of the session it is, from 0; those withdrawn are not counted.
    pub seq: u64,
    /// The turn it stands in; 0 is before the first prompt.
    pub turn: u64,
    /// When it happened, if known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<Timestamp>,
    /// What was said or done: `kind` and its fields.
    #[serde(flatten)]
    pub body: LineBody,
    /// Who caused it: `user:<login>`, `agent:<client>[/<name>]`, `system:<client>`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub actor: Option<String>,
    /// `claimed`, `verified` or `unattributed`.
    pub trust: String,
    /// The session's project.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    /// The model that made it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The event that caused it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent: Option<EventId>,
    /// How often its content changed; absent for never.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub revision: Option<u64>,
    /// What witnessed it, where that is no transcript: `hook`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub evidence: Vec<String>,
    /// The session it was copied from, if its own home was never read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub copied_from: Option<String>,
    /// More of the client's own facts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data: Option<Box<RawValue>>,
}

/// The kinds of event in the line format.
#[derive(Debug, Clone, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[expect(missing_docs, reason = "each field is that of its name in `Body`")]
pub enum LineBody {
    Message {
        role: Role,
        text: String,
        #[serde(skip_serializing_if = "Vec::is_empty")]
        attachments: Vec<AttachmentLine>,
    },
    Thinking {
        text: String,
    },
    ToolCall {
        call_id: String,
        tool: String,
        input: Box<RawValue>,
    },
    ToolResult {
        call_id: String,
        tool: String,
        output: String,
        error: bool,
        #[serde(skip_serializing_if = "Option::is_none")]
        exit_status: Option<i64>,
        #[serde(skip_serializing_if = "Vec::is_empty")]
        attachments: Vec<AttachmentLine>,
    },
    Injected {
        injected_by: InjectedBy,
        text: String,
    },
    Decision {
        what: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        why: Option<String>,
        #[serde(skip_serializing_if = "Option::is_none")]
        alternatives: Option<String>,
    },
    Note {
        text: String,
    },
    Notice {
        class: NoticeClass,
        text: String,
    },
}

impl LineBody {
    /// Returns the name of the kind.
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Message { .. } => "message",
            Self::Thinking { .. } => "thinking",
            Self::ToolCall { .. } => "tool_call",
            Self::ToolResult { .. } => "tool_result",
            Self::Injected { .. } => "injected",
            Self::Decision { .. } => "decision",
            Self::Note { .. } => "note",
            Self::Notice { .. } => "notice",
        }
    }

    /// Returns the words of it: a call's input, a result's output, what was decided.
    pub fn text(&self) -> &str {
        match self {
            Self::Message { text, .. }
            | Self::Thinking { text }
            | Self::Injected { text, .. }
            | Self::Note { text }
            | Self::Notice { text, .. } => text,
            Self::ToolCall { input, .. } => input.get(),
            Self::ToolResult { output, .. } => output,
            Self::Decision { what, .. } => what,
        }
    }
}

/// An image or document kept once by its digest.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AttachmentLine {
    /// `sha256:` and the SHA-256 of the bytes in lower-case hexadecimal.
    pub digest: String,
    /// The media type.
    pub media_type: String,
    /// How many bytes.
    pub bytes: u64,
    /// A file name, if the client gave one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
}

/// A response's tokens.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UsageLine {
    /// The client.
    pub client: String,
    /// The session that made it.
    pub session: String,
    /// The response.
    pub response: String,
    /// The model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// When.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<Timestamp>,
    /// How many.
    #[serde(flatten)]
    pub usage: Usage,
}
