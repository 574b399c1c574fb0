//! Why a file is not edited, and where.

use scrollback_core::PlanError;
use std::path::Path;
use thiserror::Error;

/// A settings file that is left as it is: it does not parse, or what stands there forbids the edit.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{line}:{column}: {what}")]
pub struct EditError {
    /// The line, from 1.
    pub line: usize,
    /// The column, from 1, in characters; a byte-order mark is not counted.
    pub column: usize,
    /// What is wrong.
    pub what: String,
}

impl EditError {
    /// Returns an error at a byte of `text`; past its end is its end.
    pub(crate) fn at(text: &str, offset: usize, what: impl Into<String>) -> Self {
        let mut end = offset.min(text.len());
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        let before = &text[..end];
        let start = before.rfind('\n').map_or(0, |newline| newline + 1);
        Self {
            line: before.bytes().filter(|byte| *byte == b'\n').count() + 1,
            column: before[start..].chars().count() + 1,
            what: what.into(),
        }
    }

    /// Returns the error of a plan about the file at `path`.
    pub fn in_file(self, path: &Path) -> PlanError {
        PlanError::Malformed { path: path.to_owned(), line: self.line, column: self.column, what: self.what }
    }
}
