//! Sessions: their rows, how they are found and listed.

use crate::{Store, StoreError, Writer};
use rusqlite::{OptionalExtension as _, params};
use scrollback_core::{Lineage, SessionLine, Timestamp};

/// A session as it is listed.
#[derive(Debug, Clone, PartialEq)]
pub struct SessionRow {
    /// Its number in this store.
    pub row: i64,
    /// What is known of it; its project is the first that events of it were bound to, else that of its directory.
    pub line: SessionLine,
    /// The project of the directory it started in.
    pub root: Option<String>,
    /// The time of its last event.
    pub last_at: Option<Timestamp>,
    /// How many events have their home here, those withdrawn left out.
    pub events: u64,
    /// The call, in the parent session, that launched it.
    pub launched_by: Option<String>,
}

/// Which sessions are wanted; what is `None` does not matter.
#[derive(Debug, Clone, Default)]
pub struct SessionFilter<'f> {
    /// The client.
    pub client: Option<&'f str>,
    /// The project: its path, or the end of it after a slash.
    pub project: Option<&'f str>,
    /// Sessions with an event at or after this.
    pub since: Option<Timestamp>,
    /// Sessions with an event before this.
    pub until: Option<Timestamp>,
}

/// What holds of a session of which something was captured; of another only its name and place are known.
const SOMETHING: &str = "(session.born IS NOT NULL OR session.started_at IS NOT NULL)";

impl Writer<'_> {
    /// Returns the number of a session, which is made if it is not there.
    pub(crate) fn session(&mut self, client: i64, name: &str) -> Result<i64, StoreError> {
        if let Some(id) = self.store.caches.sessions.get(&client).and_then(|names| names.get(name)) {
            return Ok(*id);
        }
        let held = self
            .store
            .conn
            .prepare_cached("SELECT id FROM session WHERE client = ?1 AND session = ?2")?
            .query_row(params![client, name], |row| row.get(0))
            .optional()?;
        let id = if let Some(id) = held {
            id
        } else {
            self.store
                .conn
                .prepare_cached("INSERT INTO session (client, session) VALUES (?1, ?2)")?
                .execute(params![client, name])?;
            let id = self.store.conn.last_insert_rowid();
            self.session_changed(id);
            id
        };
        self.store.caches.sessions.entry(client).or_default().insert(name.to_owned(), id);
        Ok(id)
    }
}

