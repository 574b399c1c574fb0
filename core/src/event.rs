//! One thing that happened in a session.

use crate::{EventId, Timestamp};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// One message, thinking, tool call, tool result or injected passage, as a decoder reports it.
///
/// Content ([`Body`]) is what an id stands for: other content under an id already held is a new revision.
/// Everything else is a fact: the first known value of the event's home session stands, and a copy only fills
/// what is missing.
///
/// Made by [`Event::new`], which has a default for all but identity, session and body; what differs is set by the
/// methods below or in place.
#[derive(Debug, Clone, PartialEq)]
pub struct Event<'a> {
    /// Taken from what the client wrote, before redaction; the same on every machine.
    pub id: EventId,
    /// The session this record stands in, under the client's id: that of the file, also for a copied record.
    pub session: Cow<'a, str>,
    /// Where in the session it comes.
    pub order: Order,
    /// When it happened, if the record says.
    pub at: Option<Timestamp>,
    /// Whether `session` is where it was first written.
    pub origin: Origin<'a>,
    /// Whether it is final. One that the client may still change is kept and shown, but delivered later; said again
    /// under its id, it takes the new content.
    pub settled: bool,
    /// The client's own id of the record, for a withdrawal that names it ([`Withdraw`](crate::Withdraw)).
    pub record_id: Option<Cow<'a, str>>,
    /// Who caused it.
    pub by: By<'a>,
    /// The event that caused this one, where the decoder knows it: a command's body comes from the command. A result's
    /// call is found by the store, and the call that launched a sub-agent by
    /// [`Facts::launched_by`](crate::Facts::launched_by).
    pub parent: Option<EventId>,
    /// The model that made it.
    pub model: Option<Cow<'a, str>>,
    /// What it means for the turns of its session: by its kind, unless the client says otherwise.
    pub turn: Turn,
    /// More of the client's own facts, as the text of one JSON object; it is exported, and neither shown nor searched.
    pub data: Option<Cow<'a, str>>,
    /// What was said or done.
    pub body: Body<'a>,
}

impl<'a> Event<'a> {
    /// Returns an event of its own session, in place, settled, caused by whom its kind suggests.
    pub fn new(id: EventId, session: impl Into<Cow<'a, str>>, body: Body<'a>) -> Self {
        let by = match &body {
            Body::Message { role: Role::User, .. } | Body::Note { .. } => By::Person,
            Body::Injected { .. } | Body::Notice { .. } => By::Harness,
            _ => By::Agent(None),
        };
        Self {
            id,
            session: session.into(),
            order: Order::default(),
            at: None,
            origin: Origin::Own,
            settled: true,
            record_id: None,
            by,
            parent: None,
            model: None,
            turn: Turn::ByKind,
            data: None,
            body,
        }
    }

    /// Sets when it happened.
    #[must_use]
    pub fn at(mut self, at: Option<Timestamp>) -> Self {
        self.at = at;
        self
    }

    /// Sets who caused it.
    #[must_use]
    pub fn by(mut self, by: By<'a>) -> Self {
        self.by = by;
        self
    }

    /// Sets where it was first written.
    #[must_use]
    pub fn origin(mut self, origin: Origin<'a>) -> Self {
        self.origin = origin;
        self
    }

    /// Sets the event that caused it.
    #[must_use]
    pub fn parent(mut self, parent: Option<EventId>) -> Self {
        self.parent = parent;
        self
    }

    /// Sets the model that made it.
    #[must_use]
    pub fn model(mut self, model: Option<Cow<'a, str>>) -> Self {
        self.model = model;
        self
    }

    /// Sets what it means for the turns of its session.
    #[must_use]
    pub fn turn(mut self, turn: Turn) -> Self {
        self.turn = turn;
        self
    }
}

/// Where an event comes in its session: by rank, then by the engine's generation of the source, then by record
/// and part. The default is rank 0, the record being decoded, after what was already pushed for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Order {
    /// Orders the sources of one session: a later file of a thread has a higher rank (milliseconds since 1970
    /// will do; below 2⁴²).
    pub rank: u64,
    /// The record and part to stand at, for an event that was held back; `None` is here and now.
    pub place: Option<(u64, u32)>,
}

/// Whether a record was first written in the session it stands in.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Origin<'a> {
    /// It was, as far as the record says.
    #[default]
    Own,
    /// It is a copy; of that session, if the record says.
    Copied {
        /// The session it was first written in.
        from: Option<Cow<'a, str>>,
    },
}

/// Who caused an event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum By<'a> {
    /// The person at the client.
    Person,
    /// An agent, by its name if it has one (a sub-agent's prompt is its parent agent's).
    Agent(Option<Cow<'a, str>>),
    /// The client itself, or a hook.
    Harness,
    /// Nothing is known.
    Nobody,
}

/// What an event means for the turns of its session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Turn {
    /// A user's message opens a turn, anything else stands in the running one.
    #[default]
    ByKind,
    /// It opens a turn: a sub-agent's task.
    Opens,
    /// It does not: a message the client took into the running turn.
    Joins,
}

/// What the model saw a message as.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Said to the agent.
    User,
    /// Said by the agent.
    Assistant,
}

