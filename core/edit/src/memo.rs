//! What an install found, for the uninstall.

use serde::{Deserialize, Serialize};

/// What an install found empty or missing where it put something, so that an uninstall leaves it so again.
///
/// It is small, holds none of the user's values, and is stored as the JSON array serde makes of it. It names
/// containers by their paths: what was missing goes again once it holds nothing, what was there empty gets its old
/// text back, and what it does not name held something and stays.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Memo(Vec<Found>);

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Found {
    path: Vec<String>,
    /// The text that stood there; none where nothing did.
    was: Option<String>,
}

impl Memo {
    /// Says whether an install would have nothing to tell an uninstall.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Remembers what stood at `path`; a later finding replaces an earlier one.
    pub(crate) fn found(&mut self, path: &[&str], was: Option<&str>) {
        self.0.retain(|found| found.path != path);
        let path = path.iter().map(ToString::to_string).collect();
        self.0.push(Found { path, was: was.map(str::to_owned) });
    }

    /// Says whether nothing stood at `path`: what is there was made.
    pub(crate) fn made(&self, path: &[&str]) -> bool {
        self.entry(path).is_some_and(|found| found.was.is_none())
    }

    /// Returns the text of the empty container that stood at `path`.
    pub(crate) fn was_empty(&self, path: &[&str]) -> Option<&str> {
        self.entry(path)?.was.as_deref()
    }

    fn entry(&self, path: &[&str]) -> Option<&Found> {
        self.0.iter().find(|found| found.path == path)
    }

    /// Forgets `path` and what lies under it.
    pub(crate) fn forget(&mut self, path: &[&str]) {
        self.0.retain(|found| !(found.path.len() >= path.len() && found.path[..path.len()] == *path));
    }
}
