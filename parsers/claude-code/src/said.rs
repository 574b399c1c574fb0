//! Putting what a row says: the same session, time, origin and identity for every event of it.

use crate::session::{RowId, Saved, Thread};
use scrollback_core::{Body, By, Event, EventId, Events, Memory, Origin, Timestamp};
use std::borrow::Cow;

/// One row of the conversation, being said.
pub(crate) struct Put<'a, 'r> {
    pub(crate) id: RowId<'r>,
    pub(crate) thread: Thread<'r>,
    pub(crate) at: Option<Timestamp>,
    pub(crate) origin: Origin<'r>,
    /// What the agent is called, in a sub-agent's session or a team member's.
    pub(crate) agent: Option<Cow<'r, str>>,
    /// The client's version.
    pub(crate) version: Option<Cow<'r, str>>,
    pub(crate) saved: &'a mut Saved,
    pub(crate) memory: &'a mut dyn Memory,
    pub(crate) events: &'a mut Events<'r>,
    /// The first event of the row.
    pub(crate) first: Option<EventId>,
}

impl<'r> Put<'_, 'r> {
    /// Returns an event of that part of the row.
    pub(crate) fn event(&self, part: &str, body: Body<'r>) -> Event<'r> {
        let mut event = Event::new(self.id.part(part), self.thread.session.clone(), body)
            .at(self.at)
            .origin(self.origin.clone());
        if let RowId::Own(uuid) = &self.id {
            event.record_id = Some(uuid.0.clone());
        }
        event
    }

    /// Puts an event and returns its id.
    pub(crate) fn push(&mut self, event: Event<'r>) -> EventId {
        let id = event.id;
        self.first.get_or_insert(id);
        self.saved.now.anchor = Some(id);
        self.events.event(event);
        id
    }

    /// Puts an event of that part, caused by whom its kind suggests.
    pub(crate) fn body(&mut self, part: &str, body: Body<'r>) -> EventId {
        let event = self.event(part, body);
        self.push(event)
    }

    /// Returns the agent whose session this is.
    pub(crate) fn agent(&self) -> By<'r> {
        By::Agent(self.agent.clone())
    }

    /// Says whether the row is known to be a copy.
    pub(crate) fn is_copy(&self) -> bool {
        self.origin != Origin::Own
    }

    /// Puts that a part of the row is of a kind never seen.
    pub(crate) fn unknown(&mut self, kind: String) {
        let version = self.version.clone();
        self.events.unknown(kind, version);
    }
}
