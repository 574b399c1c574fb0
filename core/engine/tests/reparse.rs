//! Records that were kept raw are read by a parser that knows more; and what `coverage` says before and after.
#![expect(clippy::unwrap_used, reason = "what a test lays out is there, or the test fails")]

use scrollback_core::{
    Body, Env, Event, EventId, Events, Homes, LineParser, ParserSpec, Record, Registry, Role, Score, Shape,
    Source, Timestamp, Unreadable,
};
use scrollback_engine::{ReparseReport, SourceCoverage, Standing, TailOptions, coverage, reparse, tail};
use scrollback_store::{Counts, Picked, SessionFilter, Store};
use serde::Deserialize;
use std::borrow::Cow;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// A record of the client: `{"id":"1","type":"say","text":"…"}`.
#[derive(Deserialize)]
struct Wire<'r> {
    #[serde(borrow)]
    id: Cow<'r, str>,
    #[serde(rename = "type", borrow)]
    kind: Cow<'r, str>,
    #[serde(borrow)]
    text: Option<Cow<'r, str>>,
}

/// Says what every version of the parser knows of a record; gives it back if it does not.
fn known<'r>(record: &Record<'r>, events: &mut Events<'r>) -> Result<Option<Wire<'r>>, Unreadable> {
    let wire: Wire<'r> = record.json()?;
    match &*wire.kind {
        "say" => say(&wire, "0", events),
        "both" => {
            say(&wire, "0", events);
            events.nothing("half");
            return Ok(Some(wire));
        }
        _ => return Ok(Some(wire)),
    }
    Ok(None)
}

fn say<'r>(wire: &Wire<'r>, part: &str, events: &mut Events<'r>) {
    let id = EventId::of("acme", &[&wire.id, part]);
    let text = wire.text.clone().unwrap_or_default();
    events.event(Event::new(id, "s", Body::message(Role::User, text)));
}

fn first<'r>(record: &Record<'r>, _: &Source<'_>, events: &mut Events<'r>) -> Result<(), Unreadable> {
    if let Some(wire) = known(record, events)? {
        events.unknown(wire.kind, Some("1.0".into()));
    }
    Ok(())
}

fn second<'r>(record: &Record<'r>, _: &Source<'_>, events: &mut Events<'r>) -> Result<(), Unreadable> {
    if record.bytes == b"END" {
        events.nothing("end");
    } else if let Some(wire) = known(record, events)? {
        match &*wire.kind {
            "shout" => say(&wire, "0", events),
            "both" => say(&wire, "1", events),
            "tick" => events.nothing("tick"),
            _ => events.unknown(wire.kind, Some("1.0".into())),
        }
    }
    Ok(())
}

const SPEC: ParserSpec = ParserSpec::new("acme", "Acme", Shape::Lines);

fn homes(_: &dyn Env) -> Homes {
    Homes::of(["~/acme/*.jsonl"])
}

fn score(_: &scrollback_core::Probe<'_>) -> Score {
    Score::Sure
}

static FIRST: LineParser = LineParser { spec: SPEC, homes, score, decode: first };
static SECOND: LineParser = LineParser { spec: SPEC, homes, score, decode: second };

/// A machine in a temporary directory, and a store of it.
struct World {
    directory: TempDir,
    store: Store,
}

struct Machine(PathBuf);

impl Env for Machine {
    fn var(&self, _name: &str) -> Option<String> {
        None
    }

    fn home(&self) -> Option<PathBuf> {
        Some(self.0.clone())
    }

    fn current_dir(&self) -> Option<PathBuf> {
        self.home()
    }

    fn login(&self) -> Option<String> {
        None
    }

    fn now(&self) -> Timestamp {
        // The files of a test are always new.
        Timestamp::from_micros(0).unwrap()
    }

    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        fs::read(path)
    }

    fn list(&self, _path: &Path) -> io::Result<Vec<PathBuf>> {
        Ok(Vec::new())
    }
}

fn registry(parser: &'static LineParser) -> Registry {
    Registry::default().with_parser(parser).unwrap()
}

impl World {
    fn new() -> Self {
        let world = Self { directory: TempDir::new().unwrap(), store: Store::open_in_memory().unwrap() };
        fs::create_dir(world.machine().0.join("acme")).unwrap();
        world
    }

