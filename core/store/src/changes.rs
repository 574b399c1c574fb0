//! The change log. What happened to events that came in one after the other is one row: a first reading is a few
//! rows long.

use crate::{StoreError, Writer};
use rusqlite::{Connection, params};

/// What happened to an event or a session, as the change log has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Change {
    New = 1,
    Replaced = 2,
    Withdrawn = 3,
    Session = 5,
}

/// What a transaction has put into the change log; its last run is not in the table yet.
#[derive(Default)]
pub(crate) struct Log {
    run: Option<Run>,
    /// The next position, once it was asked for.
    next: Option<i64>,
}

/// The same thing happening to events of consecutive numbers.
struct Run {
    what: Change,
    first: i64,
    n: i64,
}

impl Writer<'_> {
    /// Puts what happened to an event into the change log.
    pub(crate) fn log(&mut self, event: i64, what: Change) -> Result<(), StoreError> {
        if let Some(run) = &mut self.log.run
            && run.what == what
            && run.first + run.n == event
        {
            run.n += 1;
            return Ok(());
        }
        self.end_run()?;
        self.log.run = Some(Run { what, first: event, n: 1 });
        Ok(())
    }

    /// Puts a session into the change log.
    pub(crate) fn log_session(&mut self, session: i64) -> Result<(), StoreError> {
        self.end_run()?;
        put(&self.store.conn, &mut self.log.next, None, Some(session), Change::Session, 1)
    }

    /// Writes the run at hand into the table.
    pub(crate) fn end_run(&mut self) -> Result<(), StoreError> {
        let Some(Run { what, first, n }) = self.log.run.take() else { return Ok(()) };
        put(&self.store.conn, &mut self.log.next, Some(first), None, what, n)
    }
}

fn put(
    conn: &Connection,
    next: &mut Option<i64>,
    event: Option<i64>,
    session: Option<i64>,
    what: Change,
    n: i64,
) -> Result<(), StoreError> {
    let pos = match *next {
        Some(pos) => pos,
        None => conn
            .prepare_cached("SELECT coalesce((SELECT pos + n FROM change ORDER BY pos DESC LIMIT 1), 1)")?
            .query_row([], |row| row.get(0))?,
    };
    conn.prepare_cached("INSERT INTO change (pos, n, event, session, what) VALUES (?1, ?2, ?3, ?4, ?5)")?
        .execute(params![pos, n, event, session, what as i64])?;
    *next = Some(pos + n);
    Ok(())
}