/// Where injected text came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum InjectedBy {
    /// A hook's output.
    Hook,
    /// A skill's body.
    Skill,
    /// The summary that stands for an earlier part of the session.
    Compaction,
    /// A reminder of the client's.
    Reminder,
    /// A command's body or output.
    Command,
    /// What surrounds the session: directory, shell, editor.
    Environment,
    /// Standing instructions: AGENTS.md, CLAUDE.md, permissions.
    Instructions,
    /// Anything else.
    Other,
}

/// What a notice is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NoticeClass {
    /// The model's provider failed.
    ApiError,
    /// A person stopped the turn.
    Interrupted,
    /// The client stopped the turn.
    Aborted,
    /// The client tried again.
    Retry,
    /// Something is missing from the transcript.
    Gap,
}

/// What was said or done: the kinds of event.
#[derive(Debug, Clone, PartialEq)]
pub enum Body<'a> {
    /// Said by a person or an agent.
    Message {
        /// What the model saw it as.
        role: Role,
        /// The words, injected passages cut out.
        text: Cow<'a, str>,
        /// What came along.
        attachments: Vec<Attachment<'a>>,
    },
    /// Thought by the model and written down. Encrypted or empty thinking is no event.
    Thinking {
        /// The words.
        text: Cow<'a, str>,
    },
    /// A tool, asked for.
    ToolCall {
        /// The client's id of the call.
        call_id: Cow<'a, str>,
        /// The tool's name as the client shows it.
        tool: Cow<'a, str>,
        /// The input, as the text of one JSON value, as written.
        input: Cow<'a, str>,
    },
    /// What a tool gave back.
    ToolResult {
        /// The client's id of the call.
        call_id: Cow<'a, str>,
        /// The tool's name if this record says; else the store finds the call.
        tool: Option<Cow<'a, str>>,
        /// What the model was given.
        output: Cow<'a, str>,
        /// Whether the call failed, or was refused.
        error: bool,
        /// A command's exit status.
        exit_status: Option<i64>,
        /// Images and documents in it.
        attachments: Vec<Attachment<'a>>,
    },
    /// Put before the model by the client, a hook or a command; nobody said it.
    Injected {
        /// Where it came from.
        by: InjectedBy,
        /// The words.
        text: Cow<'a, str>,
    },
    /// Recorded by a cooperating agent.
    Decision {
        /// What was decided.
        what: Cow<'a, str>,
        /// Why.
        why: Option<Cow<'a, str>>,
        /// What else was considered.
        alternatives: Option<Cow<'a, str>>,
    },
    /// Written down by a person or an agent, beside the conversation.
    Note {
        /// The words.
        text: Cow<'a, str>,
    },
    /// Something went wrong or was cut short.
    Notice {
        /// What it is about.
        class: NoticeClass,
        /// What the client says of it.
        text: Cow<'a, str>,
    },
}

impl<'a> Body<'a> {
    /// Returns a message without attachments.
    pub fn message(role: Role, text: impl Into<Cow<'a, str>>) -> Self {
        Self::Message { role, text: text.into(), attachments: Vec::new() }
    }

    /// Returns thinking.
    pub fn thinking(text: impl Into<Cow<'a, str>>) -> Self {
        Self::Thinking { text: text.into() }
    }

    /// Returns a tool call; `input` is the text of one JSON value.
    pub fn call(
        call_id: impl Into<Cow<'a, str>>,
        tool: impl Into<Cow<'a, str>>,
        input: impl Into<Cow<'a, str>>,
    ) -> Self {
        Self::ToolCall { call_id: call_id.into(), tool: tool.into(), input: input.into() }
    }

    /// Returns a tool result that names no tool and no exit status.
    pub fn result(call_id: impl Into<Cow<'a, str>>, output: impl Into<Cow<'a, str>>, error: bool) -> Self {
        Self::ToolResult {
            call_id: call_id.into(),
            tool: None,
            output: output.into(),
            error,
            exit_status: None,
            attachments: Vec::new(),
        }
    }

    /// Returns injected text.
    pub fn injected(by: InjectedBy, text: impl Into<Cow<'a, str>>) -> Self {
        Self::Injected { by, text: text.into() }
    }

    /// Returns a notice.
    pub fn notice(class: NoticeClass, text: impl Into<Cow<'a, str>>) -> Self {
        Self::Notice { class, text: text.into() }
    }

    /// Returns the name of the kind, as the line format has it.
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
}

/// An image or document that came with a message or a result. The engine decodes it, keeps it once by SHA-256
/// and puts a marker into the text: `[image/png, 48,213 bytes, sha256:ab12…]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attachment<'a> {
    /// The media type the client gave, `application/octet-stream` if none.
    pub media_type: Cow<'a, str>,
    /// A file name, if the client gave one.
    pub name: Option<Cow<'a, str>>,
    /// Where the bytes are.
    pub data: Data<'a>,
    /// Where in the event's text the marker goes, in bytes, on a character boundary; `None` is its end.
    pub place: Option<usize>,
}

/// The bytes of an attachment, or where they are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Data<'a> {
    /// Base64, standard alphabet, as the client wrote it.
    Base64(Cow<'a, str>),
    /// An address or a provider's file id; nothing is fetched, the marker names it.
    Elsewhere(Cow<'a, str>),
}
