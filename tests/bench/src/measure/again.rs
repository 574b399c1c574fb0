//! Reading again: nothing new, and one line more.

use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::time::Duration;

use anyhow::{Result, ensure};
use serde_json::{Value, json};

use super::{arg, rows};
use crate::place::Place;
use crate::run::{Output, median};
use crate::table::Table;

const RUNS: usize = 15;
/// How many transcripts, of how many lines each.
const FILES: u32 = 1_000;
const ROWS: u64 = 20;

pub(crate) fn rows(place: &Place, table: &mut Table) -> Result<()> {
    let many = place.fresh("many")?;
    for number in 0..FILES {
        let session = rows::Session::new("claude-code", 1_000 + u64::from(number));
        let text: String = (0..ROWS).map(|n| session.row(n, "a line of many")).collect();
        fs::write(many.join(format!("{number}.jsonl")), text)?;
    }
    let home = place.fresh("again")?;
    let tail = place.scrollback(&home).args(["tail", "--json", "--path", &arg(&many)]);
    tail.run(&place.root, Output::Kept)?;
    let mut walls = Vec::new();
    for _ in 0..RUNS {
        let used = tail.run(&place.root, Output::Kept)?;
        let told: Value = serde_json::from_str(&used.printed)?;
        ensure!(told["records"] == 0, "what was read already is read again: {told}");
        walls.push(used.wall.as_secs_f64());
    }
    let wall = Duration::from_secs_f64(median(walls));
    let most = Duration::from_millis(10) + Duration::from_micros(20) * FILES;
    table.target(
        format!("`tail`, nothing new, {FILES} transcripts"),
        format!("≤ {:.0} ms (10 ms + 20 µs each)", most.as_secs_f64() * 1e3),
        format!("{:.1} ms", wall.as_secs_f64() * 1e3),
        wall <= most,
        json!({"wall": wall.as_secs_f64(), "files": FILES}),
    );
    let file = place.fresh("one")?.join("one.jsonl");
    let session = rows::Session::new("claude-code", 1);
    fs::write(&file, session.row(0, "begin"))?;
    let tail = place.scrollback(&home).args(["tail", "--json", "--path", &arg(&file)]);
    tail.run(&place.root, Output::Kept)?;
    let mut walls = Vec::new();
    for n in 1..=RUNS as u64 {
        OpenOptions::new().append(true).open(&file)?.write_all(session.row(n, "one line more").as_bytes())?;
        let used = tail.run(&place.root, Output::Kept)?;
        let told: Value = serde_json::from_str(&used.printed)?;
        ensure!(told["stored"] == 1, "one line more is one event more: {told}");
        walls.push(used.wall.as_secs_f64());
    }
    let wall = median(walls) * 1e3;
    table.target(
        "`tail`, one line more",
        "≤ 15 ms",
        format!("{wall:.1} ms"),
        wall <= 15.0,
        json!({"wall_ms": wall}),
    );
    Ok(())
}
