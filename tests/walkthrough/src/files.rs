//! Files and programs of the walkthroughs: the one place that writes and starts them.

use anyhow::{Context as _, Result};
use std::ffi::OsStr;
use std::fs;
use std::path::Path;
use std::process::Command;

/// Writes a file, and the directories above it.
pub(crate) fn write(path: &Path, text: impl AsRef<[u8]>) -> Result<()> {
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent)?;
    }
    #[expect(
        clippy::disallowed_methods,
        reason = "a file of the sandbox, or a document that a person asked for"
    )]
    fs::write(path, text).with_context(|| path.display().to_string())
}

/// Returns a program, about to be run.
pub(crate) fn command(program: impl AsRef<OsStr>) -> Command {
    #[expect(clippy::disallowed_methods, reason = "real clients are what this runs")]
    Command::new(program)
}
