//! What CI holds: bounds that need no other program and no quiet machine.

use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::path::Path;

use anyhow::{Context as _, Result};
use serde_json::{Value, json};

use super::opened::Opened;
use super::parse::Loops;
use super::tail::{First, allowed};
use super::{arg, follow, hook, rows};
use crate::place::Place;
use crate::run::Output;
use crate::table::Table;

/// How many bytes of each client.
const BYTES: u64 = 12 << 20;
/// `parse` may take this many times as long as a loop over values, of Claude Code and of Codex.
const PARSE: [f64; 2] = [2.4, 3.8];
/// `tail` may take this many times as long as a loop over values.
const TAIL: f64 = 9.0;
/// How many transcripts are looked at again.
const FILES: u64 = 60;

pub(crate) fn run(place: &Place, table: &mut Table) -> Result<()> {
    for (corpus, parse) in place.both(BYTES)?.iter().zip(PARSE) {
        let name = corpus.name;
        let loops = Loops::of(place, corpus, 5, false)?;
        let times = 1.0 / loops.ratio();
        table.target(
            format!("`parse`, {name}, of a `Value` loop's processor time"),
            format!("≤ {parse:.1} ×"),
            format!("{times:.2} ×"),
            times <= parse,
            json!({"times": times}),
        );
        let first = First::of(place, &corpus.dir, "unknown", 5)?;
        // Fails by itself: an event too few is no slowness.
        first.complete(corpus)?;
        let times = first.cpu.as_secs_f64() / loops.values.as_secs_f64();
        table.target(
            format!("`tail`, {name}, of a `Value` loop's processor time"),
            format!("≤ {TAIL:.1} ×"),
            format!("{times:.2} ×"),
            times <= TAIL,
            json!({"times": times}),
        );
        let share = first.store as f64 / corpus.bytes as f64;
        table.target(
            format!("store, {name}"),
            "≤ 0.35",
            format!("{share:.2}"),
            share <= 0.35,
            json!({"share": share}),
        );
        let (peak, most) = (first.peak, allowed(corpus.longest));
        table.target(
            format!("memory, {name}"),
            format!("≤ {}", super::mib(most)),
            super::mib(peak),
            peak <= most,
            json!({"peak": peak}),
        );
    }
    hook::instructions(place, table);
    again(place, table)?;
    let lines = 10;
    // Fails by itself where a line is not read, or read twice.
    follow::latencies(place, &place.fresh("small")?, FILES - 1, lines)?;
    table.target(
        format!("`tail --follow`, {FILES} transcripts growing at once"),
        "each line read once",
        format!("{} lines", FILES * (lines + 1)),
        true,
        Value::Null,
    );
    Ok(())
}

/// Looks at transcripts that did not change, and at one that did among them.
fn again(place: &Place, table: &mut Table) -> Result<()> {
    let (dir, home) = (place.fresh("many")?, place.fresh("again")?);
    let sessions: Vec<rows::Session> =
        (0..FILES).map(|number| rows::Session::new("claude-code", 1_000 + number)).collect();
    for (number, session) in sessions.iter().enumerate() {
        let text: String = (0..20).map(|n| session.row(n, "a line of many")).collect();
        fs::write(dir.join(format!("{number}.jsonl")), text)?;
    }
    look(place, &home, &dir)?;
    for (what, more) in [("nothing new", 0), ("one line more", 1)] {
        for n in 0..more {
            let path = dir.join("7.jsonl");
            let row = sessions.get(7).context("a session")?.row(20 + n, "one line more");
            OpenOptions::new().append(true).open(path)?.write_all(row.as_bytes())?;
        }
        let mut opened = Opened::under(&dir)?;
        let told = look(place, &home, &dir)?;
        let (records, stored) = (told["records"].as_u64(), told["stored"].as_u64());
        let opened = opened.as_mut().map(Opened::count).transpose()?;
        let files = opened.map_or_else(|| String::from("?"), |opened| opened.to_string());
        table.target(
            format!("`tail`, {FILES} transcripts, {what}: lines read, events stored, files opened"),
            format!("{more}, {more}, {more}"),
            format!("{}, {}, {files}", told["records"], told["stored"]),
            records == Some(more) && stored == Some(more) && opened.is_none_or(|opened| opened == more),
            told,
        );
    }
    Ok(())
}

/// Reads what is new and returns what was told about it.
fn look(place: &Place, home: &Path, dir: &Path) -> Result<Value> {
    let tail = place.scrollback(home).args(["tail", "--json", "--path", &arg(dir)]);
    serde_json::from_str(&tail.run(&place.root, Output::Kept)?.printed).context("what tail printed")
}
