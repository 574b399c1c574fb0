//! Sources: their marks, what decoders remember of them, what was found in them.

use crate::write::int;
use crate::{Store, StoreError, Writer};
use rusqlite::{Connection, OptionalExtension as _, params};
use scrollback_core::{Mark, State};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

/// A source that was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceRow {
    /// Its number in this store.
    pub row: i64,
    /// Its path.
    pub path: PathBuf,
    /// The session within a container of several.
    pub logical: Option<String>,
    /// The id of the parser that read it.
    pub parser: String,
    /// Whose it is, by a user's word.
    pub label: Label,
    /// How often its beginning was found to be another.
    pub generation: u16,
    /// Where reading stopped.
    pub mark: Option<Mark>,
    /// What its decoder left.
    pub state: State,
    /// What was found in it.
    pub counts: Counts,
    /// What its decoder remarked last.
    pub remark: Option<String>,
}

/// What a user says of a source whose client does not say it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Label {
    /// The client.
    pub client: Option<String>,
    /// The session that all of it is.
    pub session: Option<String>,
}

impl Label {
    /// Says whether nothing is said.
    pub const fn is_empty(&self) -> bool {
        self.client.is_none() && self.session.is_none()
    }

    /// Returns the label with what it leaves open taken from `held`.
    #[must_use]
    pub fn or(&self, held: &Self) -> Self {
        Self {
            client: self.client.clone().or_else(|| held.client.clone()),
            session: self.session.clone().or_else(|| held.session.clone()),
        }
    }
}

/// What was found in a source since its start.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counts {
    /// Records read.
    pub records: u64,
    /// Events said.
    pub events: u64,
    /// Records known to carry nothing.
    pub nothing: u64,
    /// Records, or parts of one, of a kind never seen.
    pub unknown: u64,
    /// Records that could not be read.
    pub unreadable: u64,
    /// Records that were not wanted, and passed.
    pub skipped: u64,
}

/// Why a kind of record that gave no event is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Counted {
    /// It is known to carry nothing.
    Nothing,
    /// It was never seen.
    Unknown,
    /// It was not wanted; its kind is the reason.
    Skipped,
}

/// How often a kind of record was met.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KindCount {
    /// The source's number.
    pub source: i64,
    /// Why it is counted.
    pub counted: Counted,
    /// The kind, or the reason it was not wanted.
    pub kind: String,
    /// The client's version, for an unknown kind, where it is known.
    pub version: String,
    /// How often.
    pub n: u64,
}

impl Store {
    /// Returns the sources that were read.
    pub fn sources(&self) -> Result<Vec<SourceRow>, StoreError> {
        source_rows(&self.conn, "ORDER BY path, logical", [])
    }

    /// Returns what kinds of record without events were met, by source.
    pub fn kind_counts(&self) -> Result<Vec<KindCount>, StoreError> {
        Ok(self
            .conn
            .prepare_cached(
                "SELECT source, what, kind, version, n FROM kind_count ORDER BY source, what, kind, version",
            )?
            .query_map([], |row| {
                Ok(KindCount {
                    source: row.get(0)?,
                    counted: match row.get(1)? {
                        0 => Counted::Nothing,
                        1 => Counted::Unknown,
                        _ => Counted::Skipped,
                    },
                    kind: row.get(2)?,
                    version: row.get(3)?,
                    n: u64::try_from(row.get::<_, i64>(4)?).unwrap_or(0),
                })
            })?
            .collect::<Result<_, _>>()?)
    }
}

