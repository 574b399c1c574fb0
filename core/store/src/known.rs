//! What a transaction knows of the store without asking it each time: nobody else writes while it lasts.

use crate::usage::Tokens;
use crate::{Store, StoreError, Writer};
use rusqlite::OptionalExtension as _;
use scrollback_core::EventId;
use std::collections::HashMap;

/// What is known in the transaction at hand.
#[expect(clippy::struct_excessive_bools, reason = "each says whether a table has any row")]
pub(crate) struct Known {
    /// Whether anything waits for an event that is not held.
    pub(crate) waiting: bool,
    /// Whether anything was taken back, by id or by place.
    pub(crate) taken_back: bool,
    /// Whether a source's records took back events by counting from where they stand.
    pub(crate) rewound: bool,
    /// Whether hooks told messages that no transcript has said yet.
    pub(crate) told: bool,
    /// Whether any event has had another id.
    pub(crate) aliases: bool,
    /// The projects of sessions.
    projects: HashMap<i64, Option<i64>>,
    /// The event that was put last, and its home.
    last_put: Option<(EventId, i64)>,
    /// The tokens that were put last.
    pub(crate) last_usage: Option<Tokens<'static>>,
}

impl Known {
    /// Looks at the store as it is when a transaction begins.
    pub(crate) fn of(store: &Store) -> Result<Self, StoreError> {
        let (waiting, taken_back, rewound, told, aliases) = store
            .conn
            .prepare_cached(
                "SELECT EXISTS (SELECT 1 FROM pending) OR EXISTS (SELECT 1 FROM held_fact WHERE session IS NULL),
                 EXISTS (SELECT 1 FROM withdrawal) OR EXISTS (SELECT 1 FROM withdrawn_event),
                 EXISTS (SELECT 1 FROM rewound), EXISTS (SELECT 1 FROM told), EXISTS (SELECT 1 FROM alias)",
            )?
            .query_row([], |row| {
                Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?))
            })?;
        Ok(Self {
            waiting,
            taken_back,
            rewound,
            told,
            aliases,
            projects: HashMap::new(),
            last_put: None,
            last_usage: None,
        })
    }

    /// Remembers in which session an event that was put lies.
    pub(crate) const fn put(&mut self, event: EventId, home: i64) {
        self.last_put = Some((event, home));
    }

    /// Forgets what an event that moves to another session may change.
    pub(crate) fn moved(&mut self) {
        self.last_put = None;
        self.last_usage = None;
    }

    /// Forgets the project of a session.
    pub(crate) fn project_changes(&mut self, session: i64) {
        self.projects.remove(&session);
    }
}

impl Writer<'_> {
    /// Returns the home of an event, if it is held.
    pub(crate) fn home_of(&self, event: EventId) -> Result<Option<i64>, StoreError> {
        if let Some((last, home)) = self.known.last_put
            && last == event
        {
            return Ok(Some(home));
        }
        Ok(self
            .store
            .conn
            .prepare_cached("SELECT session FROM event WHERE uuid = ?1")?
            .query_row([event.as_bytes().as_slice()], |row| row.get(0))
            .optional()?)
    }

    /// Returns the number of a session's project.
    pub(crate) fn project_of(&mut self, session: i64) -> Result<Option<i64>, StoreError> {
        if let Some(project) = self.known.projects.get(&session) {
            return Ok(*project);
        }
        let project = self
            .store
            .conn
            .prepare_cached("SELECT project FROM session WHERE id = ?1")?
            .query_row([session], |row| row.get(0))?;
        self.known.projects.insert(session, project);
        Ok(project)
    }
}
