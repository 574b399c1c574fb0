//! Sources to events: what `tail` does.

mod follow;
mod label;
mod watch;

pub use follow::Follower;
pub use label::LabelError;

use crate::capture::Capture;
use crate::discover;
use crate::read::{Chosen, Reading};
use crate::redact::Redactor;
use crate::source::{LineReader, Stat, stat};
use scrollback_core::{Env, Mark, Parser, Registry, Unknown};
use scrollback_store::{Label, SourceRow, Store, StoreError};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::Instant;
use thiserror::Error;

/// How many problems a report holds.
const PROBLEMS: usize = 1_000;

/// What a tail reads and how.
#[derive(Debug, Clone)]
#[expect(clippy::struct_excessive_bools, reason = "switches that do not depend on each other")]
pub struct TailOptions {
    /// Patterns, directories, files; none: every transcript of every client found here.
    pub paths: Vec<String>,
    /// The id of the parser for everything; `None`: path and content choose.
    pub parser: Option<String>,
    /// Whose the sources are, and which session: only of sources whose parser lets a user say it. A source that
    /// was labelled before keeps its label where this leaves it open.
    pub label: Label,
    /// Whether to read everything again from its start.
    pub again: bool,
    /// Whether to store nothing.
    pub dry_run: bool,
    /// Whether records that were understood are kept raw as well.
    pub raw_all: bool,
    /// Whether attachments' bytes are kept; else their digest and size.
    pub keep_blobs: bool,
    /// What is wanted.
    pub capture: Capture,
    /// Whether what is not wanted is read as well.
    pub everything: bool,
    /// The longest record that is held in memory, in bytes; a longer one goes into the store unread.
    pub max_line: usize,
    /// After how many events a transaction ends.
    pub batch: u64,
}

impl Default for TailOptions {
    fn default() -> Self {
        Self {
            paths: Vec::new(),
            parser: None,
            label: Label::default(),
            again: false,
            dry_run: false,
            raw_all: false,
            keep_blobs: true,
            capture: Capture::default(),
            everything: false,
            max_line: 32 << 20,
            batch: 5_000,
        }
    }
}

/// Something that was left out, or could not be read; everything else was.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The file or pattern.
    pub path: PathBuf,
    /// The record, from 1 (the line for a source of lines, blank ones not counted), if one is at fault.
    pub record: Option<u64>,
    /// What was expected, what was found, what to do.
    pub what: String,
}

/// How far a tail has got.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Progress {
    /// Sources read.
    pub sources: u64,
    /// Sources there are to read.
    pub of_sources: u64,
    /// Bytes read.
    pub bytes: u64,
    /// Bytes there are to read, as far as is known before reading.
    pub of_bytes: u64,
    /// Events stored.
    pub stored: u64,
}

/// What a tail did.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct TailReport {
    /// Sources looked at.
    pub sources: u64,
    /// Sources that had changed.
    pub sources_changed: u64,
    /// Files that were opened.
    pub opened: u64,
    /// Records read.
    pub records: u64,
    /// Events said.
    pub events: u64,
    /// Events that were new.
    pub stored: u64,
    /// Events whose content or home changed.
    pub replaced: u64,
    /// Events taken back.
    pub withdrawn: u64,
    /// Files that no parser knows, or that could not be read.
    pub skipped: u64,
    /// Records that could not be read; kept raw.
    pub unreadable: u64,
    /// Records with a kind never seen; kept raw.
    pub not_understood: u64,
    /// Bytes read.
    pub bytes: u64,
    /// Seconds of wall time.
    pub seconds: f64,
    /// By parser: its id, sources looked at, events that were new; in the order of ids.
    pub by_parser: Vec<(String, u64, u64)>,
    /// What decoders remarked on sources while they were read, and on how many: no faults.
    pub remarks: Vec<(String, u64)>,
    /// Records that were not wanted and passed: why, and how many.
    pub passed: Vec<(&'static str, u64)>,
    /// Problems, at most 1,000 of them.
    pub problems: Vec<Problem>,
    /// Patterns that matched nothing.
    pub unmatched: Vec<String>,
    /// Where was looked, if no path was given: each parser's id and its patterns.
    pub looked_at: Vec<(String, Vec<String>)>,
}

impl TailReport {
    pub(crate) fn problem(&mut self, path: impl Into<PathBuf>, record: Option<u64>, what: impl Into<String>) {
        if self.problems.len() < PROBLEMS {
            self.problems.push(Problem { path: path.into(), record, what: what.into() });
        }
    }

