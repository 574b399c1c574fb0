//! What decoders remember of their sources. It is written when the transaction ends, or when it is much: most is
//! forgotten again before.

use crate::{Store, StoreError, Writer};
use rusqlite::{OptionalExtension as _, params};
use scrollback_core::Memory;
use std::borrow::Cow;
use std::collections::HashMap;
use std::collections::hash_map::Entry;

/// What is held of it at most, in bytes, before it is written.
const HELD: usize = 4 << 20;

/// What is to be written of the sources' memory when the transaction at hand ends.
#[derive(Default)]
pub(crate) struct Remembered {
    sources: HashMap<i64, Values>,
    /// Bytes of keys and values.
    size: usize,
}

/// What is to be written of one source: values, and keys that are to go.
struct Values {
    put: HashMap<Vec<u8>, Option<Vec<u8>>>,
    /// Whether the table holds anything of the source.
    in_table: bool,
}

impl Writer<'_> {
    /// Returns what a source's decoder remembers, to be used for one record.
    pub fn memory(&mut self, source: i64) -> SourceMemory<'_> {
        SourceMemory { store: self.store, remembered: &mut self.remembered, source, failed: None }
    }

    /// Forgets what is to be written of a source.
    pub(crate) fn forget_memory(&mut self, source: i64) {
        self.remembered.sources.remove(&source);
    }

    /// Writes what changed.
    pub(crate) fn write_memory(&mut self) -> Result<(), StoreError> {
        self.remembered.write(self.store)
    }
}

/// What a source's decoder remembers, read and written in the transaction of its events.
pub struct SourceMemory<'w> {
    store: &'w Store,
    remembered: &'w mut Remembered,
    source: i64,
    failed: Option<StoreError>,
}

impl SourceMemory<'_> {
    /// Returns the first error, if anything failed: what was remembered meanwhile is not to be relied on, and
    /// the transaction is to be dropped.
    pub fn finish(self) -> Result<(), StoreError> {
        if let Some(failed) = self.failed {
            return Err(failed);
        }
        if self.remembered.size > HELD { self.remembered.write(self.store) } else { Ok(()) }
    }

    fn row(&self, key: &[u8]) -> Result<Option<Vec<u8>>, StoreError> {
        Ok(self
            .store
            .conn
            .prepare_cached("SELECT value FROM memory WHERE source = ?1 AND key = ?2")?
            .query_row(params![self.source, key], |row| row.get(0))
            .optional()?)
    }

    fn change(&mut self, key: &[u8], value: Option<&[u8]>) -> Result<(), StoreError> {
        let Remembered { sources, size } = &mut *self.remembered;
        let values = match sources.entry(self.source) {
            Entry::Occupied(values) => values.into_mut(),
            Entry::Vacant(free) => {
                let in_table = self
                    .store
                    .conn
                    .prepare_cached("SELECT 1 FROM memory WHERE source = ?1 LIMIT 1")?
                    .exists([self.source])?;
                free.insert(Values { put: HashMap::new(), in_table })
            }
        };
        *size += key.len() + value.map_or(0, <[u8]>::len);
        let was = if value.is_some() || values.in_table {
            values.put.insert(key.to_vec(), value.map(<[u8]>::to_vec))
        } else {
            values.put.remove(key)
        };
        if let Some(was) = was {
            *size = size.saturating_sub(key.len() + was.map_or(0, |was| was.len()));
        }
        Ok(())
    }
}

impl Memory for SourceMemory<'_> {
    fn get(&self, key: &[u8]) -> Option<Cow<'_, [u8]>> {
        if let Some(values) = self.remembered.sources.get(&self.source) {
            if let Some(put) = values.put.get(key) {
                return put.as_deref().map(Cow::Borrowed);
            }
            if !values.in_table {
                return None;
            }
        }
        // An error shows at the next write, which cannot do without the table either.
        self.row(key).ok().flatten().map(Cow::Owned)
    }

    fn put(&mut self, key: &[u8], value: Option<&[u8]>) {
        if let Err(error) = self.change(key, value)
            && self.failed.is_none()
        {
            self.failed = Some(error);
        }
    }
}

impl Remembered {
    /// Writes what changed, and holds nothing any more.
    fn write(&mut self, store: &Store) -> Result<(), StoreError> {
        self.size = 0;
        for (source, values) in std::mem::take(&mut self.sources) {
            let mut put: Vec<_> = values.put.into_iter().collect();
            put.sort_unstable();
            for (key, value) in put {
                match value {
                    Some(value) => store
                        .conn
                        .prepare_cached(
                            "INSERT OR REPLACE INTO memory (source, key, value) VALUES (?1, ?2, ?3)",
                        )?
                        .execute(params![source, key, value])?,
                    None => store
                        .conn
                        .prepare_cached("DELETE FROM memory WHERE source = ?1 AND key = ?2")?
                        .execute(params![source, key])?,
                };
            }
        }
        Ok(())
    }
}
