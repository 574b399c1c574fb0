//! Adapters of Acme, each of which breaks one law.

use super::acme::Acme;
use scrollback_core::{
    Adapter, AdapterSpec, Call, Env, Half, Hook, Limit, Moment, Outcome, PayloadError, Plan, PlanError,
    Presence, Reply, Standing, Step, Wanted,
};
use std::borrow::Cow;
use std::path::Path;

/// What is wrong.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Wrong {
    /// It leaves its hooks at an uninstall.
    Stays,
    /// It asks the user for something at every install.
    Insists,
    /// It takes a payload that was cut for an empty one.
    Lenient,
    /// It prints a word at every hook.
    Chatty,
}

pub(super) struct Broken(pub(super) Wrong);

impl Adapter for Broken {
    fn spec(&self) -> &AdapterSpec {
        Acme.spec()
    }

    fn detect(&self, env: &dyn Env) -> Presence {
        Acme.detect(env)
    }

    fn standing(&self, env: &dyn Env) -> Result<Vec<Standing>, PlanError> {
        Acme.standing(env)
    }

    fn plan(&self, env: &dyn Env, wanted: &Wanted<'_>) -> Result<Plan, PlanError> {
        match self.0 {
            Wrong::Stays if wanted.hook == Half::Absent => {
                Acme.plan(env, &Wanted { hook: Half::Leave, ..*wanted })
            }
            Wrong::Insists if matches!(wanted.hook, Half::Stand(_)) => {
                let mut plan = Acme.plan(env, wanted)?;
                plan.steps.push(Step::Tell("restart Acme".to_owned()));
                Ok(plan)
            }
            _ => Acme.plan(env, wanted),
        }
    }

    fn hook<'p>(&self, env: &dyn Env, call: &Call<'p>) -> Result<Hook<'p>, PayloadError> {
        match Acme.hook(env, call) {
            Err(_) if self.0 == Wrong::Lenient => Acme.hook(env, &Call { payload: b"{}", ..*call }),
            done => done,
        }
    }

    fn probe(&self, session: &str, cwd: &Path) -> String {
        Acme.probe(session, cwd)
    }

    fn reply<'c>(&self, call: &Call<'_>, outcome: Outcome<'c>) -> Reply<'c> {
        let reply = Acme.reply(call, outcome);
        if self.0 == Wrong::Chatty { Reply { stdout: Cow::Borrowed("ok"), ..reply } } else { reply }
    }

    fn limit(&self, moment: Moment) -> Limit {
        Acme.limit(moment)
    }
}
