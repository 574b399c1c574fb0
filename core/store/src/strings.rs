//! What is held once: names by number, strings by digest, blobs by SHA-256.

use crate::{Store, StoreError};
use rusqlite::types::{Value, ValueRef};
use rusqlite::{OptionalExtension as _, params};
use std::borrow::Cow;

/// A text up to this many bytes stands in its row; a longer one is kept once, by digest.
const INLINE: usize = 200;
/// The zstd level of strings and raw records: the cheapest.
const LEVEL: i32 = 1;

impl Store {
    /// Returns the number of a name, which is given one if it has none.
    pub(crate) fn name_id(&mut self, text: &str) -> Result<i64, StoreError> {
        if let Some(id) = self.caches.names.get(text) {
            return Ok(*id);
        }
        let held = self
            .conn
            .prepare_cached("SELECT id FROM name WHERE text = ?1")?
            .query_row([text], |row| row.get(0))
            .optional()?;
        let id = if let Some(id) = held {
            id
        } else {
            self.conn.prepare_cached("INSERT INTO name (text) VALUES (?1)")?.execute([text])?;
            self.conn.last_insert_rowid()
        };
        self.caches.names.insert(text.to_owned(), id);
        Ok(id)
    }

    /// Returns the number of a name, if it has one.
    pub(crate) fn known_name(&self, text: &str) -> Result<Option<i64>, StoreError> {
        Ok(self
            .conn
            .prepare_cached("SELECT id FROM name WHERE text = ?1")?
            .query_row([text], |row| row.get(0))
            .optional()?)
    }

    /// Returns what to put into a text column: the text, or the number of the string it is kept as.
    pub(crate) fn text_value(&mut self, text: &str) -> Result<Value, StoreError> {
        if text.len() <= INLINE {
            return Ok(Value::Text(text.to_owned()));
        }
        Ok(Value::Integer(self.string_id(text.as_bytes())?))
    }

    /// Returns the number of a string, which is kept if it is not yet.
    pub(crate) fn string_id(&mut self, bytes: &[u8]) -> Result<i64, StoreError> {
        let digest = blake3::keyed_hash(&self.key, bytes);
        let digest = &digest.as_bytes()[..16];
        let held = self
            .conn
            .prepare_cached("SELECT id FROM string WHERE digest = ?1")?
            .query_row([digest], |row| row.get(0))
            .optional()?;
        if let Some(id) = held {
            return Ok(id);
        }
        let packed = pack(bytes);
        self.conn
            .prepare_cached("INSERT INTO string (digest, size, data) VALUES (?1, ?2, ?3)")?
            .execute(params![digest, size(bytes.len()), packed.as_ref()])?;
        Ok(self.conn.last_insert_rowid())
    }

    /// Returns the bytes of a string.
    pub(crate) fn string(&self, id: i64) -> Result<Vec<u8>, StoreError> {
        self.conn
            .prepare_cached("SELECT size, data FROM string WHERE id = ?1")?
            .query_row([id], |row| {
                let data = row.get_ref(1)?.as_blob()?;
                Ok(unpack(data, row.get::<_, i64>(0)?))
            })
            .optional()?
            .unwrap_or_else(|| Err(StoreError::Content(format!("no string of number {id}"))))
    }

    /// Returns the text in a text column.
    pub(crate) fn text_of(&self, value: ValueRef<'_>) -> Result<String, StoreError> {
        match value {
            ValueRef::Text(text) => Ok(String::from_utf8_lossy(text).into_owned()),
            ValueRef::Integer(id) => {
                let bytes = self.string(id)?;
                Ok(String::from_utf8(bytes)
                    .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned()))
            }
            _ => Ok(String::new()),
        }
    }

    /// Keeps a blob under its SHA-256, unless it is held; `data` is `None` where only its size is to be kept.
    pub(crate) fn keep_blob(
        &mut self,
        digest: &[u8; 32],
        media_type: &str,
        bytes: usize,
        data: Option<&[u8]>,
    ) -> Result<(), StoreError> {
        self.conn
            .prepare_cached(
                "INSERT INTO blob (digest, media_type, size, data) VALUES (?1, ?2, ?3, ?4)
                 ON CONFLICT (digest) DO UPDATE SET data = coalesce(data, excluded.data)
                 WHERE data IS NULL AND excluded.data IS NOT NULL",
            )?
            .execute(params![digest.as_slice(), media_type, size(bytes), data])?;
        Ok(())
    }

    /// Returns the bytes of a blob, if they are held.
    pub fn blob(&self, digest: &[u8; 32]) -> Result<Option<Vec<u8>>, StoreError> {
        Ok(self
            .conn
            .prepare_cached("SELECT data FROM blob WHERE digest = ?1")?
            .query_row([digest.as_slice()], |row| row.get(0))
            .optional()?
            .flatten())
    }
}

/// Returns a size as SQLite has it.
pub(crate) fn size(bytes: usize) -> i64 {
    i64::try_from(bytes).unwrap_or(i64::MAX)
}

/// Compresses what gets smaller by it.
pub(crate) fn pack(bytes: &[u8]) -> Cow<'_, [u8]> {
    match zstd::bulk::compress(bytes, LEVEL) {
        Ok(packed) if packed.len() < bytes.len() => Cow::Owned(packed),
        _ => Cow::Borrowed(bytes),
    }
}

/// Undoes [`pack`], given the size before it.
pub(crate) fn unpack(data: &[u8], before: i64) -> Result<Vec<u8>, StoreError> {
    let before = usize::try_from(before).unwrap_or(0);
    if data.len() >= before {
        return Ok(data.to_vec());
    }
    zstd::bulk::decompress(data, before)
        .map_err(|error| StoreError::Content(format!("a string that does not unpack: {error}")))
}
