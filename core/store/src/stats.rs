//! Counting: sessions, turns, tool calls and tokens, by client, project, model or day.

use crate::{SessionFilter, SessionRow, Store, StoreError};
use rusqlite::params;
use scrollback_core::{Timestamp, Usage};
use std::collections::{BTreeMap, HashSet};

/// What rows are told apart by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a key that is wanted or not")]
pub struct By {
    /// The client.
    pub client: bool,
    /// The project.
    pub project: bool,
    /// The model: of an event or response that names none, the session's.
    pub model: bool,
    /// The day.
    pub day: bool,
}

/// What a row is about; empty where it is not told apart by that, or not known.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Key {
    /// The day, as the caller names it.
    pub day: String,
    /// The client.
    pub client: String,
    /// The project.
    pub project: String,
    /// The model.
    pub model: String,
}

/// What was counted for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Totals {
    /// Sessions with an event or a response of it.
    pub sessions: u64,
    /// Turns that began.
    pub turns: u64,
    /// Tool calls.
    pub tool_calls: u64,
    /// Model responses.
    pub responses: u64,
    /// Their tokens; `None` where no response says.
    pub usage: Usage,
}

/// What was counted.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Stats {
    /// By key, in the order of keys.
    pub rows: Vec<(Key, Totals)>,
    /// Of everything: a session that stands in several rows is one session.
    pub total: Totals,
}

/// A quarter of an hour in microseconds: days begin with one, whatever the zone.
const QUARTER: i64 = 900_000_000;

impl Store {
    /// Returns the counts of what a filter wants, and of `session` alone if one is given. An event is counted in
    /// its home session, a response once however often it was written or copied; what was withdrawn still cost
    /// its tokens, but is no turn and no call. `day` names the day of a moment where the reader is.
    pub fn stats(
        &self,
        filter: &SessionFilter<'_>,
        session: Option<&SessionRow>,
        by: By,
        day: &dyn Fn(Timestamp) -> String,
    ) -> Result<Stats, StoreError> {
        let mut counting = Counting::new(day);
        self.count(
            &format!(
                "SELECT {}, sum(opens), sum(kind = 4) FROM event JOIN session ON session.id = event.session {JOINS}
                 LEFT JOIN name AS model ON model.id = event.model
                 WHERE withdrawn = 0 AND {} GROUP BY 1, 2, 3, 4, 5",
                columns(by, "event.at", "model.text"),
                wanted("event.at"),
            ),
            filter,
            session,
            &mut |row| {
                let (turns, tool_calls) = (number(row, 5)?.unwrap_or(0), number(row, 6)?.unwrap_or(0));
                counting.add(row, Totals { turns, tool_calls, ..Totals::default() })
            },
        )?;
        self.count(
            &format!(
                "SELECT {}, count(*), sum(input), sum(output), sum(cache_read), sum(cache_write), sum(reasoning)
                 FROM usage JOIN session ON session.id = usage.session {JOINS} WHERE {} GROUP BY 1, 2, 3, 4, 5",
                columns(by, "usage.at", "usage.model"),
                wanted("usage.at"),
            ),
            filter,
            session,
            &mut |row| {
                let usage = Usage {
                    input: number(row, 6)?,
                    output: number(row, 7)?,
                    cache_read: number(row, 8)?,
                    cache_write: number(row, 9)?,
                    reasoning: number(row, 10)?,
                };
                let responses = number(row, 5)?.unwrap_or(0);
                counting.add(row, Totals { responses, usage, ..Totals::default() })
            },
        )?;
        Ok(counting.finish())
    }

