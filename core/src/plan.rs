//! A change of the machine as a value.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;
use thiserror::Error;

/// What should change on the machine, in order. Whoever makes a plan writes nothing; the engine shows it, backs
/// up, checks that every file is still what the plan saw, and carries it out.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Plan {
    /// The steps; none when nothing is to change.
    pub steps: Vec<Step>,
}

/// One step of a plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// A file's bytes change.
    Edit {
        /// The file; a symbolic link stays one.
        path: PathBuf,
        /// What the plan saw; `None` if the file was not there.
        before: Option<Vec<u8>>,
        /// What shall stand there; `None` takes the file away.
        after: Option<Vec<u8>>,
        /// Directories to make first, the outermost first. They go again with the file, if they are empty then.
        mkdir: Vec<PathBuf>,
        /// What a later plan for this file wants to know, in the adapter's own words; kept in the journal in the
        /// place of what was there. `None` when nothing of ours is left in the file.
        memo: Option<String>,
    },
    /// A command of the client's own is run; it is looked up when the plan is carried out.
    Run {
        /// The program's name.
        program: &'static str,
        /// Its arguments.
        args: Vec<OsString>,
        /// Arguments that undo it, should a later step fail.
        undo: Vec<OsString>,
        /// Files it rewrites, backed up first.
        rewrites: Vec<PathBuf>,
        /// What to tell the user if the program is not there.
        else_tell: String,
    },
    /// Only the user can do this.
    Tell(String),
    /// The user should know this; there is nothing left to do about it.
    Note(String),
}

/// What earlier plans left in the journal: the memo of each file, by the path the plan named.
pub type Memos = BTreeMap<PathBuf, String>;

/// Why no plan could be made.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum PlanError {
    /// A settings file does not parse; it is left as it is.
    #[error("{}:{line}:{column}: {what}", path.display())]
    Malformed {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// The column, from 1.
        column: usize,
        /// What was expected.
        what: String,
    },
    /// What is there forbids it.
    #[error("{0}")]
    Refused(String),
}
