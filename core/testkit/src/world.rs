//! A machine that holds only what a test gives it.

use scrollback_core::{Env, Timestamp};
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

/// A machine whose home, variables and clock are what a test says. Files are those of the disk below its root; it
/// sees nothing of the environment the test runs in.
#[derive(Debug, Clone)]
pub struct World {
    root: PathBuf,
    current: PathBuf,
    vars: BTreeMap<String, String>,
    now: Timestamp,
}

impl World {
    /// Returns a machine whose home directory is `root`; its user is `dev`, its clock stands.
    pub fn new(root: impl Into<PathBuf>) -> Self {
        // 2026-11-30T20:00:00Z.
        let now = Timestamp::from_millis(1_796_068_800_000).unwrap_or_else(|_| unreachable!());
        let root = root.into();
        Self { current: root.clone(), root, vars: BTreeMap::new(), now }
    }

    /// Sets an environment variable.
    #[must_use]
    pub fn var(mut self, name: &str, value: impl Into<String>) -> Self {
        self.vars.insert(name.to_owned(), value.into());
        self
    }

    /// Sets the directory the command is run in; the home directory otherwise.
    #[must_use]
    pub fn current_dir(mut self, directory: impl Into<PathBuf>) -> Self {
        self.current = directory.into();
        self
    }

    /// Sets the clock.
    #[must_use]
    pub fn now(mut self, now: Timestamp) -> Self {
        self.now = now;
        self
    }
}

impl Env for World {
    fn var(&self, name: &str) -> Option<String> {
        self.vars.get(name).filter(|value| !value.is_empty()).cloned()
    }

    fn home(&self) -> Option<PathBuf> {
        Some(self.root.clone())
    }

    fn current_dir(&self) -> Option<PathBuf> {
        Some(self.current.clone())
    }

    fn login(&self) -> Option<String> {
        Some("dev".to_owned())
    }

    fn now(&self) -> Timestamp {
        self.now
    }

    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        std::fs::read(path)
    }

    fn list(&self, path: &Path) -> io::Result<Vec<PathBuf>> {
        let mut paths: Vec<PathBuf> = std::fs::read_dir(path)?
            .map(|entry| entry.map(|entry| entry.path()))
            .collect::<Result<_, _>>()?;
        paths.sort();
        Ok(paths)
    }
}
