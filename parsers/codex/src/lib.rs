//! Reads the rollouts of the Codex CLI, in each of their generations: bare lines, the legacy envelope, the
//! paginated envelope.

mod decode;
mod injected;
mod names;
mod probe;
mod wire;

use scrollback_core::{
    Decoder, Env, Homes, Parser, ParserSpec, Probe, Score, Shape, Source, State, StateError,
};

static SPEC: ParserSpec = ParserSpec::new("codex", "Codex", Shape::Lines);

/// The parser of Codex rollouts.
#[derive(Debug, Clone, Copy)]
pub struct Codex;

impl Parser for Codex {
    fn spec(&self) -> &ParserSpec {
        &SPEC
    }

    fn homes(&self, env: &dyn Env) -> Homes {
        let root = env.var("CODEX_HOME").unwrap_or_else(|| "~/.codex".to_owned());
        let root = root.trim_end_matches('/');
        Homes::of([format!("{root}/sessions/**/*.jsonl"), format!("{root}/archived_sessions/*.jsonl")])
    }

    fn score(&self, probe: &Probe<'_>) -> Score {
        probe::score(probe)
    }

    fn decoder<'d>(
        &'d self,
        source: &Source<'_>,
        env: &'d dyn Env,
        state: &State,
    ) -> Result<Box<dyn Decoder + 'd>, StateError> {
        Ok(Box::new(decode::Rollout::open(source, env, state)?))
    }
}

scrollback_core::register_parser!(Codex);
