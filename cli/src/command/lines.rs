//! Sessions as lines of the line format.

use anyhow::Result;
use scrollback_core::{EventId, Line, SessionLine, Timestamp};
use scrollback_store::{Picked, SessionRow, Store, StoredEvent};
use serde::Serialize;

/// Gives `each` the events of a session, then a withdrawal for each of them that its client took back.
pub(super) fn events(
    store: &Store,
    session: &SessionRow,
    picked: &Picked<'_>,
    each: &mut dyn FnMut(&Line) -> Result<()>,
) -> Result<()> {
    let mut withdrawn: Vec<EventId> = Vec::new();
    store.each_event(session, picked, &mut |event: StoredEvent| {
        if event.withdrawn {
            withdrawn.push(event.line.id);
        }
        each(&Line::Event(event.line))
    })?;
    for id in withdrawn {
        let (client, session) = (session.line.client.clone(), session.line.session.clone());
        each(&Line::Withdraw { id, client, session })?;
    }
    Ok(())
}

/// A session as a listing has it: its line, and what is counted.
#[derive(Serialize)]
pub(super) struct Listed<'l> {
    #[serde(rename = "type")]
    kind: &'static str,
    #[serde(flatten)]
    line: &'l SessionLine,
    #[serde(skip_serializing_if = "Option::is_none")]
    last_at: Option<Timestamp>,
    events: u64,
}

impl<'l> Listed<'l> {
    pub(super) fn of(session: &'l SessionRow) -> Self {
        Self { kind: "session", line: &session.line, last_at: session.last_at, events: session.events }
    }
}
