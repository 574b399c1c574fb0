//! The parser with a memory of `docs/adding-a-parser.md`, for a client called Relay that does not exist.

use scrollback_core::{
    Body, By, Decoder, Env, Event, EventId, Events, Facts, Homes, InjectedBy, Lineage, Memory, Order, Origin,
    Parser, ParserSpec, Probe, Quiet, Record, Role, Score, Shape, Source, State, StateError, Text, Turn,
    Unreadable, Usage, Whose, Withdraw, text_digest,
};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use std::borrow::Cow;

/// A line as Relay writes it.
#[derive(Deserialize)]
struct Line<'r> {
    #[serde(borrow, rename = "type")]
    kind: Cow<'r, str>,
    /// On a copied line: the thread it was first written in.
    #[serde(borrow)]
    of: Option<Cow<'r, str>>,
    #[serde(borrow)]
    at: Option<Cow<'r, str>>,
    #[serde(borrow, default)]
    text: Text<'r>,
    #[serde(borrow, default)]
    id: Cow<'r, str>,
    #[serde(borrow)]
    fork_of: Option<Cow<'r, str>>,
    #[serde(borrow)]
    parent: Option<Cow<'r, str>>,
    #[serde(borrow)]
    launched_by: Option<Cow<'r, str>>,
    #[serde(borrow)]
    version: Option<Cow<'r, str>>,
    #[serde(borrow)]
    cwd: Option<Cow<'r, str>>,
    #[serde(borrow)]
    model: Option<Cow<'r, str>>,
    #[serde(borrow, default)]
    tool: Cow<'r, str>,
    #[serde(borrow)]
    input: Option<&'r RawValue>,
    read: Option<u64>,
    wrote: Option<u64>,
    #[serde(default)]
    turns: u32,
}

/// What the lines that follow need of those before: a few fields, whatever the length of the transcript.
#[derive(Default, Serialize, Deserialize)]
#[serde(default)]
struct Known {
    session: String,
    version: Option<String>,
    model: Option<String>,
    subagent: bool,
}

/// An answer that is still being written.
#[derive(Serialize, Deserialize)]
struct Answer {
    thread: String,
    n: u64,
    record: u64,
    text: String,
}

struct RelayDecoder {
    known: Known,
}

impl Decoder for RelayDecoder {
    fn decode<'r>(
        &mut self,
        record: Record<'r>,
        memory: &mut dyn Memory,
        events: &mut Events<'r>,
    ) -> Result<(), Unreadable> {
        let line: Line<'r> = record.json()?;
        if line.kind != "thread" && self.known.session.is_empty() {
            return Err(Unreadable::new("a line before the one that names the thread"));
        }
        match &*line.kind {
            "thread" => self.thread(line, events),
            "user" => self.user(&line, memory, events),
            "piece" => self.piece(record.index, &line, memory, events),
            "end" => {
                self.answer(true, memory, events);
                events.nothing("end");
            }
            "call" => self.call(&line, events),
            "tokens" => self.tokens(line, events),
            "undo" => self.undo(&line, events),
            _ => events.unknown(line.kind, self.known.version.clone().map(Cow::Owned)),
        }
        Ok(())
    }

    fn quiet(&mut self, _why: Quiet, memory: &mut dyn Memory, events: &mut Events<'static>) {
        self.answer(false, memory, events);
    }

    fn state(&self) -> State {
        State::save(VERSION, &self.known)
    }
}

