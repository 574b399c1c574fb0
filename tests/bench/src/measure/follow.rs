//! From a line written to a line found, while `tail --follow` runs.

use std::fs::{self, File, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use scrollback_store::{Access, Filter, Query, Sort, Store};
use serde_json::{Value, json};

use super::search::Large;
use super::{arg, rows};
use crate::place::Place;
use crate::run::percentile;
use crate::table::Table;

/// How many lines are waited for in a measurement.
const LINES: u64 = 100;
/// How many transcripts grow at once.
const FILES: u64 = 200;
/// How long a line is waited for before that is an error.
const PATIENCE: Duration = Duration::from_secs(30);

/// A `tail --follow` that runs.
pub(crate) struct Following {
    child: Child,
    /// Where what it prints goes.
    printed: PathBuf,
}

impl Following {
    pub(crate) fn start(place: &Place, home: &Path, dir: &Path) -> Result<Self> {
        let printed = place.root.join("followed.json");
        let mut command =
            place.scrollback(home).args(["tail", "--follow", "--json", "--path", &arg(dir)]).command();
        let child = command.stdout(File::create(&printed)?).stderr(Stdio::null()).spawn()?;
        Ok(Self { child, printed })
    }

    /// Ends it as a user does, sees that it ended well, and returns how many records it read in all.
    pub(crate) fn stop(mut self) -> Result<u64> {
        kill(Pid::from_raw(i32::try_from(self.child.id())?), Signal::SIGTERM)?;
        let status = self.child.wait()?;
        ensure!(status.success(), "tail --follow ended with {status}");
        let printed = fs::read_to_string(&self.printed)?;
        // The last line sums up the others.
        let total: Value =
            serde_json::from_str(printed.lines().last().context("no summary of tail --follow")?)?;
        total["records"].as_u64().context("how many records were read")
    }
}

impl Drop for Following {
    fn drop(&mut self) {
        // Ended already, unless something went wrong.
        let _ended = self.child.kill();
    }
}

/// Transcripts that grow.
pub(crate) struct Growing {
    pub(crate) dir: PathBuf,
    files: Vec<(File, rows::Session)>,
    /// Lines written.
    pub(crate) lines: u64,
}

impl Growing {
    pub(crate) fn new(place: &Place, name: &str, files: u64) -> Result<Self> {
        let dir = place.fresh(name)?;
        // Of another run other sessions, so that nothing of it is in the store.
        let run =
            Instant::now().elapsed().as_nanos() as u64 ^ std::time::UNIX_EPOCH.elapsed()?.as_nanos() as u64;
        let files = (0..files)
            .map(|number| {
                let file =
                    OpenOptions::new().append(true).create(true).open(dir.join(format!("{number}.jsonl")))?;
                Ok((file, rows::Session::new("claude-code", (run + number) & 0xffff_ffff_ffff)))
            })
            .collect::<Result<_>>()?;
        Ok(Self { dir, files, lines: 0 })
    }

    /// Writes a line to the transcript of that number.
    pub(crate) fn write(&mut self, number: u64, text: &str) -> Result<()> {
        self.lines += 1;
        let (file, session) = self.files.get_mut(usize::try_from(number)?).context("a transcript")?;
        Ok(file.write_all(session.row(self.lines, text).as_bytes())?)
    }
}

/// Returns how long each of some lines took to be found, in milliseconds, sorted. Before each, `meanwhile` other
/// transcripts get a line too. Fails if a line was not read, or read twice.
pub(crate) fn latencies(place: &Place, home: &Path, meanwhile: u64, lines: u64) -> Result<Vec<f64>> {
    let mut growing = Growing::new(place, "growing", meanwhile + 1)?;
    let before = events(home)?;
    for number in 0..=meanwhile {
        growing.write(number, "begin")?;
    }
    let following = Following::start(place, home, &growing.dir)?;
    let mut took = Vec::new();
    let run = growing.dir.metadata()?.modified()?.elapsed()?.as_nanos()
        + std::time::UNIX_EPOCH.elapsed()?.as_nanos();
    for n in 0..lines {
        let word = format!("q{run:x}z{n}q");
        for number in 1..=meanwhile {
            growing.write(number, "meanwhile")?;
        }
        let written = Instant::now();
        growing.write(0, &word)?;
        let took_so_long = wait(home, &word, written)?;
        if n > 0 {
            // The first waits for the program to start.
            took.push(took_so_long.as_secs_f64() * 1e3);
        }
        sleep(Duration::from_millis(20 + n * 7 % 60));
    }
    let (lines, began) = (growing.lines, Instant::now());
    while events(home)? < before + lines && began.elapsed() < PATIENCE {
        sleep(Duration::from_millis(20));
    }
    // An event that is read a second time is not stored a second time: only the reader's own count tells.
    let read = following.stop()?;
    ensure!(read == lines, "{lines} lines were written and {read} read");
    let found = events(home)? - before;
    ensure!(found == lines, "{lines} lines were written and {found} events found");
    took.sort_by(f64::total_cmp);
    Ok(took)
}

/// Waits until a word is found.
fn wait(home: &Path, word: &str, written: Instant) -> Result<Duration> {
    let query = Query::parse(word)?;
    let mut store = None;
    loop {
        if store.is_none() {
            store = Store::open(&home.join("store.db"), Access::Read).ok();
        }
        if let Some(store) = &store
            && !store.search(&query, &Filter::default(), Sort::Newest, 1)?.hits.is_empty()
        {
            return Ok(written.elapsed());
        }
        ensure!(written.elapsed() < PATIENCE, "a line was not found in {PATIENCE:?}");
        sleep(Duration::from_millis(1));
    }
}

/// Returns how many events a store holds.
fn events(home: &Path) -> Result<u64> {
    let path = home.join("store.db");
    if !path.exists() {
        return Ok(0);
    }
    let conn = rusqlite::Connection::open_with_flags(path, rusqlite::OpenFlags::SQLITE_OPEN_READ_ONLY)?;
    let events: i64 = conn.query_row("SELECT count(*) FROM event", [], |row| row.get(0))?;
    Ok(u64::try_from(events)?)
}

pub(crate) fn rows(place: &Place, large: &Large, table: &mut Table) -> Result<()> {
    let small = place.fresh("small")?;
    let cases: [(&str, &Path, u64); 3] = [
        ("one transcript, a new store", &small, 0),
        ("200 transcripts growing at once", &small, FILES - 1),
        ("one transcript, a store of a million events", &large.home, 0),
    ];
    for (what, home, meanwhile) in cases {
        fs::create_dir_all(home)?;
        let took = latencies(place, home, meanwhile, LINES)?;
        let what = what.replace("a million", &large.events.to_string());
        let (p50, p99) = (percentile(&took, 50.0), percentile(&took, 99.0));
        table.target(
            format!("`tail --follow`, a line to a hit: {what}"),
            "≤ 250 ms",
            format!("p50 {p50:.0} ms, p99 {p99:.0} ms; each line read once"),
            p99 <= 250.0,
            json!({"ms": took}),
        );
    }
    Ok(())
}
