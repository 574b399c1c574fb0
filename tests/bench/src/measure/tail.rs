//! The first reading of a large history: its processor time, its memory, its store.

use std::fs::{self, File};
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};

use super::{arg, mib, rows};
use crate::baseline;
use crate::corpus;
use crate::place::{Corpus, Place, size};
use crate::run::Output;
use crate::table::Table;

/// What no reading may hold beyond four times its longest line.
const MEMORY: u64 = 64 << 20;
/// The longest line that is held.
const MAX_LINE: u64 = 32 << 20;

/// A first reading.
#[derive(Debug)]
pub(crate) struct First {
    pub(crate) home: PathBuf,
    pub(crate) cpu: Duration,
    pub(crate) wall: Duration,
    pub(crate) peak: u64,
    pub(crate) events: u64,
    pub(crate) not_understood: u64,
    pub(crate) store: u64,
}

impl First {
    /// Reads a folder into a new store `runs` times and keeps the quickest.
    pub(crate) fn of(place: &Place, dir: &Path, raw: &str, runs: usize) -> Result<Self> {
        let mut best: Option<Self> = None;
        for _ in 0..runs.max(1) {
            let home = place.fresh("tail")?;
            let used = place
                .scrollback(&home)
                .env("SCROLLBACK_RAW", Path::new(raw))
                .args(["tail", "--json", "--path", &arg(dir)])
                .run(&place.root, Output::Kept)?;
            let told: Value = serde_json::from_str(&used.printed).context("what tail printed")?;
            let figure = |key: &str| told[key].as_u64().unwrap_or_default();
            let (events, not_understood) =
                (figure("stored"), figure("not_understood") + figure("unreadable"));
            let store = size(&home)?;
            if best.as_ref().is_none_or(|best| used.cpu < best.cpu) {
                best = Some(Self {
                    home,
                    cpu: used.cpu,
                    wall: used.wall,
                    peak: used.peak,
                    events,
                    not_understood,
                    store,
                });
            }
        }
        best.context("at least one run")
    }

    /// Sees that everything in a corpus was found.
    pub(crate) fn complete(&self, corpus: &Corpus) -> Result<()> {
        ensure!(
            self.events == corpus.events && self.not_understood == 0,
            "{}: {} events and {} records not understood of a corpus of {} events",
            corpus.name,
            self.events,
            self.not_understood,
            corpus.events
        );
        Ok(())
    }

    /// Returns megabytes of transcript per second of processor time.
    pub(crate) fn rate(&self, corpus: &Corpus) -> f64 {
        corpus.bytes as f64 / 1e6 / self.cpu.as_secs_f64()
    }
}

/// Returns how much may be held while lines up to `longest` are read.
pub(crate) fn allowed(longest: u64) -> u64 {
    MEMORY + 4 * longest.min(MAX_LINE)
}

pub(crate) fn rows(place: &Place, corpora: &[Corpus], table: &mut Table) -> Result<()> {
    for corpus in corpora {
        let name = corpus.name;
        let first = First::of(place, &corpus.dir, "unknown", 3)?;
        first.complete(corpus)?;
        let rate = first.rate(corpus);
        table.target(
            format!("`tail`, first read of {}, {name}", mib(corpus.bytes)),
            "≥ 75 MB per CPU-second, aim 110",
            format!("{rate:.0} MB per CPU-second ({:.1} s wall)", first.wall.as_secs_f64()),
            rate >= 75.0,
            json!({"cpu": first.cpu.as_secs_f64(), "wall": first.wall.as_secs_f64(), "bytes": corpus.bytes, "events": first.events}),
        );
        share(table, corpus, &first, "unknown", 0.35, "");
        let again = held(place, corpus, &first.home)?;
        table.beside(
            format!("— read again from its start, all of it held, {name}"),
            format!("{:.0} MB per CPU-second", corpus.bytes as f64 / 1e6 / again.as_secs_f64()),
            json!({"cpu": again.as_secs_f64()}),
        );
        let bare = baseline::rows(&first.home.join("store.db"), &place.fresh("bare")?.join("bare.db"))?;
        table.beside(
            format!("— bare inserts of its {} events, {name}", bare.events),
            format!(
                "{:.0} MB of transcript per CPU-second",
                corpus.bytes as f64 / 1e6 / bare.cpu.as_secs_f64()
            ),
            json!({"cpu": bare.cpu.as_secs_f64()}),
        );
        let all = First::of(place, &corpus.dir, "all", 1)?;
        all.complete(corpus)?;
        share(table, corpus, &all, "all", 0.60, ", aim 0.45");
        let what = format!("{name}, longest line {}", mib(corpus.longest));
        memory(table, &what, corpus.longest, [first.peak, all.peak]);
        for (long, length) in [
            (Long::Said, 31_000_000),
            (Long::Unbroken, 31_000_000),
            (Long::Input, 31_000_000),
            (Long::Said, 100_000_000),
        ] {
            let file = long_line(&place.fresh("long")?, name, long, length)?;
            let mut peaks = [0; 2];
            for (peak, raw) in peaks.iter_mut().zip(["unknown", "all"]) {
                let read = First::of(place, &file, raw, 1)?;
                // A line over the limit is no event; it is noted.
                let over = u64::from(length as u64 > MAX_LINE);
                let told = (read.events, read.not_understood);
                ensure!(told == (3 - over, over), "of three lines, events and others: {told:?}");
                *peak = read.peak;
            }
            let what = format!("{name}, one line of {} MB: {}", length / 1_000_000, long.name());
            memory(table, &what, length as u64, peaks);
        }
    }
    Ok(())
}

