//! The tokens of responses: put, moved with their event, listed.

use crate::facts::Pending;
use crate::known::Tokens;
use crate::write::int;
use crate::{SessionRow, Store, StoreError, Writer};
use rusqlite::{Connection, Row, params};
use scrollback_core::{EventId, Timestamp, Usage, UsageLine, Whose};
use std::borrow::Cow;

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
        match whose {
            Whose::Session(name) => {
                let session = self.session(client, name)?;
                self.put_usage(session, response, model, at, usage, None)
            }
            Whose::HolderOf(event) => {
                if let Some(session) = self.home_of(*event)? {
                    return self.put_usage(session, response, model, at, usage, Some(*event));
                }
                let response = Cow::Borrowed(response);
                let usage = Pending::Usage { response, model: model.map(Cow::Borrowed), at, usage };
                self.wait_for(client, *event, &usage)
            }
        }
    }

    /// Puts the tokens of a response of a session. What is said once more changes nothing: a client may write them
    /// with every block of the response.
    pub(crate) fn put_usage(
        &mut self,
        session: i64,
        response: &str,
        model: Option<&str>,
        at: Option<i64>,
        usage: Usage,
        holder: Option<EventId>,
    ) -> Result<(), StoreError> {
        if self.known.last_usage.as_ref().is_some_and(|last| {
            last.session == session
                && last.response == response
                && last.model.as_deref() == model
                && last.usage == usage
                && (last.at == at || last.at.is_some() && last.at < at)
                && (last.held || holder.is_none())
        }) {
            return Ok(());
        }
        put_usage(&self.store.conn, session, response, model, at, usage, holder)?;
        let (response, model) = (response.to_owned(), model.map(str::to_owned));
        let held = holder.is_some();
        self.known.last_usage = Some(Tokens { session, response, model, at, usage, held });
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

fn put_usage(
    conn: &Connection,
    session: i64,
    response: &str,
    model: Option<&str>,
    at: Option<i64>,
    usage: Usage,
    holder: Option<EventId>,
) -> Result<(), StoreError> {
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
        session,
        response,
        model,
        at,
        number(usage.input),
        number(usage.output),
        number(usage.cache_read),
        number(usage.cache_write),
        number(usage.reasoning),
        holder.map(|id| id.as_bytes().to_vec()),
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
    let id = <[u8; 16]>::try_from(holder).ok().map(EventId::from_bytes);
    for (from, line) in rows {
        conn.prepare_cached("DELETE FROM usage WHERE session = ?1 AND response = ?2")?
            .execute(params![from, line.response])?;
        let at = line.at.map(Timestamp::micros);
        put_usage(conn, to, &line.response, line.model.as_deref(), at, line.usage, id)?;
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