    pub(crate) fn pass(&mut self, why: &'static str, n: u64) {
        match self.passed.iter_mut().find(|(held, _)| *held == why) {
            Some((_, passed)) => *passed += n,
            None => self.passed.push((why, n)),
        }
    }

    pub(crate) fn remark(&mut self, what: &str) {
        match self.remarks.iter_mut().find(|(held, _)| held == what) {
            Some((_, n)) => *n += 1,
            None => self.remarks.push((what.to_owned(), 1)),
        }
    }

    /// Adds what a later look at the same sources did. `sources` is that of the look that saw most, and problems
    /// are not taken over.
    pub fn add(&mut self, later: &Self) {
        self.sources = self.sources.max(later.sources);
        self.sources_changed += later.sources_changed;
        self.opened += later.opened;
        self.records += later.records;
        self.events += later.events;
        self.stored += later.stored;
        self.replaced += later.replaced;
        self.withdrawn += later.withdrawn;
        self.unreadable += later.unreadable;
        self.not_understood += later.not_understood;
        self.bytes += later.bytes;
        self.seconds += later.seconds;
        for (why, n) in &later.passed {
            self.pass(why, *n);
        }
        for (parser, _, stored) in &later.by_parser {
            self.count(parser, 0, *stored);
        }
    }

    pub(crate) fn count(&mut self, parser: &str, sources: u64, stored: u64) {
        match self.by_parser.binary_search_by(|(id, _, _)| id.as_str().cmp(parser)) {
            Ok(at) => {
                self.by_parser[at].1 += sources;
                self.by_parser[at].2 += stored;
            }
            Err(at) => self.by_parser.insert(at, (parser.to_owned(), sources, stored)),
        }
    }
}

/// Why a tail ended early. What was committed before stays, and the marks with it.
#[derive(Debug, Error)]
pub enum TailError {
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// No parser of that id.
    #[error(transparent)]
    Unknown(#[from] Unknown),
    /// A source does not take the label that was given; nothing was read.
    #[error(transparent)]
    Label(#[from] LabelError),
}

/// Reads transcripts into a store. Each source costs only itself: what is wrong with one is in the report.
pub fn tail(
    env: &dyn Env,
    registry: &Registry,
    store: &mut Store,
    options: &TailOptions,
    progress: &mut dyn FnMut(&Progress),
) -> Result<TailReport, TailError> {
    tail_with(env, registry, store, options, Redactor::shared, progress)
}

/// Does what [`tail`] does, with that redactor, which is asked for only if there is something to read.
fn tail_with(
    env: &dyn Env,
    registry: &Registry,
    store: &mut Store,
    options: &TailOptions,
    redactor: fn() -> &'static Redactor,
    progress: &mut dyn FnMut(&Progress),
) -> Result<TailReport, TailError> {
    let started = Instant::now();
    let mut report = TailReport::default();
    let only = options.parser.as_deref().map(|id| registry.parser(id)).transpose()?;
    let mut files = find(env, registry, only, options, &mut report);
    let known = by_path(store.sources()?);
    label::settle(env, registry, &known, &mut files, options)?;
    let ahead = changed(env, registry, &known, files, options, &mut report);
    if !ahead.is_empty() {
        read(env, registry, store, options, redactor(), &ahead, &mut report, progress)?;
    }
    report.seconds = started.elapsed().as_secs_f64();
    Ok(report)
}

/// Returns the sources that are files, by their paths.
fn by_path(rows: Vec<SourceRow>) -> HashMap<PathBuf, SourceRow> {
    let files = rows.into_iter().filter(|row| row.logical.is_none());
    files.map(|row| (row.path.clone(), row)).collect()
}

/// Does what is to be done, in one transaction after another.
#[expect(clippy::too_many_arguments, reason = "what a tail is given, and what it is to do")]
fn read(
    env: &dyn Env,
    registry: &Registry,
    store: &mut Store,
    options: &TailOptions,
    redactor: &Redactor,
    ahead: &Ahead<'_>,
    report: &mut TailReport,
    progress: &mut dyn FnMut(&Progress),
) -> Result<(), TailError> {
    let mut so_far =
        Progress { of_sources: ahead.read.len() as u64, of_bytes: ahead.of_bytes, ..Progress::default() };
    let mut writer = store.writer()?;
    let mut reading = Reading::new(env, registry, redactor, options, &mut writer)?;
    for (parser, path) in &ahead.idle {
        reading.idle(*parser, path, report)?;
    }
    for chosen in &ahead.read {
        reading.source(chosen, report, &mut |read, stored| {
            let now = Progress { bytes: so_far.bytes + read, stored: so_far.stored + stored, ..so_far };
            progress(&now);
        })?;
        so_far.sources += 1;
        so_far.bytes = report.bytes;
        so_far.stored = report.stored;
        progress(&so_far);
    }
    if !options.dry_run {
        writer.commit()?;
    }
    Ok(())
}

/// Returns the files to look at, each with the parser whose home it is in.
fn find<'r>(
    env: &dyn Env,
    registry: &'r Registry,
    only: Option<&'r dyn Parser>,
    options: &TailOptions,
    report: &mut TailReport,
) -> Vec<(PathBuf, Option<&'r dyn Parser>)> {
    let mut files: Vec<(PathBuf, Option<&dyn Parser>)> = Vec::new();
    let mut add = |found: discover::Found, parser: Option<&'r dyn Parser>, report: &mut TailReport| {
        for problem in found.problems {
            report.problem(problem.path, None, problem.what);
        }
        // One file under several names is one source.
        files.extend(found.canonical.into_iter().map(|path| (path, parser)));
    };
    if options.paths.is_empty() {
        for parser in
            registry.parsers().filter(|parser| only.is_none_or(|only| only.spec().id == parser.spec().id))
        {
            let homes = parser.homes(env);
            report.looked_at.push((parser.spec().id.to_string(), homes.include));
            add(discover::homes(env, parser), Some(parser), report);
        }
    }
    for pattern in &options.paths {
        match discover::expand(env, pattern) {
            Ok(found) => add(found, only, report),
            Err(error) => {
                report.unmatched.push(pattern.clone());
                report.problem(pattern, None, error.to_string());
            }
        }
    }
    // In the homes of two, a file is the one's whose home a user did not declare.
    let declared = |parser: Option<&dyn Parser>| parser.is_some_and(|parser| parser.spec().labelled);
    files.sort_by(|a, b| a.0.cmp(&b.0).then(declared(a.1).cmp(&declared(b.1))));
    files.dedup_by(|a, b| a.0 == b.0);
    files
}

