//! One row of a transcript to what it says.

use crate::facts::confirmed;
use crate::line::{leading_type, read, skipped, trimmed, whole_tail};
use crate::said::Put;
use crate::session::{RowId, Saved, Sidecar, Thread, inline_agent, key};
use crate::wire::{Content, Message, Named, Row, is_true};
use crate::{attachment, blocks, meta, user};
use scrollback_core::{
    Decoder, Env, Events, Facts, Memory, Origin, Quiet, Record, Source, State, StateError, Text, Timestamp,
    Unreadable, Whose, text_digest,
};
use serde::de::IgnoredAny;
use std::borrow::Cow;

/// Decodes one transcript.
pub(crate) struct Rows {
    stem: String,
    /// The agent's id, if the file is a sub-agent's.
    pub(crate) agent: Option<String>,
    pub(crate) sidecar: Option<Sidecar>,
    pub(crate) saved: Saved,
    /// Whether rows of progress were seen: what is said is the same, but such rows are then not decoded.
    progress: bool,
}

impl Rows {
    /// Goes on from a state.
    pub(crate) fn open(source: &Source<'_>, env: &dyn Env, state: &State) -> Result<Self, StateError> {
        let saved = state.load(Saved::VERSION)?;
        let stem = source.stem();
        let agent = stem.strip_prefix("agent-").map(str::to_owned);
        let sidecar = agent.as_ref().and_then(|_| Sidecar::of(source.path, &stem, env));
        Ok(Self { stem, agent, sidecar, saved, progress: false })
    }
}

impl Decoder for Rows {
    fn decode<'r>(
        &mut self,
        record: Record<'r>,
        memory: &mut dyn Memory,
        events: &mut Events<'r>,
    ) -> Result<(), Unreadable> {
        let bytes = trimmed(record.bytes);
        if let Some(kind) = skipped(bytes, self.progress) {
            events.nothing(kind);
            return Ok(());
        }
        match read(bytes) {
            Ok(mut row) if bytes.first() == Some(&b'{') => self.row(&mut row, bytes, memory, events),
            Ok(_) => events.unknown("not an object", self.version(None)),
            Err(error) => return self.odd(bytes, &error, memory, events),
        }
        Ok(())
    }

    fn quiet(&mut self, _why: Quiet, _memory: &mut dyn Memory, events: &mut Events<'static>) {
        let facts = confirmed(&mut self.saved.now);
        if facts != Facts::default() {
            events.facts(Whose::Session(Cow::Owned(self.saved.now.id.clone())), facts);
        }
    }

    fn state(&self) -> State {
        State::save(Saved::VERSION, &self.saved)
    }
}

