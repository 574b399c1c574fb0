//! From a rollout's records to what they say.

mod alone;
mod happened;
mod item;
mod known;
mod message;
mod own;
mod pen;
mod pieces;
mod thread;
mod tools;
mod twins;
mod usage;

use crate::injected;
use crate::names::{self, Name};
use crate::wire::{self, Compacted, Happened, Head, Item, Line, Meta, Trigger, TurnContext, UsageRecord};
use known::{Known, VERSION, digest};
use pen::Pen;
use scrollback_core::{
    Body, Decoder, Env, Events, Facts, InjectedBy, Memory, Quiet, Record, Source, State, StateError,
    Timestamp, Unreadable, Whose,
};
use serde::Deserialize;
use serde::de::IgnoredAny;
use std::borrow::Cow;
use std::path::{Path, PathBuf};

/// The kinds of item that the oldest clients wrote without an envelope.
const BARE_ITEMS: [&str; 10] = [
    "message",
    "reasoning",
    "function_call",
    "function_call_output",
    "custom_tool_call",
    "custom_tool_call_output",
    "local_shell_call",
    "web_search_call",
    "ghost_snapshot",
    "other",
];

/// Decodes one rollout.
pub(crate) struct Rollout {
    known: Known,
    name: Option<Name>,
    stem: String,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Imports {
    records: Vec<Import>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Import {
    imported_thread_id: Option<String>,
}

impl Rollout {
    /// Goes on from `state`.
    pub(crate) fn open(source: &Source<'_>, env: &dyn Env, state: &State) -> Result<Self, StateError> {
        let mut known: Known = state.load(VERSION)?;
        let stem = source.stem();
        let name = names::name(&stem);
        if state.version == 0
            && let Some(name) = &name
        {
            known.importing = is_import(env, &name.thread);
        }
        Ok(Self { known, name, stem })
    }

    /// Reads a line in an envelope whose kind should be `kind`; says whether it was.
    fn enveloped<'r>(
        &mut self,
        kind: &str,
        record: Record<'r>,
        memory: &mut dyn Memory,
        events: &mut Events<'r>,
    ) -> Result<bool, Unreadable> {
        let mut pen = pen(&mut self.known, record, memory, events);
        match kind {
            "session_meta" => {
                let Some((line, meta)) = read::<Meta<'r>>(&record, kind)? else { return Ok(false) };
                let ordinal = line.ordinal.count();
                pen.at = line.timestamp.get().and_then(|text| text.parse().ok());
                thread::session_meta(&mut pen, meta, self.name.as_ref(), ordinal)?;
                return Ok(true);
            }
            "response_item" => {
                let Some((line, payload)) = read::<Box<Item<'r>>>(&record, kind)? else { return Ok(false) };
                begin(&mut pen, &line, self.name.as_ref(), &self.stem);
                if !pen.known.internal {
                    twins::flush(&mut pen, |held| held.tag == twins::Tag::Summary);
                    item::item(&mut pen, *payload, item::notes(line.metadata.0), true);
                }
            }
            "event_msg" => {
                let Some((line, payload)) = read::<Box<Happened<'r>>>(&record, kind)? else {
                    return Ok(false);
                };
                begin(&mut pen, &line, self.name.as_ref(), &self.stem);
                if !pen.known.internal {
                    happened::event_msg(&mut pen, *payload);
                }
            }
            "turn_context" => {
                let Some((line, context)) = read::<TurnContext<'r>>(&record, kind)? else { return Ok(false) };
                begin(&mut pen, &line, self.name.as_ref(), &self.stem);
                if !pen.known.internal {
                    thread::turn(&mut pen, context.turn_id.get());
                    happened::import(&mut pen, context.turn_id.get());
                    if !thread::model(&mut pen, context.model) {
                        pen.nothing("turn_context");
                    }
                }
            }
            "compacted" => {
                let Some((line, payload)) = read::<Compacted<'r>>(&record, kind)? else { return Ok(false) };
                begin(&mut pen, &line, self.name.as_ref(), &self.stem);
                if !pen.known.internal {
                    compacted(&mut pen, payload);
                }
            }
            "token_usage_record" => {
                let Some((line, payload)) = read::<UsageRecord<'r>>(&record, kind)? else { return Ok(false) };
                begin(&mut pen, &line, self.name.as_ref(), &self.stem);
                if !pen.known.internal {
                    usage::record(&mut pen, payload);
                }
            }
            "inter_agent_communication_metadata" => {
                let Some((line, payload)) = read::<Trigger>(&record, kind)? else { return Ok(false) };
                begin(&mut pen, &line, self.name.as_ref(), &self.stem);
                pen.known.triggers = payload.trigger_turn.is_set();
                pen.nothing("inter_agent_communication_metadata");
            }
            _ => {
                let Some((line, _)) = read::<IgnoredAny>(&record, kind)? else { return Ok(false) };
                begin(&mut pen, &line, self.name.as_ref(), &self.stem);
                other(&mut pen, kind);
            }
        }
        if pen.known.internal && pen.events.is_silent() {
            pen.nothing("internal session");
        }
        Ok(true)
    }

