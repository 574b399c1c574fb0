//! What a decoder remembers of the records before.

use super::twins::Held;
use scrollback_core::{EventId, text_digest};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::sync::Arc;

/// The version of [`Known`].
pub(super) const VERSION: u32 = 1;

/// The longest id kept as it is.
pub(super) const SHORT: usize = 100;

/// What is known of a rollout, bounded.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
#[expect(clippy::struct_excessive_bools, reason = "each is one thing that was or was not seen")]
pub(super) struct Known {
    /// The file's thread, and above it the threads whose copied records are being read: the last is the one
    /// that first wrote what comes now.
    pub(super) levels: Vec<Level>,
    /// Records before this ordinal are inherited.
    pub(super) inherited_before: Option<u64>,
    /// The client's version has no turn ids: a copied section ends with a pause.
    pub(super) ends_with_pause: bool,
    /// When the second line was written, in milliseconds.
    pub(super) second_line: Option<i64>,
    /// Where this file stands among those of its thread.
    pub(super) rank: u64,
    /// The client's version.
    pub(super) version: Option<String>,
    /// When a bare file began, in microseconds.
    pub(super) bare_at: Option<i64>,
    /// A directory was said.
    pub(super) cwd_said: bool,
    /// The model at work, and the one said of the session.
    pub(super) model: Option<String>,
    pub(super) model_said: Option<String>,

    /// The origin, held once for all who name it.
    #[serde(skip)]
    now: Option<Arc<str>>,

    /// The file is the client's own: nothing in it is told.
    pub(super) internal: bool,
    /// What comes is another client's conversation.
    pub(super) importing: bool,

    /// The running turn, as the client says.
    pub(super) turn: Option<String>,
    /// An agent caused it; `None` where the client does not say.
    pub(super) turn_by_agent: Option<bool>,
    /// The turn that has had its prompt.
    pub(super) prompted: Option<String>,
    /// The next message of an agent starts a turn.
    pub(super) triggers: bool,
    /// A sub-agent has had its task.
    pub(super) tasked: bool,

    /// The last call of code mode; what it calls has it as parent.
    pub(super) script: Option<EventId>,
    /// How many twins are held back.
    pub(super) held: u32,
    /// What is known of them, once read from the memory.
    #[serde(skip)]
    pub(super) holding: Option<Vec<Held>>,
    /// Whether the file has twins of assistant messages.
    pub(super) has_twins: bool,
    /// Digests of prompts told whose twin has not come.
    pub(super) prompts: Vec<String>,
    /// Keys of the turn's last messages and thoughts told before any twin came.
    pub(super) untwinned: Vec<String>,
    /// How many shell commands of the person were told whose message has not come.
    pub(super) shells: u32,
    /// Length and digest of the last assistant message, for a compaction that repeats it.
    pub(super) last_text: Option<(usize, String)>,
    /// Digest of the last plan within an assistant message.
    pub(super) last_plan: Option<String>,
    /// Digest of the turn's last notice of a failure.
    pub(super) last_failure: Option<String>,

    /// The thread's tokens when a response was last counted: input, output, total.
    pub(super) counted: Option<[i64; 3]>,
    /// The tokens of a response counted by a record of its own, until the older count of it comes.
    pub(super) recorded: Option<[i64; 3]>,
}

/// A thread whose records stand in the file.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Level {
    /// The thread.
    pub(super) id: String,
    /// When it began, in milliseconds.
    pub(super) at: i64,
    /// It is a sub-agent's.
    pub(super) subagent: bool,
    /// The thread it came out of.
    pub(super) parent: Option<String>,
}

impl Level {
    /// Says whether no record told of the thread's beginning.
    pub(super) fn guessed(&self) -> bool {
        self.at == i64::MAX
    }
}

impl Known {
    /// How many threads may be stacked; a deeper one replaces the last.
    pub(super) const DEPTH: usize = 8;

    /// Returns the file's own thread.
    pub(super) fn thread(&self) -> &str {
        self.levels.first().map_or("", |level| level.id.as_str())
    }

    /// Returns the thread that first wrote what is being read.
    pub(super) fn origin(&self) -> &str {
        self.levels.last().map_or("", |level| level.id.as_str())
    }

    /// Returns the origin, to be kept beside other borrows.
    pub(super) fn origin_now(&mut self) -> Arc<str> {
        match &self.now {
            Some(now) if **now == *self.origin() => Arc::clone(now),
            _ => {
                let now: Arc<str> = self.origin().into();
                self.now = Some(Arc::clone(&now));
                now
            }
        }
    }

    /// Says whether what is being read was first written in another thread.
    pub(super) fn copies(&self) -> bool {
        self.levels.len() > 1
    }

    /// Returns the client's version, for the count of unknown kinds.
    pub(super) fn version<'r>(&self) -> Option<Cow<'r, str>> {
        self.version.clone().map(Cow::Owned)
    }
}

/// Returns an id as it is remembered: itself, or a digest where it is long.
pub(super) fn short(id: &str) -> String {
    if id.len() <= SHORT { id.to_owned() } else { text_digest(id) }
}

/// Returns sixteen digits that stand for a text among the few it is compared with. Not for an id.
pub(super) fn digest(text: &str) -> String {
    const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;
    let mut hash = text.len() as u64;
    let (chunks, rest) = text.as_bytes().as_chunks::<8>();
    for chunk in chunks {
        hash = (hash.rotate_left(23) ^ u64::from_le_bytes(*chunk)).wrapping_mul(FACTOR);
    }
    for &byte in rest {
        hash = (hash.rotate_left(23) ^ u64::from(byte)).wrapping_mul(FACTOR);
    }
    format!("{:016x}", hash ^ (hash >> 29))
}
