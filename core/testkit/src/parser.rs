//! The laws of a parser. Each takes the parser and the folder of its fixtures and panics where it is broken.

use crate::reading::{Reader, fixtures};
use crate::{World, golden};
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestError, TestRng, TestRunner};
use scrollback_core::{Parser, Probe, Score, Source, State};
use scrollback_engine::source::{Limits, LineReader, Verdict};
use std::collections::{BTreeMap, BTreeSet};
use std::io::Write as _;
use std::path::{Path, PathBuf};

/// Cuts a fixture over this many bytes only here and there.
const SMALL: usize = 16 << 10;
/// How many cuts a larger fixture gets.
const CUTS: usize = 256;

fn read_file(path: &Path) -> Vec<u8> {
    std::fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn lines(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    bytes.split(|byte| *byte == b'\n')
}

fn world(folder: &str) -> World {
    World::new(folder)
}

fn whole<'p>(parser: &'p dyn Parser, world: &'p World, path: &'p Path, bytes: &[u8]) -> Reader<'p> {
    let mut reader = Reader::new(parser, world, path);
    for line in lines(bytes) {
        reader.line(line);
    }
    reader
}

/// Reading in one run equals stopping after any record and going on from the stored state.
///
/// # Panics
///
/// If it does not.
pub fn resuming_changes_nothing(parser: &dyn Parser, folder: &str) {
    let world = world(folder);
    for path in fixtures(folder) {
        let bytes = read_file(&path);
        let mut once = whole(parser, &world, &path, &bytes);
        let mut again = Reader::new(parser, &world, &path);
        for line in lines(&bytes) {
            again.line(line);
            again.resume();
        }
        once.end();
        again.end();
        // What is known from a sidecar may be said at every start; it is the same each time.
        let unique = |said: &[(u64, String)]| said.iter().cloned().collect::<BTreeSet<_>>();
        assert_same(&path, "resuming gives other events", &told(&once), ("resumed", &told(&again)));
        let texts =
            |said: &[(u64, String)]| said.iter().map(|(_, text)| text.clone()).collect::<BTreeSet<_>>();
        let missing: Vec<_> = unique(&once.said).difference(&unique(&again.said)).cloned().collect();
        assert!(missing.is_empty(), "{}: resuming loses {missing:#?}", path.display());
        let added: Vec<_> = texts(&again.said).difference(&texts(&once.said)).cloned().collect();
        assert!(added.is_empty(), "{}: resuming adds {added:#?}", path.display());
    }
}

/// Returns what was said, an event a text, each with the record it was said at.
fn told(reader: &Reader<'_>) -> Vec<String> {
    reader.events.iter().map(|(id, index, body)| format!("{}: {id} {body}", place(*index))).collect()
}

/// Returns where an event was said, as people count: from 1.
fn place(index: u64) -> String {
    if index == u64::MAX { "at the end".to_owned() } else { format!("record {}", index + 1) }
}

/// Returns the first difference of what was said in two ways, each with its name.
fn difference(one: (&str, &[String]), other: (&str, &[String])) -> Option<String> {
    let same = one.1.iter().zip(other.1).take_while(|(a, b)| a == b).count();
    let width = one.0.len().max(other.0.len());
    let line = |(name, said): (&str, &[String])| {
        format!("  {name:width$}  {}", said.get(same).map_or("(no event)", String::as_str))
    };
    (one.1 != other.1).then(|| format!("{}\n{}", line(one), line(other)))
}

fn assert_same(path: &Path, what: &str, once: &[String], otherwise: (&str, &[String])) {
    if let Some(difference) = difference(("in one run", once), otherwise) {
        panic!("{}: {what}; the first that differs:\n{difference}", path.display());
    }
}

/// A transcript that grows in pieces cut at any byte, read after each with a new reader and a new decoder, gives the
/// same events as one read at once, each once.
///
/// # Panics
///
/// If it does not.
pub fn cutting_changes_nothing(parser: &dyn Parser, folder: &str) {
    let world = world(folder);
    let directory = tempfile::tempdir().unwrap_or_else(|error| panic!("no temporary directory: {error}"));
    let mut random = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    for (n, path) in fixtures(folder).into_iter().enumerate() {
        let bytes = read_file(&path);
        let folder = directory.path().join(n.to_string());
        std::fs::create_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
        let growing = folder.join(path.file_name().unwrap_or_default());
        let complete: Vec<u8> =
            if bytes.ends_with(b"\n") { bytes.clone() } else { [&bytes[..], b"\n"].concat() };
        let mut once = whole(parser, &world, &growing, &complete);
        let mut cuts: Vec<usize> = if complete.len() <= SMALL {
            (0..complete.len()).collect()
        } else {
            (0..CUTS).map(|_| random.random_range(0..complete.len())).collect()
        };
        cuts.push(complete.len());
        cuts.sort_unstable();
        let mut pieces = Reader::new(parser, &world, &growing);
        let (mut written, mut mark) = (0, None);
        for cut in cuts {
            append(&growing, &complete[written..cut]);
            written = cut;
            let (mut lines, verdict) = open(&growing, mark.as_ref());
            let from_start = matches!(verdict, Verdict::Again { .. });
            assert!(mark.is_none() || !from_start, "{}: read again from its start at {cut}", path.display());
            let mut read = false;
            while let Some(line) = lines.next().unwrap_or_else(|error| panic!("{error}")) {
                pieces.line(line.bytes);
                read = true;
            }
            mark = Some(lines.mark());
            if read {
                pieces.resume();
            }
        }
        once.end();
        pieces.end();
        assert_same(&path, "cutting gives other events", &told(&once), ("in pieces", &told(&pieces)));
    }
}