/// What is to be done.
struct Ahead<'r> {
    /// Sources to read.
    read: Vec<Chosen<'r>>,
    /// Sources that did not change, whose decoders do not know yet that they are idle.
    idle: Vec<(&'r dyn Parser, PathBuf)>,
    /// How many bytes that is about.
    of_bytes: u64,
}

impl Ahead<'_> {
    fn is_empty(&self) -> bool {
        self.read.is_empty() && self.idle.is_empty()
    }
}

/// Returns what is to be done, from what the file system says of each file; none is opened.
fn changed<'r>(
    env: &dyn Env,
    registry: &'r Registry,
    known: &HashMap<PathBuf, SourceRow>,
    files: Vec<(PathBuf, Option<&'r dyn Parser>)>,
    options: &TailOptions,
    report: &mut TailReport,
) -> Ahead<'r> {
    let now = env.now();
    let mut moved = Moved::of(known);
    let (mut read, mut idle) = (Vec::new(), Vec::new());
    let mut of_bytes = 0;
    for (path, parser) in files {
        let found: Stat = match stat(&path) {
            Ok(found) => found,
            Err(error) => {
                report.skipped += 1;
                report.problem(path, None, error.to_string());
                continue;
            }
        };
        let row = known.get(&path).filter(|row| parser.is_none_or(|parser| parser.spec().id == row.parser));
        if let Some(row) = row
            && !options.again
            && options.label.or(&row.label) == row.label
            && let Some(Mark::Lines(mark)) = &row.mark
            && LineReader::unchanged(mark, &found, now)
        {
            report.sources += 1;
            report.count(&row.parser, 1, 0);
            if let Ok(parser) = registry.parser(&row.parser)
                && Reading::is_due(mark, now)
            {
                idle.push((parser, path));
            }
            continue;
        }
        // A parser the source was read with before is asked no more; another program may not have it.
        let parser = parser.or_else(|| row.and_then(|row| registry.parser(&row.parser).ok()));
        let start = match row.and_then(|row| row.mark.as_ref()) {
            Some(Mark::Lines(mark))
                if !options.again && mark.codec.is_none() && mark.offset <= found.size =>
            {
                mark.offset
            }
            _ => 0,
        };
        of_bytes += found.size - start.min(found.size);
        let from = if row.is_none() && !options.again { moved.before(&path, parser) } else { None };
        read.push(Chosen { path, parser, from });
    }
    Ahead { read, idle, of_bytes }
}

