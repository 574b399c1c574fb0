//! The exit codes, all of them, and which error has which.

use anyhow::Error;
use scrollback_engine::TailError;
use scrollback_store::StoreError;
use std::process::ExitCode;
use std::{fmt, io};

/// How a run ended. 2 is never used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    /// What was asked for is done.
    Done = 0,
    /// It failed, or something was refused.
    Failed = 1,
    /// Something is missing or behind.
    Missing = 3,
    /// The command line is not understood.
    Usage = 64,
    /// Trying again later may help.
    Later = 75,
}

impl Exit {
    /// Every code.
    pub(crate) const ALL: [Self; 5] = [Self::Done, Self::Failed, Self::Missing, Self::Usage, Self::Later];

    /// Returns what a code means, for people.
    pub(crate) const fn meaning(self) -> &'static str {
        match self {
            Self::Done => {
                "Done. A search that finds nothing, and a reader that closes the pipe, are no failures."
            }
            Self::Failed => "Failed, or something was refused.",
            Self::Missing => {
                "Something is missing: `coverage`, `status --check` and `doctor` found it; `setup` and `install` are done \
                 but for what only you can do, or for what this version does not have yet."
            }
            Self::Usage => "The command line, or a setting, is not understood.",
            Self::Later => "Another process is writing; try again later.",
        }
    }

    /// Returns the code of an error.
    pub(crate) fn of(error: &Error) -> Self {
        for cause in error.chain() {
            if cause
                .downcast_ref::<io::Error>()
                .is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
            {
                return Self::Done;
            }
            let store = match cause.downcast_ref::<TailError>() {
                Some(TailError::Store(error)) => Some(error),
                _ => cause.downcast_ref::<StoreError>(),
            };
            if store.is_some_and(StoreError::is_busy) {
                return Self::Later;
            }
            if matches!(cause.downcast_ref::<TailError>(), Some(TailError::Label(_))) {
                return Self::Usage;
            }
            if let Some(ended) = cause.downcast_ref::<Ended>() {
                return ended.exit;
            }
        }
        Self::Failed
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}

/// An error that knows its exit code.
#[derive(Debug)]
pub(crate) struct Ended {
    exit: Exit,
    what: String,
}

impl Ended {
    /// Returns the error of a command line, or a setting, that is not understood.
    pub(crate) fn usage(what: impl Into<String>) -> Self {
        Self { exit: Exit::Usage, what: what.into() }
    }

    /// Returns the error of something that may work later.
    pub(crate) fn later(what: impl Into<String>) -> Self {
        Self { exit: Exit::Later, what: what.into() }
    }
}

impl fmt::Display for Ended {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)
    }
}

impl std::error::Error for Ended {}

/// Prints what clap says and returns its code: help and version are no failures, everything else is a command
/// line that is not understood.
pub(crate) fn of_clap(error: &clap::Error) -> Exit {
    let printed = error.print();
    if error.use_stderr() {
        return Exit::Usage;
    }
    match printed {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Exit::Failed,
        _ => Exit::Done,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use anyhow::Context as _;
    use scrollback_engine::LabelError;

    #[test]
    fn an_error_keeps_its_code_under_context() {
        let cases = [
            (Error::from(StoreError::Busy), Exit::Later),
            (Error::from(TailError::Store(StoreError::Busy)), Exit::Later),
            (Error::from(io::Error::from(io::ErrorKind::BrokenPipe)), Exit::Done),
            (Error::from(io::Error::from(io::ErrorKind::NotFound)), Exit::Failed),
            (Error::from(Ended::usage("what?")), Exit::Usage),
            (Error::from(TailError::Label(LabelError::Several { n: 2 })), Exit::Usage),
            (anyhow::anyhow!("else"), Exit::Failed),
        ];
        for (error, exit) in cases {
            assert_eq!(Exit::of(&Err::<(), _>(error).context("on the way").unwrap_err()), exit);
        }
    }
}
