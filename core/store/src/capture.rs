//! What was wanted when: the stretches of time that `use` and `pause` opened, and what hooks noted of sessions.

use crate::{Store, StoreError, Writer};
use rusqlite::{OptionalExtension as _, params};
use scrollback_core::Timestamp;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

/// How much is captured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Mode {
    /// Everything.
    #[default]
    All,
    /// What lies in a bound interval.
    Bound,
    /// Nothing.
    Off,
}

impl Mode {
    /// Every mode, with the word a user sets it by.
    pub const NAMES: [(&'static str, Self); 3] =
        [("all", Self::All), ("bound", Self::Bound), ("off", Self::Off)];

    /// Returns the mode of that word.
    pub fn named(name: &str) -> Option<Self> {
        Self::NAMES.iter().find(|(word, _)| *word == name).map(|(_, mode)| *mode)
    }

    /// Returns its word.
    pub const fn name(self) -> &'static str {
        match self {
            Self::All => "all",
            Self::Bound => "bound",
            Self::Off => "off",
        }
    }
}

/// What holds in an interval.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Holds {
    /// Nothing is captured.
    Paused,
    /// Events belong to the project of that name.
    Bound(String),
}

/// The directories an interval holds for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Scope {
    /// All of them.
    Everywhere,
    /// A repository, by its root.
    Repository(PathBuf),
    /// A directory that is in none, and everything below it.
    Directory(PathBuf),
}

/// A stretch of time that was opened and perhaps closed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Interval {
    /// What holds in it.
    pub holds: Holds,
    /// Where it holds.
    pub scope: Scope,
    /// Its first moment.
    pub since: Timestamp,
    /// The first moment after it; none: it is open.
    pub until: Option<Timestamp>,
}

/// What a hook noted of a session: how the environment of its client was from then on.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Note {
    /// How much was to be captured, if the environment said so.
    pub mode: Option<Mode>,
    /// The project the environment named.
    pub project: Option<String>,
}

/// A note, of which session, and when its hook ran.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NoteRow {
    /// The client.
    pub client: String,
    /// The session.
    pub session: String,
    /// When.
    pub at: Timestamp,
    /// What was noted.
    pub note: Note,
}

impl Writer<'_> {
    /// Notes how a session's environment was at that time, unless the last note before it says the same; the same
    /// note twice is once.
    pub fn note(
        &mut self,
        client: &str,
        session: &str,
        at: Timestamp,
        note: &Note,
    ) -> Result<(), StoreError> {
        let conn = &self.store.conn;
        let last = conn
            .prepare_cached(
                "SELECT mode, project FROM note WHERE client = ?1 AND session = ?2 AND at <= ?3
                 ORDER BY at DESC LIMIT 1",
            )?
            .query_row(params![client, session, at.micros()], |row| {
                let mode: Option<String> = row.get(0)?;
                Ok(Note { mode: mode.as_deref().and_then(Mode::named), project: row.get(1)? })
            })
            .optional()?;
        if last.unwrap_or_default() != *note {
            conn.prepare_cached(
                "INSERT OR REPLACE INTO note (client, session, at, mode, project) VALUES (?1, ?2, ?3, ?4, ?5)",
            )?
            .execute(params![client, session, at.micros(), note.mode.map(Mode::name), note.project])?;
        }
        Ok(())
    }

    /// Opens an interval from `since` on. An open one of the same scope that holds the same kind of thing is closed by
    /// it.
    pub fn open_interval(
        &mut self,
        holds: &Holds,
        scope: &Scope,
        since: Timestamp,
    ) -> Result<(), StoreError> {
        self.close_interval(*holds == Holds::Paused, Some(scope), since)?;
        let project = match holds {
            Holds::Paused => None,
            Holds::Bound(project) => Some(project),
        };
        let (root, deep) = columns(scope);
        self.store
            .conn
            .prepare_cached("INSERT INTO interval (project, root, deep, since) VALUES (?1, ?2, ?3, ?4)")?
            .execute(params![project, root, deep, since.micros()])?;
        Ok(())
    }

    /// Closes the open pauses, or the open bindings, of a scope, or of all; says how many there were.
    pub fn close_interval(
        &mut self,
        pauses: bool,
        scope: Option<&Scope>,
        until: Timestamp,
    ) -> Result<usize, StoreError> {
        let (root, deep) = scope.map_or((None, false), columns);
        Ok(self
            .store
            .conn
            .prepare_cached(
                "UPDATE interval SET until = max(since, ?1)
                 WHERE until IS NULL AND (project IS NULL) = ?2 AND (?3 OR root IS ?4 AND deep = ?5)",
            )?
            .execute(params![until.micros(), pauses, scope.is_none(), root, deep])?)
    }

    /// Returns what [`Store::intervals`] does.
    pub fn intervals(&self) -> Result<Vec<Interval>, StoreError> {
        self.store.intervals()
    }

    /// Returns what [`Store::notes`] does.
    pub fn notes(&self) -> Result<Vec<NoteRow>, StoreError> {
        self.store.notes()
    }

    /// Returns where a session started and the session that launched it, as far as both are known.
    pub fn seat(&self, client: &str, session: &str) -> Result<(Option<String>, Option<String>), StoreError> {
        Ok(self
            .store
            .conn
            .prepare_cached(
                "SELECT cwd, parent_session FROM session
                 WHERE client = (SELECT id FROM name WHERE text = ?1) AND session = ?2",
            )?
            .query_row([client, session], |row| Ok((row.get(0)?, row.get(1)?)))
            .optional()?
            .unwrap_or_default())
    }

    /// Returns the session of a client whose id stands in a path, the longest if there are several.
    pub fn session_in(&self, client: &str, path: &Path) -> Result<Option<String>, StoreError> {
        Ok(self
            .store
            .conn
            .prepare_cached(
                "SELECT session FROM (
                   SELECT session FROM session WHERE client = (SELECT id FROM name WHERE text = ?1)
                   UNION SELECT session FROM note WHERE client = ?1)
                 WHERE length(session) > 7 AND instr(?2, session) > 0 ORDER BY length(session) DESC LIMIT 1",
            )?
            .query_row(params![client, path.to_string_lossy()], |row| row.get(0))
            .optional()?)
    }
}