impl Store {
    /// Returns the sessions a filter wants, the one with the latest event first.
    pub fn sessions(&self, filter: &SessionFilter<'_>) -> Result<Vec<SessionRow>, StoreError> {
        let tail = filter.project.map(ends_in);
        let mut rows = self.session_rows(
            "(?1 IS NULL OR client.text = ?1) AND (?2 IS NULL OR project.text = ?2 OR project.text LIKE ?3 ESCAPE '\\' OR session.id IN (
               SELECT event.session FROM event JOIN name ON name.id = event.project
               WHERE event.project IS NOT NULL AND (name.text = ?2 OR name.text LIKE ?3 ESCAPE '\\')))
             AND (?4 IS NULL OR session.last_at >= ?4) AND (?5 IS NULL OR session.first_at < ?5)
             ORDER BY coalesce(session.last_at, session.started_at, 0) DESC, client.text, session.session",
            params![
                filter.client,
                filter.project,
                tail,
                filter.since.map(Timestamp::micros),
                filter.until.map(Timestamp::micros),
            ],
        )?;
        rows.retain(|row| row.events > 0 || row.line.started_at.is_some());
        Ok(rows)
    }

    /// Returns the sessions whose id is `name`, or, if there is none, those it is a prefix of, or a suffix of at
    /// least four characters; `client` may narrow them.
    pub fn find_session(&self, client: Option<&str>, name: &str) -> Result<Vec<SessionRow>, StoreError> {
        let order = "ORDER BY client.text, session.session";
        let exact = self.session_rows(
            &format!("{SOMETHING} AND (?1 IS NULL OR client.text = ?1) AND session.session = ?2 {order}"),
            params![client, name],
        )?;
        if !exact.is_empty() || name.is_empty() {
            return Ok(exact);
        }
        let (like, end) = (escape_like(name), name.chars().count() >= 4);
        self.session_rows(
            &format!(
                "{SOMETHING} AND (?1 IS NULL OR client.text = ?1) AND (session.session LIKE ?2 ESCAPE '\\'
                 OR (?4 AND session.session LIKE ?3 ESCAPE '\\')) {order}"
            ),
            params![client, format!("{like}%"), format!("%{like}"), end],
        )
    }

    /// Returns the id of every session, of every client.
    pub fn session_names(&self) -> Result<Vec<String>, StoreError> {
        Ok(self
            .conn
            .prepare_cached("SELECT session FROM session")?
            .query_map([], |row| row.get(0))?
            .collect::<Result<_, _>>()?)
    }

    /// Returns the sessions that came out of a session, the first first.
    pub fn children(&self, session: &SessionRow) -> Result<Vec<SessionRow>, StoreError> {
        self.session_rows(
            &format!(
                "{SOMETHING} AND client.text = ?1 AND session.parent_session = ?2
                 ORDER BY coalesce(session.started_at, session.first_at, 0), session.session"
            ),
            params![session.line.client, session.line.session],
        )
    }

    /// Returns the session of that number.
    pub fn session_row(&self, row: i64) -> Result<SessionRow, StoreError> {
        self.session_rows("session.id = ?1", [row])?
            .pop()
            .ok_or_else(|| StoreError::Content(format!("no session of number {row}")))
    }

    fn session_rows(
        &self,
        wanted: &str,
        params: impl rusqlite::Params,
    ) -> Result<Vec<SessionRow>, StoreError> {
        let sql = format!(
            "SELECT session.id, client.text, session.session, parent_session, lineage, agent, project.text, cwd, branch,
             CASE WHEN coalesce(held_title_rank, -1) > coalesce(title_rank, -1) THEN held_title ELSE title END,
             model, client_version, coalesce(started_at, first_at), ended_at, end_reason, status, coalesce(summary, held_summary), last_at, launched_by,
             (SELECT count(*) FROM event WHERE event.session = session.id AND opens = 1 AND withdrawn = 0),
             (SELECT count(*) FROM event WHERE event.session = session.id AND withdrawn = 0),
             (SELECT text FROM event WHERE event.session = session.id AND opens = 1 AND withdrawn = 0 AND kind = 1
              ORDER BY gen DESC, rec DESC, part DESC LIMIT 1), pull_request,
             (SELECT text FROM name WHERE id = (SELECT event.project FROM event
               WHERE event.session = session.id AND event.project IS NOT NULL ORDER BY gen, rec, part LIMIT 1))
             FROM session JOIN name AS client ON client.id = session.client
             LEFT JOIN name AS project ON project.id = session.project WHERE {wanted}"
        );
        let mut statement = self.conn.prepare_cached(&sql)?;
        let mut rows = statement.query(params)?;
        let mut found = Vec::new();
        while let Some(row) = rows.next()? {
            let time = |at: usize| -> rusqlite::Result<Option<Timestamp>> {
                Ok(row.get::<_, Option<i64>>(at)?.and_then(|at| Timestamp::from_micros(at).ok()))
            };
            let count = |at: usize| -> rusqlite::Result<u64> {
                Ok(u64::try_from(row.get::<_, i64>(at)?).unwrap_or(0))
            };
            let last_prompt = match row.get_ref(21)? {
                rusqlite::types::ValueRef::Null => None,
                text => Some(self.text_of(text)?),
            };
            let root: Option<String> = row.get(6)?;
            let line = SessionLine {
                client: row.get(1)?,
                session: row.get(2)?,
                parent_session: row.get(3)?,
                lineage: row.get::<_, Option<String>>(4)?.as_deref().and_then(lineage_of),
                agent: row.get(5)?,
                project: row.get::<_, Option<String>>(23)?.or_else(|| root.clone()),
                cwd: row.get(7)?,
                branch: row.get(8)?,
                title: row.get(9)?,
                model: row.get(10)?,
                client_version: row.get(11)?,
                started_at: time(12)?,
                ended_at: time(13)?,
                end_reason: row.get(14)?,
                turns: count(19)?,
                last_prompt: last_prompt.map(|text| clip(&text, 300)),
                status: row.get(15)?,
                summary: row.get(16)?,
                pull_request: row.get(22)?,
            };
            found.push(SessionRow {
                row: row.get(0)?,
                line,
                root,
                last_at: time(17)?,
                events: count(20)?,
                launched_by: row.get(18)?,
            });
        }
        Ok(found)
    }
}

pub(crate) const fn lineage_name(lineage: Lineage) -> &'static str {
    match lineage {
        Lineage::Subagent => "subagent",
        Lineage::Fork => "fork",
        Lineage::Resume => "resume",
        Lineage::Continuation => "continuation",
    }
}

fn lineage_of(name: &str) -> Option<Lineage> {
    [Lineage::Subagent, Lineage::Fork, Lineage::Resume, Lineage::Continuation]
        .into_iter()
        .find(|lineage| lineage_name(*lineage) == name)
}

/// Returns the first `limit` characters, with `…` for what is left out.
fn clip(text: &str, limit: usize) -> String {
    match text.char_indices().nth(limit) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}

/// Returns the pattern of the paths that end in `project` after a slash.
pub(crate) fn ends_in(project: &str) -> String {
    format!("%/{}", escape_like(project))
}

fn escape_like(text: &str) -> String {
    text.replace('\\', "\\\\").replace('%', "\\%").replace('_', "\\_")
}
