//! Which session an event lies in, and what that moves.
//!
//! Every (event, session) pair that a source says is a claim. The home is the claim that wins against all
//! others: one's own before a copied one; of two own ones that of the session the other is a copy of; else that
//! of the session whose file is older; else that of the smaller session id. The winner's facts stand in the
//! event's row, the losers' in `claim`; a loser only fills what the winner leaves open.

use crate::changes::Change;
use crate::{StoreError, Writer, words};
use rusqlite::types::Value;
use rusqlite::{Connection, OptionalExtension as _, Row, params};
use scrollback_core::EventId;
use std::collections::HashSet;

/// A claim's facts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Standing {
    pub(crate) session: i64,
    pub(crate) own: bool,
    pub(crate) copied_from: Option<i64>,
    pub(crate) gen_rank: i64,
    pub(crate) rec: i64,
    pub(crate) part: i64,
    pub(crate) at: Option<i64>,
    pub(crate) parent: Option<Vec<u8>>,
    pub(crate) model: Option<i64>,
    pub(crate) actor: Option<i64>,
    pub(crate) source: i64,
    pub(crate) off: i64,
    pub(crate) len: i64,
}

/// An event that is held.
pub(crate) struct Held {
    pub(crate) row: i64,
    pub(crate) content: [u8; 16],
    pub(crate) settled: bool,
    /// Which facts were filled from a loser's claim: 1 time, 2 parent, 4 model, 8 actor.
    pub(crate) filled: i64,
    pub(crate) withdrawn: bool,
    pub(crate) revision: i64,
    pub(crate) claim: Standing,
}

const COLUMNS: &str = "session, own, copied_from, gen, rec, part, at, parent, model, actor, source, off, len";

fn standing(row: &Row<'_>) -> rusqlite::Result<Standing> {
    Ok(Standing {
        session: row.get(0)?,
        own: row.get(1)?,
        copied_from: row.get(2)?,
        gen_rank: row.get(3)?,
        rec: row.get(4)?,
        part: row.get(5)?,
        at: row.get(6)?,
        parent: row.get(7)?,
        model: row.get(8)?,
        actor: row.get(9)?,
        source: row.get(10)?,
        off: row.get(11)?,
        len: row.get(12)?,
    })
}

const HELD: &str = "session, own, copied_from, gen, rec, part, at, parent, model, actor, source, off, len,
    id, content, settled, filled, withdrawn, revision";

/// Returns what is held under an id.
pub(crate) fn held(conn: &Connection, id: EventId) -> Result<Option<Held>, StoreError> {
    Ok(conn
        .prepare_cached(&format!("SELECT {HELD} FROM event WHERE uuid = ?1"))?
        .query_row([id.as_bytes().as_slice()], held_of)
        .optional()?)
}

fn held_of(row: &Row<'_>) -> rusqlite::Result<Held> {
    let content: Vec<u8> = row.get(14)?;
    Ok(Held {
        claim: standing(row)?,
        row: row.get(13)?,
        content: content.try_into().unwrap_or_default(),
        settled: row.get(15)?,
        filled: row.get(16)?,
        withdrawn: row.get(17)?,
        revision: row.get(18)?,
    })
}

impl Held {
    /// Returns the home's claim without what others filled.
    pub(crate) fn own(&self) -> Standing {
        let mut claim = self.claim.clone();
        claim.at = claim.at.filter(|_| self.filled & 1 == 0);
        claim.parent = claim.parent.filter(|_| self.filled & 2 == 0);
        claim.model = claim.model.filter(|_| self.filled & 4 == 0);
        claim.actor = claim.actor.filter(|_| self.filled & 8 == 0);
        claim
    }
}

impl Standing {
    /// Returns this claim of a session with what `later`, said of the same session later, adds to it: the first
    /// known value of a fact stands, an own claim goes before a copied one, and the place is that of the last
    /// generation of a source, or of the source of the lower rank.
    pub(crate) fn with(&self, later: &Self) -> Self {
        let mut both = self.clone();
        if later.own && !self.own {
            (both.own, both.copied_from) = (true, None);
        } else if !self.own && both.copied_from.is_none() {
            both.copied_from = later.copied_from;
        }
        let (rank, other) = (self.gen_rank >> 16, later.gen_rank >> 16);
        let moved =
            other < rank || other == rank && self.source == later.source && later.gen_rank > self.gen_rank;
        if moved {
            (both.gen_rank, both.rec, both.part) = (later.gen_rank, later.rec, later.part);
        }
        both.at = both.at.or(later.at);
        both.parent = both.parent.or_else(|| later.parent.clone());
        both.model = both.model.or(later.model);
        both.actor = both.actor.or(later.actor);
        both
    }
}

