//! What stands in a client's settings, and whether it can run.

use scrollback_core::{Adapter, Env, Level, Presence, Standing, StandingHook};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// How a client stands on this machine.
pub(crate) struct Installed<'r> {
    pub(crate) adapter: &'r dyn Adapter,
    /// Its configuration directory, if it is here.
    pub(crate) directory: Option<PathBuf>,
    /// What stands, a level each.
    pub(crate) standing: Vec<Standing>,
    /// What keeps its sessions from being recorded by themselves.
    pub(crate) problems: Vec<String>,
}

impl<'r> Installed<'r> {
    /// Looks at the client's settings and at the programs they name.
    pub(crate) fn of(adapter: &'r dyn Adapter, env: &dyn Env, name: &str) -> Self {
        let directory = match adapter.detect(env) {
            Presence::Found { directory } => Some(directory),
            Presence::Absent => None,
        };
        let (standing, mut problems) = match adapter.standing(env) {
            Ok(standing) => (standing, Vec::new()),
            Err(error) => (Vec::new(), vec![error.to_string()]),
        };
        if directory.is_some() && problems.is_empty() && standing.iter().all(|at| at.hooks.is_empty()) {
            problems.push(format!("no hooks; `{name} setup` puts them in"));
        }
        for at in &standing {
            for program in programs(at) {
                if find(env, &program).is_none() {
                    let (program, level) = (program.display(), level(at.level));
                    problems.push(format!(
                        "{level}: {program} is not there or cannot be run, so its hooks do nothing; `{name} setup` \
                         mends that"
                    ));
                }
            }
            if !at.current {
                let level = level(at.level);
                problems.push(format!("{level}: not what this version writes; `{name} setup` renews it"));
            }
        }
        problems.extend(standing.iter().flat_map(|at| at.hindered.iter().cloned()));
        let hooked = |at: &&Standing| !at.hooks.is_empty();
        if standing.iter().filter(hooked).count() > 1 {
            problems
                .push(format!("hooks at two levels: each session is told twice; `{name} setup` mends that"));
        }
        Self { adapter, directory, standing, problems }
    }
}

/// Returns the word for a level.
pub(crate) const fn level(level: Level) -> &'static str {
    match level {
        Level::User => "user",
        Level::Project => "project",
    }
}

fn programs(standing: &Standing) -> BTreeSet<PathBuf> {
    standing.hooks.iter().filter_map(|hook: &StandingHook| hook.program.clone()).collect()
}

/// Returns where a program is that a line names: itself, or a bare name on `PATH`.
pub(crate) fn find(env: &dyn Env, program: &Path) -> Option<PathBuf> {
    if program.components().count() > 1 {
        return runs(program).then(|| program.to_owned());
    }
    let path = env.var("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(program)).find(|program| runs(program))
}

fn runs(program: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::metadata(program).is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}
