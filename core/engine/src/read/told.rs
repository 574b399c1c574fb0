//! Messages that no transcript had, as a hook told them.

use super::judged::Seen;
use super::{Current, Place, Reading, client_of};
use crate::tail::{TailError, TailReport};
use scrollback_core::{Body, Event, EventId, Events, Facts, Order, Parser, Role, Timestamp, Whose};
use scrollback_store::{Counts, HOOK, Label};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// A message that a hook told.
pub(crate) struct Telling<'t> {
    pub(crate) session: &'t str,
    pub(crate) role: Role,
    pub(crate) text: &'t str,
    pub(crate) at: Timestamp,
    /// Where the session is, if it has no transcript that says so.
    pub(crate) cwd: Option<&'t str>,
    /// The transcripts that are there: the session's, unless its payload names another's.
    pub(crate) transcripts: &'t [PathBuf],
}

impl Reading<'_, '_> {
    /// Stores a message that a hook told, unless it is there: from a transcript, or because another hook told it too.
    pub(crate) fn told(
        &mut self,
        parser: &dyn Parser,
        told: &Telling<'_>,
        report: &mut TailReport,
    ) -> Result<(), TailError> {
        let label = Label::default();
        let client = client_of(parser, &label);
        let persisted = !told.transcripts.is_empty();
        if persisted && !self.writer.is_read_from(client, told.session, told.transcripts)? {
            // The transcript is of another session than the payload says: nobody knows whose message it is.
            return Ok(());
        }
        let said = self.writer.said_about(client, told.session, told.role, told.at)?;
        let text = self.redactor.text(told.text);
        let same = |said: &String| {
            if persisted { is_part(said, &text) } else { said.trim() == text.trim() }
        };
        if said.iter().any(same) {
            return Ok(());
        }
        let (rank, generation) = self.writer.last_source(client, told.session)?.unwrap_or_default();
        let (micros, role) = (told.at.micros(), if told.role == Role::User { "user" } else { "assistant" });
        let id = EventId::of(client, &["hook", told.session, &micros.to_string(), role]);
        let mut event = Event::new(id, told.session, Body::message(told.role, told.text));
        event.at = Some(told.at);
        event.order = Order { rank, place: Some((micros.unsigned_abs(), 0)) };
        let mut events = Events::new();
        if !persisted {
            let cwd = told.cwd.map(Into::into);
            let facts = Facts { cwd, started_at: Some(told.at), ..Facts::default() };
            events.facts(Whose::Session(told.session.into()), facts);
        }
        events.event(event);
        let mut current = Current {
            path: Path::new(""),
            parser,
            client,
            label: &label,
            source: HOOK,
            generation,
            born_ns: i64::MAX,
            counts: Counts::default(),
            kinds: BTreeMap::new(),
            seen: Seen::default(),
            stored: 0,
            keeps: false,
        };
        let judged = self.judge(events.said(), &mut current)?;
        let place = Place { index: 0, offset: 0, length: 0, part: 0 };
        self.apply(events, &judged, &mut current, place, report)?;
        Ok(())
    }
}

/// Says whether one of two texts holds the other, whatever blanks are between their words: a client may tell its hook a
/// part of what it writes, or write a part of what it tells.
fn is_part(one: &str, other: &str) -> bool {
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let (one, other) = (words(one), words(other));
    !one.is_empty() && !other.is_empty() && (one.contains(&other) || other.contains(&one))
}