    /// Reads a line without an envelope: the oldest clients' lines, and whatever else there is.
    fn bare<'r>(
        &mut self,
        head: Head<'r>,
        record: Record<'r>,
        memory: &mut dyn Memory,
        events: &mut Events<'r>,
    ) -> Result<(), Unreadable> {
        let mut pen = pen(&mut self.known, record, memory, events);
        if head.record_type.is("state") {
            pen.nothing("state");
            return Ok(());
        }
        let begins = head.kind.get().is_none() && head.instructions.0 && head.role.get().is_none();
        if let Some(id) = head.id.get().filter(|_| begins && pen.known.levels.is_empty()) {
            if id.len() > known::SHORT {
                return Err(Unreadable::new(format!("a thread id of {} bytes", id.len())));
            }
            bare_start(&mut pen, id.to_owned(), head);
            return Ok(());
        }
        match head.kind.get() {
            Some(kind) if BARE_ITEMS.contains(&kind) => {
                let payload: Item<'r> = wire::read(&record)?;
                thread::named(pen.known, self.name.as_ref(), &self.stem);
                thread::enter(&mut pen, &head.timestamp, None);
                if pen.at.is_none() {
                    pen.at = pen.known.bare_at.and_then(|at| Timestamp::from_micros(at).ok());
                }
                item::item(&mut pen, payload, item::notes(None), false);
            }
            Some(kind) => pen.unknown(format!("bare {kind}")),
            None => pen.unknown("bare line"),
        }
        Ok(())
    }
}

impl Decoder for Rollout {
    fn decode<'r>(
        &mut self,
        record: Record<'r>,
        memory: &mut dyn Memory,
        events: &mut Events<'r>,
    ) -> Result<(), Unreadable> {
        if record.bytes.trim_ascii_start().first() != Some(&b'{') {
            record.json::<IgnoredAny>()?;
            events.unknown("not an object", self.known.version());
            return Ok(());
        }
        if let Some(kind) = wire::hint(record.bytes).filter(|kind| is_enveloped(kind))
            && self.enveloped(kind, record, memory, events)?
        {
            return Ok(());
        }
        let head: Head<'r> = wire::read(&record)?;
        match head.kind.get() {
            Some(kind) if head.payload.0 => {
                if !self.enveloped(kind, record, memory, events)? {
                    events.unknown(format!("{kind} without a payload"), self.known.version());
                }
                Ok(())
            }
            _ => self.bare(head, record, memory, events),
        }
    }

    fn quiet(&mut self, why: Quiet, memory: &mut dyn Memory, events: &mut Events<'static>) {
        let record = Record::new(0, b"");
        let mut pen = pen(&mut self.known, record, memory, events);
        twins::flush(&mut pen, |held| why != Quiet::TurnEnded || held.tag == twins::Tag::Summary);
    }

    fn state(&self) -> State {
        State::save(VERSION, &self.known)
    }
}

fn pen<'p, 'r>(
    known: &'p mut Known,
    record: Record<'r>,
    memory: &'p mut dyn Memory,
    events: &'p mut Events<'r>,
) -> Pen<'p, 'r> {
    let (origin, copied) = (known.origin_now(), known.copies());
    Pen {
        known,
        memory,
        events,
        bytes: record.bytes,
        record: record.index,
        at: None,
        written: None,
        origin,
        copied,
        lone: false,
        parts: 0,
    }
}

