//! The client's own records, as far as they were kept.

use super::Run;
use crate::exit::Exit;
use crate::print;
use anyhow::Result;
use scrollback_store::{Store, StoredEvent};
use std::collections::HashSet;

/// Prints the records the events were read from, each once, in order; says how many were not kept.
pub(super) fn print(run: &mut Run<'_>, store: &Store, events: &[StoredEvent]) -> Result<Exit> {
    let mut seen = HashSet::new();
    let mut missing = 0;
    for event in events {
        if !seen.insert((event.source, event.offset)) {
            continue;
        }
        let Some(raw) = store.raw_at(event.source, event.offset)? else {
            missing += 1;
            continue;
        };
        let bytes = store.raw_bytes(raw.row)?;
        run.page.bytes(&bytes)?;
        if !bytes.ends_with(b"\n") {
            run.page.bytes(b"\n")?;
        }
    }
    if missing == 0 {
        return Ok(Exit::Done);
    }
    let what = if seen.len() == 1 {
        "the record was not kept raw".to_owned()
    } else {
        format!(
            "{} of {} were not kept raw",
            print::number(missing),
            print::count(seen.len() as u64, "record")
        )
    };
    run.complain(&format!("{what}; records that are understood are kept by `tail` with SCROLLBACK_RAW=all"))?;
    Ok(if missing == seen.len() as u64 { Exit::Failed } else { Exit::Done })
}