impl Rows {
    /// Says of a line that is no row as we know them what it is instead.
    fn odd<'r>(
        &mut self,
        bytes: &'r [u8],
        error: &serde_json::Error,
        memory: &mut dyn Memory,
        events: &mut Events<'r>,
    ) -> Result<(), Unreadable> {
        if serde_json::from_slice::<IgnoredAny>(bytes).is_ok() {
            let kind = match leading_type(bytes) {
                _ if bytes.first() != Some(&b'{') => "not an object".to_owned(),
                Some(kind) => format!("{kind} of another shape"),
                None => "row of another shape".to_owned(),
            };
            events.unknown(kind, self.version(None));
            return Ok(());
        }
        // Several rows on a line are for the engine to take apart.
        let mut values = serde_json::Deserializer::from_slice(bytes).into_iter::<IgnoredAny>();
        if values.next().is_some_and(|first| first.is_ok()) {
            return Err(Unreadable::new(error.to_string()));
        }
        // After a crash the client goes on in the line it left unfinished.
        match whole_tail(bytes) {
            Some((mut row, tail)) => {
                events.unknown("torn row", self.version(row.version.as_ref()));
                self.row(&mut row, tail, memory, events);
                Ok(())
            }
            None => Err(Unreadable::new(error.to_string())),
        }
    }

    fn row<'r>(
        &mut self,
        row: &mut Row<'r>,
        bytes: &'r [u8],
        memory: &mut dyn Memory,
        events: &mut Events<'r>,
    ) {
        let Some(kind) = row.kind.take() else {
            return events.unknown("no type", self.version(row.version.as_ref()));
        };
        match &*kind {
            "user" | "assistant" | "system" | "attachment" => {
                self.conversation(&kind, row, bytes, memory, events);
            }
            kind => {
                self.progress |= kind == "progress";
                let agent = self.agent.as_ref().map(|agent| Cow::Owned(agent.clone()));
                let thread = Thread::new(self.top(row), agent);
                let version = self.version(row.version.as_ref());
                meta::meta(kind, row, &thread, version, events);
            }
        }
    }

    /// Returns the client's version: the row's, else the last one seen.
    fn version<'r>(&self, row: Option<&Text<'r>>) -> Option<Cow<'r, str>> {
        let held = || Cow::Owned(self.saved.now.version.clone());
        Some(row.map_or_else(held, |version| version.0.clone())).filter(|version| !version.is_empty())
    }

    /// Returns the session a person started that a row stands in.
    fn top<'r>(&self, row: &Row<'r>) -> Cow<'r, str> {
        let Some(session) = row.session_id.as_ref().filter(|session| !session.is_empty()) else {
            let held = self.saved.now.id.split('/').next().filter(|held| !held.is_empty());
            return Cow::Owned(held.unwrap_or(&self.stem).to_owned());
        };
        match session.find('#') {
            Some(end) => crate::injected::slice(&session.0, 0, end),
            None => session.0.clone(),
        }
    }

    fn thread<'r>(&self, row: &Row<'r>, memory: &mut dyn Memory) -> Thread<'r> {
        let agent = match &self.agent {
            Some(agent) => match &row.agent_id {
                Some(named) if **named == **agent => Some(named.0.clone()),
                _ => Some(Cow::Owned(agent.clone())),
            },
            None if is_true(row.is_sidechain) => inline_agent(row, memory),
            None => None,
        };
        Thread::new(self.top(row), agent)
    }

    fn conversation<'r>(
        &mut self,
        kind: &str,
        row: &mut Row<'r>,
        bytes: &'r [u8],
        memory: &mut dyn Memory,
        events: &mut Events<'r>,
    ) {
        let thread = self.thread(row, memory);
        self.saved.turn_to(&thread.session, memory);
        let message = row.message.take();
        if self.is_warm_up(&thread, kind, message.as_ref()) {
            return events.nothing("warm-up");
        }
        let at = row.timestamp.as_deref().and_then(|at| at.parse::<Timestamp>().ok());
        let origin = origin(row, &thread);
        let facts = self.facts(row, kind, &thread, at, &origin, message.as_ref());
        if facts != Facts::default() {
            events.facts(Whose::Session(thread.session.clone()), facts);
        }
        let agent = row.agent_name.as_ref().map(|name| name.0.clone());
        let agent = self.saved.now.agent.clone().map(Cow::Owned).or(agent).filter(|name| !name.is_empty());
        let mut put = Put {
            id: id(row, kind, &thread, message.as_ref(), bytes, memory),
            at,
            origin,
            agent,
            version: self.version(row.version.as_ref()),
            saved: &mut self.saved,
            memory,
            events,
            thread,
            first: None,
        };
        match (kind, message) {
            ("system", _) => meta::system(&mut put, row),
            ("attachment", _) => match row.attachment.take() {
                Some(attached) => attachment::attachment(&mut put, row, &attached),
                None => put.unknown("attachment without attachment".to_owned()),
            },
            ("user", Some(message)) => user::user(&mut put, row, message),
            ("assistant", Some(message)) => blocks::assistant(&mut put, row, message),
            (kind, _) => put.unknown(format!("{kind} without message")),
        }
        if events.is_silent() {
            events.nothing("blank");
        }
    }

    /// Says whether a sub-agent's session is a warm-up: its task is that word.
    fn is_warm_up(&mut self, thread: &Thread<'_>, kind: &str, message: Option<&Message<'_>>) -> bool {
        let now = &mut self.saved.now;
        if thread.agent.is_some() && kind == "user" && !now.opened && !now.linked {
            now.skipped = first_text(message).is_some_and(|text| text.trim() == "Warmup");
        }
        now.skipped
    }
}

/// Returns whose a row is: a copy names the session it was forked from, or the one that made the request.
fn origin<'r>(row: &Row<'r>, thread: &Thread<'r>) -> Origin<'r> {
    if thread.agent.is_some() {
        return Origin::Own;
    }
    let forked = row.forked_from.and_then(|_| Named::of(row.forked_from).session_id);
    let from = forked
        .or_else(|| row.request_session_id.clone())
        .filter(|from| !from.is_empty() && **from != *thread.top);
    from.map_or(Origin::Own, |from| Origin::Copied { from: Some(from.0) })
}

/// Returns the identity of a row: its uuid, else one made of what it says.
fn id<'r>(
    row: &Row<'r>,
    kind: &str,
    thread: &Thread<'r>,
    message: Option<&Message<'r>>,
    bytes: &'r [u8],
    memory: &mut dyn Memory,
) -> RowId<'r> {
    if let Some(uuid) = row.uuid.as_ref().filter(|uuid| !uuid.is_empty()) {
        return RowId::Own(uuid.clone());
    }
    let digest = match message {
        Some(message) => text_digest(&everything(message)),
        None => text_digest(&String::from_utf8_lossy(bytes)),
    };
    let n = memory.count(&key(b'n', &format!("{}\u{1f}{kind}\u{1f}{digest}", thread.session)));
    RowId::Made([thread.session.to_string(), kind.to_owned(), digest, n.to_string()])
}

/// Returns the words and names of a message, to tell it from others.
fn everything(message: &Message<'_>) -> String {
    match &message.content {
        Some(Content::Text(text)) => text.to_string(),
        Some(Content::Blocks(blocks)) => {
            let words = blocks.iter().flat_map(|block| {
                [&block.text, &block.thinking, &block.id, &block.tool_use_id]
                    .into_iter()
                    .filter_map(Option::as_deref)
            });
            words.collect::<Vec<_>>().join("\n")
        }
        Some(Content::Raw(_)) | None => String::new(),
    }
}

/// Returns the first text of a message.
pub(crate) fn first_text<'m>(message: Option<&'m Message<'_>>) -> Option<&'m str> {
    match message?.content.as_ref()? {
        Content::Text(text) => Some(text),
        Content::Blocks(blocks) => blocks.iter().find_map(|block| block.text.as_deref()),
        Content::Raw(_) => None,
    }
}
