//! What a decoder says of a record.

use crate::{Event, EventId, Facts, Order, Timestamp, Usage};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// What a decoder must remember of a source beyond a few kilobytes: counts, open calls, side chains.
///
/// One a source, written in the transaction of its mark, and empty again when the source is read from its
/// start. A key that was put is read back at once. Under `parse` it is a map in memory ([`MapMemory`]).
///
/// Secrets are taken out of keys and values on the way in: a text comes back as it may be shown, so no id is made of
/// one that was kept here. Counts and digests come back as they were put.
pub trait Memory {
    /// Returns what stands under `key`.
    fn get(&self, key: &[u8]) -> Option<Cow<'_, [u8]>>;
    /// Puts `value` under `key`, or takes away what stands there.
    fn put(&mut self, key: &[u8], value: Option<&[u8]>);

    /// Adds one to the count under `key` and returns what it was: the n of an n-th, from 0. The key is the parts of
    /// the id before n, the origin of a copied record among them, so that a copy counts as its origin did.
    fn count(&mut self, key: &[u8]) -> u64 {
        let was =
            self.get(key).and_then(|held| held[..].try_into().ok().map(u64::from_le_bytes)).unwrap_or(0);
        self.put(key, Some(&(was + 1).to_le_bytes()));
        was
    }
}

/// A memory that lives as long as the program: for `parse`, and for tests.
#[derive(Debug, Clone, Default)]
pub struct MapMemory(BTreeMap<Vec<u8>, Vec<u8>>);

impl Memory for MapMemory {
    fn get(&self, key: &[u8]) -> Option<Cow<'_, [u8]>> {
        self.0.get(key).map(|value| Cow::Borrowed(value.as_slice()))
    }

    fn put(&mut self, key: &[u8], value: Option<&[u8]>) {
        match value {
            Some(value) => self.0.insert(key.to_vec(), value.to_vec()),
            None => self.0.remove(key),
        };
    }
}

/// The session a fact or a usage is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Whose<'a> {
    /// The session of that id.
    Session(Cow<'a, str>),
    /// The home session of that event, whichever it turns out to be, now or later.
    HolderOf(EventId),
}

/// What an explicit record of the client takes back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Withdraw<'a> {
    /// One event.
    Event(EventId),
    /// The events of the record of that id and of all after it in the session.
    FromRecord {
        /// The session.
        session: Cow<'a, str>,
        /// The client's id of the record ([`Event::record_id`]).
        record_id: Cow<'a, str>,
    },
    /// The events at or after that place in the session.
    FromOrder {
        /// The session.
        session: Cow<'a, str>,
        /// The first place withdrawn; it names a record.
        order: Order,
    },
    /// The last `n` turns of the session, as they stand before this record.
    LastTurns {
        /// The session.
        session: Cow<'a, str>,
        /// How many.
        n: u32,
    },
}

/// One thing a decoder said.
#[derive(Debug, Clone, PartialEq)]
pub enum Said<'a> {
    /// Something happened.
    Event(Event<'a>),
    /// Something is known of a session.
    Facts(Whose<'a>, Facts<'a>),
    /// A response's tokens.
    Usage {
        /// The client's id of the response, unique in its session.
        response: Cow<'a, str>,
        /// The session that made it.
        whose: Whose<'a>,
        /// The model that made it.
        model: Option<Cow<'a, str>>,
        /// When.
        at: Option<Timestamp>,
        /// How many.
        usage: Usage,
    },
    /// Events are taken back.
    Withdraw(Withdraw<'a>),
    /// The record is known and carries nothing.
    Nothing(Cow<'a, str>),
    /// Something of the source that its reader should know, and that is no fault.
    Remark(Cow<'a, str>),
    /// The record, or a part of it, is of a kind never seen.
    Unknown {
        /// The name of the kind.
        kind: Cow<'a, str>,
        /// The client's version, if the record or one before it says.
        version: Option<Cow<'a, str>>,
    },
}

/// Where a decoder puts what a record says. Something must be put for every record: an event, facts, a usage, a
/// withdrawal, or that it carries nothing, or that it is of an unknown kind. Saying none is the parser's error.
#[derive(Debug, Default)]
pub struct Events<'r> {
    said: Vec<Said<'r>>,
}

impl<'r> Events<'r> {
    /// Returns a place nothing was put in yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Puts an event. Those of one record stand in the order they are put. An id said again, by this record or a
    /// later one, is the same event: with other content a revision of it, with the same nothing new.
    pub fn event(&mut self, event: Event<'r>) {
        self.said.push(Said::Event(event));
    }

    /// Puts what is known of a session, when it is first seen and when it changes.
    pub fn facts(&mut self, of: Whose<'r>, facts: Facts<'r>) {
        self.said.push(Said::Facts(of, facts));
    }

    /// Puts the tokens of one response; say it as often as the client does. `response` is the client's id of it,
    /// unique in its session: reports under one id are merged field by field to the largest. Nothing but zeros is
    /// no report.
    pub fn usage(
        &mut self,
        response: impl Into<Cow<'r, str>>,
        whose: Whose<'r>,
        model: Option<Cow<'r, str>>,
        at: Option<Timestamp>,
        usage: Usage,
    ) {
        self.said.push(Said::Usage { response: response.into(), whose, model, at, usage });
    }

    /// Puts a withdrawal. Only an explicit record of the client withdraws. It reaches what stands before it in the
    /// session, also where that is read later.
    pub fn withdraw(&mut self, what: Withdraw<'r>) {
        self.said.push(Said::Withdraw(what));
    }

    /// Says that the record is of a known kind that carries nothing; `kind` is counted and the record is not kept.
    pub fn nothing(&mut self, kind: impl Into<Cow<'r, str>>) {
        self.said.push(Said::Nothing(kind.into()));
    }

    /// Says something of the source that people should know and that is no fault: what its sessions are named by
    /// where the client names none. The last remark on a source stands; it is part of reports, and of no record.
    pub fn remark(&mut self, what: impl Into<Cow<'r, str>>) {
        self.said.push(Said::Remark(what.into()));
    }

    /// Says that the record, or a part of it, is of a kind never seen. The record is kept raw, and `kind` is
    /// counted by client version, so that a user sees what an update of the client brought. Events of the parts that
    /// were understood are put beside it.
    pub fn unknown(&mut self, kind: impl Into<Cow<'r, str>>, version: Option<Cow<'r, str>>) {
        self.said.push(Said::Unknown { kind: kind.into(), version });
    }

    /// Says whether nothing was put; a remark is nothing of a record.
    pub fn is_silent(&self) -> bool {
        self.said.iter().all(|said| matches!(said, Said::Remark(_)))
    }

    /// Returns what was put, in order.
    pub fn said(&self) -> &[Said<'r>] {
        &self.said
    }

    /// Gives up what was put, in order.
    pub fn into_said(self) -> Vec<Said<'r>> {
        self.said
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_count_starts_at_zero_and_is_remembered() {
        let mut memory = MapMemory::default();
        assert_eq!((memory.count(b"a"), memory.count(b"a"), memory.count(b"b")), (0, 1, 0));
        memory.put(b"a", None);
        assert_eq!(memory.count(b"a"), 0);
    }
}
