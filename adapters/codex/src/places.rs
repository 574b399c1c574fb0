//! Where the client keeps its settings.

use scrollback_core::{Env, Level, Presence};
use std::path::PathBuf;

/// The client's id, as lines name it.
pub(crate) const CLIENT: &str = "codex";

/// Says whether the client's directory is here.
pub(crate) fn detect(env: &dyn Env) -> Presence {
    match directory(env, Level::User).filter(|directory| env.list(directory).is_ok()) {
        Some(directory) => Presence::Found { directory },
        None => Presence::Absent,
    }
}

/// Returns the directory of a level, there or not; none where the level has no place.
pub(crate) fn directory(env: &dyn Env, level: Level) -> Option<PathBuf> {
    match level {
        Level::User => env.var("CODEX_HOME").map(PathBuf::from).or_else(|| Some(env.home()?.join(".codex"))),
        Level::Project => Some(scrollback_edit::project(env)?.join(".codex")),
    }
}
