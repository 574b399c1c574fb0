//! The plain ways that scrollback is compared with.

use std::fs::File;
use std::io::{BufRead as _, BufReader, BufWriter, Write as _, stdout};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context as _, Result};
use rusqlite::Connection;
use scrollback_store::{Access, Picked, SessionFilter, Store, StoreError};
use serde_json::Value;

use crate::run;

/// Reads each line into a `serde_json::Value` and prints its `type`.
pub(crate) fn values(paths: &[PathBuf]) -> Result<()> {
    let mut out = BufWriter::new(stdout().lock());
    let mut line = Vec::new();
    for path in paths {
        let mut file = BufReader::with_capacity(
            256 << 10,
            File::open(path).with_context(|| path.display().to_string())?,
        );
        loop {
            line.clear();
            if file.read_until(b'\n', &mut line)? == 0 {
                break;
            }
            let value: Value = serde_json::from_slice(&line)?;
            writeln!(out, "{}", value["type"])?;
        }
    }
    out.flush()?;
    Ok(())
}

/// Does what [`values`] does, in Python.
pub(crate) const PYTHON: &str = "\
import json, sys
for path in sys.argv[1:]:
    with open(path, 'rb') as lines:
        for line in lines:
            print(json.loads(line).get('type'))
";

/// What it took to put a store's events into one table of a new database, as bare rows.
pub(crate) struct Rows {
    pub(crate) events: u64,
    pub(crate) cpu: Duration,
}

/// Puts the events of a store into one table, 5,000 a transaction, without index, compression or anything known of
/// sessions.
pub(crate) fn rows(store: &Path, to: &Path) -> Result<Rows> {
    let store = Store::open(store, Access::Read)?;
    let mut rows: Vec<([u8; 16], i64, i64, &'static str, String)> = Vec::new();
    for session in store.sessions(&SessionFilter::default())? {
        store.each_event(&session, &Picked::ALL, &mut |event| {
            let at = event.line.at.map_or(0, scrollback_core::Timestamp::micros);
            rows.push((
                *event.line.id.as_bytes(),
                session.row,
                at,
                event.line.body.kind(),
                event.line.body.text().to_owned(),
            ));
            Ok::<_, StoreError>(())
        })?;
    }
    let before = run::own_cpu();
    let mut conn = Connection::open(to)?;
    conn.execute_batch(
        "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;
         CREATE TABLE event (id INTEGER PRIMARY KEY, uuid BLOB NOT NULL UNIQUE, session INTEGER, at INTEGER, kind TEXT, text TEXT);",
    )?;
    for rows in rows.chunks(5_000) {
        let transaction = conn.transaction()?;
        {
            let mut insert = transaction.prepare_cached(
                "INSERT INTO event (uuid, session, at, kind, text) VALUES (?1, ?2, ?3, ?4, ?5)",
            )?;
            for (uuid, session, at, kind, text) in rows {
                insert.execute((uuid.as_slice(), session, at, kind, text))?;
            }
        }
        transaction.commit()?;
    }
    drop(conn);
    Ok(Rows { events: rows.len() as u64, cpu: run::own_cpu().saturating_sub(before) })
}