fn source_rows(
    conn: &Connection,
    wanted: &str,
    params: impl rusqlite::Params,
) -> Result<Vec<SourceRow>, StoreError> {
    let mut statement = conn.prepare_cached(&format!(
        "SELECT source.id, path, logical, parser.text, generation, mark, state_version, state,
         records, events, empty, unknown, unreadable, client_label, session_label, remark, skipped
         FROM source JOIN name AS parser ON parser.id = source.parser {wanted}"
    ))?;
    let mut rows = statement.query(params)?;
    let mut sources = Vec::new();
    while let Some(row) = rows.next()? {
        let mark: Option<String> = row.get(5)?;
        let logical: String = row.get(2)?;
        let count =
            |at: usize| -> rusqlite::Result<u64> { Ok(u64::try_from(row.get::<_, i64>(at)?).unwrap_or(0)) };
        sources.push(SourceRow {
            row: row.get(0)?,
            path: PathBuf::from(OsStr::from_bytes(row.get_ref(1)?.as_blob().unwrap_or_default())),
            logical: (!logical.is_empty()).then_some(logical),
            parser: row.get(3)?,
            label: Label { client: row.get(13)?, session: row.get(14)? },
            generation: row.get(4)?,
            // A mark this program cannot read is none: the source is read again, under the same ids.
            mark: mark.and_then(|mark| serde_json::from_str(&mark).ok()),
            state: State { version: row.get(6)?, json: row.get(7)? },
            counts: Counts {
                records: count(8)?,
                events: count(9)?,
                nothing: count(10)?,
                unknown: count(11)?,
                unreadable: count(12)?,
                skipped: count(16)?,
            },
            remark: row.get(15)?,
        });
    }
    Ok(sources)
}

impl Store {
    /// Returns a source, if it was ever read.
    pub fn source_row(&self, path: &Path, logical: Option<&str>) -> Result<Option<SourceRow>, StoreError> {
        let wanted = params![path.as_os_str().as_bytes(), logical.unwrap_or_default()];
        Ok(source_rows(&self.conn, "WHERE path = ?1 AND logical = ?2", wanted)?.pop())
    }
}

