//! The machine as a plugin may see it.

use crate::Timestamp;
use std::io;
use std::path::{Path, PathBuf};

/// The machine as a plugin may see it: a plugin touches neither the environment nor the file system by itself, so
/// that a test gives it any machine it likes.
pub trait Env: Send + Sync {
    /// Returns the environment variable of that name, if it is set and not empty.
    fn var(&self, name: &str) -> Option<String>;

    /// Returns the user's home directory.
    fn home(&self) -> Option<PathBuf>;

    /// Returns the directory the command was run in.
    fn current_dir(&self) -> Option<PathBuf>;

    /// Returns the user's login name.
    fn login(&self) -> Option<String>;

    /// Returns what the clock says.
    fn now(&self) -> Timestamp;

    /// Returns a file's bytes: a sidecar or settings, never a transcript. A file over 16 MiB is an error.
    fn read(&self, path: &Path) -> io::Result<Vec<u8>>;

    /// Returns the paths in a directory, sorted.
    fn list(&self, path: &Path) -> io::Result<Vec<PathBuf>>;
}
