//! How long hooks took: the last hundred of each client.

use crate::{Store, StoreError, Writer};
use rusqlite::params;
use scrollback_core::Timestamp;
use std::time::Duration;

/// How many are kept of a client.
const KEPT: u32 = 100;

/// A hook that ran.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hooked {
    /// When.
    pub at: Timestamp,
    /// How long it took, from the program's start until its record was written.
    pub took: Duration,
}

impl Writer<'_> {
    /// Remembers a client's hook; the same hook twice is once.
    pub fn hooked(&mut self, client: &str, hook: Hooked) -> Result<(), StoreError> {
        let took = i64::try_from(hook.took.as_micros()).unwrap_or(i64::MAX);
        let conn = &self.store.conn;
        conn.prepare_cached("INSERT OR REPLACE INTO hooked (client, at, took) VALUES (?1, ?2, ?3)")?
            .execute(params![client, hook.at.micros(), took])?;
        conn.prepare_cached(
            "DELETE FROM hooked WHERE client = ?1 AND at <= (
               SELECT at FROM hooked WHERE client = ?1 ORDER BY at DESC LIMIT 1 OFFSET ?2)",
        )?
        .execute(params![client, KEPT])?;
        Ok(())
    }
}

impl Store {
    /// Returns the last hooks of a client, the latest first.
    pub fn hooked(&self, client: &str) -> Result<Vec<Hooked>, StoreError> {
        let mut statement =
            self.conn.prepare_cached("SELECT at, took FROM hooked WHERE client = ?1 ORDER BY at DESC")?;
        let rows = statement.query_map([client], |row| Ok((row.get(0)?, row.get(1)?)))?;
        let mut hooks = Vec::new();
        for row in rows {
            let (at, took): (i64, i64) = row?;
            if let Ok(at) = Timestamp::from_micros(at) {
                hooks.push(Hooked { at, took: Duration::from_micros(took.unsigned_abs()) });
            }
        }
        Ok(hooks)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Access;

    #[test]
    fn the_last_hundred_are_kept() {
        let folder = tempfile::tempdir().unwrap();
        let mut store = Store::open(&folder.path().join("store.db"), Access::Write).unwrap();
        let hook = |n: i64| Hooked {
            at: Timestamp::from_micros(n).unwrap(),
            took: Duration::from_micros(n.unsigned_abs()),
        };
        let mut writer = store.writer().unwrap();
        for n in 1..=150 {
            writer.hooked("acme", hook(n)).unwrap();
            writer.hooked("acme", hook(n)).unwrap();
        }
        writer.hooked("other", hook(7)).unwrap();
        writer.commit().unwrap();
        let held = store.hooked("acme").unwrap();
        assert_eq!((held.len(), held[0], held[99]), (100, hook(150), hook(51)));
        assert_eq!(store.hooked("other").unwrap(), [hook(7)]);
        assert_eq!(store.hooked("none").unwrap(), []);
    }
}