/// Returns an event that is held, by its row.
fn held_at(conn: &Connection, event: i64) -> Result<Held, StoreError> {
    Ok(conn
        .prepare_cached(&format!("SELECT {HELD} FROM event WHERE id = ?1"))?
        .query_row([event], held_of)?)
}

/// Returns the claim of a session that is not the event's home.
pub(crate) fn claim_of(conn: &Connection, event: i64, session: i64) -> Result<Option<Standing>, StoreError> {
    Ok(conn
        .prepare_cached(&format!("SELECT {COLUMNS} FROM claim WHERE event = ?1 AND session = ?2"))?
        .query_row([event, session], standing)
        .optional()?)
}

/// Sorts the claims of one event, the home first.
fn sort(conn: &Connection, client: i64, claims: &mut [Standing]) -> Result<(), StoreError> {
    let mut weighed = Vec::with_capacity(claims.len());
    for claim in claims.iter() {
        weighed.push(session_of(conn, claim.session)?);
    }
    let mut keys = std::collections::HashMap::with_capacity(claims.len());
    for (claim, (born, name)) in claims.iter().zip(&weighed) {
        let mut gives_way = false;
        for (other, (_, origin)) in claims.iter().zip(&weighed) {
            gives_way = gives_way
                || other.session != claim.session
                    && other.own == claim.own
                    && copies(conn, client, claim.session, origin)?;
        }
        keys.insert(claim.session, (!claim.own, gives_way, born.unwrap_or(i64::MAX), name.clone()));
    }
    claims.sort_by(|a, b| keys.get(&a.session).cmp(&keys.get(&b.session)));
    Ok(())
}

fn session_of(conn: &Connection, session: i64) -> Result<(Option<i64>, String), StoreError> {
    Ok(conn
        .prepare_cached("SELECT born, session FROM session WHERE id = ?1")?
        .query_row([session], |row| Ok((row.get(0)?, row.get(1)?)))?)
}

/// Says whether `session` is a copy of `origin`, directly or by way of other copies.
fn copies(conn: &Connection, client: i64, session: i64, origin: &str) -> Result<bool, StoreError> {
    let mut statement = conn.prepare_cached(
        "SELECT link.origin, session.id FROM link LEFT JOIN session
         ON session.client = ?1 AND session.session = link.origin WHERE link.session = ?2",
    )?;
    let mut seen = HashSet::from([session]);
    let mut ahead = vec![session];
    while let Some(session) = ahead.pop() {
        let mut rows = statement.query([client, session])?;
        while let Some(row) = rows.next()? {
            if row.get_ref(0)?.as_str().is_ok_and(|name| name == origin) {
                return Ok(true);
            }
            if let Some(next) = row.get::<_, Option<i64>>(1)?
                && seen.insert(next)
            {
                ahead.push(next);
            }
        }
    }
    Ok(false)
}

/// Keeps a claim that is not the home.
pub(crate) fn keep_claim(conn: &Connection, event: i64, claim: &Standing) -> Result<(), StoreError> {
    conn.prepare_cached(&format!(
        "INSERT OR REPLACE INTO claim (event, {COLUMNS})
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)"
    ))?
    .execute(params![
        event,
        claim.session,
        claim.own,
        claim.copied_from,
        claim.gen_rank,
        claim.rec,
        claim.part,
        claim.at,
        claim.parent,
        claim.model,
        claim.actor,
        claim.source,
        claim.off,
        claim.len,
    ])?;
    Ok(())
}

/// Makes `home` the home of an event; what it leaves open is filled by `others`, the first that knows.
pub(crate) fn settle_in(
    conn: &Connection,
    event: i64,
    home: &Standing,
    others: &[Standing],
) -> Result<(), StoreError> {
    let filled = i64::from(home.at.is_none())
        | i64::from(home.parent.is_none()) << 1
        | i64::from(home.model.is_none()) << 2
        | i64::from(home.actor.is_none()) << 3;
    conn.prepare_cached(
        "UPDATE event SET session = ?2, own = ?3, copied_from = ?4, gen = ?5, rec = ?6, part = ?7, at = ?8,
         parent = ?9, model = ?10, actor = ?11, source = ?12, off = ?13, len = ?14, filled = ?15 WHERE id = ?1",
    )?
    .execute(params![
        event,
        home.session,
        home.own,
        home.copied_from,
        home.gen_rank,
        home.rec,
        home.part,
        home.at.or_else(|| others.iter().find_map(|other| other.at)),
        home.parent.as_ref().or_else(|| others.iter().find_map(|other| other.parent.as_ref())),
        home.model.or_else(|| others.iter().find_map(|other| other.model)),
        home.actor.or_else(|| others.iter().find_map(|other| other.actor)),
        home.source,
        home.off,
        home.len,
        filled,
    ])?;
    Ok(())
}

