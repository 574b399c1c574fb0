//! Search: words in the index, newest first or by relevance among the newest; other kinds by scanning.

use crate::query::Query;
use crate::{Kinds, Picked, SessionFilter, SessionRow, Store, StoreError, words};
use rusqlite::params;
use scrollback_core::{EventId, Role, Timestamp};
use std::collections::HashSet;

/// How many of the newest matches are ranked.
const RANKED: usize = 5_000;
/// The number of tool calls among the kinds.
const TOOL_CALL: i64 = 4;
/// How much text one scan looks at.
const SCANNED: usize = 256 << 20;

/// In what order hits come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Sort {
    /// By relevance among the newest 5,000 matches, messages before tool calls, one hit a turn.
    #[default]
    Relevance,
    /// The newest first.
    Newest,
}

/// What hits are wanted; what is `None` does not matter.
#[derive(Debug, Clone)]
pub struct Filter<'f> {
    /// The client.
    pub client: Option<&'f str>,
    /// The project: its path, or the end of it after a slash.
    pub project: Option<&'f str>,
    /// The session's number in this store.
    pub session: Option<i64>,
    /// At or after this.
    pub since: Option<Timestamp>,
    /// Before this.
    pub until: Option<Timestamp>,
    /// Of those kinds.
    pub kinds: Kinds,
    /// Messages of that role alone.
    pub role: Option<Role>,
    /// By that actor: its whole name, what follows its colon, or any part of it.
    pub actor: Option<&'f str>,
}

impl Default for Filter<'_> {
    fn default() -> Self {
        Self {
            client: None,
            project: None,
            session: None,
            since: None,
            until: None,
            kinds: Kinds::SEARCHED,
            role: None,
            actor: None,
        }
    }
}

/// One hit.
#[derive(Debug, Clone)]
pub struct Hit {
    /// The event.
    pub event: EventId,
    /// Its session's number in this store.
    pub session: i64,
    /// The turn it stands in.
    pub turn: u64,
    /// When it happened.
    pub at: Option<Timestamp>,
    /// Its kind, as the line format has it.
    pub kind: &'static str,
    /// The role, for a message.
    pub role: Option<Role>,
    /// The tool, for a call.
    pub tool: Option<String>,
    /// Its text, as it is searched.
    pub text: String,
    /// How relevant it is; higher is more. 0 where hits come by time.
    pub score: f64,
}

/// What a search found.
#[derive(Debug, Clone, Default)]
pub struct Found {
    /// The hits, best first.
    pub hits: Vec<Hit>,
    /// Whether there were more than the 5,000 newest matches that were ranked.
    pub more_than_ranked: bool,
    /// How far the kinds that are not in the index were looked through.
    pub scan: Option<Scan>,
}

/// How far a scan got.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Scan {
    /// Sessions looked through.
    pub sessions: usize,
    /// Sessions there were to look through.
    pub of: usize,
}

/// A match in the index.
struct Match {
    row: i64,
    session: i64,
    kind: i64,
    score: f64,
    place: (i64, i64, i64),
}

impl Store {
    /// Returns at most `limit` hits. Kinds that are not in the index are looked for in the newest sessions, and
    /// the answer says how far that got.
    pub fn search(
        &self,
        query: &Query,
        filter: &Filter<'_>,
        sort: Sort,
        limit: usize,
    ) -> Result<Found, StoreError> {
        let mut found = Found::default();
        let mut kinds = filter.kinds;
        if let Some(role) = filter.role {
            kinds = kinds.and(Kinds::of_role(role));
        }
        if !kinds.and(Kinds::SEARCHED).is_empty() {
            self.search_index(query, filter, kinds, sort, limit, &mut found)?;
        }
        let scanned: Vec<i64> = kinds.codes().filter(|code| !words::SEARCHED.contains(code)).collect();
        if !scanned.is_empty() {
            self.scan(query, filter, kinds, limit, &mut found)?;
        }
        Ok(found)
    }

