//! A settings file of either language, from the machine to the step of a plan.

use crate::{EditError, Json, Memo, Toml};
use scrollback_core::{Env, Memos, PlanError, Step};
use serde::Serialize;
use serde_json::Value;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// What [`Json`] and [`Toml`] have in common.
pub trait Settings: Sized {
    /// Reads a file; `None` is one that is not there.
    fn parse(file: Option<&[u8]>) -> Result<Self, EditError>;
    /// Takes what an earlier install found.
    #[must_use]
    fn with_memo(self, memo: Memo) -> Self;
    /// Returns what to keep for a later removal.
    fn memo(&self) -> &Memo;
    /// Returns what is at a path.
    fn value(&self, path: &[&str]) -> Option<Value>;
    /// Makes `new` stand at a path.
    fn set(&mut self, path: &[&str], new: &(impl Serialize + ?Sized)) -> Result<(), EditError>;
    /// Puts `new` last in the array at a path.
    fn append(&mut self, path: &[&str], new: &(impl Serialize + ?Sized)) -> Result<(), EditError>;
    /// Takes out what is at a path; says whether there was something.
    fn remove(&mut self, path: &[&str]) -> Result<bool, EditError>;
    /// Returns the file's bytes; `None` for a file that is not to be there.
    fn finish(&self) -> Option<Vec<u8>>;
}

macro_rules! settings {
    ($language:ty) => {
        impl Settings for $language {
            fn parse(file: Option<&[u8]>) -> Result<Self, EditError> {
                Self::parse(file)
            }
            fn with_memo(self, memo: Memo) -> Self {
                self.with_memo(memo)
            }
            fn memo(&self) -> &Memo {
                self.memo()
            }
            fn value(&self, path: &[&str]) -> Option<Value> {
                self.value(path)
            }
            fn set(&mut self, path: &[&str], new: &(impl Serialize + ?Sized)) -> Result<(), EditError> {
                self.set(path, new)
            }
            fn append(&mut self, path: &[&str], new: &(impl Serialize + ?Sized)) -> Result<(), EditError> {
                self.append(path, new)
            }
            fn remove(&mut self, path: &[&str]) -> Result<bool, EditError> {
                self.remove(path)
            }
            fn finish(&self) -> Option<Vec<u8>> {
                self.finish()
            }
        }
    };
}

settings!(Json);
settings!(Toml);

/// A settings file as it was when it was read, and as it shall be.
#[derive(Debug, Clone)]
pub struct Opened<F> {
    path: PathBuf,
    before: Option<Vec<u8>>,
    /// The file to edit.
    pub file: F,
}

impl<F: Settings> Opened<F> {
    /// Reads the file at `path`, which need not be there, with what the journal remembers of it.
    ///
    /// A file that cannot be read, or does not parse, is an error; a memo of another version is as none.
    pub fn read(env: &dyn Env, path: PathBuf, memos: &Memos) -> Result<Self, PlanError> {
        let before = match env.read(&path) {
            Ok(bytes) => Some(bytes),
            Err(error) if error.kind() == ErrorKind::NotFound => None,
            Err(error) => return Err(PlanError::Refused(format!("{}: {error}", path.display()))),
        };
        let mut file = F::parse(before.as_deref()).map_err(|error| error.in_file(&path))?;
        if let Some(memo) = memos.get(&path).and_then(|memo| serde_json::from_str(memo).ok()) {
            file = file.with_memo(memo);
        }
        Ok(Self { path, before, file })
    }

    /// Returns where the file is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Says whether the file was there.
    pub fn existed(&self) -> bool {
        self.before.is_some()
    }

    /// Makes an edit; its error names the file.
    pub fn edit<T>(&mut self, edit: impl FnOnce(&mut F) -> Result<T, EditError>) -> Result<T, PlanError> {
        edit(&mut self.file).map_err(|error| error.in_file(&self.path))
    }

    /// Returns the step that makes the file what it shall be: none if it is that already.
    ///
    /// `ours` says whether something of ours stands in it then. The directory around it is made, if it is not
    /// there.
    pub fn step(self, env: &dyn Env, ours: bool) -> Result<Option<Step>, PlanError> {
        let after = self.file.finish();
        if after == self.before {
            return Ok(None);
        }
        let memo = serde_json::to_string(self.file.memo())
            .map_err(|error| PlanError::Refused(format!("{}: {error}", self.path.display())))?;
        let parent = self.path.parent().filter(|parent| {
            self.before.is_none() && env.list(parent).is_err_and(|error| error.kind() == ErrorKind::NotFound)
        });
        Ok(Some(Step::Edit {
            mkdir: parent.map(Path::to_owned).into_iter().collect(),
            path: self.path,
            before: self.before,
            after,
            memo: ours.then_some(memo),
        }))
    }
}
