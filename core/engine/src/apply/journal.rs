//! What installs left for uninstalls: `installed.json` in the data directory.
//!
//! It is written before the files it is about, with what they were and what they shall be; whichever of the two is
//! found then says which memo holds. So a process may end at any instant.

use super::{ApplyError, file};
use scrollback_core::{Memos, Step};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// The version of the format; another one is refused, not rewritten.
const VERSION: u32 = 1;

/// What every version of the format has.
#[derive(Deserialize)]
struct Version {
    version: u32,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Journal {
    version: u32,
    files: BTreeMap<PathBuf, Entry>,
    /// Directories that plans made.
    made: BTreeSet<PathBuf>,
}

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
struct Entry {
    #[serde(skip_serializing_if = "Option::is_none")]
    memo: Option<String>,
    /// What holds while the file is still what it was before the last plan.
    #[serde(skip_serializing_if = "Option::is_none")]
    until: Option<Until>,
    /// Backups of ours and what is in them.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    backups: BTreeMap<PathBuf, String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Until {
    /// The digest of the file; none of one that was not there.
    before: Option<String>,
    memo: Option<String>,
}

fn digest(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    Sha256::digest(bytes).iter().fold(String::new(), |mut hex, byte| {
        let _ = write!(hex, "{byte:02x}");
        hex
    })
}

impl Journal {
    pub(super) fn place(data: &Path) -> PathBuf {
        data.join("installed.json")
    }

    /// Reads the journal and settles what a plan that was cut off left open.
    pub(super) fn open(data: &Path) -> Result<Self, ApplyError> {
        let path = Self::place(data);
        let bytes = match fs::read(&path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == ErrorKind::NotFound => {
                return Ok(Self { version: VERSION, files: BTreeMap::new(), made: BTreeSet::new() });
            }
            Err(error) => return Err(ApplyError::io(&path, error)),
        };
        let refused = |what: String| ApplyError::Journal { path: path.clone(), what };
        let found: Version = serde_json::from_slice(&bytes).map_err(|error| refused(error.to_string()))?;
        if found.version != VERSION {
            let what = format!("it is of version {}; this program reads version {VERSION}", found.version);
            return Err(refused(what));
        }
        let mut journal: Self = serde_json::from_slice(&bytes).map_err(|error| refused(error.to_string()))?;
        journal.settle()?;
        Ok(journal)
    }

    /// Keeps the memo of what each file is now.
    pub(super) fn settle(&mut self) -> Result<(), ApplyError> {
        for (path, entry) in &mut self.files {
            if let Some(until) = entry.until.take() {
                let now = file::read(&file::target(path)?)?.as_deref().map(digest);
                if now == until.before {
                    entry.memo = until.memo;
                }
            }
        }
        self.files.retain(|_, entry| entry.memo.is_some() || !entry.backups.is_empty());
        Ok(())
    }

    /// Forgets what was announced since `before`: it did not come.
    pub(super) fn take_back(&mut self, before: &Self) {
        for (path, entry) in &mut self.files {
            entry.until = None;
            entry.memo = before.files.get(path).and_then(|entry| entry.memo.clone());
        }
    }

    pub(super) fn memos(&self) -> Memos {
        let known = self.files.iter().filter_map(|(path, entry)| Some((path.clone(), entry.memo.clone()?)));
        known.collect()
    }

    /// Notes what a step is about to do.
    pub(super) fn announce(&mut self, step: &Step) {
        let Step::Edit { path, before, mkdir, memo, .. } = step else { return };
        let entry = self.files.entry(path.clone()).or_default();
        let until = Until { before: before.as_deref().map(digest), memo: entry.memo.take() };
        entry.until = Some(until);
        entry.memo.clone_from(memo);
        self.made.extend(mkdir.iter().filter(|directory| !directory.exists()).cloned());
    }

    pub(super) fn backed_up(&mut self, path: &Path, backup: &Path, bytes: &[u8]) {
        let entry = self.files.entry(path.to_owned()).or_default();
        entry.backups.insert(backup.to_owned(), digest(bytes));
    }

    /// Says whether a file is a backup that was made here, and is still what it was.
    pub(super) fn is_backup(&self, path: &Path, backup: &Path, bytes: &[u8]) -> bool {
        let known = self.files.get(path).and_then(|entry| entry.backups.get(backup));
        known.is_some_and(|known| *known == digest(bytes))
    }

    /// Takes away the directories that plans made and that hold nothing any more but backups of ours, the innermost
    /// first.
    pub(super) fn sweep(&mut self) {
        let made: Vec<PathBuf> = self.made.iter().rev().cloned().collect();
        for directory in made {
            self.sweep_backups(&directory);
            match fs::remove_dir(&directory) {
                Ok(()) => {
                    self.made.remove(&directory);
                }
                Err(error) if error.kind() == ErrorKind::NotFound => {
                    self.made.remove(&directory);
                }
                // It holds something, or may not be taken away: it stays.
                Err(_) => {}
            }
        }
    }

    /// Takes the backups out of a directory that holds nothing else.
    fn sweep_backups(&mut self, directory: &Path) {
        let entries = fs::read_dir(directory).into_iter().flatten().flatten();
        let held: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
        let ours = |path: &PathBuf| {
            let known = self.files.values().find_map(|entry| entry.backups.get(path));
            known.is_some_and(|known| fs::read(path).is_ok_and(|bytes| *known == digest(&bytes)))
        };
        if !held.iter().all(ours) {
            return;
        }
        for path in held {
            if fs::remove_file(&path).is_ok() {
                self.files.values_mut().for_each(|entry| drop(entry.backups.remove(&path)));
            }
        }
    }

    /// Takes away every backup that is still what it was, and forgets all.
    pub(super) fn drop_backups(&mut self) -> Result<Vec<PathBuf>, ApplyError> {
        let mut gone = Vec::new();
        for (path, digest_of) in self.files.values_mut().flat_map(|entry| std::mem::take(&mut entry.backups))
        {
            if fs::read(&path).is_ok_and(|bytes| digest(&bytes) == digest_of) {
                fs::remove_file(&path).map_err(|error| ApplyError::io(&path, error))?;
                gone.push(path);
            }
        }
        self.files.retain(|_, entry| entry.memo.is_some());
        Ok(gone)
    }

    pub(super) fn save(&self, data: &Path) -> Result<(), ApplyError> {
        let path = Self::place(data);
        let bytes = serde_json::to_vec_pretty(self)
            .map_err(|error| ApplyError::Journal { path: path.clone(), what: error.to_string() })?;
        file::write(&path, &bytes, &path)
    }
}