impl Writer<'_> {
    /// Returns the number of a source, which is made if it is not there.
    pub fn source(&mut self, path: &Path, logical: Option<&str>, parser: &str) -> Result<i64, StoreError> {
        let parser = self.store.name_id(parser)?;
        let (path, logical) = (path.as_os_str().as_bytes(), logical.unwrap_or_default());
        let held: Option<i64> = self
            .store
            .conn
            .prepare_cached("SELECT id FROM source WHERE path = ?1 AND logical = ?2")?
            .query_row(params![path, logical], |row| row.get(0))
            .optional()?;
        if let Some(id) = held {
            self.store
                .conn
                .prepare_cached("UPDATE source SET parser = ?2 WHERE id = ?1 AND parser <> ?2")?
                .execute([id, parser])?;
            return Ok(id);
        }
        self.store
            .conn
            .prepare_cached("INSERT INTO source (path, logical, parser) VALUES (?1, ?2, ?3)")?
            .execute(params![path, logical, parser])?;
        Ok(self.store.conn.last_insert_rowid())
    }

    /// Keeps whose a source is, by a user's word.
    pub fn label(&mut self, source: i64, label: &Label) -> Result<(), StoreError> {
        self.store
            .conn
            .prepare_cached("UPDATE source SET client_label = ?2, session_label = ?3 WHERE id = ?1")?
            .execute(params![source, label.client, label.session])?;
        Ok(())
    }

    /// Keeps what a decoder remarked on a source.
    pub fn remark(&mut self, source: i64, what: &str) -> Result<(), StoreError> {
        self.store
            .conn
            .prepare_cached("UPDATE source SET remark = ?2 WHERE id = ?1")?
            .execute(params![source, what])?;
        Ok(())
    }

    /// Forgets what a decoder left of a source and what was counted in it: it is read again from its start.
    /// Events stay.
    pub fn again(&mut self, source: i64, generation: u16) -> Result<(), StoreError> {
        self.forget_memory(source);
        let conn = &self.store.conn;
        conn.prepare_cached(
            "UPDATE source SET generation = ?2, mark = NULL, state_version = 0, state = '', records = 0, events = 0,
             empty = 0, unknown = 0, unreadable = 0, skipped = 0, remark = NULL WHERE id = ?1",
        )?
        .execute(params![source, generation])?;
        if self.known.rewound {
            // Not for nothing: SQLite has the index write its words down before such a statement.
            conn.prepare_cached(
                "UPDATE event SET withdrawn = 2 WHERE withdrawn = 1 AND id IN (SELECT event FROM rewound WHERE source = ?1)",
            )?
            .execute([source])?;
        }
        conn.prepare_cached("DELETE FROM memory WHERE source = ?1")?.execute([source])?;
        conn.prepare_cached("DELETE FROM kind_count WHERE source = ?1")?.execute([source])?;
        Ok(())
    }

    /// Ends the reading of a source: what its records took back before, and did not again, stays taken back.
    pub fn read_through(&mut self, source: i64) -> Result<(), StoreError> {
        if !self.known.rewound {
            return Ok(());
        }
        self.store
            .conn
            .prepare_cached(
                "UPDATE event SET withdrawn = 1 WHERE withdrawn = 2 AND id IN (SELECT event FROM rewound WHERE source = ?1)",
            )?
            .execute([source])?;
        Ok(())
    }

    /// Returns a source as it stands now: another process may have read it.
    pub fn source_row(&self, path: &Path, logical: Option<&str>) -> Result<Option<SourceRow>, StoreError> {
        self.store.source_row(path, logical)
    }

    /// Lets a source go on under another path, with the mark it has there; what was read of it stays its own.
    pub fn moved(&mut self, source: i64, path: &Path, mark: &Mark) -> Result<(), StoreError> {
        let mark = serde_json::to_string(mark)
            .map_err(|error| StoreError::Content(format!("a mark that does not serialize: {error}")))?;
        self.store
            .conn
            .prepare_cached("UPDATE source SET path = ?2, mark = ?3 WHERE id = ?1")?
            .execute(params![source, path.as_os_str().as_bytes(), mark])?;
        Ok(())
    }

    /// Puts a source's mark, with what its decoder left and what was found in it so far.
    pub fn mark(
        &mut self,
        source: i64,
        mark: &Mark,
        state: &State,
        counts: &Counts,
    ) -> Result<(), StoreError> {
        let mark = serde_json::to_string(mark)
            .map_err(|error| StoreError::Content(format!("a mark that does not serialize: {error}")))?;
        self.store
            .conn
            .prepare_cached(
                "UPDATE source SET mark = ?2, state_version = ?3, state = ?4, records = ?5, events = ?6, empty = ?7,
                 unknown = ?8, unreadable = ?9, skipped = ?10 WHERE id = ?1",
            )?
            .execute(params![
                source,
                mark,
                state.version,
                state.json,
                int(counts.records),
                int(counts.events),
                int(counts.nothing),
                int(counts.unknown),
                int(counts.unreadable),
                int(counts.skipped),
            ])?;
        Ok(())
    }

    /// Counts a kind of record that gave no event.
    pub fn count_kind(
        &mut self,
        source: i64,
        counted: Counted,
        kind: &str,
        version: &str,
        n: u64,
    ) -> Result<(), StoreError> {
        self.store
            .conn
            .prepare_cached(
                "INSERT INTO kind_count (source, what, kind, version, n) VALUES (?1, ?2, ?3, ?4, ?5)
                 ON CONFLICT (source, what, kind, version) DO UPDATE SET n = n + excluded.n",
            )?
            .execute(params![source, counted as i64, kind, version, int(n)])?;
        Ok(())
    }

    /// Puts what was found in a source that is not read again: its counts, and the kinds never seen that are left
    /// of it, instead of those counted so far. Its mark and what its decoder left stay.
    pub fn recount(
        &mut self,
        source: i64,
        counts: &Counts,
        unknown: &[(String, String, u64)],
    ) -> Result<(), StoreError> {
        let conn = &self.store.conn;
        conn.prepare_cached(
            "UPDATE source SET records = ?2, events = ?3, empty = ?4, unknown = ?5, unreadable = ?6, skipped = ?7 WHERE id = ?1",
        )?
        .execute(params![
            source,
            int(counts.records),
            int(counts.events),
            int(counts.nothing),
            int(counts.unknown),
            int(counts.unreadable),
            int(counts.skipped),
        ])?;
        conn.prepare_cached("DELETE FROM kind_count WHERE source = ?1 AND what = 1")?.execute([source])?;
        for (kind, version, n) in unknown {
            self.count_kind(source, Counted::Unknown, kind, version, *n)?;
        }
        Ok(())
    }
}
