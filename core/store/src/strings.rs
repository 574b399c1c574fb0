//! What is held once: names by number, strings by digest, blobs by SHA-256.

use crate::blocks::{Holds, Place, size};
use crate::{Store, StoreError};
use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{OptionalExtension as _, params};

/// A text up to this many bytes stands in its row; a longer one is kept once, by digest.
const INLINE: usize = 200;

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
    pub(crate) fn text_value<'t>(&mut self, text: &'t str) -> Result<ToSqlOutput<'t>, StoreError> {
        if text.len() <= INLINE {
            return Ok(text.into());
        }
        Ok(self.string_id(text)?.into())
    }

    /// Returns the number of a text, which is kept if it is not yet.
    fn string_id(&mut self, text: &str) -> Result<i64, StoreError> {
        let digest = blake3::keyed_hash(&self.key, text.as_bytes());
        let digest = &digest.as_bytes()[..16];
        let held = self
            .conn
            .prepare_cached("SELECT id FROM string WHERE digest = ?1")?
            .query_row([digest], |row| row.get(0))
            .optional()?;
        if let Some(id) = held {
            return Ok(id);
        }
        let place = self.put_bytes(Holds::Texts, text.as_bytes())?;
        self.conn
            .prepare_cached("INSERT INTO string (digest, block, at, size) VALUES (?1, ?2, ?3, ?4)")?
            .execute(params![digest, place.block, place.at, place.size])?;
        Ok(self.conn.last_insert_rowid())
    }

    /// Returns the bytes of a string.
    fn string(&self, id: i64) -> Result<Vec<u8>, StoreError> {
        let place = self
            .conn
            .prepare_cached("SELECT block, at, size FROM string WHERE id = ?1")?
            .query_row([id], |row| Ok(Place { block: row.get(0)?, at: row.get(1)?, size: row.get(2)? }))
            .optional()?
            .ok_or_else(|| StoreError::Content(format!("no string of number {id}")))?;
        self.bytes_at(place)
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
