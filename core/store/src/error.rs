//! What can go wrong with a store.

use std::path::PathBuf;
use thiserror::Error;

/// What can go wrong with a store.
#[derive(Debug, Error)]
pub enum StoreError {
    /// A newer version of scrollback wrote it.
    #[error(
        "the store {} has format {found}, this program knows up to {known}: it was left as it is; \
         use the scrollback that wrote it, or a newer one",
        path.display()
    )]
    Newer {
        /// The store.
        path: PathBuf,
        /// Its version.
        found: i64,
        /// The newest this program knows.
        known: i64,
    },
    /// There is no store yet.
    #[error("there is no store at {}: run `scrollback tail` first", path.display())]
    Missing {
        /// Where it was looked for.
        path: PathBuf,
    },
    /// The file is no store, or damaged.
    #[error(
        "the store {} is damaged ({what}): it was left as it is; move it away and run `scrollback tail` to \
         build a new one from the transcripts that are still there",
        path.display()
    )]
    Damaged {
        /// The store.
        path: PathBuf,
        /// What SQLite says.
        what: String,
    },
    /// The file or its directory cannot be used.
    #[error("cannot use the store {}: {what}", path.display())]
    Unusable {
        /// The store.
        path: PathBuf,
        /// What the system says.
        what: String,
    },
    /// Another process is writing.
    #[error("another process is writing the store; try again later")]
    Busy,
    /// SQLite failed.
    #[error("the store failed: {0}")]
    Sqlite(rusqlite::Error),
    /// What is stored is not what this program writes.
    #[error("the store holds {0}")]
    Content(String),
}

impl From<rusqlite::Error> for StoreError {
    fn from(error: rusqlite::Error) -> Self {
        match error.sqlite_error_code() {
            Some(rusqlite::ErrorCode::DatabaseBusy | rusqlite::ErrorCode::DatabaseLocked) => Self::Busy,
            _ => Self::Sqlite(error),
        }
    }
}

impl StoreError {
    /// Says whether trying again later may help.
    pub const fn is_busy(&self) -> bool {
        matches!(self, Self::Busy)
    }
}