impl RelayDecoder {
    /// The first line of a file: what is known of the session.
    fn thread<'r>(&mut self, line: Line<'r>, events: &mut Events<'r>) {
        let session = match &line.parent {
            // A sub-agent's id is unique in its parent only.
            Some(parent) => format!("{parent}/{}", line.id),
            None => line.id.clone().into_owned(),
        };
        let lineage = match (&line.parent, &line.fork_of) {
            (Some(_), _) => Some(Lineage::Subagent),
            (None, Some(_)) => Some(Lineage::Fork),
            (None, None) => None,
        };
        self.known = Known {
            session: session.clone(),
            version: line.version.as_deref().map(str::to_owned),
            model: line.model.as_deref().map(str::to_owned),
            subagent: line.parent.is_some(),
        };
        let facts = Facts {
            parent_session: line.parent.clone().or(line.fork_of),
            lineage,
            launched_by: line.launched_by,
            agent: line.parent.is_some().then_some(line.id),
            cwd: line.cwd,
            model: line.model,
            client_version: line.version,
            started_at: line.at.and_then(|at| at.parse().ok()),
            ..Facts::default()
        };
        events.facts(Whose::Session(session.into()), facts);
    }

    /// What a person typed, and what the client put in front of it.
    fn user<'r>(&self, line: &Line<'r>, memory: &mut dyn Memory, events: &mut Events<'r>) {
        let thread = line.of.as_deref().unwrap_or(&self.known.session);
        let digest = text_digest(&line.text);
        // Relay gives its lines no id: the same words a second time are told apart by their count.
        let n = memory.count([thread, "user", &digest].join("\u{1f}").as_bytes()).to_string();
        let id = |part| EventId::of("relay", &[thread, "user", &digest, &n, part]);
        let (reminder, typed) =
            match line.text.strip_prefix("<reminder>").and_then(|t| t.split_once("</reminder>")) {
                Some((reminder, typed)) => (Some(reminder.to_owned()), typed.trim_start().to_owned()),
                None => (None, line.text.to_string()),
            };
        if let Some(reminder) = reminder {
            let body = Body::injected(InjectedBy::Reminder, reminder);
            events.event(self.event(id("0.0"), body, line));
        }
        let mut said = self.event(id("0"), Body::message(Role::User, typed), line);
        if self.known.subagent {
            // Its task comes from the agent that launched it, and opens its first turn.
            said = said.by(By::Agent(None)).turn(Turn::Opens);
        }
        events.event(said);
    }

    /// A piece of an answer: kept until the answer ends.
    fn piece(&self, record: u64, line: &Line<'_>, memory: &mut dyn Memory, events: &mut Events<'_>) {
        let mut answer = held(memory).unwrap_or_else(|| {
            let thread = line.of.as_deref().unwrap_or(&self.known.session).to_owned();
            let n = memory.count(format!("answers\u{1f}{thread}").as_bytes());
            Answer { thread, n, record, text: String::new() }
        });
        answer.text.push_str(&line.text);
        memory.put(b"answer", serde_json::to_vec(&answer).ok().as_deref());
        events.nothing("piece");
    }

    /// Says the answer that was held back: for good when it ended, as it stands when nothing more comes for now.
    fn answer(&self, ended: bool, memory: &mut dyn Memory, events: &mut Events<'_>) {
        let Some(answer) = held(memory) else { return };
        let id = EventId::of("relay", &[&answer.thread, "answer", &answer.n.to_string(), "0"]);
        let body = Body::message(Role::Assistant, answer.text);
        let mut event = Event::new(id, self.known.session.clone(), body)
            .origin(self.origin(Some(answer.thread.into())))
            .model(self.known.model.clone().map(Cow::Owned));
        event.order = Order { rank: 0, place: Some((answer.record, 0)) };
        event.settled = ended;
        events.event(event);
        if ended {
            memory.put(b"answer", None);
        }
    }

    fn call<'r>(&self, line: &Line<'r>, events: &mut Events<'r>) {
        let thread = line.of.as_deref().unwrap_or(&self.known.session);
        let id = EventId::of("relay", &[thread, &line.id, "call"]);
        let body = Body::call(line.id.clone(), line.tool.clone(), line.input.map_or("{}", RawValue::get));
        events.event(self.event(id, body, line));
    }

    fn tokens<'r>(&self, line: Line<'r>, events: &mut Events<'r>) {
        let usage = Usage { input: line.read, output: line.wrote, ..Usage::default() };
        let whose = Whose::Session(self.known.session.clone().into());
        let model = self.known.model.clone().map(Cow::Owned);
        events.usage(line.id, whose, model, line.at.and_then(|at| at.parse().ok()), usage);
    }

    fn undo(&self, line: &Line<'_>, events: &mut Events<'_>) {
        let session = self.known.session.clone().into();
        events.withdraw(Withdraw::LastTurns { session, n: line.turns });
    }

    /// Returns an event of this file's session, copied if the line says so.
    fn event<'r>(&self, id: EventId, body: Body<'r>, line: &Line<'r>) -> Event<'r> {
        let at = line.at.as_deref().and_then(|at| at.parse().ok());
        Event::new(id, self.known.session.clone(), body).at(at).origin(self.origin(line.of.clone()))
    }

    /// Returns where a line was first written.
    fn origin<'r>(&self, of: Option<Cow<'r, str>>) -> Origin<'r> {
        match of {
            Some(of) if of != self.known.session => Origin::Copied { from: Some(of) },
            _ => Origin::Own,
        }
    }
}

/// Returns the answer that is being written.
fn held(memory: &dyn Memory) -> Option<Answer> {
    serde_json::from_slice(&memory.get(b"answer")?).ok()
}

/// The version of [`Known`] as it is stored.
const VERSION: u32 = 1;

/// The parser of Relay's transcripts.
pub(crate) struct Relay;

/// What can be known of it without running it.
static SPEC: ParserSpec = ParserSpec::new("relay", "Relay", Shape::Lines);

impl Parser for Relay {
    fn spec(&self) -> &ParserSpec {
        &SPEC
    }

    fn homes(&self, env: &dyn Env) -> Homes {
        match env.var("RELAY_HOME") {
            Some(home) => Homes::of([format!("{home}/threads/*.jsonl")]),
            None => Homes::of(["~/.relay/threads/*.jsonl"]),
        }
    }

    fn score(&self, probe: &Probe<'_>) -> Score {
        match probe.lines().next() {
            Some(line) if line.starts_with(br#"{"type":"thread","id":"#) => Score::Sure,
            _ => Score::No,
        }
    }

    fn decoder<'d>(
        &'d self,
        _source: &Source<'_>,
        _env: &'d dyn Env,
        state: &State,
    ) -> Result<Box<dyn Decoder + 'd>, StateError> {
        Ok(Box::new(RelayDecoder { known: state.load(VERSION)? }))
    }
}
