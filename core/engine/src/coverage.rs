//! What of the transcripts on disk is in the store, what is not, and why.

use crate::discover;
use crate::reparse::is_gone;
use crate::source::{Limits, LineReader, Verdict, stat};
use scrollback_core::{Env, LinesMark, Mark, Parser, Registry};
use scrollback_store::{Counted, Counts, KindCount, SourceRow, Store, StoreError};
use std::collections::{HashMap, HashSet};
use std::io;
use std::path::{Path, PathBuf};

/// How a source stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Standing {
    /// Everything on disk was read, but perhaps for an unfinished last line.
    Read,
    /// So many bytes on disk are still to be read: what was appended, or all of a file that is not what it was.
    Behind(u64),
    /// It was never read.
    Missing,
    /// It was read, and is not there any more; what was read stays.
    Gone,
    /// It cannot be read, and why.
    Refused(String),
}

/// What of a source is in the store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceCoverage {
    /// The source; a directory or a pattern, if that is what could not be looked into.
    pub path: PathBuf,
    /// The parser.
    pub parser: String,
    /// Whose it is, if that is a user's word and not the parser's.
    pub client: Option<String>,
    /// What its decoder remarked.
    pub remark: Option<String>,
    /// Bytes on disk.
    pub bytes: u64,
    /// Bytes read.
    pub captured: u64,
    /// How it stands.
    pub standing: Standing,
    /// What was found in it.
    pub counts: Counts,
    /// What was not understood: kind, client version and how often.
    pub unknown: Vec<(String, String, u64)>,
    /// What carries nothing: kind and how often.
    pub nothing: Vec<(String, u64)>,
    /// What was not wanted: why and how often.
    pub skipped: Vec<(String, u64)>,
}

/// Returns how each source stands, in the order of paths: every one that was read, and every one in a client's
/// home.
pub fn coverage(
    env: &dyn Env,
    registry: &Registry,
    store: &Store,
) -> Result<Vec<SourceCoverage>, StoreError> {
    let mut kinds: HashMap<i64, Vec<KindCount>> = HashMap::new();
    for kind in store.kind_counts()? {
        kinds.entry(kind.source).or_default().push(kind);
    }
    let mut sources = Vec::new();
    let mut listed: HashSet<PathBuf> = HashSet::new();
    for row in store.sources()? {
        let found = kinds.remove(&row.row).unwrap_or_default();
        sources.push(of(env, registry, &row, &found));
        listed.insert(row.path);
    }
    for parser in registry.parsers() {
        let found = discover::homes(env, parser);
        for path in found.canonical {
            if listed.insert(path.clone()) {
                sources.extend(missing(env, path, parser));
            }
        }
        for problem in found.problems {
            if listed.insert(problem.path.clone()) {
                sources.push(unread(problem.path, parser, 0, Standing::Refused(problem.what)));
            }
        }
    }
    sources.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(sources)
}

fn of(env: &dyn Env, registry: &Registry, row: &SourceRow, kinds: &[KindCount]) -> SourceCoverage {
    let mark = match &row.mark {
        Some(Mark::Lines(mark)) => Some(mark),
        _ => None,
    };
    let volatile_head = registry.parser(&row.parser).map_or(0, |parser| parser.spec().volatile_head);
    let (bytes, standing) = match standing(env, &row.path, mark, volatile_head) {
        Ok(found) => found,
        Err(error) if is_gone(&error) => (0, Standing::Gone),
        Err(error) => (0, Standing::Refused(error.to_string())),
    };
    let of = |counted| kinds.iter().filter(move |kind: &&KindCount| kind.counted == counted);
    let (unknown, nothing) = (of(Counted::Unknown), of(Counted::Nothing));
    let skipped = of(Counted::Skipped);
    SourceCoverage {
        path: row.path.clone(),
        parser: row.parser.clone(),
        client: row.label.client.clone(),
        remark: row.remark.clone(),
        bytes,
        captured: mark.map_or(0, |mark| mark.offset),
        standing,
        counts: row.counts,
        unknown: unknown.map(|kind| (kind.kind.clone(), kind.version.clone(), kind.n)).collect(),
        nothing: nothing.map(|kind| (kind.kind.clone(), kind.n)).collect(),
        skipped: skipped.map(|kind| (kind.kind.clone(), kind.n)).collect(),
    }
}

/// Returns how large a source that was read is, and how it stands: what a tail would find to read in it. It is
/// opened only if it is not what it was at the mark.
fn standing(
    env: &dyn Env,
    path: &Path,
    mark: Option<&LinesMark>,
    volatile_head: u32,
) -> io::Result<(u64, Standing)> {
    let stat = stat(path)?;
    let now = env.now();
    if stat.size == 0 {
        return Ok((0, Standing::Read));
    }
    // Of a compressed source only decompressing tells whether there is more than could be read.
    if let Some(mark) = mark.filter(|mark| mark.codec.is_none() && LineReader::unchanged(mark, &stat, now)) {
        return Ok((mark.end(), Standing::Read));
    }
    let (reader, verdict) = LineReader::open(path, mark, volatile_head, Limits::default(), now)?;
    // Of a compressed source all positions are in the decompressed bytes.
    let size = reader.decompressed()?.unwrap_or(stat.size);
    let left = match (verdict, mark) {
        (Verdict::Unchanged, _) => 0,
        (Verdict::Append, Some(mark)) => size.saturating_sub(mark.offset),
        _ => size,
    };
    Ok((size, if left == 0 { Standing::Read } else { Standing::Behind(left) }))
}

/// Returns how a source that was never read stands; none for a link that leads nowhere.
fn missing(env: &dyn Env, path: PathBuf, parser: &dyn Parser) -> Option<SourceCoverage> {
    let found = stat(&path).and_then(|stat| {
        if stat.size == 0 {
            return Ok(0);
        }
        let (reader, _) = LineReader::open(&path, None, 0, Limits::default(), env.now())?;
        Ok(reader.decompressed()?.unwrap_or(stat.size))
    });
    let (bytes, standing) = match found {
        Ok(0) => (0, Standing::Read),
        Ok(size) => (size, Standing::Missing),
        Err(error) if is_gone(&error) => return None,
        Err(error) => (0, Standing::Refused(error.to_string())),
    };
    Some(unread(path, parser, bytes, standing))
}

fn unread(path: PathBuf, parser: &dyn Parser, bytes: u64, standing: Standing) -> SourceCoverage {
    SourceCoverage {
        path,
        parser: parser.spec().id.to_string(),
        client: None,
        remark: None,
        bytes,
        captured: 0,
        standing,
        counts: Counts::default(),
        unknown: Vec::new(),
        nothing: Vec::new(),
        skipped: Vec::new(),
    }
}
