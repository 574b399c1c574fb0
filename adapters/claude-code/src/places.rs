//! Where the client keeps its settings.

use scrollback_core::{Env, Level, PlanError, Presence};
use std::path::PathBuf;

/// The client's id, as lines name it.
pub(crate) const CLIENT: &str = "claude-code";

/// Says whether the client's directory is here.
pub(crate) fn detect(env: &dyn Env) -> Presence {
    match directory(env).filter(|directory| env.list(directory).is_ok()) {
        Some(directory) => Presence::Found { directory },
        None => Presence::Absent,
    }
}

/// Returns the client's directory, there or not.
fn directory(env: &dyn Env) -> Option<PathBuf> {
    env.var("CLAUDE_CONFIG_DIR").map(PathBuf::from).or_else(|| Some(env.home()?.join(".claude")))
}

/// Returns the client's own state, where `mcp add` writes: in the directory the variable names, else beside it.
pub(crate) fn state(env: &dyn Env) -> Option<PathBuf> {
    let directory = env.var("CLAUDE_CONFIG_DIR").map(PathBuf::from).or_else(|| env.home())?;
    Some(directory.join(".claude.json"))
}

/// Returns the settings of a level; none where the level has no place.
pub(crate) fn settings(env: &dyn Env, level: Level) -> Option<PathBuf> {
    match level {
        Level::User => Some(directory(env)?.join("settings.json")),
        Level::Project => Some(scrollback_edit::project(env)?.join(".claude/settings.json")),
    }
}

/// Returns the project's servers.
pub(crate) fn project_servers(env: &dyn Env) -> Option<PathBuf> {
    Some(scrollback_edit::project(env)?.join(".mcp.json"))
}

/// Returns a place that an installation cannot do without.
pub(crate) fn needed(place: Option<PathBuf>) -> Result<PathBuf, PlanError> {
    place.ok_or_else(|| {
        PlanError::Refused("there is no project here; go to one, or install for the user".to_owned())
    })
}
