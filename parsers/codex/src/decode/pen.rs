//! Writes down what one record says.

use super::known::Known;
use crate::names;
use scrollback_core::{Body, Event, EventId, Events, Memory, Order, Origin, Timestamp, text_digest};
use std::borrow::Cow;
use std::sync::Arc;

/// The client part of every id.
pub(super) const CLIENT: &str = "codex";

/// Says the things of one record, knowing where it stands and whose it is.
pub(super) struct Pen<'p, 'r> {
    pub(super) known: &'p mut Known,
    pub(super) memory: &'p mut dyn Memory,
    pub(super) events: &'p mut Events<'r>,
    /// The record, to be held back if need be.
    pub(super) bytes: &'r [u8],
    /// Its index.
    pub(super) record: u64,
    /// When it happened, if known.
    pub(super) at: Option<Timestamp>,
    /// When the record was written, if it says.
    pub(super) written: Option<Timestamp>,
    /// The thread that first wrote it.
    pub(super) origin: Arc<str>,
    /// Whether that is another than the file's.
    pub(super) copied: bool,
    /// The record was held back and its twin never came: events go to its own place.
    pub(super) lone: bool,
    pub(super) parts: u32,
}

impl<'r> Pen<'_, 'r> {
    /// Returns an event of this record, in its place.
    pub(super) fn event(&mut self, id: EventId, body: Body<'r>) -> Event<'r> {
        let mut event = Event::new(id, self.known.thread().to_owned(), body).at(self.at);
        event.order.rank = self.known.rank;
        if self.lone {
            event.order = Order { rank: self.known.rank, place: Some((self.record, self.parts)) };
            self.parts += 1;
        }
        if self.copied {
            event.origin = Origin::Copied { from: Some(self.origin.to_string().into()) };
        }
        event
    }

    /// Puts an event.
    pub(super) fn put(&mut self, event: Event<'r>) {
        self.events.event(event);
    }

    /// Returns the model at work.
    pub(super) fn model(&self) -> Option<Cow<'r, str>> {
        self.known.model.clone().map(Cow::Owned)
    }

    /// Says that the record carries nothing.
    pub(super) fn nothing(&mut self, kind: &'static str) {
        self.events.nothing(kind);
    }

    /// Says that the record is of a kind never seen.
    pub(super) fn unknown(&mut self, kind: impl Into<Cow<'r, str>>) {
        let version = self.known.version();
        self.events.unknown(kind, version);
    }

    /// Returns how many records of the origin's history had the same `parts` before, as a part of an id. An id
    /// that is surely `unique` is not counted.
    fn nth(&mut self, parts: &[&str], unique: bool) -> String {
        if unique {
            return "0".to_owned();
        }
        let key = memory_key("n", parts);
        let n = self.memory.count(key.as_bytes());
        // A later file of a thread cannot know what its earlier ones counted.
        if self.known.rank > 0 && !self.copied { format!("{}.{n}", self.known.rank) } else { n.to_string() }
    }

    /// Says whether an item's id is the record's own: not made up by a migration, not given anew to a copy.
    pub(super) fn is_own_id(&self, id: &str) -> bool {
        if names::is_made_up(id) {
            return false;
        }
        if !self.copied {
            return true;
        }
        let levels = &self.known.levels;
        let copy = levels.len().checked_sub(2).and_then(|copy| levels.get(copy));
        match (copy, names::uuid7_ms(id)) {
            (Some(copy), Some(ms)) => ms < copy.at,
            _ => true,
        }
    }

    /// Returns the key of an item with that id, or else of that kind, role and text.
    pub(super) fn item_key(&mut self, id: Option<&str>, kind: &str, role: &str, text: &str) -> Key {
        let origin = Arc::clone(&self.origin);
        if let Some(id) = id.filter(|id| self.is_own_id(id)) {
            let n = self.nth(&[&origin, id], names::is_unique(id));
            return Key(vec![origin.to_string(), id.to_owned(), n]);
        }
        let digest = text_digest(text);
        let n = self.nth(&[&origin, kind, role, &digest], false);
        Key(vec![origin.to_string(), kind.to_owned(), role.to_owned(), digest, n])
    }

    /// Returns the id of a call or a result: of the item with that id, else of the call's id.
    pub(super) fn call_event(&mut self, id: Option<&str>, call_id: &str, which: &str) -> EventId {
        let origin = Arc::clone(&self.origin);
        if let Some(id) = id.filter(|id| self.is_own_id(id)) {
            let n = self.nth(&[&origin, id], names::is_unique(id));
            return EventId::of(CLIENT, &[&origin, id, &n, "0"]);
        }
        self.nested_event(call_id, which, "")
    }

    /// Returns the id of a call or a result that has no item: of the id the client gave, else of the text.
    pub(super) fn nested_event(&mut self, id: &str, which: &str, text: &str) -> EventId {
        let origin = Arc::clone(&self.origin);
        if names::is_made_up(id) {
            return self.item_key(None, "tool", which, text).part("0");
        }
        let n = self.nth(&[&origin, id, which], names::is_unique(id));
        EventId::of(CLIENT, &[&origin, id, which, &n])
    }

    /// Returns the id of a compaction.
    pub(super) fn compaction_event(&mut self, window_id: Option<&str>, message: &str) -> EventId {
        let origin = Arc::clone(&self.origin);
        let what = window_id.map_or_else(|| text_digest(message), str::to_owned);
        let n = self.nth(&[&origin, &what], names::is_unique(&what) && window_id.is_some());
        EventId::of(CLIENT, &[&origin, &what, &n])
    }

    /// Returns the id of a notice in a turn.
    pub(super) fn notice_event(&mut self, turn: &str) -> EventId {
        let origin = Arc::clone(&self.origin);
        let turn = if names::is_made_up(turn) { "" } else { turn };
        let n = self.nth(&[&origin, turn, "notice"], false);
        EventId::of(CLIENT, &[&origin, turn, "notice", &n])
    }
}

/// The parts of an id that a record's events share.
pub(super) struct Key(Vec<String>);

impl Key {
    /// Returns the id of one part of the record.
    pub(super) fn part(&self, part: &str) -> EventId {
        let mut parts: Vec<&str> = self.0.iter().map(String::as_str).collect();
        parts.push(part);
        EventId::of(CLIENT, &parts)
    }
}

/// Returns a key of the memory.
pub(super) fn memory_key(space: &str, parts: &[&str]) -> String {
    let mut key = space.to_owned();
    for part in parts {
        key.push('\u{1f}');
        key.push_str(part);
    }
    key
}
