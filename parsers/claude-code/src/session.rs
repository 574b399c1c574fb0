//! What a decoder knows of the session a row stands in, and which session that is.

use crate::CLIENT;
use crate::wire::Row;
use scrollback_core::{Env, EventId, Memory, Text, text_digest};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::path::Path;

/// What is remembered of one session. A file holds one, and in old versions its sub-agents' as well: those not
/// being read lie in the memory.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[expect(clippy::struct_excessive_bools, reason = "each is one thing seen or said, whatever the others are")]
pub(crate) struct Known {
    pub(crate) id: String,
    /// Whether it was said where it runs.
    pub(crate) placed: bool,
    /// Whether a sub-agent was tied to its parent, and whether its sidecar was there then.
    pub(crate) linked: bool,
    pub(crate) sidecar: bool,
    /// Whether a sub-agent's task was seen.
    pub(crate) opened: bool,
    /// Whether it is a warm-up, of which nothing is kept.
    pub(crate) skipped: bool,
    pub(crate) version: String,
    pub(crate) model: String,
    /// When it began, as far as rows that do not say whose they are let guess; said once an answer confirms it.
    pub(crate) began: Option<i64>,
    pub(crate) began_said: bool,
    /// What the agent is called.
    pub(crate) agent: Option<String>,
    /// The session the last copied row came from.
    pub(crate) origin: Option<String>,
    /// Whether it was said that this is that one's fork.
    pub(crate) forked: bool,
    /// The prompt command whose body comes next.
    pub(crate) command: Option<EventId>,
    /// The person's shell command whose output comes next.
    pub(crate) shell: Option<String>,
    /// The last event: what a row without any belongs beside.
    pub(crate) anchor: Option<EventId>,
    /// The response being read: the message's id, the request's, and the key its usage is said under. None once
    /// a user's row came.
    pub(crate) response: Option<(String, String, String)>,
    /// When the last user's row was written.
    pub(crate) prompted: Option<i64>,
}

/// A call that launched a sub-agent, and the digest of its prompt.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Task {
    pub(crate) call: String,
    pub(crate) prompt: String,
    pub(crate) agent: Option<String>,
}

/// Everything a decoder takes along.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Saved {
    pub(crate) now: Known,
    /// Calls of sub-agents without a result yet, the newest last.
    pub(crate) tasks: Vec<Task>,
}

impl Saved {
    /// The version of this layout.
    pub(crate) const VERSION: u32 = 1;
    const TASKS: usize = 12;

    /// Turns to a session, putting away what is known of the one before.
    pub(crate) fn turn_to(&mut self, session: &str, memory: &mut dyn Memory) {
        let session = short(session);
        if self.now.id == session {
            return;
        }
        if !self.now.id.is_empty() {
            let held = serde_json::to_vec(&self.now).unwrap_or_default();
            memory.put(&key(b's', &self.now.id), Some(&held));
        }
        let held = memory.get(&key(b's', session));
        self.now = held.and_then(|held| serde_json::from_slice(&held).ok()).unwrap_or_default();
        session.clone_into(&mut self.now.id);
    }

    /// Remembers a call that launches a sub-agent.
    pub(crate) fn launch(&mut self, call: &str, prompt: &str, agent: Option<&str>) {
        if call.len() > 64 || short(call) != call {
            return;
        }
        if self.tasks.len() == Self::TASKS {
            self.tasks.remove(0);
        }
        let agent = agent.filter(|agent| agent.len() <= 32 && short(agent) == *agent).map(str::to_owned);
        self.tasks.push(Task { call: call.to_owned(), prompt: digest16(prompt), agent });
    }

    /// Returns the call that launched a sub-agent with that prompt, if only one can have.
    pub(crate) fn launched_by(&self, prompt: Option<&str>) -> Option<&Task> {
        let wanted = prompt.map(digest16);
        let mut same = self.tasks.iter().filter(|task| Some(&task.prompt) == wanted.as_ref());
        match (same.next(), same.next()) {
            (Some(task), None) => Some(task),
            (None, _) if self.tasks.len() == 1 => self.tasks.first(),
            _ => None,
        }
    }

    /// Forgets a launching call, and says whether it was one.
    pub(crate) fn returned(&mut self, call: &str) -> bool {
        let before = self.tasks.len();
        self.tasks.retain(|task| task.call != call);
        self.tasks.len() < before
    }
}