/// Decides anew which of an event's claims is its home, and who fills what that leaves open; returns the session
/// it moved to, if it moved.
pub(crate) fn decide(writer: &mut Writer<'_>, client: i64, event: i64) -> Result<Option<i64>, StoreError> {
    let conn = &writer.store.conn;
    let held = held_at(conn, event)?;
    let mut claims: Vec<Standing> = conn
        .prepare_cached(&format!("SELECT {COLUMNS} FROM claim WHERE event = ?1"))?
        .query_map([event], standing)?
        .collect::<Result<_, _>>()?;
    if claims.is_empty() {
        return Ok(None);
    }
    claims.push(held.own());
    sort(conn, client, &mut claims)?;
    let Some((home, others)) = claims.split_first() else { return Ok(None) };
    let was = held.claim.session;
    if home.session != was {
        keep_claim(conn, event, &held.own())?;
        conn.prepare_cached("DELETE FROM claim WHERE event = ?1 AND session = ?2")?
            .execute([event, home.session])?;
    }
    settle_in(conn, event, home, others)?;
    let at = home.at.or_else(|| others.iter().find_map(|other| other.at));
    let session = home.session;
    writer.touch(session, at);
    if session != was {
        moved(writer, client, event, was, home)?;
        return Ok(Some(session));
    }
    if at != held.claim.at {
        writer.span_anew(session);
        index_again(writer, client, event)?;
    }
    Ok(None)
}

