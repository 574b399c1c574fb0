//! Records about the thread: its beginning, its turns, its tokens.

use super::loose::{Flag, Number, Object, Present, Word};
use scrollback_core::Text;
use serde::Deserialize;
use serde_json::value::RawValue;

/// What tells a bare line from an enveloped one, and the first line of a bare file.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Head<'r> {
    #[serde(rename = "type", borrow)]
    pub(crate) kind: Word<'r>,
    pub(crate) payload: Present,
    pub(crate) record_type: Word<'r>,
    pub(crate) id: Word<'r>,
    pub(crate) timestamp: Word<'r>,
    pub(crate) instructions: Present,
    pub(crate) role: Word<'r>,
    pub(crate) git: Object<Git<'r>>,
}

/// The payload of `session_meta`.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Meta<'r> {
    #[serde(borrow)]
    pub(crate) id: Word<'r>,
    pub(crate) session_id: Word<'r>,
    pub(crate) forked_from_id: Word<'r>,
    pub(crate) forked_from_ordinal_exclusive: Number,
    pub(crate) parent_thread_id: Word<'r>,
    pub(crate) history_base: Object<Base<'r>>,
    pub(crate) subagent_history_start_ordinal: Number,
    pub(crate) timestamp: Word<'r>,
    pub(crate) cwd: Word<'r>,
    pub(crate) cli_version: Word<'r>,
    /// A string, or an object for sub-agents and internal threads.
    pub(crate) source: Option<&'r RawValue>,
    pub(crate) thread_source: Word<'r>,
    pub(crate) agent_nickname: Word<'r>,
    pub(crate) agent_role: Word<'r>,
    pub(crate) agent_type: Word<'r>,
    pub(crate) git: Object<Git<'r>>,
}

/// The history before a file's first record, held by another file.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Base<'r> {
    #[serde(borrow)]
    pub(crate) thread_id: Word<'r>,
    pub(crate) end_ordinal_exclusive: Number,
}

/// The repository a thread began in.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Git<'r> {
    #[serde(borrow)]
    pub(crate) branch: Word<'r>,
}

/// `session_meta.source` where it is an object.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Launch<'r> {
    #[serde(borrow)]
    pub(crate) subagent: Option<&'r RawValue>,
    pub(crate) internal: Flag,
}

/// `session_meta.source.subagent` where it is an object.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Subagent<'r> {
    #[serde(borrow)]
    pub(crate) thread_spawn: Object<Spawn<'r>>,
    pub(crate) other: Word<'r>,
}

/// How a sub-agent was launched.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Spawn<'r> {
    #[serde(borrow)]
    pub(crate) parent_thread_id: Word<'r>,
    pub(crate) agent_nickname: Word<'r>,
    pub(crate) agent_role: Word<'r>,
}

/// What a thread's source says of it.
#[derive(Debug, Default)]
pub(crate) struct Origin {
    /// It is a sub-agent's.
    pub(crate) subagent: bool,
    /// It is the client's own, and nobody's conversation.
    pub(crate) internal: bool,
    /// The thread that launched it.
    pub(crate) parent: Option<String>,
    /// The agent's name.
    pub(crate) agent: Option<String>,
}

impl Meta<'_> {
    /// Returns what the source and its neighbours say.
    pub(crate) fn origin(&self) -> Origin {
        let mut origin = Origin {
            subagent: self.thread_source.is("subagent") || self.parent_thread_id.get().is_some(),
            internal: self.thread_source.is("memory_consolidation"),
            parent: self.parent_thread_id.get().map(str::to_owned),
            agent: [&self.agent_nickname, &self.agent_role, &self.agent_type]
                .into_iter()
                .find_map(|name| name.get().map(str::to_owned)),
        };
        let launch = self.source.filter(|source| source.get().starts_with('{'));
        let launch: Option<Launch<'_>> = launch.and_then(|source| serde_json::from_str(source.get()).ok());
        let Some(launch) = launch else { return origin };
        origin.internal |= launch.internal.is_set();
        let Some(subagent) = launch.subagent else { return origin };
        origin.subagent = true;
        if let Ok(kind) = serde_json::from_str::<String>(subagent.get()) {
            origin.internal |= kind == "memory_consolidation";
            origin.agent.get_or_insert(kind);
        } else if let Ok(kind) = serde_json::from_str::<Subagent<'_>>(subagent.get()) {
            if let Some(spawn) = kind.thread_spawn.0 {
                if origin.parent.is_none() {
                    origin.parent = spawn.parent_thread_id.get().map(str::to_owned);
                }
                if origin.agent.is_none() {
                    origin.agent = spawn.agent_nickname.get().or(spawn.agent_role.get()).map(str::to_owned);
                }
            }
            if origin.agent.is_none() {
                origin.agent = kind.other.get().map(str::to_owned);
            }
        }
        origin
    }
}

/// The payload of `turn_context`.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct TurnContext<'r> {
    #[serde(borrow)]
    pub(crate) turn_id: Word<'r>,
    pub(crate) model: Word<'r>,
}

/// The settings in `thread_settings_applied`.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Settings<'r> {
    #[serde(borrow)]
    pub(crate) model: Word<'r>,
}

/// The payload of `compacted`; the replaced history in it is not read.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Compacted<'r> {
    #[serde(borrow)]
    pub(crate) message: Option<Text<'r>>,
    pub(crate) window_id: Word<'r>,
}

/// The payload of `inter_agent_communication_metadata`.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Trigger {
    pub(crate) trigger_turn: Flag,
}

/// The payload of `token_usage_record`.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct UsageRecord<'r> {
    #[serde(borrow)]
    pub(crate) turn_id: Word<'r>,
    pub(crate) response_id: Word<'r>,
    pub(crate) usage: Object<Tokens>,
    pub(crate) thread_token_usage: Object<Tokens>,
}

/// A count of tokens; what came from a cache is part of the input, reasoning part of the output.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub(crate) struct Tokens {
    #[serde(rename = "input_tokens")]
    pub(crate) input: Number,
    #[serde(rename = "cached_input_tokens")]
    pub(crate) cached_input: Number,
    #[serde(rename = "cache_write_input_tokens")]
    pub(crate) cache_write_input: Number,
    #[serde(rename = "output_tokens")]
    pub(crate) output: Number,
    #[serde(rename = "reasoning_output_tokens")]
    pub(crate) reasoning_output: Number,
    #[serde(rename = "total_tokens")]
    pub(crate) total: Number,
}