    fn search_index(
        &self,
        query: &Query,
        filter: &Filter<'_>,
        kinds: Kinds,
        sort: Sort,
        limit: usize,
        found: &mut Found,
    ) -> Result<(), StoreError> {
        let Some(tokens) = self.filter_tokens(filter, kinds)? else { return Ok(()) };
        let fts = if tokens.is_empty() { query.fts() } else { format!("{} AND {tokens}", query.fts()) };
        let since = filter.since.map_or(i64::MIN, Timestamp::micros);
        let until = filter.until.map_or(i64::MAX, Timestamp::micros);
        let actors = filter.actor.map(|actor| self.actors(actor)).transpose()?;
        // By time nothing is ranked: as many as are wanted will do, unless some are left out afterwards.
        let wanted = if sort == Sort::Newest && actors.is_none() { limit } else { RANKED + 1 };
        // One pass, the newest first: what is scored is what is read on the way.
        let score = if sort == Sort::Relevance { "bm25(words, 1.0, 0.5, 0.0)" } else { "0.0" };
        let mut docs: Vec<(i64, f64)> = self
            .conn
            .prepare_cached(&format!(
                "SELECT rowid, {score} FROM words WHERE words MATCH ?1 AND rowid >= ?2 AND rowid < ?3
                 ORDER BY rowid DESC LIMIT ?4"
            ))?
            .query_map(params![fts, since, until, crate::blocks::size(wanted)], |row| {
                Ok((row.get(0)?, -row.get::<_, f64>(1)?))
            })?
            .collect::<Result<_, _>>()?;
        found.more_than_ranked = docs.len() > RANKED && sort == Sort::Relevance;
        docs.truncate(RANKED);
        if sort == Sort::Relevance {
            // Stable: of equals the newest stays first.
            docs.sort_by(|(_, a), (_, b)| b.total_cmp(a));
        }
        let mut event = self.conn.prepare_cached(
            "SELECT id, session, kind, gen, rec, part, actor FROM event WHERE doc = ?1 AND withdrawn = 0",
        )?;
        let (mut turns, mut calls) = (HashSet::new(), Vec::new());
        for (doc, score) in docs {
            if found.hits.len() == limit {
                return Ok(());
            }
            let mut rows = event.query([doc])?;
            let Some(row) = rows.next()? else { continue };
            let actor: Option<i64> = row.get(6)?;
            if actors.as_ref().is_some_and(|actors| actor.is_none_or(|actor| !actors.contains(&actor))) {
                continue;
            }
            let hit = Match {
                row: row.get(0)?,
                session: row.get(1)?,
                kind: row.get(2)?,
                score,
                place: (row.get(3)?, row.get(4)?, row.get(5)?),
            };
            if sort == Sort::Relevance && hit.kind == TOOL_CALL {
                // Behind every message.
                calls.push(hit);
            } else {
                self.add_hit(&hit, sort, &mut turns, found)?;
            }
        }
        for hit in calls {
            if found.hits.len() == limit {
                break;
            }
            self.add_hit(&hit, sort, &mut turns, found)?;
        }
        Ok(())
    }

    /// Adds a hit; of those that are ranked, one a turn.
    fn add_hit(
        &self,
        hit: &Match,
        sort: Sort,
        turns: &mut HashSet<(i64, u64)>,
        found: &mut Found,
    ) -> Result<(), StoreError> {
        let turn = self.turn_at(hit.session, hit.place)?;
        if sort == Sort::Newest || turns.insert((hit.session, turn)) {
            found.hits.push(self.hit(hit, turn)?);
        }
        Ok(())
    }

    /// Returns the tokens a hit must have, in the language of FTS5; `None` where nothing can match.
    fn filter_tokens(&self, filter: &Filter<'_>, kinds: Kinds) -> Result<Option<String>, StoreError> {
        let mut all = Vec::new();
        if let Some(client) = filter.client {
            let Some(id) = self.known_name(client)? else { return Ok(None) };
            all.push(format!("tokens : \"c{id}\""));
        }
        if let Some(session) = filter.session {
            all.push(format!("tokens : \"s{session}\""));
        }
        if let Some(project) = filter.project {
            let ids = self.projects_named(project)?;
            if ids.is_empty() {
                return Ok(None);
            }
            let either: Vec<String> = ids.iter().map(|id| format!("\"p{id}\"")).collect();
            all.push(format!("tokens : ({})", either.join(" OR ")));
        }
        let wanted = kinds.and(Kinds::SEARCHED);
        if wanted != Kinds::SEARCHED {
            let mut either = Vec::new();
            let messages = Kinds::of_role(Role::User).or(Kinds::of_role(Role::Assistant));
            if wanted.and(messages) == messages {
                either.push("\"kmessage\"".to_owned());
            } else {
                for role in [Role::User, Role::Assistant] {
                    if !wanted.and(Kinds::of_role(role)).is_empty() {
                        either.push(format!("\"{}\"", words::role_token(role)));
                    }
                }
            }
            for (code, token) in [(4, "kcall"), (7, "kdecision"), (8, "knote")] {
                if wanted.has(code) {
                    either.push(format!("\"{token}\""));
                }
            }
            all.push(format!("tokens : ({})", either.join(" OR ")));
        }
        Ok(Some(all.join(" AND ")))
    }

    /// Returns the numbers of the projects whose path is, or ends in, `project`.
    fn projects_named(&self, project: &str) -> Result<Vec<i64>, StoreError> {
        let tail = crate::session::ends_in(project);
        Ok(self
            .conn
            .prepare_cached(
                "SELECT id FROM name WHERE (text = ?1 OR text LIKE ?2 ESCAPE '\\')
                 AND id IN (SELECT project FROM session WHERE project IS NOT NULL
                   UNION SELECT project FROM event WHERE project IS NOT NULL)",
            )?
            .query_map([project, tail.as_str()], |row| row.get(0))?
            .collect::<Result<_, _>>()?)
    }

