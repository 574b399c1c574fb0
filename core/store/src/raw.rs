//! What was not understood, kept as the client wrote it except for redaction.

use crate::blocks::{Holds, Place, size, unpack};
use crate::write::int;
use crate::{Store, StoreError, Writer};
use rusqlite::{OptionalExtension as _, params};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;

/// Why a record is kept raw.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Why {
    /// It is, or holds, a kind never seen.
    Unknown = 1,
    /// It is not what it should be.
    Unreadable = 2,
    /// It is longer than a record may be.
    Long = 3,
    /// Everything is kept.
    All = 4,
}

impl Why {
    fn of(code: i64) -> Self {
        match code {
            1 => Self::Unknown,
            2 => Self::Unreadable,
            3 => Self::Long,
            _ => Self::All,
        }
    }
}

/// A record kept raw.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RawRecord {
    /// Its number in this store.
    pub row: i64,
    /// The number of the source it was read in first.
    pub source: i64,
    /// That source's path.
    pub path: PathBuf,
    /// The record's index there.
    pub record: u64,
    /// Its first byte there.
    pub offset: u64,
    /// Its length in bytes there.
    pub length: u64,
    /// Why it is kept.
    pub why: Why,
    /// The kind that was not known, or what was wrong.
    pub kind: String,
    /// The digest of its bytes before redaction, keyed.
    pub digest: [u8; 16],
}

impl Writer<'_> {
    /// Keeps a record raw, once; `digest` is that of its bytes before redaction, keyed, `bytes` is redacted.
    #[expect(clippy::too_many_arguments, reason = "a row of a table")]
    pub fn raw(
        &mut self,
        client: &str,
        source: i64,
        place: (u64, u64, u64),
        why: Why,
        kind: &str,
        version: Option<&str>,
        digest: &[u8; 16],
        bytes: &[u8],
    ) -> Result<(), StoreError> {
        let client = self.store.name_id(client)?;
        let held = self
            .store
            .conn
            .prepare_cached("SELECT 1 FROM raw WHERE digest = ?1 AND client = ?2 AND why = ?3")?
            .exists(params![digest.as_slice(), client, why as i64])?;
        if held {
            return Ok(());
        }
        let at = self.store.put_bytes(Holds::Records, bytes)?;
        self.store
            .conn
            .prepare_cached(
                "INSERT INTO raw (client, digest, why, source, rec, off, len, kind, version, block, at, size)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)",
            )?
            .execute(params![
                client,
                digest.as_slice(),
                why as i64,
                source,
                int(place.0),
                int(place.1),
                int(place.2),
                kind,
                version,
                at.block,
                at.at,
                at.size
            ])?;
        Ok(())
    }

    /// Begins a record too long to be held in memory; its chunks follow with [`Writer::raw_chunk`], and
    /// [`Writer::raw_end`] ends it.
    pub fn raw_begin(
        &mut self,
        client: &str,
        source: i64,
        record: u64,
        offset: u64,
        kind: &str,
    ) -> Result<i64, StoreError> {
        let client = self.store.name_id(client)?;
        self.store
            .conn
            .prepare_cached(
                "INSERT INTO raw (client, digest, why, source, rec, off, len, kind)
                 VALUES (?1, randomblob(16), ?2, ?3, ?4, ?5, 0, ?6)",
            )?
            .execute(params![client, Why::Long as i64, source, int(record), int(offset), kind])?;
        Ok(self.store.conn.last_insert_rowid())
    }

    /// Keeps the `n`-th chunk of a long record, redacted.
    pub fn raw_chunk(&mut self, raw: i64, n: u32, bytes: &[u8]) -> Result<(), StoreError> {
        let Store { conn, caches, .. } = &mut *self.store;
        conn.prepare_cached("INSERT INTO raw_chunk (raw, n, size, data) VALUES (?1, ?2, ?3, ?4)")?
            .execute(params![raw, n, size(bytes.len()), caches.blocks.pack(bytes).as_ref()])?;
        Ok(())
    }

    /// Ends a long record: if it is held already, what was kept of it now is dropped.
    pub fn raw_end(&mut self, raw: i64, length: u64, digest: &[u8; 16]) -> Result<(), StoreError> {
        let conn = &self.store.conn;
        let ended = conn
            .prepare_cached("UPDATE OR IGNORE raw SET len = ?2, digest = ?3 WHERE id = ?1")?
            .execute(params![raw, int(length), digest.as_slice()])?;
        if ended == 0 {
            conn.prepare_cached("DELETE FROM raw_chunk WHERE raw = ?1")?.execute([raw])?;
            conn.prepare_cached("DELETE FROM raw WHERE id = ?1")?.execute([raw])?;
        }
        Ok(())
    }
}