/// Does what follows when an event moved from one session to another: its index entry, its usage and what was
/// said of its holder go along, and what took it back there does not.
fn moved(
    writer: &mut Writer<'_>,
    client: i64,
    event: i64,
    from: i64,
    home: &Standing,
) -> Result<(), StoreError> {
    writer.known.moved();
    let conn = &writer.store.conn;
    let (uuid, was_withdrawn, settled): ([u8; 16], bool, bool) = conn
        .prepare_cached("SELECT uuid, withdrawn, settled FROM event WHERE id = ?1")?
        .query_row([event], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
    conn.prepare_cached("DELETE FROM rewound WHERE event = ?1")?.execute([event])?;
    let withdrawn = writer.is_withdrawn(EventId::from_bytes(uuid), home)?;
    if withdrawn != was_withdrawn {
        writer
            .store
            .conn
            .prepare_cached("UPDATE event SET withdrawn = ?2 WHERE id = ?1")?
            .execute(params![event, withdrawn])?;
    }
    index_again(writer, client, event)?;
    crate::usage::move_usage(&writer.store.conn, &uuid, home.session)?;
    writer.move_held_facts(&uuid, from, home.session)?;
    writer.span_anew(from);
    writer.session_changed(from);
    writer.session_changed(home.session);
    if settled {
        writer.log(event, Change::Replaced)?;
        if withdrawn && !was_withdrawn {
            writer.log(event, Change::Withdrawn)?;
        }
    }
    Ok(())
}

/// Decides anew where the events belong that a session claims and that others claim as well.
pub(crate) fn decide_session(writer: &mut Writer<'_>, client: i64, session: i64) -> Result<(), StoreError> {
    let events: Vec<i64> = writer
        .store
        .conn
        .prepare_cached(
            "SELECT event FROM claim WHERE session = ?1
             UNION SELECT claim.event FROM event JOIN claim ON claim.event = event.id WHERE event.session = ?1",
        )?
        .query_map([session], |row| row.get(0))?
        .collect::<Result<_, _>>()?;
    for event in events {
        decide(writer, client, event)?;
    }
    Ok(())
}

/// Does what follows when `session` was found to be a copy: what it and the copies of it claim may belong
/// elsewhere.
pub(crate) fn linked(writer: &mut Writer<'_>, client: i64, session: i64) -> Result<(), StoreError> {
    let mut copies = vec![session];
    let mut at = 0;
    while let Some(copy) = copies.get(at).copied() {
        at += 1;
        let more: Vec<i64> = writer
            .store
            .conn
            .prepare_cached(
                "SELECT link.session FROM link JOIN session AS origin ON origin.session = link.origin
                 JOIN session AS copy ON copy.id = link.session
                 WHERE origin.id = ?1 AND origin.client = ?2 AND copy.client = ?2",
            )?
            .query_map([copy, client], |row| row.get(0))?
            .collect::<Result<_, _>>()?;
        copies.extend(more.into_iter().filter(|more| !copies.contains(more)).collect::<Vec<_>>());
    }
    for copy in copies {
        decide_session(writer, client, copy)?;
    }
    Ok(())
}

/// Returns the row number an event gets in the index: its time in microseconds, made unique; the time of its session
/// if it has none.
pub(crate) fn doc(writer: &Writer<'_>, session: i64, at: Option<i64>) -> Result<i64, StoreError> {
    let conn = &writer.store.conn;
    let at = match at {
        Some(at) => at,
        None => conn
            .prepare_cached("SELECT coalesce(last_at, started_at, 0) FROM session WHERE id = ?1")?
            .query_row([session], |row| row.get(0))?,
    };
    free_doc(conn, at.max(1))
}

/// Puts the text of an event into the index.
pub(crate) fn put_words(writer: &Writer<'_>, doc: i64, tokens: &str, text: &str) -> Result<(), StoreError> {
    writer
        .store
        .conn
        .prepare_cached("INSERT INTO words (rowid, text, parts, tokens) VALUES (?1, ?2, ?3, ?4)")?
        .execute(params![doc, text, words::parts(text), tokens])?;
    Ok(())
}

/// Returns a row number of the index that is not taken, at `wanted` or soon after it. However many events share a
/// time, or have none, the look is short.
fn free_doc(conn: &Connection, wanted: i64) -> Result<i64, StoreError> {
    let mut last = conn.prepare_cached("SELECT max(doc) FROM event WHERE doc >= ?1 AND doc < ?2")?;
    let mut width: i64 = 1;
    loop {
        let end = wanted.saturating_add(width);
        let taken: Option<i64> = last.query_row([wanted, end], |row| row.get(0))?;
        match taken {
            None => return Ok(wanted),
            Some(taken) if taken + 1 < end => return Ok(taken + 1),
            Some(_) => width = width.saturating_mul(16),
        }
    }
}

/// Takes an event out of the index.
pub(crate) fn unindex(conn: &Connection, event: i64) -> Result<(), StoreError> {
    let doc: Option<i64> =
        conn.prepare_cached("SELECT doc FROM event WHERE id = ?1")?.query_row([event], |row| row.get(0))?;
    if let Some(doc) = doc {
        conn.prepare_cached("DELETE FROM words WHERE rowid = ?1")?.execute([doc])?;
        conn.prepare_cached("UPDATE event SET doc = NULL WHERE id = ?1")?.execute([event])?;
    }
    Ok(())
}

/// Puts an event into the index anew: its text, session or project changed.
pub(crate) fn index_again(writer: &mut Writer<'_>, client: i64, event: i64) -> Result<(), StoreError> {
    unindex(&writer.store.conn, event)?;
    let (kind, session, at, withdrawn, tool, text, project) = writer
        .store
        .conn
        .prepare_cached(
            "SELECT kind, session, at, withdrawn, (SELECT text FROM name WHERE id = event.tool), text, project
             FROM event WHERE id = ?1",
        )?
        .query_row([event], |row| {
            Ok((
                row.get::<_, i64>(0)?,
                row.get::<_, i64>(1)?,
                row.get::<_, Option<i64>>(2)?,
                row.get::<_, bool>(3)?,
                row.get::<_, Option<String>>(4)?,
                row.get::<_, Value>(5)?,
                row.get::<_, Option<i64>>(6)?,
            ))
        })?;
    if withdrawn || !words::SEARCHED.contains(&kind) {
        return Ok(());
    }
    let text = writer.store.text_of((&text).into())?;
    let text = words::searched_text(kind, tool.as_deref(), &text);
    let doc = doc(writer, session, at)?;
    writer.store.conn.prepare_cached("UPDATE event SET doc = ?2 WHERE id = ?1")?.execute([event, doc])?;
    let project = project.map_or_else(|| writer.project_of(session), |project| Ok(Some(project)))?;
    put_words(writer, doc, &words::tokens(client, session, kind, project), &text)
}