    fn actors(&self, wanted: &str) -> Result<HashSet<i64>, StoreError> {
        let mut statement = self.conn.prepare_cached(
            "SELECT id, text FROM name WHERE text LIKE 'user:%' OR text LIKE 'agent:%' OR text LIKE 'system:%'",
        )?;
        let mut rows = statement.query([])?;
        let mut actors = HashSet::new();
        while let Some(row) = rows.next()? {
            let text: String = row.get(1)?;
            if is_by(&text, wanted) {
                actors.insert(row.get(0)?);
            }
        }
        Ok(actors)
    }

    /// Returns the turn a place of a session stands in.
    fn turn_at(&self, session: i64, place: (i64, i64, i64)) -> Result<u64, StoreError> {
        let turn: i64 = self
            .conn
            .prepare_cached(
                "SELECT count(*) FROM event WHERE session = ?1 AND opens = 1 AND withdrawn = 0
                 AND (gen, rec, part) <= (?2, ?3, ?4)",
            )?
            .query_row(params![session, place.0, place.1, place.2], |row| row.get(0))?;
        Ok(u64::try_from(turn).unwrap_or(0))
    }

    fn hit(&self, hit: &Match, turn: u64) -> Result<Hit, StoreError> {
        let (uuid, at, tool, text) = self
            .conn
            .prepare_cached(
                "SELECT uuid, at, (SELECT text FROM name WHERE id = event.tool), text FROM event WHERE id = ?1",
            )?
            .query_row([hit.row], |row| {
                Ok((
                    row.get::<_, [u8; 16]>(0)?,
                    row.get::<_, Option<i64>>(1)?,
                    row.get::<_, Option<String>>(2)?,
                    row.get::<_, rusqlite::types::Value>(3)?,
                ))
            })?;
        let text = self.text_of((&text).into())?;
        let text = words::searched_text(hit.kind, tool.as_deref(), &text).into_owned();
        Ok(Hit {
            event: EventId::from_bytes(uuid),
            session: hit.session,
            turn,
            at: at.and_then(|at| Timestamp::from_micros(at).ok()),
            kind: kind_name(hit.kind),
            role: match hit.kind {
                1 => Some(Role::User),
                2 => Some(Role::Assistant),
                _ => None,
            },
            tool,
            text,
            score: hit.score,
        })
    }

    /// Looks through the newest sessions for kinds that are not in the index.
    fn scan(
        &self,
        query: &Query,
        filter: &Filter<'_>,
        kinds: Kinds,
        limit: usize,
        found: &mut Found,
    ) -> Result<(), StoreError> {
        let kinds = Kinds::ALL.and(kinds).without(Kinds::SEARCHED);
        let sessions: Vec<SessionRow> = match filter.session {
            Some(row) => vec![self.session_row(row)?],
            None => self.sessions(&SessionFilter {
                client: filter.client,
                project: filter.project,
                since: filter.since,
                until: filter.until,
            })?,
        };
        let mut scan = Scan { sessions: 0, of: sessions.len() };
        let mut looked_at = 0;
        for session in &sessions {
            if looked_at > SCANNED || found.hits.len() >= limit {
                break;
            }
            let mut hits = Vec::new();
            self.each_event(session, &Picked { kinds, ..Picked::ALL }, &mut |event| {
                let line = event.line;
                let text = line.body.text();
                looked_at += text.len();
                let in_time = line.at.is_none_or(|at| {
                    filter.since.is_none_or(|since| at >= since)
                        && filter.until.is_none_or(|until| at < until)
                });
                let by = filter
                    .actor
                    .is_none_or(|wanted| line.actor.as_deref().is_some_and(|actor| is_by(actor, wanted)));
                if in_time && by && query.matches(text) {
                    hits.push(Hit {
                        event: line.id,
                        session: session.row,
                        turn: line.turn,
                        at: line.at,
                        kind: line.body.kind(),
                        role: None,
                        tool: None,
                        text: text.to_owned(),
                        score: 0.0,
                    });
                }
                Ok::<_, StoreError>(())
            })?;
            hits.reverse();
            found.hits.extend(hits);
            scan.sessions += 1;
        }
        found.hits.truncate(limit);
        found.scan = Some(scan);
        Ok(())
    }
}

/// Says whether an actor is the one wanted: by its whole name, what follows its class, or any part of it.
fn is_by(actor: &str, wanted: &str) -> bool {
    actor == wanted
        || actor.split_once(':').is_some_and(|(_, name)| name == wanted)
        || actor.split([':', '/']).any(|part| part == wanted)
}

const fn kind_name(code: i64) -> &'static str {
    match code {
        1 | 2 => "message",
        4 => "tool_call",
        7 => "decision",
        _ => "note",
    }
}
