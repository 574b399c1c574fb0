//! What is known of sessions: facts, what waits for an event that is not held, and the projects of directories.

use crate::session::lineage_name;
use crate::usage::Tokens;
use crate::{StoreError, Writer, home};
use rusqlite::{OptionalExtension as _, params};
use scrollback_core::{EventId, Facts, Timestamp, Usage, Whose};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// What waits for an event that is not held.
#[derive(Serialize, Deserialize)]
#[expect(clippy::large_enum_variant, reason = "made one at a time, and rarely")]
pub(crate) enum Pending<'p> {
    #[serde(borrow)]
    Facts(Facts<'p>),
    Usage {
        #[serde(borrow)]
        response: Cow<'p, str>,
        model: Option<Cow<'p, str>>,
        at: Option<i64>,
        usage: Usage,
    },
}

impl Writer<'_> {
    /// Returns the project kept for a directory; the outer `None` is a directory never met.
    pub fn directory(&self, path: &str) -> Result<Option<Option<String>>, StoreError> {
        Ok(self
            .store
            .conn
            .prepare_cached(
                "SELECT (SELECT text FROM name WHERE id = directory.project) FROM directory WHERE path = ?1",
            )?
            .query_row([path], |row| row.get(0))
            .optional()?)
    }

    /// Keeps the project of a directory; the first answer stands.
    pub fn keep_directory(&mut self, path: &str, project: Option<&str>) -> Result<(), StoreError> {
        let project = project.map(|project| self.store.name_id(project)).transpose()?;
        self.store
            .conn
            .prepare_cached("INSERT OR IGNORE INTO directory (path, project) VALUES (?1, ?2)")?
            .execute(params![path, project])?;
        Ok(())
    }

    /// Returns the projects met so far.
    pub fn projects(&self) -> Result<Vec<String>, StoreError> {
        Ok(self
            .store
            .conn
            .prepare_cached("SELECT DISTINCT name.text FROM directory JOIN name ON name.id = directory.project ORDER BY 1")?
            .query_map([], |row| row.get(0))?
            .collect::<Result<_, _>>()?)
    }

    /// Puts what is known of a session; `project` is the engine's answer for it. Which value of each fact stands
    /// is said at [`Facts`].
    pub fn facts(
        &mut self,
        client: &str,
        of: &Whose<'_>,
        facts: &Facts<'_>,
        project: Option<&str>,
    ) -> Result<(), StoreError> {
        let client = self.store.name_id(client)?;
        match of {
            Whose::Session(name) => {
                let session = self.session(client, name)?;
                self.facts_of(client, session, facts, project)
            }
            Whose::HolderOf(event) => {
                let mut rest = facts.clone();
                let held =
                    Facts { title: rest.title.take(), summary: rest.summary.take(), ..Facts::default() };
                let home = self.home_of(*event)?;
                if held != Facts::default() {
                    self.hold_facts(*event, home, &held)?;
                }
                match home {
                    _ if rest == Facts::default() => Ok(()),
                    Some(session) => self.facts_of(client, session, &rest, project),
                    None => self.wait_for(client, *event, &Pending::Facts(rest)),
                }
            }
        }
    }

    /// Keeps a title or a summary that is said of whichever session holds an event.
    fn hold_facts(
        &mut self,
        holder: EventId,
        home: Option<i64>,
        facts: &Facts<'_>,
    ) -> Result<(), StoreError> {
        let what = serde_json::to_string(facts)
            .map_err(|error| StoreError::Content(format!("what does not serialize: {error}")))?;
        let new = self
            .store
            .conn
            .prepare_cached("INSERT OR IGNORE INTO held_fact (holder, session, what) VALUES (?1, ?2, ?3)")?
            .execute(params![holder.as_bytes().as_slice(), home, what])?;
        self.known.waiting |= home.is_none();
        match home {
            Some(session) if new > 0 => self.gather_held_facts(session),
            _ => Ok(()),
        }
    }

    /// Takes along what was said of the holder of an event that moved to another session.
    pub(crate) fn move_held_facts(&mut self, holder: &[u8], from: i64, to: i64) -> Result<(), StoreError> {
        let moved = self
            .store
            .conn
            .prepare_cached("UPDATE held_fact SET session = ?2 WHERE holder = ?1")?
            .execute(params![holder, to])?;
        if moved > 0 {
            self.gather_held_facts(from)?;
            self.gather_held_facts(to)?;
        }
        Ok(())
    }

    /// Finds the best of what was said of a session as the holder of its events.
    fn gather_held_facts(&mut self, session: i64) -> Result<(), StoreError> {
        self.session_may_change(session)?;
        let said: Vec<String> = self
            .store
            .conn
            .prepare_cached("SELECT what FROM held_fact WHERE session = ?1 ORDER BY id")?
            .query_map([session], |row| row.get(0))?
            .collect::<Result<_, _>>()?;
        let (mut title, mut summary) = (None, None);
        for what in &said {
            let facts: Facts<'_> = serde_json::from_str(what)
                .map_err(|error| StoreError::Content(format!("a held fact that does not parse: {error}")))?;
            if let Some((rank, text)) = facts.title
                && title.as_ref().is_none_or(|(held, _)| rank >= *held)
            {
                title = Some((rank, text));
            }
            summary = facts.summary.or(summary);
        }
        self.store
            .conn
            .prepare_cached(
                "UPDATE session SET held_title = ?2, held_title_rank = ?3, held_summary = ?4 WHERE id = ?1",
            )?
            .execute(params![
                session,
                title.as_ref().map(|(_, text)| text),
                title.as_ref().map(|(rank, _)| *rank as i64),
                summary
            ])?;
        Ok(())
    }

    /// Returns what is known of a session, for a comparison with what was.
    pub(crate) fn facts_now(&self, session: i64) -> Result<String, StoreError> {
        Ok(self
            .store
            .conn
            .prepare_cached(
                "SELECT json_array(parent_session, lineage, launched_by, agent, project, cwd, branch, title, title_rank,
                 held_title, held_title_rank, held_summary, model, client_version, started_at, ended_at, end_reason,
                 status, summary, pull_request) FROM session WHERE id = ?1",
            )?
            .query_row([session], |row| row.get(0))?)
    }

    fn facts_of(
        &mut self,
        client: i64,
        session: i64,
        facts: &Facts<'_>,
        project: Option<&str>,
    ) -> Result<(), StoreError> {
        self.session_may_change(session)?;
        let project = project.map(|project| self.store.name_id(project)).transpose()?;
        let lineage = facts.lineage.map(lineage_name);
        let (rank, title) =
            facts.title.as_ref().map_or((None, None), |(rank, title)| (Some(*rank as i64), Some(title)));
        let had_project: Option<i64> = self
            .store
            .conn
            .prepare_cached("SELECT project FROM session WHERE id = ?1")?
            .query_row([session], |row| row.get(0))?;
        self.store
            .conn
            .prepare_cached(
                "UPDATE session SET
                 parent_session = coalesce(parent_session, ?2), lineage = coalesce(lineage, ?3),
                 launched_by = coalesce(launched_by, ?4), agent = coalesce(agent, ?5),
                 project = coalesce(project, ?6), cwd = coalesce(cwd, ?7), branch = coalesce(branch, ?8),
                 title = CASE WHEN ?9 >= coalesce(title_rank, -1) THEN ?10 ELSE title END,
                 title_rank = CASE WHEN ?9 >= coalesce(title_rank, -1) THEN ?9 ELSE title_rank END,
                 model = coalesce(?11, model), client_version = coalesce(?12, client_version),
                 started_at = CASE WHEN ?13 < coalesce(started_at, ?13 + 1) THEN ?13 ELSE started_at END,
                 ended_at = CASE WHEN ?14 > coalesce(ended_at, ?14 - 1) THEN ?14 ELSE ended_at END,
                 end_reason = coalesce(?15, end_reason), status = coalesce(?16, status), summary = coalesce(?17, summary),
                 pull_request = coalesce(?18, pull_request)
                 WHERE id = ?1",
            )?
            .execute(params![
                session,
                facts.parent_session,
                lineage,
                facts.launched_by,
                facts.agent,
                project,
                facts.cwd,
                facts.branch,
                rank,
                title,
                facts.model,
                facts.client_version,
                facts.started_at.map(Timestamp::micros),
                facts.ended_at.map(Timestamp::micros),
                facts.end_reason,
                facts.status,
                facts.summary,
                facts.pull_request,
            ])?;
        if had_project.is_none() && project.is_some() {
            self.known.project_changes(session);
            self.index_session_again(client, session)?;
        }
        if let Some(origin) = &facts.copied_from {
            let new = self
                .store
                .conn
                .prepare_cached("INSERT OR IGNORE INTO link (session, origin) VALUES (?1, ?2)")?
                .execute(params![session, origin])?;
            if new > 0 {
                home::linked(self, client, session)?;
            }
        }
        Ok(())
    }

    /// Puts the events of a session into the index anew: it got its project late.
    fn index_session_again(&mut self, client: i64, session: i64) -> Result<(), StoreError> {
        let events: Vec<i64> = self
            .store
            .conn
            .prepare_cached("SELECT id FROM event WHERE session = ?1 AND doc IS NOT NULL")?
            .query_map([session], |row| row.get(0))?
            .collect::<Result<_, _>>()?;
        for event in events {
            home::index_again(self, client, event)?;
        }
        Ok(())
    }

    pub(crate) fn wait_for(
        &mut self,
        client: i64,
        event: EventId,
        what: &Pending<'_>,
    ) -> Result<(), StoreError> {
        self.known.waiting = true;
        let what = serde_json::to_string(what)
            .map_err(|error| StoreError::Content(format!("what does not serialize: {error}")))?;
        self.store
            .conn
            .prepare_cached("INSERT OR IGNORE INTO pending (holder, client, what) VALUES (?1, ?2, ?3)")?
            .execute(params![event.as_bytes().as_slice(), client, what])?;
        Ok(())
    }

    /// Gives an event that came in what waited for it.
    pub(crate) fn adopt_pending(
        &mut self,
        client: i64,
        event: EventId,
        session: i64,
    ) -> Result<(), StoreError> {
        let holds = self
            .store
            .conn
            .prepare_cached("UPDATE held_fact SET session = ?2 WHERE holder = ?1")?
            .execute(params![event.as_bytes().as_slice(), session])?;
        if holds > 0 {
            self.gather_held_facts(session)?;
        }
        let waiting: Vec<String> = self
            .store
            .conn
            .prepare_cached("SELECT what FROM pending WHERE holder = ?1")?
            .query_map([event.as_bytes().as_slice()], |row| row.get(0))?
            .collect::<Result<_, _>>()?;
        if waiting.is_empty() {
            return Ok(());
        }
        for what in &waiting {
            match serde_json::from_str(what) {
                Ok(Pending::Facts(facts)) => self.facts_of(client, session, &facts, None)?,
                Ok(Pending::Usage { response, model, at, usage }) => {
                    let holder = Some(event);
                    self.put_usage(Tokens { session, response, model, at, usage, holder })?;
                }
                Err(error) => {
                    return Err(StoreError::Content(format!("a waiting fact that does not parse: {error}")));
                }
            }
        }
        self.store
            .conn
            .prepare_cached("DELETE FROM pending WHERE holder = ?1")?
            .execute([event.as_bytes().as_slice()])?;
        Ok(())
    }
}
