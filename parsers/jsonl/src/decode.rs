//! Records to events, by a map.

mod record;

pub(crate) use record::speaks;

use crate::map::FieldMap;
use crate::node::Node;
use crate::piece::{Part, Piece};
use crate::session::{BY_PATH, Home, Known, Place, Says, is_marked};
use crate::time;
use record::{Kind, Told, Who};
use scrollback_core::{
    Body, Decoder, Env, Event, EventId, Events, InjectedBy, Memory, Order, ParserSpec, Quiet, Record, Role,
    Source, State, StateError, Timestamp, Unreadable, Whose, text_digest,
};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// The version of the state.
const VERSION: u32 = 1;

/// Decodes the lines of one source.
pub(crate) struct Lines<'m> {
    map: &'m FieldMap,
    client: String,
    place: Place,
    known: Known,
}

/// A record of which the session is known, or that waits for it.
#[derive(Debug, Serialize, Deserialize)]
struct Row {
    index: u64,
    who: Who,
    id: Option<String>,
    /// The digest of what it says, and of the time it gives, where that is a part of its id.
    digest: Option<String>,
    told: Told,
    /// The words of instructions that wait: the part and the text.
    words: Vec<(String, String)>,
}

impl<'m> Lines<'m> {
    pub(crate) fn open(
        map: &'m FieldMap,
        spec: &ParserSpec,
        source: &Source<'_>,
        env: &dyn Env,
        state: &State,
    ) -> Result<Self, StateError> {
        let client = source.client.unwrap_or(&spec.client).to_owned();
        Ok(Self { map, client, place: Place::of(source, env), known: state.load(VERSION)? })
    }

    fn object(
        &mut self,
        index: u64,
        text: &str,
        node: &Node<'_>,
        memory: &mut dyn Memory,
        events: &mut Events<'_>,
    ) {
        let map = self.map;
        let kind = record::kind(map, node);
        let opens = kind == Kind::Session;
        let (who, parts) = match &kind {
            Kind::Of(who) => (*who, record::parts(map, node, *who)),
            Kind::Session | Kind::Nothing(_) | Kind::Unknown(_) => (Who::Instructions, Vec::new()),
        };
        let id = map.record.id.word(node);
        let session = if opens { map.session.id.word(node) } else { None };
        let says = Says {
            session: session.or_else(|| map.record.session.word(node)),
            marked: is_marked(map, node, id.as_deref()),
            speaks: parts.iter().any(|(_, piece)| piece.speaks_as(who)),
            text,
        };
        let home = self.known.home(&self.place, says);
        if let Home::ByPath(_) = home {
            events.remark(BY_PATH);
        }
        if let Home::Session(session) | Home::ByPath(session) = &home {
            self.release(session, memory, events);
        }
        let before = events.said().len();
        let version = map.record.version.word(node);
        match kind {
            Kind::Nothing(kind) => return events.nothing(kind),
            Kind::Unknown(kind) => return events.unknown(kind, version.map(Into::into)),
            Kind::Session | Kind::Of(_) => {}
        }
        // By the built-in map an id is a guess: the blocks of one answer, and counters that begin again, share theirs.
        let digest = (id.is_none() || map.is_built_in()).then(|| {
            let stamp = if id.is_none() { map.record.time.word(node) } else { None };
            let said = record::text(&parts);
            stamp.map_or_else(|| text_digest(&said), |stamp| text_digest(&format!("{stamp}\u{1f}{said}")))
        });
        let row = Row { index, who, id, digest, told: record::told(map, node, opens), words: Vec::new() };
        match home {
            Home::Session(session) | Home::ByPath(session) => {
                let at = map.record.time.all(node).find_map(time::moment);
                self.facts(&session, &row.told, events);
                self.say(&session, &row, Seen { at, place: None }, parts, memory, events);
            }
            Home::Open => self.wait(row, parts, memory, events),
        }
        if events.said().len() == before && !opens && !map.record.content.all(node).any(|_| true) {
            // Somebody speaks, and what there is of it stands where the map does not look.
            events.unknown(format!("{}: no words", who.name()), version.map(Into::into));
        } else if events.said().len() == before {
            events.nothing(if opens { "nothing new of the session" } else { "a record without words" });
        }
    }

    /// Says what is new of a session's facts.
    fn facts(&mut self, session: &str, told: &Told, events: &mut Events<'_>) {
        if told.is_empty() {
            return;
        }
        let text = serde_json::to_string(&(session, told)).unwrap_or_default();
        let digest = text_digest(&text);
        let digest = digest.get(..16).unwrap_or_default();
        if self.known.facts != digest {
            digest.clone_into(&mut self.known.facts);
            events.facts(Whose::Session(session.to_owned().into()), told.facts());
        }
    }

