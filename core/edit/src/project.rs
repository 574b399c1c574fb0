//! Which directory a project-level file belongs to.

use scrollback_core::Env;
use std::path::{Path, PathBuf};

/// Returns the root of the repository the command was run in, else the directory itself; none for the home directory
/// and `/`, which are no projects.
pub fn project(env: &dyn Env) -> Option<PathBuf> {
    let here = env.current_dir()?;
    let is_root = |path: &&Path| env.list(path).is_ok_and(|paths| paths.contains(&path.join(".git")));
    let root = here.ancestors().find(is_root).unwrap_or(&here);
    let none = root.parent().is_none() || env.home().is_some_and(|home| home == root);
    (!none).then(|| root.to_owned())
}