    fn machine(&self) -> Machine {
        Machine(fs::canonicalize(self.directory.path()).unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.machine().0.join("acme").join(name)
    }

    #[expect(clippy::disallowed_methods, reason = "a transcript of the test's own")]
    fn write(&self, name: &str, lines: &str) {
        fs::write(self.path(name), lines).unwrap();
    }

    fn tail(&mut self, parser: &'static LineParser, paths: &[&str]) {
        let options = TailOptions {
            paths: paths.iter().map(|path| (*path).to_owned()).collect(),
            ..TailOptions::default()
        };
        tail(&self.machine(), &registry(parser), &mut self.store, &options, &mut |_| {}).unwrap();
    }

    fn reparse(&mut self, parser: &'static LineParser) -> ReparseReport {
        reparse(&self.machine(), &registry(parser), &mut self.store, &TailOptions::default()).unwrap()
    }

    fn coverage(&self) -> Vec<SourceCoverage> {
        coverage(&self.machine(), &registry(&SECOND), &self.store).unwrap()
    }

    fn counts(&self) -> Vec<Counts> {
        self.coverage().iter().map(|source| source.counts).collect()
    }

    fn unknown(&self) -> Vec<(String, u64)> {
        let all = self.coverage().into_iter().flat_map(|source| source.unknown);
        all.map(|(kind, version, n)| (format!("{kind} {version}"), n)).collect()
    }

    fn standing(&self) -> Vec<(String, Standing)> {
        let name = |path: &Path| path.file_name().unwrap().to_string_lossy().into_owned();
        self.coverage().into_iter().map(|source| (name(&source.path), source.standing)).collect()
    }

    /// Returns the id and the text of every event, sorted.
    fn events(&self) -> Vec<(EventId, String)> {
        let mut events = Vec::new();
        for session in self.store.sessions(&SessionFilter::default()).unwrap() {
            self.store
                .each_event(&session, &Picked::ALL, &mut |event| {
                    events.push((event.line.id, serde_json::to_string(&event.line.body).unwrap()));
                    Ok::<_, scrollback_store::StoreError>(())
                })
                .unwrap();
        }
        events.sort();
        events
    }

    fn raw(&self) -> Vec<String> {
        let rows = self.store.raw_records().unwrap();
        rows.iter().map(|raw| String::from_utf8(self.store.raw_bytes(raw.row).unwrap()).unwrap()).collect()
    }
}

const LINES: &str = r#"{"id":"1","type":"say","text":"one"}
{"id":"2","type":"shout","text":"TWO"}
{"id":"3","type":"both","text":"three"}
{"id":"4","type":"tick"}
{"id":"5","type":"riddle","text":"five"}
END
not JSON
"#;

/// What the first version finds in them, and the second.
const BEFORE: Counts = Counts { records: 7, events: 2, nothing: 0, unknown: 4, unreadable: 2, skipped: 0 };
const AFTER: Counts = Counts { records: 7, events: 4, nothing: 2, unknown: 1, unreadable: 1, skipped: 0 };

const LEFT: [&str; 2] = [r#"{"id":"5","type":"riddle","text":"five"}"#, "not JSON"];

/// Returns what the second version stores where it reads everything itself.
fn expected() -> Vec<(EventId, String)> {
    let mut world = World::new();
    world.write("a.jsonl", LINES);
    world.tail(&SECOND, &[]);
    assert_eq!(world.counts(), [AFTER]);
    world.events()
}

fn of(report: &ReparseReport) -> (u64, u64, u64, u64, u64) {
    (report.raw, report.understood, report.sources, report.gone, report.tail.stored)
}

/// Checks that nothing is left to be understood, and that reading once more changes nothing.
fn check(world: &mut World, sources: u64, gone: u64) {
    for once_more in [false, true] {
        assert_eq!(world.events(), expected(), "once more: {once_more}");
        assert_eq!(world.counts(), [AFTER]);
        assert_eq!(world.unknown(), [("riddle 1.0".to_owned(), 1)]);
        assert_eq!(world.raw(), LEFT);
        if !once_more {
            assert_eq!(of(&world.reparse(&SECOND)), (2, 0, sources, gone, 0));
        }
    }
}

#[test]
fn a_transcript_that_is_there_is_read_again() {
    let mut world = World::new();
    world.write("a.jsonl", LINES);
    world.tail(&FIRST, &[]);
    assert_eq!((world.counts(), world.raw().len()), (vec![BEFORE], 6));
    assert_eq!(of(&world.reparse(&FIRST)), (6, 0, 1, 0, 0));
    assert_eq!((world.counts(), world.raw().len()), (vec![BEFORE], 6));
    assert_eq!(of(&world.reparse(&SECOND)), (6, 4, 1, 0, 2));
    check(&mut world, 1, 0);
    assert_eq!(world.standing(), [("a.jsonl".to_owned(), Standing::Read)]);
}

#[test]
fn a_transcript_that_is_gone_is_read_as_it_was_kept() {
    let mut world = World::new();
    world.write("a.jsonl", LINES);
    world.tail(&FIRST, &[]);
    fs::remove_file(world.path("a.jsonl")).unwrap();
    assert_eq!(of(&world.reparse(&FIRST)), (6, 0, 0, 1, 0));
    assert_eq!((world.counts(), world.raw().len()), (vec![BEFORE], 6));
    assert_eq!(of(&world.reparse(&SECOND)), (6, 4, 0, 1, 2));
    check(&mut world, 0, 1);
    assert_eq!(world.standing(), [("a.jsonl".to_owned(), Standing::Gone)]);
}

#[test]
fn a_record_that_a_rewritten_transcript_lost_is_not_lost() {
    let mut world = World::new();
    world.write("a.jsonl", LINES);
    world.tail(&FIRST, &[]);
    world.write("a.jsonl", "{\"id\":\"9\",\"type\":\"say\",\"text\":\"nine\"}\n");
    world.tail(&FIRST, &[]);
    let mut everything = expected();
    everything
        .push(world.events().into_iter().find(|(id, _)| *id == EventId::of("acme", &["9", "0"])).unwrap());
    everything.sort();
    assert_eq!(of(&world.reparse(&SECOND)), (6, 4, 1, 0, 2));
    assert_eq!(world.events(), everything);
    assert_eq!(world.raw(), LEFT);
    assert_eq!(world.counts(), [Counts { records: 1, events: 1, ..Counts::default() }]);
}

#[test]
fn a_record_that_several_transcripts_hold_is_understood_in_each() {
    for (gone, sources, left) in [(&[][..], 3, 0), (&["a.jsonl", "b.jsonl"], 1, 2), (&["c.jsonl"], 2, 1)] {
        let mut world = World::new();
        for name in ["a.jsonl", "b.jsonl", "c.jsonl"] {
            world.write(name, LINES);
        }
        world.tail(&FIRST, &[]);
        assert_eq!((world.counts(), world.raw().len()), (vec![BEFORE; 3], 6));
        for name in gone {
            fs::remove_file(world.path(name)).unwrap();
        }
        assert_eq!(of(&world.reparse(&SECOND)), (6, 4, sources, left, 2), "{gone:?}");
        assert_eq!(world.events(), expected());
        assert_eq!(world.raw(), LEFT);
        for source in world.coverage() {
            let counts = source.counts;
            // Unreadable records are not told apart in a source that is gone and under which they are not kept.
            let unreadable =
                if source.standing == Standing::Gone && !source.path.ends_with("a.jsonl") { 2 } else { 1 };
            assert_eq!((counts.records, counts.unknown, counts.unreadable), (7, 1, unreadable), "{gone:?}");
        }
        assert_eq!(world.unknown(), vec![("riddle 1.0".to_owned(), 1); 3], "{gone:?}");
        let counts = world.counts();
        assert_eq!(of(&world.reparse(&SECOND)), (2, 0, sources, left, 0));
        assert_eq!(world.counts(), counts);
    }
}

#[test]
fn a_transcript_that_cannot_be_read_keeps_what_was_kept_of_it() {
    let mut world = World::new();
    world.write("a.jsonl", LINES);
    world.tail(&FIRST, &[]);
    fs::remove_file(world.path("a.jsonl")).unwrap();
    fs::create_dir(world.path("a.jsonl")).unwrap();
    let report = world.reparse(&SECOND);
    assert_eq!(of(&report), (6, 0, 0, 0, 0));
    assert_eq!(report.tail.problems[0].what, "a directory, not a file");
    assert_eq!((world.counts(), world.raw().len()), (vec![BEFORE], 6));
    let refused = Standing::Refused("a directory, not a file".to_owned());
    assert_eq!(world.standing(), [("a.jsonl".to_owned(), refused)]);
}

#[test]
fn coverage_says_how_each_source_stands() {
    const LINE: &str = "{\"id\":\"1\",\"type\":\"say\"}\n";
    let mut world = World::new();
    for name in ["appended", "changed", "gone", "half", "read", "truncated"] {
        world.write(&format!("{name}.jsonl"), LINE);
    }
    world.write("half.jsonl", &format!("{LINE}{{\"id\":"));
    let elsewhere = world.directory.path().join("elsewhere.jsonl");
    fs::copy(world.path("read.jsonl"), &elsewhere).unwrap();
    world.tail(&FIRST, &[]);
    world.tail(&FIRST, &[elsewhere.to_str().unwrap()]);
    world.write("appended.jsonl", &format!("{LINE}{LINE}"));
    world.write("changed.jsonl", &LINE.replace("say", "yell"));
    fs::remove_file(world.path("gone.jsonl")).unwrap();
    world.write("truncated.jsonl", "{}\n");
    world.write("missing.jsonl", LINE);
    world.write("empty.jsonl", "");
    std::os::unix::fs::symlink("nowhere", world.path("link.jsonl")).unwrap();
    let length = LINE.len() as u64;
    let expected = [
        ("appended.jsonl", Standing::Behind(length)),
        ("changed.jsonl", Standing::Behind(length + 1)),
        ("empty.jsonl", Standing::Read),
        ("gone.jsonl", Standing::Gone),
        ("half.jsonl", Standing::Read),
        ("missing.jsonl", Standing::Missing),
        ("read.jsonl", Standing::Read),
        ("truncated.jsonl", Standing::Behind(3)),
        ("elsewhere.jsonl", Standing::Read),
    ];
    assert_eq!(world.standing(), expected.map(|(name, standing)| (name.to_owned(), standing)));
    let found = world.coverage();
    let half = found.iter().find(|source| source.path.ends_with("half.jsonl")).unwrap();
    assert_eq!((half.bytes, half.captured), (length + 6, length));
    // A tail reads what is missing or behind, and only that is left which is gone.
    world.tail(&FIRST, &[]);
    let left: Vec<_> =
        world.standing().into_iter().filter(|(_, standing)| *standing != Standing::Read).collect();
    assert_eq!(left, [("gone.jsonl".to_owned(), Standing::Gone)]);
}
