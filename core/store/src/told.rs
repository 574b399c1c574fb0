//! Messages that only a hook has told so far, and their twins in transcripts.
//!
//! An event whose claim has the source [`HOOK`] was told by a hook. When a transcript says the same message of the
//! same session within a minute of it, the event becomes the transcript's: under its id, at its place. The id it had
//! leads to it from then on.

use crate::changes::Change;
use crate::home::{self, Standing};
use crate::{Put, Store, StoreError, Writer};
use rusqlite::types::Value;
use rusqlite::{OptionalExtension as _, params};
use scrollback_core::{Body, EventId, Role, Timestamp};
use std::path::PathBuf;

/// The source of what only a hook told.
pub const HOOK: i64 = 0;
/// How far apart the times of twins may be, in microseconds.
const APART: i64 = 60_000_000;

impl Writer<'_> {
    /// Returns what [`Store::said_about`] does.
    pub fn said_about(
        &self,
        client: &str,
        session: &str,
        role: Role,
        at: Timestamp,
    ) -> Result<Vec<String>, StoreError> {
        self.store.said_about(client, session, role, at)
    }

    /// Says whether a session holds an event that was read from one of those files.
    pub fn is_read_from(&self, client: &str, session: &str, paths: &[PathBuf]) -> Result<bool, StoreError> {
        for path in paths {
            let Some(source) = self.source_row(path, None)? else { continue };
            let holds = self
                .store
                .conn
                .prepare_cached(
                    "SELECT EXISTS (SELECT 1 FROM event WHERE source = ?3 AND session = (SELECT id FROM session
                       WHERE client = (SELECT id FROM name WHERE text = ?1) AND session = ?2))",
                )?
                .query_row(params![client, session, source.row], |row| row.get(0))?;
            if holds {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Returns the rank and the generation of a session's last source; none if it has no event.
    pub fn last_source(&self, client: &str, session: &str) -> Result<Option<(u64, u16)>, StoreError> {
        let last: Option<i64> = self
            .store
            .conn
            .prepare_cached(
                "SELECT max(gen) FROM event WHERE session = (SELECT id FROM session
                   WHERE client = (SELECT id FROM name WHERE text = ?1) AND session = ?2)",
            )?
            .query_row([client, session], |row| row.get(0))?;
        Ok(last.map(|last| {
            let generation = u16::try_from(last & 0xffff).unwrap_or_default();
            (u64::try_from(last >> 16).unwrap_or_default(), generation)
        }))
    }

    /// Says whether an id is that of an event which has another by now.
    pub(crate) fn is_alias(&self, id: EventId) -> Result<bool, StoreError> {
        Ok(self.known.aliases && self.store.alias(id)?.is_some())
    }

    /// Remembers that an event was told by a hook and is in no transcript yet.
    pub(crate) fn remember_told(&mut self, put: &Put<'_>, row: i64, at: &Standing) -> Result<(), StoreError> {
        let Some((kind, digest)) = self.twin_of(put) else { return Ok(()) };
        self.known.told = true;
        self.store
            .conn
            .prepare_cached(
                "INSERT INTO told (event, session, kind, digest, at) VALUES (?1, ?2, ?3, ?4, ?5)",
            )?
            .execute(params![row, at.session, kind, digest.as_slice(), at.at])?;
        Ok(())
    }

    /// Lets what a hook told become what a transcript says; says whether a hook told it.
    pub(crate) fn meet_twin(
        &mut self,
        put: &Put<'_>,
        client: i64,
        at: &Standing,
    ) -> Result<bool, StoreError> {
        let Some((kind, digest)) = self.twin_of(put) else { return Ok(false) };
        let told: Option<i64> = self
            .store
            .conn
            .prepare_cached(
                "SELECT event FROM told WHERE session = ?1 AND kind = ?2 AND digest = ?3
                 AND (?4 IS NULL OR at IS NULL OR abs(at - ?4) <= ?5) ORDER BY abs(at - ?4), event LIMIT 1",
            )?
            .query_row(params![at.session, kind, digest.as_slice(), at.at, APART], |row| row.get(0))
            .optional()?;
        let Some(row) = told else { return Ok(false) };
        let conn = &self.store.conn;
        conn.prepare_cached("INSERT INTO alias (uuid, event) SELECT uuid, id FROM event WHERE id = ?1")?
            .execute([row])?;
        conn.prepare_cached("DELETE FROM told WHERE event = ?1")?.execute([row])?;
        self.known.aliases = true;
        let record_id = put.event.record_id.as_deref().filter(|id| *id != put.event.id.to_string());
        self.store
            .conn
            .prepare_cached("UPDATE event SET uuid = ?2, record_id = ?3 WHERE id = ?1")?
            .execute(params![row, put.event.id.as_bytes().as_slice(), record_id])?;
        home::settle_in(&self.store.conn, row, at, &[])?;
        self.replace_body(put, row, 0)?;
        self.span_anew(at.session);
        home::index_again(self, client, row)?;
        self.log(row, Change::Replaced)?;
        if self.known.waiting {
            self.adopt_pending(client, put.event.id, at.session)?;
        }
        Ok(true)
    }

    /// Returns the kind of a message and the digest by which its twin is known.
    fn twin_of(&self, put: &Put<'_>) -> Option<(i64, [u8; 16])> {
        let Body::Message { role, text, .. } = &put.event.body else { return None };
        let digest = blake3::keyed_hash(&self.store.key, text.trim().as_bytes());
        let mut half = [0; 16];
        half.copy_from_slice(&digest.as_bytes()[..16]);
        Some((kind_of(*role), half))
    }
}

const fn kind_of(role: Role) -> i64 {
    match role {
        Role::User => 1,
        Role::Assistant => 2,
    }
}

impl Store {
    /// Returns the messages of a role in a session within a minute of a time, with those of no known time.
    pub fn said_about(
        &self,
        client: &str,
        session: &str,
        role: Role,
        at: Timestamp,
    ) -> Result<Vec<String>, StoreError> {
        let mut statement = self.conn.prepare_cached(
            "SELECT text FROM event
             WHERE session = (SELECT id FROM session
               WHERE client = (SELECT id FROM name WHERE text = ?1) AND session = ?2)
             AND kind = ?3 AND withdrawn = 0 AND (at IS NULL OR at BETWEEN ?4 - ?5 AND ?4 + ?5)",
        )?;
        let mut rows = statement.query(params![client, session, kind_of(role), at.micros(), APART])?;
        let mut said = Vec::new();
        while let Some(row) = rows.next()? {
            let text: Value = row.get(0)?;
            said.push(self.text_of((&text).into())?);
        }
        Ok(said)
    }

    /// Returns the id an event has by now whose id was another.
    pub(crate) fn alias(&self, id: EventId) -> Result<Option<EventId>, StoreError> {
        Ok(self
            .conn
            .prepare_cached(
                "SELECT event.uuid FROM alias JOIN event ON event.id = alias.event WHERE alias.uuid = ?1",
            )?
            .query_row([id.as_bytes().as_slice()], |row| row.get::<_, [u8; 16]>(0))
            .optional()?
            .map(EventId::from_bytes))
    }
}