impl Writer<'_> {
    /// Forgets a record kept raw: it was understood after all.
    pub fn raw_understood(&mut self, row: i64) -> Result<(), StoreError> {
        let conn = &self.store.conn;
        conn.prepare_cached("DELETE FROM raw_chunk WHERE raw = ?1")?.execute([row])?;
        conn.prepare_cached("DELETE FROM raw WHERE id = ?1")?.execute([row])?;
        Ok(())
    }

    /// Returns the store as it is within the transaction.
    pub fn store(&self) -> &Store {
        self.store
    }
}

impl Store {
    /// Returns the records kept raw, in the order they were kept.
    pub fn raw_records(&self) -> Result<Vec<RawRecord>, StoreError> {
        Ok(self
            .conn
            .prepare_cached(
                "SELECT raw.id, source.path, rec, off, len, why, kind, raw.source, digest FROM raw JOIN source ON source.id = raw.source
                 ORDER BY raw.id",
            )?
            .query_map([], raw_record)?
            .collect::<Result<_, _>>()?)
    }

    /// Returns the bytes of a record kept raw.
    pub fn raw_bytes(&self, row: i64) -> Result<Vec<u8>, StoreError> {
        let place = self.conn.prepare_cached("SELECT block, at, size FROM raw WHERE id = ?1")?.query_row(
            [row],
            |row| {
                Ok(match row.get::<_, Option<i64>>(0)? {
                    Some(block) => Some(Place { block, at: row.get(1)?, size: row.get(2)? }),
                    None => None,
                })
            },
        )?;
        if let Some(place) = place {
            return self.bytes_at(place);
        }
        let mut bytes = Vec::new();
        let mut statement =
            self.conn.prepare_cached("SELECT size, data FROM raw_chunk WHERE raw = ?1 ORDER BY n")?;
        let mut rows = statement.query([row])?;
        while let Some(row) = rows.next()? {
            bytes.extend(unpack(row.get_ref(1)?.as_blob().unwrap_or_default(), row.get(0)?)?);
        }
        Ok(bytes)
    }

    /// Returns the raw record read at that place of a source, if it was kept.
    pub fn raw_at(&self, source: i64, offset: u64) -> Result<Option<RawRecord>, StoreError> {
        Ok(self
            .conn
            .prepare_cached(
                "SELECT raw.id, source.path, rec, off, len, why, kind, raw.source, digest FROM raw JOIN source ON source.id = raw.source
                 WHERE raw.source = ?1 AND off = ?2 LIMIT 1",
            )?
            .query_row(params![source, int(offset)], raw_record)
            .optional()?)
    }
}

fn raw_record(row: &rusqlite::Row<'_>) -> rusqlite::Result<RawRecord> {
    let number = |at: usize| row.get::<_, i64>(at).map(|n| u64::try_from(n).unwrap_or(0));
    Ok(RawRecord {
        row: row.get(0)?,
        path: PathBuf::from(OsStr::from_bytes(row.get_ref(1)?.as_blob().unwrap_or_default())),
        record: number(2)?,
        offset: number(3)?,
        length: number(4)?,
        why: Why::of(row.get(5)?),
        kind: row.get(6)?,
        source: row.get(7)?,
        digest: row.get::<_, Vec<u8>>(8)?.try_into().unwrap_or_default(),
    })
}
