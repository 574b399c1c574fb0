//! The machine as the client saw it when its hook ran.

use scrollback_core::{Env, Timestamp};
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

/// A machine on which the client keeps its files where its hook's environment said.
pub(super) struct Rooted<'e> {
    env: &'e dyn Env,
    roots: &'e BTreeMap<String, String>,
    /// The variables that a hook of the client hands on.
    names: &'static [&'static str],
}

impl<'e> Rooted<'e> {
    pub(super) fn of(
        env: &'e dyn Env,
        roots: &'e BTreeMap<String, String>,
        names: &'static [&'static str],
    ) -> Self {
        Self { env, roots, names }
    }
}

impl Env for Rooted<'_> {
    fn var(&self, name: &str) -> Option<String> {
        // One that the hook did not have is not set, whatever is set here.
        match self.roots.get(name) {
            Some(value) => Some(value.clone()),
            None if self.names.contains(&name) => None,
            None => self.env.var(name),
        }
    }

    fn home(&self) -> Option<PathBuf> {
        self.roots.get("HOME").map(PathBuf::from).or_else(|| self.env.home())
    }

    fn current_dir(&self) -> Option<PathBuf> {
        self.env.current_dir()
    }

    fn login(&self) -> Option<String> {
        self.env.login()
    }

    fn now(&self) -> Timestamp {
        self.env.now()
    }

    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        self.env.read(path)
    }

    fn list(&self, path: &Path) -> io::Result<Vec<PathBuf>> {
        self.env.list(path)
    }
}
