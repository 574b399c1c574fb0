//! What is known of a session, and what a response cost.

use crate::Timestamp;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// How a session came out of another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Lineage {
    /// Launched by an agent of the parent.
    Subagent,
    /// Begun as a copy of the parent, which stands.
    Fork,
    /// The parent taken up again under a new id.
    Resume,
    /// The parent goes on here.
    Continuation,
}

/// How good a title is; a better one is never replaced by a lesser, an equal one by the later.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TitleRank {
    /// Made up from other text, such as a prompt.
    Derived,
    /// An old client's summary.
    Summary,
    /// Made by a model.
    Generated,
    /// The name of an agent.
    Agent,
    /// Given by a person.
    Given,
}

/// What a record says of a session. Say a fact when it is first seen and when it changes, not with every record,
/// and only of the session's own records: a copied row's directory is its origin's.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Facts<'a> {
    /// The session this one came out of. The first stands.
    pub parent_session: Option<Cow<'a, str>>,
    /// How it came out of it. The first stands.
    pub lineage: Option<Lineage>,
    /// The call id, in the parent session, that launched it. The first stands.
    pub launched_by: Option<Cow<'a, str>>,
    /// A session that records of this one are copies of, though not every copied record says so. Every one
    /// stands: where both sessions claim an event as their own, its home is the one named here.
    pub copied_from: Option<Cow<'a, str>>,
    /// The client's own word for the project: an absolute path. The first stands.
    pub project: Option<Cow<'a, str>>,
    /// The directory it started in. The first stands.
    pub cwd: Option<Cow<'a, str>>,
    /// The branch it started on. The first stands.
    pub branch: Option<Cow<'a, str>>,
    /// A title. The best stands, the last of equals.
    pub title: Option<(TitleRank, Cow<'a, str>)>,
    /// The model. The last stands.
    pub model: Option<Cow<'a, str>>,
    /// The client's version. The last stands.
    pub client_version: Option<Cow<'a, str>>,
    /// When it began. The earliest stands.
    pub started_at: Option<Timestamp>,
    /// When it ended. The latest stands.
    pub ended_at: Option<Timestamp>,
    /// Why it ended. The last stands.
    pub end_reason: Option<Cow<'a, str>>,
    /// How it stands, in the client's word. The last stands.
    pub status: Option<Cow<'a, str>>,
    /// What it was about, in the client's word. The last stands.
    pub summary: Option<Cow<'a, str>>,
    /// The address of a pull request made in it. The last stands.
    pub pull_request: Option<Cow<'a, str>>,
    /// The name of the agent that runs in it, if it is a sub-agent's. The first stands.
    pub agent: Option<Cow<'a, str>>,
}

/// Tokens of one model response. `input` excludes cache reads and writes; `output` includes reasoning. Several
/// reports of one response are merged field by field to the largest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Usage {
    /// Tokens read without a cache.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<u64>,
    /// Tokens written, reasoning among them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<u64>,
    /// Tokens read from a cache.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_read: Option<u64>,
    /// Tokens written to a cache.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_write: Option<u64>,
    /// Tokens of reasoning, within `output`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasoning: Option<u64>,
}

impl Usage {
    /// Returns the larger value of each field.
    #[must_use]
    pub fn merged(self, other: Self) -> Self {
        Self {
            input: self.input.max(other.input),
            output: self.output.max(other.output),
            cache_read: self.cache_read.max(other.cache_read),
            cache_write: self.cache_write.max(other.cache_write),
            reasoning: self.reasoning.max(other.reasoning),
        }
    }

    /// Says whether nothing was counted: a copy's or a placeholder's zeros.
    pub fn is_zero(&self) -> bool {
        [self.input, self.output, self.cache_read, self.cache_write, self.reasoning]
            .iter()
            .all(|n| n.unwrap_or(0) == 0)
    }
}
