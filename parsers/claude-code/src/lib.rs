//! Reads the transcripts of Claude Code, 1.0 to 2.1.332, into scrollback's events.

mod attachment;
mod blocks;
mod decode;
mod facts;
mod home;
mod injected;
mod line;
mod meta;
mod results;
mod said;
mod session;
mod usage;
mod user;
mod wire;

use scrollback_core::{
    Decoder, Env, Homes, Parser, ParserSpec, Probe, Score, Shape, Source, State, StateError, register_parser,
};

static SPEC: ParserSpec = ParserSpec::new(CLIENT, "Claude Code", Shape::Lines);
const CLIENT: &str = "claude-code";

/// Knows Claude Code's transcripts: `projects/<directory>/<session>.jsonl` below `$CLAUDE_CONFIG_DIR` or
/// `~/.claude`, and those of its sub-agents.
#[derive(Debug, Clone, Copy)]
pub struct ClaudeCode;

impl Parser for ClaudeCode {
    fn spec(&self) -> &ParserSpec {
        &SPEC
    }

    fn homes(&self, env: &dyn Env) -> Homes {
        home::homes(env)
    }

    fn score(&self, probe: &Probe<'_>) -> Score {
        home::score(probe)
    }

    fn decoder<'d>(
        &'d self,
        source: &Source<'_>,
        env: &'d dyn Env,
        state: &State,
    ) -> Result<Box<dyn Decoder + 'd>, StateError> {
        Ok(Box::new(decode::Rows::open(source, env, state)?))
    }
}

register_parser!(ClaudeCode);
