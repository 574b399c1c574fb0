//! What was taken back: events that are held, and those that come later.

use crate::changes::Change;
use crate::home::{self, Standing};
use crate::write::{Claim, gen_rank, int};
use crate::{StoreError, Writer};
use rusqlite::{OptionalExtension as _, params};
use scrollback_core::{EventId, Withdraw};

impl Writer<'_> {
    /// Takes events back; returns how many were not taken back before. A withdrawal by id or by place also meets
    /// events that come later. `at` is where the withdrawing record stands, `rank` that of its source in the
    /// session, where the record says.
    pub fn withdraw(
        &mut self,
        client: &str,
        what: &Withdraw<'_>,
        at: &Claim,
        rank: Option<u64>,
    ) -> Result<u64, StoreError> {
        let client = self.store.name_id(client)?;
        // 2 is an event that was taken back by a record of a source that is being read again.
        let rows: Vec<(i64, i64)> = match what {
            Withdraw::Event(id) => {
                self.store
                    .conn
                    .prepare_cached("INSERT OR IGNORE INTO withdrawn_event (uuid) VALUES (?1)")?
                    .execute([id.as_bytes().as_slice()])?;
                self.rows(
                    "SELECT id, 0 FROM event WHERE uuid = ?1 AND withdrawn = 0",
                    params![id.as_bytes().as_slice()],
                )?
            }
            Withdraw::FromOrder { session, order } => {
                let session = self.session(client, session)?;
                let (rec, part) = order.place.unwrap_or((at.record, 0));
                let rank = gen_rank(order.rank, 0) >> 16;
                self.store
                    .conn
                    .prepare_cached(
                        "INSERT OR IGNORE INTO withdrawal (session, rank, rec, part) VALUES (?1, ?2, ?3, ?4)",
                    )?
                    .execute(params![session, rank, int(rec), part])?;
                self.rows(
                    "SELECT id, 0 FROM event WHERE session = ?1 AND gen >= ?2 AND gen < ?3 AND (rec, part) >= (?4, ?5)
                     AND withdrawn = 0",
                    params![session, rank << 16, (rank + 1) << 16, int(rec), part],
                )?
            }
            Withdraw::FromRecord { session, record_id } => {
                let session = self.session(client, session)?;
                let here = self.here(session, at, rank)?;
                self.rows(
                    "SELECT event.id, withdrawn FROM event, (SELECT gen, rec FROM event WHERE session = ?1
                     AND (record_id = ?2 OR uuid = ?3) AND NOT (source = ?6 AND gen >= ?7 AND gen < ?4)
                     ORDER BY gen, rec LIMIT 1) AS from_here
                     WHERE session = ?1 AND withdrawn <> 1 AND (event.gen, event.rec) >= (from_here.gen, from_here.rec)
                     AND (event.gen, event.rec) < (?4, ?5) AND NOT (source = ?6 AND event.gen >= ?7 AND event.gen < ?4)",
                    params![
                        session,
                        record_id,
                        record_id.parse::<EventId>().ok().map(|id| id.as_bytes().to_vec()),
                        here.0,
                        int(at.record),
                        at.source,
                        here.1
                    ],
                )?
            }
            Withdraw::LastTurns { session, n } => {
                let session = self.session(client, session)?;
                let here = self.here(session, at, rank)?;
                self.rows(
                    "SELECT event.id, withdrawn FROM event, (SELECT gen, rec, part FROM (
                         SELECT gen, rec, part FROM event WHERE session = ?1 AND opens = 1 AND withdrawn <> 1
                         AND (gen, rec) < (?3, ?4) AND NOT (source = ?5 AND gen >= ?6 AND gen < ?3)
                         ORDER BY gen DESC, rec DESC, part DESC LIMIT ?2)
                         ORDER BY gen, rec, part LIMIT 1) AS from_here
                     WHERE session = ?1 AND withdrawn <> 1
                     AND (event.gen, event.rec, event.part) >= (from_here.gen, from_here.rec, from_here.part)
                     AND (event.gen, event.rec) < (?3, ?4) AND NOT (source = ?5 AND event.gen >= ?6 AND event.gen < ?3)",
                    params![session, n, here.0, int(at.record), at.source, here.1],
                )?
            }
        };
        let by_place = matches!(what, Withdraw::FromRecord { .. } | Withdraw::LastTurns { .. });
        self.known.rewound |= by_place;
        self.known.taken_back |= !by_place;
        let mut taken_back = 0;
        for (row, before) in rows {
            let conn = &self.store.conn;
            conn.prepare_cached("UPDATE event SET withdrawn = 1 WHERE id = ?1")?.execute([row])?;
            if by_place {
                conn.prepare_cached("INSERT OR REPLACE INTO rewound (event, source) VALUES (?1, ?2)")?
                    .execute([row, at.source])?;
            }
            if before == 0 {
                taken_back += 1;
                home::unindex(conn, row)?;
                let settled = conn
                    .prepare_cached("SELECT 1 FROM event WHERE id = ?1 AND settled = 1")?
                    .exists([row])?;
                if settled {
                    self.log(row, Change::Withdrawn)?;
                }
            }
        }
        Ok(taken_back)
    }

    /// Returns rank and generation of a record in a session: the record's own rank, else that of what its source
    /// gave the session; behind everything if that is nothing. Beside it from where on what that source gave in
    /// earlier generations was not met again: it may have stood behind the record.
    fn here(&self, session: i64, at: &Claim, rank: Option<u64>) -> Result<(i64, i64), StoreError> {
        if let Some(rank) = rank {
            return Ok((gen_rank(rank, at.generation), gen_rank(rank, 0)));
        }
        let last: Option<i64> = self
            .store
            .conn
            .prepare_cached("SELECT max(gen) FROM event WHERE session = ?1 AND source = ?2")?
            .query_row([session, at.source], |row| row.get(0))?;
        Ok(last.map_or((i64::MAX, i64::MAX), |last| {
            let rank = last >> 16 << 16;
            (rank | i64::from(at.generation), rank)
        }))
    }

    fn rows(&self, sql: &str, params: impl rusqlite::Params) -> Result<Vec<(i64, i64)>, StoreError> {
        Ok(self
            .store
            .conn
            .prepare_cached(sql)?
            .query_map(params, |row| Ok((row.get(0)?, row.get(1)?)))?
            .collect::<Result<_, _>>()?)
    }

    /// Says whether an event that comes in was withdrawn before it came.
    pub(crate) fn is_withdrawn(&mut self, id: EventId, at: &Standing) -> Result<bool, StoreError> {
        let by_id: Option<i64> = self
            .store
            .conn
            .prepare_cached("SELECT 1 FROM withdrawn_event WHERE uuid = ?1")?
            .query_row([id.as_bytes().as_slice()], |row| row.get(0))
            .optional()?;
        if by_id.is_some() {
            return Ok(true);
        }
        let by_place: Option<i64> = self
            .store
            .conn
            .prepare_cached(
                "SELECT 1 FROM withdrawal WHERE session = ?1 AND rank = ?2 AND (rec, part) <= (?3, ?4) LIMIT 1",
            )?
            .query_row([at.session, at.gen_rank >> 16, at.rec, at.part], |row| row.get(0))
            .optional()?;
        Ok(by_place.is_some())
    }
}
