//! From patterns to sources, and from a source to its parser.

mod pattern;
mod walk;

use pattern::{Expanded, Syntax};
pub(crate) use pattern::{is_transcript, plain_name};
use scrollback_core::{Env, Parser};
use std::collections::HashSet;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use thiserror::Error;
use walk::Walk;

/// What was found.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Found {
    /// The files, sorted, each once however many links lead to it. What is no regular file is among them: reading
    /// it says what it is.
    pub files: Vec<PathBuf>,
    /// The canonical path of each of `files`, by which a file is known whatever way leads to it.
    pub canonical: Vec<PathBuf>,
    /// What could not be looked into, and was passed.
    pub problems: Vec<Problem>,
}

/// Something that was passed when looking for files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// Where.
    pub path: PathBuf,
    /// What was wrong, as a lower-case fragment.
    pub what: String,
}

/// A pattern that finds nothing.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum DiscoverError {
    /// It matches no file.
    #[error("nothing matches {pattern}")]
    NothingMatched {
        /// The pattern as it was given.
        pattern: String,
    },
    /// It names an environment variable that is not set.
    #[error("{pattern} names ${name}, which is not set")]
    NotSet {
        /// The pattern as it was given.
        pattern: String,
        /// The variable.
        name: String,
    },
    /// It begins in the home directory or the current one, and there is none.
    #[error("{pattern} begins in the {which} directory, which is not known")]
    NoDirectory {
        /// The pattern as it was given.
        pattern: String,
        /// `home` or `current`.
        which: &'static str,
    },
    /// It is no pattern.
    #[error("{pattern} is no pattern: {what}")]
    Malformed {
        /// The pattern as it was given.
        pattern: String,
        /// What is wrong with it.
        what: String,
    },
}

impl Found {
    /// Puts two finds together; a file of both is held once, by the name it has in `self`.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        let mut held: HashSet<OsString> = HashSet::with_capacity(self.files.len() + other.files.len());
        let mut problems = self.problems;
        problems.extend(other.problems);
        let both = self.files.into_iter().zip(self.canonical);
        let mut pairs: Vec<_> = both
            .chain(other.files.into_iter().zip(other.canonical))
            .filter(|(_, canonical)| held.insert(canonical.as_os_str().to_owned()))
            .collect();
        pairs.sort_unstable_by(|(a, _), (b, _)| a.as_os_str().cmp(b.as_os_str()));
        let (files, canonical) = pairs.into_iter().unzip();
        Self { files, canonical, problems }
    }
}

/// Returns the files that a pattern on the command line stands for.
///
/// A file that exists under that very name is that file. A directory stands for every `*.jsonl` in it, at any
/// depth, those compressed to `*.jsonl.zst` or `*.jsonl.gz` among them; so does a directory that a pattern matches,
/// unless its own name ends so. `~`, `$VAR` and `${VAR}` are replaced, `*`, `?`, `[…]`, `{a,b}` and, as a whole
/// component, `**` match, names that begin with a dot too.
///
/// Where nothing is found but something could not be looked into, that is no error: the problems say it.
pub fn expand(env: &dyn Env, pattern: &str) -> Result<Found, DiscoverError> {
    let nothing = || DiscoverError::NothingMatched { pattern: pattern.to_owned() };
    if pattern.is_empty() {
        return Err(nothing());
    }
    let expanded = Expanded::of(env, pattern, Syntax::Shell)?;
    let mut walk = Walk::new(true);
    if let Some(literal) = expanded.existing() {
        walk.add(literal);
    } else {
        for parts in expanded.alternatives()? {
            walk.run(&expanded.base, parts);
        }
    }
    let found = walk.finish();
    if found.files.is_empty() && found.problems.is_empty() {
        return Err(nothing());
    }
    Ok(found)
}

/// Returns the sources of a parser's client on this machine. That there are none is no problem.
pub fn homes(env: &dyn Env, parser: &dyn Parser) -> Found {
    let homes = parser.homes(env);
    let mut walk = Walk::new(false);
    for pattern in &homes.include {
        let parts = Expanded::of(env, pattern, Syntax::Plain)
            .and_then(|expanded| Ok((expanded.alternatives()?, expanded.base)));
        match parts {
            Ok((alternatives, base)) => {
                for parts in alternatives {
                    walk.run(&base, parts);
                }
            }
            Err(error) => walk.problem(Path::new(pattern), error.to_string()),
        }
    }
    for pattern in &homes.exclude {
        match Expanded::of(env, pattern, Syntax::Plain).and_then(|expanded| expanded.whole()) {
            Ok(pattern) => walk.exclude(pattern),
            Err(error) => walk.problem(Path::new(pattern), error.to_string()),
        }
    }
    walk.finish()
}

/// Says whether a path is one of those a parser's client keeps its transcripts at. A canonical path is compared
/// under the home directory's own name too.
pub fn is_at_home(env: &dyn Env, parser: &dyn Parser, path: &Path) -> bool {
    let homes = parser.homes(env);
    let named = env.home().and_then(|home| {
        let below = path.strip_prefix(home.canonicalize().ok()?).ok()?;
        Some(home.join(below))
    });
    let matches = |pattern: &String| {
        let pattern = Expanded::of(env, pattern, Syntax::Plain).and_then(|expanded| expanded.whole());
        pattern.is_ok_and(|pattern| {
            let taken = |path: &Path| pattern.matches_path_with(path, walk::OPTIONS);
            taken(path) || named.as_deref().is_some_and(taken)
        })
    };
    homes.include.iter().any(matches) && !homes.exclude.iter().any(matches)
}

/// Returns the directory that a pattern looks into: the part of it before anything special, as far as it is there.
pub(crate) fn base(env: &dyn Env, pattern: &str) -> Option<PathBuf> {
    let expanded = Expanded::of(env, pattern, Syntax::Shell).ok()?;
    let plain = |name: &&str| !name.contains(['*', '?', '[', '{']);
    let mut path = expanded.base.clone();
    path.extend(
        expanded.literal().split('/').filter(|name| !name.is_empty() && *name != ".").take_while(plain),
    );
    let there = path.ancestors().find(|path| path.is_dir())?;
    std::fs::canonicalize(there).ok()
}

/// Returns the name that a source keeps however it is compressed and wherever it is moved.
pub(crate) fn lasting_name(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    plain_name(&name).unwrap_or(&name).to_owned()
}

/// Returns the first bytes of a source, decompressed, at most 64 KiB. What is no regular file is refused without
/// opening it.
pub fn read_head(path: &Path) -> io::Result<Vec<u8>> {
    const MOST: u64 = 64 << 10;
    let size = crate::source::stat(path)?.size.min(MOST);
    let mut head = Vec::with_capacity(usize::try_from(size).unwrap_or_default() + 1);
    crate::source::head(path, MOST, &mut head)?;
    Ok(head)
}

#[cfg(test)]
mod tests;