/// Sources by the name they keep when they are moved or compressed; made when first asked.
struct Moved<'k> {
    known: &'k HashMap<PathBuf, SourceRow>,
    by_name: Option<HashMap<String, Vec<&'k SourceRow>>>,
}

impl<'k> Moved<'k> {
    fn of(known: &'k HashMap<PathBuf, SourceRow>) -> Self {
        Self { known, by_name: None }
    }

    /// Returns the path of the source that the file at `path`, which was not read yet, may have been before: of
    /// the same name, and gone, or the same file compressed or plain. Whether it was its bytes say.
    fn before(&mut self, path: &Path, parser: Option<&dyn Parser>) -> Option<PathBuf> {
        let by_name = self.by_name.get_or_insert_with(|| {
            let mut by_name: HashMap<String, Vec<&SourceRow>> = HashMap::new();
            for row in self.known.values().filter(|row| row.mark.is_some()) {
                by_name.entry(discover::lasting_name(&row.path)).or_default().push(row);
            }
            by_name
        });
        let mut rows = by_name.get(&discover::lasting_name(path))?.iter();
        let is_it = |row: &&&SourceRow| {
            parser.is_none_or(|parser| parser.spec().id == row.parser)
                && (row.path.parent() == path.parent() || !row.path.exists())
        };
        rows.find(is_it).map(|row| row.path.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use scrollback_core::{
        Body, Event, EventId, Homes, LineParser, ParserSpec, Role, Score, Shape, Timestamp,
    };
    use scrollback_store::{Picked, SessionFilter};
    use std::io;

    static ACME: LineParser = LineParser {
        spec: ParserSpec::new("acme", "Acme", Shape::Lines),
        homes: |_| Homes::of(["~/*.jsonl"]),
        score: |_| Score::Sure,
        decode: |record, source, events| {
            let said: &str = record.json()?;
            let id = EventId::of("acme", &[&source.stem(), &record.index.to_string(), "0"]);
            events.event(Event::new(id, source.stem(), Body::message(Role::User, said)));
            Ok(())
        },
    };

    struct Machine(PathBuf);

    impl Env for Machine {
        fn var(&self, _name: &str) -> Option<String> {
            None
        }
        fn home(&self) -> Option<PathBuf> {
            Some(self.0.clone())
        }
        fn current_dir(&self) -> Option<PathBuf> {
            None
        }
        fn login(&self) -> Option<String> {
            None
        }
        fn now(&self) -> Timestamp {
            Timestamp::from_micros(0).unwrap()
        }
        fn read(&self, _path: &Path) -> io::Result<Vec<u8>> {
            Err(io::ErrorKind::NotFound.into())
        }
        fn list(&self, _path: &Path) -> io::Result<Vec<PathBuf>> {
            Err(io::ErrorKind::NotFound.into())
        }
    }

    /// What is stored of the one session: each event's id, text and revision.
    fn stored(store: &Store) -> Vec<(EventId, String, Option<u64>)> {
        let session = store.sessions(&SessionFilter::default()).unwrap().pop().unwrap();
        let events = store.events(&session, &Picked::ALL).unwrap();
        events
            .into_iter()
            .map(|event| (event.line.id, event.line.body.text().to_owned(), event.line.revision))
            .collect()
    }

    #[test]
    #[expect(clippy::disallowed_methods, reason = "a test writes its transcript")]
    fn other_rules_of_redaction_make_no_new_events() {
        let directory = tempfile::tempdir().unwrap();
        let secret = concat!("ghp_", "16C7e42F292c6912E7710c838347Ae178B4a");
        let lines = format!("\"my token is {secret}\"\n\"and no more\"\n");
        std::fs::write(directory.path().join("s.jsonl"), lines).unwrap();
        let env = Machine(directory.path().to_owned());
        let registry = Registry::default().with_parser(&ACME).unwrap();
        let again = TailOptions { again: true, ..TailOptions::default() };
        let none: fn() -> &'static Redactor = || Box::leak(Box::new(Redactor::none()));
        for (first, then) in [(none, Redactor::shared as fn() -> &'static Redactor), (Redactor::shared, none)]
        {
            let mut store = Store::open_in_memory().unwrap();
            let mut read = |options: &TailOptions, redactor: fn() -> &'static Redactor| {
                let report = tail_with(&env, &registry, &mut store, options, redactor, &mut |_| {}).unwrap();
                (report.stored, report.replaced, stored(&store))
            };
            let (new, _, before) = read(&TailOptions::default(), first);
            assert_eq!((new, before.len()), (2, 2));
            assert_eq!(read(&again, then), (0, 0, before));
        }
    }
}