fn is_enveloped(kind: &str) -> bool {
    matches!(
        kind,
        "session_meta"
            | "response_item"
            | "event_msg"
            | "turn_context"
            | "compacted"
            | "token_usage_record"
            | "world_state"
            | "inter_agent_communication_metadata"
    )
}

/// Reads a line and its payload; `None` if it is of another kind, or has no payload.
fn read<'r, P: Deserialize<'r>>(
    record: &Record<'r>,
    kind: &str,
) -> Result<Option<(Line<'r, IgnoredAny>, P)>, Unreadable> {
    let mut line: Line<'r, P> = wire::read(record)?;
    let payload = line.payload.take();
    let line = Line {
        timestamp: line.timestamp,
        ordinal: line.ordinal,
        kind: line.kind,
        payload: None,
        metadata: line.metadata,
    };
    Ok(payload.filter(|_| line.kind.is(kind)).map(|payload| (line, payload)))
}

fn begin(pen: &mut Pen<'_, '_>, line: &Line<'_, IgnoredAny>, name: Option<&Name>, stem: &str) {
    thread::named(pen.known, name, stem);
    thread::enter(pen, &line.timestamp, line.ordinal.count());
}

fn other(pen: &mut Pen<'_, '_>, kind: &str) {
    const KNOWN: [&str; 5] =
        ["world_state", "retained_context", "security_risk_score", "dynamic_tools_updated", "realtime_item"];
    match KNOWN.iter().find(|known| **known == kind) {
        Some(known) => pen.nothing(known),
        None => pen.unknown(kind.to_owned()),
    }
}

fn bare_start<'r>(pen: &mut Pen<'_, 'r>, id: String, head: Head<'r>) {
    let at: Option<Timestamp> = head.timestamp.get().and_then(|text| text.parse().ok());
    pen.known.bare_at = at.map(Timestamp::micros);
    let ms = at.map_or(i64::MAX, |at| at.micros() / 1000);
    pen.known.levels.push(known::Level { id: id.clone(), at: ms, ..known::Level::default() });
    let facts =
        Facts { started_at: at, branch: head.git.0.and_then(|git| git.branch.take()), ..Facts::default() };
    pen.events.facts(Whose::Session(Cow::Owned(id)), facts);
}

/// Reads a compaction. The summary is told here and nowhere else, but where the client showed it as a message of
/// the assistant's before: then that is it.
fn compacted<'r>(pen: &mut Pen<'_, 'r>, payload: Compacted<'r>) {
    let message = payload.message.map(scrollback_core::Text::into_inner).unwrap_or_default();
    let held = twins::summary_told(pen, &message);
    twins::flush(pen, |held| held.tag == twins::Tag::Summary);
    let id = pen.compaction_event(payload.window_id.get(), &message);
    let summary = match message {
        Cow::Borrowed(message) => Cow::Borrowed(injected::summary(message)),
        Cow::Owned(message) => Cow::Owned(injected::summary(&message).to_owned()),
    };
    if summary.trim().is_empty() || pen.known.importing {
        return pen.nothing("compaction without a summary");
    }
    let told = !held
        && pen.known.last_text.take().is_some_and(|(length, of)| {
            let start = summary.len().checked_sub(length).filter(|_| length > 0);
            start.and_then(|start| summary.get(start..)).is_some_and(|end| digest(end) == of)
        });
    if told {
        return pen.nothing("compaction told as a message");
    }
    let event = pen.event(id, Body::injected(InjectedBy::Compaction, summary));
    pen.put(event);
}

/// Says whether the client's ledger has the thread as another client's conversation.
fn is_import(env: &dyn Env, thread: &str) -> bool {
    let root = env.var("CODEX_HOME").map(PathBuf::from).or_else(|| Some(env.home()?.join(".codex")));
    let Some(root) = root else { return false };
    let Ok(bytes) = env.read(&root.join(Path::new("external_agent_session_imports.json"))) else {
        return false;
    };
    let imports: Imports = serde_json::from_slice(&bytes).unwrap_or_default();
    imports.records.iter().any(|import| import.imported_thread_id.as_deref() == Some(thread))
}