/// What a very long line is.
#[derive(Clone, Copy, Debug)]
enum Long {
    /// A message of words.
    Said,
    /// A message of a script that puts no spaces between words.
    Unbroken,
    /// The input of a tool.
    Input,
}

impl Long {
    fn name(self) -> &'static str {
        match self {
            Self::Said => "a message",
            Self::Unbroken => "a message without a space",
            Self::Input => "the input of a tool",
        }
    }
}

/// Reads a corpus again from its start into the store that has all of it, and returns what that took.
fn held(place: &Place, corpus: &Corpus, home: &Path) -> Result<Duration> {
    let mut best = Duration::MAX;
    for _ in 0..3 {
        let used = place
            .scrollback(home)
            .args(["tail", "--json", "--again", "--path", &arg(&corpus.dir)])
            .run(&place.root, Output::Kept)?;
        let told: Value = serde_json::from_str(&used.printed).context("what tail printed")?;
        ensure!(told["stored"] == 0 && told["records"] != 0, "all of it is held, and read: {told}");
        best = best.min(used.cpu);
    }
    Ok(best)
}

/// Adds the line about the most memory held, with little and with everything kept raw.
fn memory(table: &mut Table, what: &str, longest: u64, [unknown, all]: [u64; 2]) {
    let limit = allowed(longest);
    table.target(
        format!("— memory, {what}"),
        format!("≤ {}", mib(limit)),
        format!("{} (`raw = \"all\"`: {})", mib(unknown), mib(all)),
        unknown.max(all) <= limit,
        json!({"unknown": unknown, "all": all}),
    );
}

fn share(table: &mut Table, corpus: &Corpus, first: &First, raw: &str, most: f64, aim: &str) {
    let share = first.store as f64 / corpus.bytes as f64;
    table.target(
        format!("— store, `raw = \"{raw}\"`, {}", corpus.name),
        format!("≤ {most:.2} of the transcripts{aim}"),
        format!("{share:.3}"),
        share <= most,
        json!({"store": first.store, "bytes": corpus.bytes}),
    );
}

/// Writes a transcript with a line of about `length` bytes between two short ones.
fn long_line(folder: &Path, client: &str, long: Long, length: usize) -> Result<PathBuf> {
    let path = folder.join("long.jsonl");
    let mut file = BufWriter::new(File::create(&path)?);
    let session = rows::Session::new(client, 7);
    file.write_all(session.head().as_bytes())?;
    let row = match long {
        Long::Said => session.row(1, &corpus::text(length)),
        Long::Unbroken => session.row(1, &corpus::unbroken(length)),
        Long::Input => session.call(1, &corpus::text(length)),
    };
    for row in [session.row(0, "before"), row, session.row(2, "after")] {
        file.write_all(row.as_bytes())?;
    }
    file.flush()?;
    Ok(fs::canonicalize(path)?)
}