fn append(path: &Path, bytes: &[u8]) {
    let file = std::fs::OpenOptions::new().create(true).append(true).open(path);
    file.and_then(|mut file| file.write_all(bytes))
        .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
}

fn open(path: &Path, mark: Option<&scrollback_core::LinesMark>) -> (LineReader, Verdict) {
    let long_ago = scrollback_core::Timestamp::from_micros(0).unwrap_or_else(|_| unreachable!());
    LineReader::open(path, mark, 0, Limits::default(), long_ago)
        .unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The same records give the same ids; two records that share an id share content, or one is a later version of
/// the other, from a later record.
///
/// # Panics
///
/// If they do not.
pub fn names_are_stable(parser: &dyn Parser, folder: &str) {
    let world = world(folder);
    for path in fixtures(folder) {
        let bytes = read_file(&path);
        let once = whole(parser, &world, &path, &bytes);
        let again = whole(parser, &world, &path, &bytes);
        assert_same(&path, "read twice, other events", &told(&once), ("again", &told(&again)));
        let mut held: BTreeMap<_, (u64, &str)> = BTreeMap::new();
        for (id, index, body) in &once.events {
            if let Some((before, other)) = held.insert(*id, (*index, body)) {
                assert!(
                    other == body || before != *index,
                    "{}: {} gives two events of one id, {id}:\n  {other}\n  {body}",
                    path.display(),
                    place(*index)
                );
            }
        }
    }
}

/// Something is said of every record that can be read: an event, facts, usage, a withdrawal, nothing, or unknown.
///
/// # Panics
///
/// If nothing is.
pub fn every_record_is_accounted_for(parser: &dyn Parser, folder: &str) {
    let world = world(folder);
    let mut events = 0;
    for path in fixtures(folder) {
        let reader = whole(parser, &world, &path, &read_file(&path));
        assert!(
            reader.silent == 0,
            "{}: records of which nothing was said: {}, the first is record {}",
            path.display(),
            reader.silent,
            reader.first_silent.map_or(0, |index| index + 1)
        );
        events += reader.events.len();
    }
    assert!(events > 0, "no fixture in {folder} gives an event");
}

/// An event that was held back says its place in a record already read, and a rank is below 2⁴².
///
/// # Panics
///
/// If one does not.
pub fn order_is_kept(parser: &dyn Parser, folder: &str) {
    let world = world(folder);
    for path in fixtures(folder) {
        let mut reader = whole(parser, &world, &path, &read_file(&path));
        reader.end();
        for (read, order) in &reader.orders {
            if let Some((record, _)) = order.place {
                assert!(
                    record <= *read,
                    "{}: record {} gives an event a place in record {}, which was not read yet",
                    path.display(),
                    read + 1,
                    record + 1
                );
            }
            assert!(order.rank < 1 << 42, "{}: the rank {} is too high", path.display(), order.rank);
        }
    }
}

/// A line of rubbish between two records gives no panic and changes nothing that follows.
///
/// # Panics
///
/// If it does.
pub fn rubbish_passes(parser: &dyn Parser, folder: &str) {
    let world = world(folder);
    let smallest = fixtures(folder)
        .into_iter()
        .min_by_key(|path| std::fs::metadata(path).map_or(u64::MAX, |metadata| metadata.len()));
    let path: PathBuf = smallest.unwrap_or_else(|| unreachable!());
    let bytes = read_file(&path);
    let records: Vec<&[u8]> = lines(&bytes).filter(|line| !line.trim_ascii().is_empty()).collect();
    let expected = bodies(&whole(parser, &world, &path, &bytes));
    let config = Config { cases: 64, failure_persistence: None, ..Config::default() };
    let mut runner = TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha));
    let strategy = (rubbish(), 0..=records.len());
    let outcome = runner.run(&strategy, |(line, at)| {
        let mut reader = Reader::new(parser, &world, &path);
        for (n, record) in records.iter().enumerate() {
            if n == at {
                reader.line(&line);
            }
            reader.line(record);
        }
        match difference(("without it", &expected), ("with it", &bodies(&reader))) {
            Some(difference) => Err(TestCaseError::fail(format!("other events:\n{difference}"))),
            None => Ok(()),
        }
    });
    match outcome {
        Ok(()) => {}
        Err(TestError::Fail(reason, (line, at))) => panic!(
            "{}: a line of rubbish before record {} gives {reason}\nthe line: {:?}",
            path.display(),
            at + 1,
            String::from_utf8_lossy(line.get(..200).unwrap_or(&line))
        ),
        Err(TestError::Abort(reason)) => panic!("{}: {reason}", path.display()),
    }
}