    /// Says the pieces of a record.
    fn say(
        &self,
        session: &str,
        row: &Row,
        seen: Seen,
        parts: Vec<Part>,
        memory: &mut dyn Memory,
        events: &mut Events<'_>,
    ) {
        let who = row.who.name();
        let mut n = None;
        let mut told = 0;
        for (part, piece) in parts {
            if let Piece::Unknown(what) = piece {
                events.unknown(what, row.told.version.clone().map(Into::into));
                continue;
            }
            if !piece.speaks() {
                continue;
            }
            let digest = row.digest.as_deref().unwrap_or_default();
            let id = match (&row.id, &row.digest) {
                (Some(id), None) => EventId::of(&self.client, &[session, id, who, &part]),
                (Some(id), Some(_)) => EventId::of(&self.client, &[session, id, who, digest, &part]),
                (None, _) => {
                    let n = n.get_or_insert_with(|| {
                        memory.count(format!("{session}\u{1f}{who}\u{1f}{digest}").as_bytes()).to_string()
                    });
                    EventId::of(&self.client, &[session, who, digest, n, &part])
                }
            };
            let Some(body) = body(row.who, piece, id) else { continue };
            let mut event = Event::new(id, session.to_owned(), body).at(seen.at);
            event.record_id = row.id.clone().map(Into::into);
            event.order = Order { rank: 0, place: seen.place.map(|index| (index, told)) };
            if !matches!(row.who, Who::User | Who::Result) {
                event.model = row.told.model.clone().map(Into::into);
            }
            events.event(event);
            told += 1;
        }
    }

    /// Keeps a record until its session is known: the words of instructions, and facts. Anything else decides it.
    fn wait(&mut self, mut row: Row, parts: Vec<Part>, memory: &mut dyn Memory, events: &mut Events<'_>) {
        for (part, piece) in parts {
            match piece {
                Piece::Unknown(what) => events.unknown(what, row.told.version.clone().map(Into::into)),
                Piece::Words { text, .. } if !text.is_empty() => row.words.push((part, text)),
                _ => {}
            }
        }
        if row.words.is_empty() && row.told.is_empty() {
            return;
        }
        if let Ok(json) = serde_json::to_vec(&row) {
            memory.put(&key(self.known.held), Some(&json));
            self.known.held += 1;
            events.nothing("held back until the session is known");
        }
    }

    /// Says what was held back, each in its place.
    fn release(&mut self, session: &str, memory: &mut dyn Memory, events: &mut Events<'_>) {
        for n in 0..std::mem::take(&mut self.known.held) {
            let row = memory.get(&key(n)).and_then(|json| serde_json::from_slice::<Row>(&json).ok());
            memory.put(&key(n), None);
            let Some(mut row) = row else { continue };
            let words = std::mem::take(&mut row.words).into_iter();
            let parts =
                words.map(|(part, text)| (part, Piece::Words { text, attachments: Vec::new() })).collect();
            self.facts(session, &row.told, events);
            self.say(session, &row, Seen { at: None, place: Some(row.index) }, parts, memory, events);
        }
    }
}

/// When and where a record stands.
#[derive(Clone, Copy)]
struct Seen {
    at: Option<Timestamp>,
    /// Its index, if it is said later than it was read.
    place: Option<u64>,
}

fn key(n: u64) -> [u8; 12] {
    let mut key = *b"held\0\0\0\0\0\0\0\0";
    let (_, number) = key.split_at_mut(4);
    number.copy_from_slice(&n.to_be_bytes());
    key
}

/// Returns what a piece says. A call and a result without an id are named by their event's.
fn body(who: Who, piece: Piece, id: EventId) -> Option<Body<'static>> {
    let name = |given: Option<String>| given.unwrap_or_else(|| id.to_string());
    Some(match piece {
        Piece::Words { text, .. } if who == Who::Instructions => {
            Body::injected(InjectedBy::Instructions, text)
        }
        Piece::Words { text, attachments } => {
            let role = if who == Who::User { Role::User } else { Role::Assistant };
            Body::Message { role, text: text.into(), attachments }
        }
        Piece::Thinking(text) => Body::thinking(text),
        Piece::Call { id: call, tool, input } => Body::call(name(call), tool, input),
        Piece::Result(output) => Body::ToolResult {
            call_id: name(output.call).into(),
            tool: output.tool.map(Into::into),
            output: output.text.into(),
            error: output.error,
            exit_status: output.exit_status,
            attachments: output.attachments,
        },
        Piece::Nothing | Piece::Unknown(_) => return None,
    })
}

impl Decoder for Lines<'_> {
    fn decode<'r>(
        &mut self,
        record: Record<'r>,
        memory: &mut dyn Memory,
        events: &mut Events<'r>,
    ) -> Result<(), Unreadable> {
        let text = std::str::from_utf8(record.bytes)
            .map_or_else(|_| String::from_utf8_lossy(record.bytes), Cow::Borrowed);
        let node = Node::read(&text).map_err(|error| Unreadable::new(error.to_string()))?;
        if node.is_object() {
            self.object(record.index, text.trim(), &node, memory, events);
        } else {
            events.unknown("a line that is no object", None);
        }
        Ok(())
    }

    fn quiet(&mut self, why: Quiet, memory: &mut dyn Memory, events: &mut Events<'static>) {
        // While the source may go on, what comes may still say which session this is. Nothing waits under a label.
        if why == Quiet::SessionEnded && self.known.held > 0 {
            events.remark(BY_PATH);
            let session = self.known.name_by_path(&self.place);
            self.release(&session, memory, events);
        }
    }

    fn state(&self) -> State {
        State::save(VERSION, &self.known)
    }
}