    fn count(
        &self,
        sql: &str,
        filter: &SessionFilter<'_>,
        session: Option<&SessionRow>,
        each: &mut dyn FnMut(&rusqlite::Row<'_>) -> rusqlite::Result<()>,
    ) -> Result<(), StoreError> {
        let tail = filter.project.map(crate::session::ends_in);
        let mut statement = self.conn.prepare_cached(sql)?;
        let mut rows = statement.query(params![
            filter.client,
            filter.project,
            tail,
            filter.since.map(Timestamp::micros),
            filter.until.map(Timestamp::micros),
            session.map(|session| session.row),
        ])?;
        while let Some(row) = rows.next()? {
            each(row)?;
        }
        Ok(())
    }
}

const JOINS: &str = "JOIN name AS client ON client.id = session.client
    LEFT JOIN name AS project ON project.id = session.project";

/// Returns the columns of a key and the session's number, as [`Counting::add`] reads them.
fn columns(by: By, at: &str, model: &str) -> String {
    let column = |wanted: bool, column: &str, other: &str| if wanted { column } else { other }.to_owned();
    format!(
        "{}, {}, {}, {}, session.id",
        // The remainder has the sign of the time, which may lie before 1970.
        column(by.day, &format!("({at} - ((({at} % {QUARTER}) + {QUARTER}) % {QUARTER}))"), "NULL"),
        column(by.client, "client.text", "''"),
        column(by.project, "coalesce(project.text, '')", "''"),
        column(by.model, &format!("coalesce({model}, session.model, '')"), "''"),
    )
}

fn wanted(at: &str) -> String {
    format!(
        "(?1 IS NULL OR client.text = ?1) AND (?2 IS NULL OR project.text = ?2 OR project.text LIKE ?3 ESCAPE '\\')
         AND (?4 IS NULL OR {at} >= ?4) AND (?5 IS NULL OR {at} < ?5) AND (?6 IS NULL OR session.id = ?6)"
    )
}

/// Counts of sessions, on their way to those of keys.
struct Counting<'d> {
    day: &'d dyn Fn(Timestamp) -> String,
    /// The names of the days asked for so far, by their quarters of an hour.
    days: BTreeMap<i64, String>,
    rows: BTreeMap<Key, (Totals, HashSet<i64>)>,
    total: Totals,
    sessions: HashSet<i64>,
}

impl<'d> Counting<'d> {
    fn new(day: &'d dyn Fn(Timestamp) -> String) -> Self {
        let (days, rows, sessions) = (BTreeMap::new(), BTreeMap::new(), HashSet::new());
        Self { day, days, rows, total: Totals::default(), sessions }
    }

    fn add(&mut self, row: &rusqlite::Row<'_>, counted: Totals) -> rusqlite::Result<()> {
        let day = match row.get::<_, Option<i64>>(0)? {
            Some(quarter) => self.days.entry(quarter).or_insert_with(|| {
                Timestamp::from_micros(quarter).map(|at| (self.day)(at)).unwrap_or_default()
            }),
            None => "",
        };
        let key = Key { day: day.to_owned(), client: row.get(1)?, project: row.get(2)?, model: row.get(3)? };
        let session = row.get(4)?;
        let (totals, sessions) = self.rows.entry(key).or_default();
        sessions.insert(session);
        totals.add(&counted);
        self.sessions.insert(session);
        self.total.add(&counted);
        Ok(())
    }

    fn finish(self) -> Stats {
        let with =
            |totals: Totals, sessions: &HashSet<i64>| Totals { sessions: sessions.len() as u64, ..totals };
        Stats {
            rows: self
                .rows
                .into_iter()
                .map(|(key, (totals, sessions))| (key, with(totals, &sessions)))
                .collect(),
            total: with(self.total, &self.sessions),
        }
    }
}

impl Totals {
    /// Adds what was counted of one session.
    fn add(&mut self, other: &Self) {
        let sum = |a: Option<u64>, b: Option<u64>| match (a, b) {
            (Some(a), Some(b)) => Some(a.saturating_add(b)),
            (a, b) => a.or(b),
        };
        self.turns += other.turns;
        self.tool_calls += other.tool_calls;
        self.responses += other.responses;
        self.usage = Usage {
            input: sum(self.usage.input, other.usage.input),
            output: sum(self.usage.output, other.usage.output),
            cache_read: sum(self.usage.cache_read, other.usage.cache_read),
            cache_write: sum(self.usage.cache_write, other.usage.cache_write),
            reasoning: sum(self.usage.reasoning, other.usage.reasoning),
        };
    }
}

fn number(row: &rusqlite::Row<'_>, at: usize) -> rusqlite::Result<Option<u64>> {
    Ok(row.get::<_, Option<i64>>(at)?.and_then(|number| u64::try_from(number).ok()))
}