/// Returns a key of the memory.
pub(crate) fn key(kind: u8, name: &str) -> Vec<u8> {
    let mut key = vec![kind];
    key.extend_from_slice(name.as_bytes());
    key
}

/// Returns the first 16 hexadecimal digits of a text's digest.
pub(crate) fn digest16(text: &str) -> String {
    let mut digest = text_digest(text);
    digest.truncate(16);
    digest
}

/// Returns what of a name is remembered: a state is small, whatever a file holds. Names have no characters that
/// JSON escapes, or end there.
pub(crate) fn short(name: &str) -> &str {
    let mut end =
        name.find(|c: char| c.is_ascii_control() || c == '"' || c == '\\').unwrap_or(name.len()).min(128);
    while !name.is_char_boundary(end) {
        end -= 1;
    }
    name.get(..end).unwrap_or_default()
}

/// The session a row stands in.
#[derive(Debug, Clone)]
pub(crate) struct Thread<'r> {
    /// The session a person started.
    pub(crate) top: Cow<'r, str>,
    /// The sub-agent's id within it.
    pub(crate) agent: Option<Cow<'r, str>>,
    /// The id of the session of the two.
    pub(crate) session: Cow<'r, str>,
}

impl<'r> Thread<'r> {
    pub(crate) fn new(top: Cow<'r, str>, agent: Option<Cow<'r, str>>) -> Self {
        let session = match &agent {
            Some(agent) => Cow::Owned(format!("{top}/{agent}")),
            None => top.clone(),
        };
        Self { top, agent, session }
    }
}

/// Returns the group of an old sub-agent's row, which names no agent: the uuid of the row its chain begins with.
pub(crate) fn inline_agent<'r>(row: &Row<'r>, memory: &mut dyn Memory) -> Option<Cow<'r, str>> {
    let own = row.uuid.as_ref()?;
    let parent = row.parent_uuid.as_deref().and_then(|parent| {
        let root = memory.get(&key(b'g', parent))?;
        String::from_utf8(root.into_owned()).ok()
    });
    let root = match (&row.agent_id, parent) {
        (Some(agent), _) => agent.0.clone(),
        (None, Some(root)) => Cow::Owned(root),
        (None, None) => own.0.clone(),
    };
    memory.put(&key(b'g', own), Some(root.as_bytes()));
    Some(root)
}

/// What stands beside a sub-agent's transcript, in `agent-….meta.json`.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(crate) struct Sidecar {
    pub(crate) agent_type: Option<String>,
    pub(crate) name: Option<String>,
    pub(crate) tool_use_id: Option<String>,
    pub(crate) parent_agent_id: Option<String>,
    pub(crate) is_fork: Option<bool>,
}

impl Sidecar {
    /// Reads the sidecar of a sub-agent's transcript, if there is one.
    pub(crate) fn of(path: &Path, stem: &str, env: &dyn Env) -> Option<Self> {
        let bytes = env.read(&path.with_file_name(format!("{stem}.meta.json"))).ok()?;
        serde_json::from_slice(&bytes).ok()
    }

    /// Returns what the agent is called.
    pub(crate) fn agent(&self) -> Option<&str> {
        self.agent_type.as_deref().or(self.name.as_deref()).filter(|name| !name.is_empty())
    }
}

/// The identity of a row, from which those of its events are made.
#[derive(Debug, Clone)]
pub(crate) enum RowId<'r> {
    /// The client's own.
    Own(Text<'r>),
    /// Made from the session, the role, the digest of the text, and which of equal ones it is.
    Made([String; 4]),
}

impl RowId<'_> {
    /// Returns the id of a part of the row.
    pub(crate) fn part(&self, part: &str) -> EventId {
        match self {
            Self::Own(uuid) => row_part(uuid, part),
            Self::Made([session, role, digest, n]) => EventId::of(CLIENT, &[session, role, digest, n, part]),
        }
    }
}

/// Returns the id of a part of the row of that uuid.
pub(crate) fn row_part(uuid: &str, part: &str) -> EventId {
    EventId::part_of(uuid, part).unwrap_or_else(|| EventId::of(CLIENT, &[uuid, part]))
}
