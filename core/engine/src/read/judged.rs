//! Which records are wanted, judged by the time and the session of what they say.

use super::{Current, Reading};
use crate::capture::{Judge, Of, Verdict};
use crate::project::{project_of, real};
use scrollback_core::{Event, Facts, Origin, Said, Timestamp, Whose};
use scrollback_store::StoreError;
use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

/// How far up it is looked for the session that launched another.
const GENERATIONS: usize = 8;

/// What becomes of a record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Judged {
    /// It is kept: for the project of that name, or for that of its session.
    Keep(Option<String>),
    /// It is passed, for that reason.
    Skip(&'static str),
}

impl From<Verdict<'_>> for Judged {
    fn from(verdict: Verdict<'_>) -> Self {
        match verdict {
            Verdict::Keep(project) => Self::Keep(project.map(str::to_owned)),
            Verdict::Skip(why) => Self::Skip(why),
        }
    }
}

/// What is known of the sessions of a source that is read.
#[derive(Default)]
pub(super) struct Seen {
    seats: HashMap<String, Seat>,
    session: Option<String>,
    at: Option<Timestamp>,
    last: Option<Judged>,
}

/// Where a session started, and which launched it.
#[derive(Default, Clone)]
struct Seat {
    /// The directory: as it was written, and with its links followed.
    directories: Vec<PathBuf>,
    /// The root of the repository that is in, or that directory.
    root: Option<PathBuf>,
    parent: Option<String>,
}

impl Reading<'_, '_> {
    /// Says what becomes of a record that says these things.
    pub(super) fn judge(
        &mut self,
        said: &[Said<'_>],
        current: &mut Current<'_>,
    ) -> Result<Judged, StoreError> {
        let Some(judge) = &self.judge else { return Ok(Judged::Keep(None)) };
        let mut named = None;
        for said in said {
            if let Said::Facts(Whose::Session(session), facts) = said {
                named = named.or(Some((&**session, facts.started_at.or(facts.ended_at))));
                self.seat(session, facts, current)?;
            }
        }
        let event = said.iter().find_map(|said| match said {
            Said::Event(event) => Some(event),
            _ => None,
        });
        if let Some(event) = event {
            current.seen.session = Some(event.session.clone().into_owned());
            current.seen.at = event.at.or(current.seen.at);
        } else if let Some((session, at)) = named {
            current.seen.session = Some(session.to_owned());
            current.seen.at = at.or(current.seen.at);
        }
        let judged = self.judged(judge, event, current)?;
        current.seen.last = Some(judged.clone());
        Ok(judged)
    }

    /// Says what becomes of a record that was not understood: what became of the one before it.
    pub(super) fn judge_unread(&self, current: &mut Current<'_>) -> Result<Judged, StoreError> {
        let Some(judge) = &self.judge else { return Ok(Judged::Keep(None)) };
        if current.seen.last.is_none() {
            current.seen.session = self.writer.session_in(current.client, current.path)?;
            current.seen.last = Some(self.judged(judge, None, current)?);
        }
        Ok(current.seen.last.clone().unwrap_or(Judged::Keep(None)))
    }

    fn judged(
        &self,
        judge: &Judge,
        event: Option<&Event<'_>>,
        current: &mut Current<'_>,
    ) -> Result<Judged, StoreError> {
        let mut sessions: Vec<String> = Vec::new();
        if let Some(Origin::Copied { from: Some(from) }) = event.map(|event| &event.origin) {
            // What was not wanted where it happened is not wanted where it was copied to.
            sessions.push(from.clone().into_owned());
        }
        let mut next = current.seen.session.clone();
        let (mut directories, mut root) = (Vec::new(), None);
        while let Some(session) = next.take().filter(|next| !sessions.contains(next)) {
            let seat = self.known_seat(&session, current)?;
            if directories.is_empty() {
                (directories, root) = (seat.directories, seat.root);
            }
            next = seat.parent.filter(|_| sessions.len() < GENERATIONS);
            sessions.push(session);
        }
        let at = current.seen.at.unwrap_or_else(|| changed(current.path).unwrap_or(self.now));
        let of = Of {
            client: current.client,
            sessions: &sessions,
            directories: &directories,
            root: root.as_deref(),
            at,
        };
        Ok(judge.verdict(&of).into())
    }

    /// Takes in what is said of a session; the first word on each matter stands.
    fn seat(&self, session: &str, facts: &Facts<'_>, current: &mut Current<'_>) -> Result<(), StoreError> {
        if facts.cwd.is_none() && facts.parent_session.is_none() {
            return Ok(());
        }
        let mut seat = self.known_seat(session, current)?;
        if let Some(cwd) = facts.cwd.as_ref().filter(|_| seat.directories.is_empty()) {
            let word = facts.project.as_deref().map(Path::new);
            seat.root = Some(self.root(cwd, word)?);
            seat.directories = written_and_real(cwd);
        }
        seat.parent = seat.parent.or_else(|| facts.parent_session.clone().map(Into::into));
        current.seen.seats.insert(session.to_owned(), seat);
        Ok(())
    }

    fn known_seat(&self, session: &str, current: &mut Current<'_>) -> Result<Seat, StoreError> {
        if let Some(seat) = current.seen.seats.get(session) {
            return Ok(seat.clone());
        }
        let (cwd, parent) = self.writer.seat(current.client, session)?;
        let root = cwd.as_deref().map(|cwd| self.root(cwd, None)).transpose()?;
        let directories = cwd.as_deref().map(written_and_real).unwrap_or_default();
        let seat = Seat { directories, root, parent };
        current.seen.seats.insert(session.to_owned(), seat.clone());
        Ok(seat)
    }

    /// Returns the root of the repository that a directory is in, or that directory.
    fn root(&self, cwd: &str, word: Option<&Path>) -> Result<PathBuf, StoreError> {
        let project = match self.writer.directory(cwd)? {
            Some(kept) => kept.map(PathBuf::from),
            None => project_of(Path::new(cwd), word, &[], self.home.as_deref()),
        };
        Ok(real(project.as_deref().unwrap_or_else(|| Path::new(cwd))))
    }
}

fn written_and_real(cwd: &str) -> Vec<PathBuf> {
    let written = PathBuf::from(cwd);
    let real = real(&written);
    vec![written, real]
}

/// Returns when a file last changed.
fn changed(path: &Path) -> Option<Timestamp> {
    let since = fs::metadata(path).ok()?.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
    Timestamp::from_micros(i64::try_from(since.as_micros()).ok()?).ok()
}

/// Returns what of facts is kept of a session whose record was passed: where it stands among others, so that what
/// follows can be judged; nothing of what was said in it, and no times.
pub(super) fn place_only(facts: Facts<'_>) -> Facts<'_> {
    Facts {
        title: None,
        summary: None,
        status: None,
        end_reason: None,
        pull_request: None,
        started_at: None,
        ended_at: None,
        ..facts
    }
}
