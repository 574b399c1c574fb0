//! Knows Codex's hooks and settings.

mod hook;
mod mcp;
mod places;
mod plan;
mod trust;
mod wire;

use scrollback_core::{
    Adapter, AdapterSpec, Call, Env, Hook, Level, Limit, Moment, Outcome, PayloadError, Plan, PlanError,
    Presence, Reply, Standing, Unit, Wanted,
};
use std::path::Path;

static SPEC: AdapterSpec =
    AdapterSpec::new("codex", "Codex", &[Level::User, Level::Project]).variables(&["CODEX_HOME"]);

/// The adapter of Codex.
#[derive(Debug, Clone, Copy)]
pub struct Codex;

impl Adapter for Codex {
    fn spec(&self) -> &AdapterSpec {
        &SPEC
    }

    fn detect(&self, env: &dyn Env) -> Presence {
        places::detect(env)
    }

    fn standing(&self, env: &dyn Env) -> Result<Vec<Standing>, PlanError> {
        plan::standing(env)
    }

    fn plan(&self, env: &dyn Env, wanted: &Wanted<'_>) -> Result<Plan, PlanError> {
        plan::plan(env, wanted)
    }

    fn hook<'p>(&self, _env: &dyn Env, call: &Call<'p>) -> Result<Hook<'p>, PayloadError> {
        hook::hook(call)
    }

    fn probe(&self, session: &str, cwd: &Path) -> String {
        hook::probe(session, cwd)
    }

    fn reply<'c>(&self, call: &Call<'_>, outcome: Outcome<'c>) -> Reply<'c> {
        hook::reply(call, outcome)
    }

    fn limit(&self, moment: Moment) -> Limit {
        // What is longer goes to a file, and the model gets a preview of it.
        let takes = matches!(moment, Moment::SessionStart | Moment::Prompt);
        Limit(if takes { 2_500 } else { 0 }, Unit::Tokens)
    }
}

scrollback_core::register_adapter!(Codex);