fn bodies(reader: &Reader<'_>) -> Vec<String> {
    reader.events.iter().map(|(id, _, body)| format!("{id} {body}")).collect()
}

fn rubbish() -> impl Strategy<Value = Vec<u8>> {
    let no_newline = |mut bytes: Vec<u8>| {
        bytes.retain(|byte| *byte != b'\n');
        bytes
    };
    prop_oneof![
        proptest::collection::vec(any::<u8>(), 0..200).prop_map(no_newline),
        (1usize..12_000).prop_map(|depth| [b"[".repeat(depth), b"]".repeat(depth)].concat()),
        (1usize..200).prop_map(|depth| b"{\"a\":".repeat(depth)),
        Just(b"\"\\ud83d\"".to_vec()),
        Just(b"{\"type\":\"never seen\",\"payload\":{\"type\":\"\\ude00\"}}".to_vec()),
        Just(b"null".to_vec()),
        Just(b"-1e999".to_vec()),
        Just([b"\"".to_vec(), b"x".repeat(1 << 20), b"\"".to_vec()].concat()),
    ]
}

/// The files of a session read in any order give the same events.
///
/// # Panics
///
/// If they do not.
pub fn files_come_in_any_order(parser: &dyn Parser, folder: &str) {
    let world = world(folder);
    let read = |paths: &[PathBuf]| -> BTreeSet<String> {
        paths.iter().flat_map(|path| bodies(&whole(parser, &world, path, &read_file(path)))).collect()
    };
    let mut paths = fixtures(folder);
    let forward = read(&paths);
    paths.reverse();
    let backward = read(&paths);
    if let Some(event) = forward.symmetric_difference(&backward).next() {
        let way =
            if forward.contains(event) { "from the first to the last" } else { "from the last to the first" };
        panic!("{folder}: another order of files gives other events; only when read {way}:\n  {event}");
    }
}

/// The parser takes its fixtures for its own, or perhaps its own, and is sure of nothing that is none of its business.
///
/// # Panics
///
/// If it is not, or is.
pub fn it_knows_its_own(parser: &dyn Parser, folder: &str) {
    for path in fixtures(folder) {
        let bytes = read_file(&path);
        let head = &bytes[..bytes.len().min(64 << 10)];
        if head.trim_ascii().is_empty() {
            continue;
        }
        let score = parser.score(&Probe { path: &path, head, schema: None });
        assert!(score > Score::No, "{}: the parser does not know its own fixture", path.display());
    }
    let others: [&[u8]; 5] = [
        b"",
        b"\x7fELF\x02\x01\x01",
        b"# aider chat started at 2026-01-01\n\n#### hello\n",
        b"{\"never\":\"seen\"}\n{\"never\":\"seen\"}\n",
        b"\xff\xfe\x00[[[[[[",
    ];
    for head in others {
        let score = parser.score(&Probe { path: Path::new("/elsewhere/x.jsonl"), head, schema: None });
        assert!(score < Score::Sure, "the parser is sure of {:?}", String::from_utf8_lossy(head));
    }
}

/// The state is at most 4 KiB long after any record, and one of another version is refused.
///
/// # Panics
///
/// If it is not.
pub fn the_state_is_small(parser: &dyn Parser, folder: &str) {
    let world = world(folder);
    for path in fixtures(folder) {
        let bytes = read_file(&path);
        let mut reader = Reader::new(parser, &world, &path);
        for line in lines(&bytes) {
            reader.line(line);
            let state = reader.state();
            assert!(
                state.json.len() <= State::LIMIT,
                "{}: the state is {} bytes long",
                path.display(),
                state.json.len()
            );
        }
        let state = reader.state();
        if state.version != 0 {
            let other = State { version: state.version + 1, ..state };
            let refused = parser.decoder(&Source::at(&path), &world, &other).is_err();
            assert!(refused, "a state of another version must be refused");
        }
    }
}

/// A fixture `x.jsonl` gives the lines of its golden `x.events.jsonl`.
///
/// # Panics
///
/// If it does not, or there is no golden.
pub fn goldens_are_true(parser: &dyn Parser, folder: &str) {
    golden::check(parser, folder);
}