fn columns(scope: &Scope) -> (Option<&[u8]>, bool) {
    match scope {
        Scope::Everywhere => (None, false),
        Scope::Repository(root) => (Some(root.as_os_str().as_bytes()), false),
        Scope::Directory(root) => (Some(root.as_os_str().as_bytes()), true),
    }
}

impl Store {
    /// Returns every interval, in the order they were opened.
    pub fn intervals(&self) -> Result<Vec<Interval>, StoreError> {
        let mut statement =
            self.conn.prepare_cached("SELECT project, root, deep, since, until FROM interval ORDER BY id")?;
        let mut rows = statement.query([])?;
        let mut intervals = Vec::new();
        while let Some(row) = rows.next()? {
            let root: Option<Vec<u8>> = row.get(1)?;
            let root = root.map(|root| PathBuf::from(OsStr::from_bytes(&root)));
            let (since, until): (i64, Option<i64>) = (row.get(3)?, row.get(4)?);
            let Ok(since) = Timestamp::from_micros(since) else { continue };
            intervals.push(Interval {
                holds: row.get::<_, Option<String>>(0)?.map_or(Holds::Paused, Holds::Bound),
                scope: match root {
                    None => Scope::Everywhere,
                    Some(root) if row.get(2)? => Scope::Directory(root),
                    Some(root) => Scope::Repository(root),
                },
                since,
                until: until.and_then(|until| Timestamp::from_micros(until).ok()),
            });
        }
        Ok(intervals)
    }

    /// Returns what hooks noted, in the order of clients, sessions and times.
    pub fn notes(&self) -> Result<Vec<NoteRow>, StoreError> {
        let mut statement = self.conn.prepare_cached(
            "SELECT client, session, at, mode, project FROM note ORDER BY client, session, at",
        )?;
        let mut rows = statement.query([])?;
        let mut notes = Vec::new();
        while let Some(row) = rows.next()? {
            let Ok(at) = Timestamp::from_micros(row.get(2)?) else { continue };
            let mode: Option<String> = row.get(3)?;
            notes.push(NoteRow {
                client: row.get(0)?,
                session: row.get(1)?,
                at,
                note: Note { mode: mode.as_deref().and_then(Mode::named), project: row.get(4)? },
            });
        }
        Ok(notes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_micros(seconds * 1_000_000).unwrap()
    }

    fn bound(project: &str) -> Holds {
        Holds::Bound(project.to_owned())
    }

    #[test]
    fn an_interval_is_closed_by_the_next_of_its_scope_and_kind() {
        let mut store = Store::open_in_memory().unwrap();
        let mut writer = store.writer().unwrap();
        let (a, b) = (Scope::Repository("/a".into()), Scope::Directory("/a".into()));
        writer.open_interval(&bound("one"), &a, at(1)).unwrap();
        writer.open_interval(&Holds::Paused, &a, at(2)).unwrap();
        writer.open_interval(&bound("of the directory"), &b, at(3)).unwrap();
        writer.open_interval(&bound("two"), &a, at(4)).unwrap();
        writer.open_interval(&Holds::Paused, &Scope::Everywhere, at(5)).unwrap();
        assert_eq!(writer.close_interval(true, Some(&Scope::Everywhere), at(6)).unwrap(), 1);
        assert_eq!(writer.close_interval(true, None, at(7)).unwrap(), 1);
        assert_eq!(writer.close_interval(true, None, at(8)).unwrap(), 0);
        writer.commit().unwrap();
        let found: Vec<_> = store
            .intervals()
            .unwrap()
            .into_iter()
            .map(|it| (it.holds, it.scope, it.since, it.until))
            .collect();
        assert_eq!(
            found,
            [
                (bound("one"), a.clone(), at(1), Some(at(4))),
                (Holds::Paused, a.clone(), at(2), Some(at(7))),
                (bound("of the directory"), b, at(3), None),
                (bound("two"), a, at(4), None),
                (Holds::Paused, Scope::Everywhere, at(5), Some(at(6))),
            ]
        );
    }

    #[test]
    fn a_note_that_says_nothing_new_is_not_kept() {
        let mut store = Store::open_in_memory().unwrap();
        let mut writer = store.writer().unwrap();
        let off = Note { mode: Some(Mode::Off), project: None };
        writer.note("acme", "s", at(1), &Note::default()).unwrap();
        writer.note("acme", "s", at(2), &off).unwrap();
        writer.note("acme", "s", at(3), &off).unwrap();
        writer.note("acme", "s", at(4), &Note::default()).unwrap();
        writer.note("acme", "s", at(2), &off).unwrap();
        writer.commit().unwrap();
        let found: Vec<_> = store.notes().unwrap().into_iter().map(|row| (row.at, row.note)).collect();
        assert_eq!(found, [(at(2), off), (at(4), Note::default())]);
    }
}
