//! The tokens of responses: put, moved with their event, listed.

use crate::facts::Pending;
use crate::write::int;
use crate::{SessionRow, Store, StoreError, Writer};
use rusqlite::{Connection, Row, params};
use scrollback_core::{EventId, Timestamp, Usage, UsageLine, Whose};
use std::borrow::Cow;

/// The tokens of a response, as they were said.
pub(crate) struct Tokens<'t> {
    pub(crate) session: i64,
    pub(crate) response: Cow<'t, str>,
    pub(crate) model: Option<Cow<'t, str>>,
    pub(crate) at: Option<i64>,
    pub(crate) usage: Usage,
    /// The event whose session they follow.
    pub(crate) holder: Option<EventId>,
}

impl Tokens<'_> {
    /// Says whether these, said before, leave nothing that `later` adds.
    fn cover(&self, later: &Tokens<'_>) -> bool {
        self.session == later.session
            && self.response == later.response
            && self.model == later.model
            && self.usage == later.usage
            && (self.at == later.at || self.at.is_some() && self.at < later.at)
            && (self.holder.is_some() || later.holder.is_none())
    }

    fn into_owned(self) -> Tokens<'static> {
        let owned = |text: Cow<'_, str>| Cow::Owned(text.into_owned());
        Tokens { response: owned(self.response), model: self.model.map(owned), ..self }
    }
}

impl Writer<'_> {
    /// Puts the tokens of a response; several reports are merged field by field to the largest.
    pub fn usage(
        &mut self,
        client: &str,
        response: &str,
        whose: &Whose<'_>,
        model: Option<&str>,
        at: Option<Timestamp>,
        usage: Usage,
    ) -> Result<(), StoreError> {
        let client = self.store.name_id(client)?;
        let at = at.map(Timestamp::micros);
        let (response, model) = (Cow::Borrowed(response), model.map(Cow::Borrowed));
        let (session, holder) = match whose {
            Whose::Session(name) => (self.session(client, name)?, None),
            Whose::HolderOf(event) => match self.home_of(*event)? {
                Some(session) => (session, Some(*event)),
                None => {
                    return self.wait_for(client, *event, &Pending::Usage { response, model, at, usage });
                }
            },
        };
        self.put_usage(Tokens { session, response, model, at, usage, holder })
    }

    /// Puts the tokens of a response of a session. What is said once more changes nothing: a client may write them
    /// with every block of the response.
    pub(crate) fn put_usage(&mut self, tokens: Tokens<'_>) -> Result<(), StoreError> {
        if self.known.last_usage.as_ref().is_some_and(|last| last.cover(&tokens)) {
            return Ok(());
        }
        put(&self.store.conn, &tokens)?;
        self.known.last_usage = Some(tokens.into_owned());
        Ok(())
    }
}

impl Store {
    /// Returns the tokens of a session's responses, in the order of time, then of the response's id.
    pub fn usage_of(&self, session: &SessionRow) -> Result<Vec<UsageLine>, StoreError> {
        Ok(self
            .conn
            .prepare_cached(
                "SELECT session, response, model, at, input, output, cache_read, cache_write, reasoning
                 FROM usage WHERE session = ?1 ORDER BY at, response",
            )?
            .query_map([session.row], |row| usage_line(row, &session.line.client, &session.line.session))?
            .collect::<Result<_, _>>()?)
    }
}

fn put(conn: &Connection, tokens: &Tokens<'_>) -> Result<(), StoreError> {
    let usage = tokens.usage;
    let number = |n: Option<u64>| n.map(int);
    conn.prepare_cached(
        "INSERT INTO usage (session, response, model, at, input, output, cache_read, cache_write, reasoning, holder)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)
         ON CONFLICT (session, response) DO UPDATE SET
         model = min(coalesce(model, excluded.model), coalesce(excluded.model, model)),
         at = min(coalesce(at, excluded.at), coalesce(excluded.at, at)),
         input = max(coalesce(input, excluded.input), coalesce(excluded.input, input)),
         output = max(coalesce(output, excluded.output), coalesce(excluded.output, output)),
         cache_read = max(coalesce(cache_read, excluded.cache_read), coalesce(excluded.cache_read, cache_read)),
         cache_write = max(coalesce(cache_write, excluded.cache_write), coalesce(excluded.cache_write, cache_write)),
         reasoning = max(coalesce(reasoning, excluded.reasoning), coalesce(excluded.reasoning, reasoning)),
         holder = coalesce(holder, excluded.holder)",
    )?
    .execute(params![
        tokens.session,
        tokens.response,
        tokens.model,
        tokens.at,
        number(usage.input),
        number(usage.output),
        number(usage.cache_read),
        number(usage.cache_write),
        number(usage.reasoning),
        tokens.holder.map(|id| id.as_bytes().to_vec()),
    ])?;
    Ok(())
}

/// Moves the usage that was said with an event to the session the event moved to.
pub(crate) fn move_usage(conn: &Connection, holder: &[u8], to: i64) -> Result<(), StoreError> {
    let rows: Vec<(i64, UsageLine)> = conn
        .prepare_cached(
            "SELECT session, response, model, at, input, output, cache_read, cache_write, reasoning FROM usage
             WHERE holder = ?1 AND session <> ?2",
        )?
        .query_map(params![holder, to], |row| Ok((row.get(0)?, usage_line(row, "", "")?)))?
        .collect::<Result<_, _>>()?;
    let holder = <[u8; 16]>::try_from(holder).ok().map(EventId::from_bytes);
    for (from, line) in rows {
        conn.prepare_cached("DELETE FROM usage WHERE session = ?1 AND response = ?2")?
            .execute(params![from, line.response])?;
        let (response, model) = (line.response.into(), line.model.map(Cow::Owned));
        let at = line.at.map(Timestamp::micros);
        put(conn, &Tokens { session: to, response, model, at, usage: line.usage, holder })?;
    }
    Ok(())
}

fn usage_line(row: &Row<'_>, client: &str, session: &str) -> rusqlite::Result<UsageLine> {
    let number = |at: usize| row.get::<_, Option<i64>>(at).map(|n| n.and_then(|n| u64::try_from(n).ok()));
    Ok(UsageLine {
        client: client.to_owned(),
        session: session.to_owned(),
        response: row.get(1)?,
        model: row.get(2)?,
        at: row.get::<_, Option<i64>>(3)?.and_then(|at| Timestamp::from_micros(at).ok()),
        usage: Usage {
            input: number(4)?,
            output: number(5)?,
            cache_read: number(6)?,
            cache_write: number(7)?,
            reasoning: number(8)?,
        },
    })
}
