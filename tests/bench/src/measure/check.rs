//! What CI holds: bounds that need no other program and no quiet machine.

use anyhow::Result;
use serde_json::json;

use super::parse::Loops;
use super::tail::{First, allowed};
use crate::place::Place;
use crate::table::Table;

/// How many bytes of each client.
const BYTES: u64 = 12 << 20;
/// `parse` may take this many times as long as a loop over values.
const PARSE: f64 = 3.6;
/// `tail` may take this many times as long as a loop over values.
const TAIL: f64 = 9.0;

pub(crate) fn run(place: &Place, table: &mut Table) -> Result<()> {
    for corpus in &place.both(BYTES)? {
        let name = corpus.name;
        let loops = Loops::of(place, corpus, 5, false)?;
        let times = 1.0 / loops.ratio();
        table.target(
            format!("`parse`, {name}, of a `Value` loop's processor time"),
            format!("≤ {PARSE:.1} ×"),
            format!("{times:.2} ×"),
            times <= PARSE,
            json!({"times": times}),
        );
        let first = First::of(place, &corpus.dir, "unknown", 3)?;
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
            super::mib(most),
            super::mib(peak),
            peak <= most,
            json!({"peak": peak}),
        );
    }
    Ok(())
}
