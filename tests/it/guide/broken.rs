//! Parsers of Acme, each of which breaks one law.

use scrollback_core::{
    Body, Decoder, Env, Event, EventId, Events, Homes, LineParser, Memory, Order, Parser, ParserSpec, Probe,
    Record, Role, Score, Shape, Source, State, StateError, Text, Unreadable,
};
use serde::Deserialize;
use std::borrow::Cow;
use std::sync::atomic::{AtomicU64, Ordering};

#[derive(Deserialize)]
struct Line<'r> {
    #[serde(borrow)]
    session: Cow<'r, str>,
    #[serde(borrow)]
    id: Cow<'r, str>,
    #[serde(borrow, default)]
    text: Text<'r>,
}

type Decode = for<'r> fn(&Record<'r>, &Source<'_>, &mut Events<'r>) -> Result<(), Unreadable>;

const fn parser(score: fn(&Probe<'_>) -> Score, decode: Decode) -> LineParser {
    LineParser {
        spec: ParserSpec::new("acme", "Acme", Shape::Lines),
        homes: |_env| Homes::of(["~/.acme/*.jsonl"]),
        score,
        decode,
    }
}

fn own(probe: &Probe<'_>) -> Score {
    if probe.head.starts_with(br#"{"app":"acme/"#) { Score::Sure } else { Score::No }
}

/// Returns the event of a line, named by these parts within its session.
fn event<'r>(line: Line<'r>, parts: &[&str]) -> Event<'r> {
    let all: Vec<&str> = std::iter::once(&*line.session).chain(parts.iter().copied()).collect();
    Event::new(EventId::of("acme", &all), line.session, Body::message(Role::User, line.text))
}

/// Keeps the law that the others break.
pub(super) static SOUND: LineParser = parser(own, |record, _, events| {
    let line: Line<'_> = record.json()?;
    let id = line.id.clone();
    events.event(event(line, &[&id, "0"]));
    Ok(())
});

/// Gives the pieces of a record one id.
pub(super) static ONE_NAME: LineParser = parser(own, |record, _, events| {
    let (one, other): (Line<'_>, Line<'_>) = (record.json()?, record.json()?);
    let id = one.id.clone();
    events.event(Event { body: Body::thinking("Hm."), ..event(one, &[&id]) });
    events.event(event(other, &[&id]));
    Ok(())
});

/// Says nothing of lines without a text.
pub(super) static SILENT: LineParser = parser(own, |record, _, events| {
    let line: Line<'_> = record.json()?;
    if !line.text.is_empty() {
        let id = line.id.clone();
        events.event(event(line, &[&id, "0"]));
    }
    Ok(())
});

/// Says that an event stands where nothing was read yet.
pub(super) static AHEAD: LineParser = parser(own, |record, _, events| {
    let line: Line<'_> = record.json()?;
    let id = line.id.clone();
    let order = Order { rank: 0, place: Some((record.index + 1, 0)) };
    events.event(Event { order, ..event(line, &[&id, "0"]) });
    Ok(())
});

/// Names an event by its line.
pub(super) static NUMBERED: LineParser = parser(own, |record, _, events| {
    let line: Line<'_> = record.json()?;
    events.event(event(line, &[&record.index.to_string(), "0"]));
    Ok(())
});

/// Takes every JSON object for its own.
pub(super) static GREEDY: LineParser = parser(
    |probe| if probe.head.starts_with(b"{") { Score::Sure } else { Score::No },
    |_, _, events| {
        events.nothing("line");
        Ok(())
    },
);

/// Takes what the agent says for what the person says.
pub(super) static MISTAKEN: LineParser = parser(own, |record, _, events| {
    let line: Line<'_> = record.json()?;
    if line.text.is_empty() {
        events.nothing("other");
    } else {
        let id = line.id.clone();
        events.event(event(line, &[&id, "0"]));
    }
    Ok(())
});

/// Where a parser keeps its count.
#[derive(Clone, Copy)]
pub(super) enum Keeps {
    /// In its decoder, which is made anew.
    Decoder,
    /// In itself, where all of its sources share it.
    Parser,
    /// In a state of which it does not look at the version.
    State,
}

/// Names an event by a count.
pub(super) struct Counting(pub(super) Keeps, AtomicU64);

impl Counting {
    pub(super) const fn new(keeps: Keeps) -> Self {
        Self(keeps, AtomicU64::new(0))
    }
}

static SPEC: ParserSpec = ParserSpec::new("acme", "Acme", Shape::Lines);

impl Parser for Counting {
    fn spec(&self) -> &ParserSpec {
        &SPEC
    }

    fn homes(&self, _env: &dyn Env) -> Homes {
        Homes::of(["~/.acme/*.jsonl"])
    }

    fn score(&self, probe: &Probe<'_>) -> Score {
        own(probe)
    }

    fn decoder<'d>(
        &'d self,
        _source: &Source<'_>,
        _env: &'d dyn Env,
        state: &State,
    ) -> Result<Box<dyn Decoder + 'd>, StateError> {
        let n = match self.0 {
            Keeps::State => serde_json::from_str(&state.json).unwrap_or_default(),
            Keeps::Decoder | Keeps::Parser => 0,
        };
        Ok(Box::new(CountingDecoder { parser: self, n }))
    }
}

struct CountingDecoder<'d> {
    parser: &'d Counting,
    n: u64,
}

impl Decoder for CountingDecoder<'_> {
    fn decode<'r>(
        &mut self,
        record: Record<'r>,
        _memory: &mut dyn Memory,
        events: &mut Events<'r>,
    ) -> Result<(), Unreadable> {
        let line: Line<'r> = record.json()?;
        let n = match self.parser.0 {
            Keeps::Parser => self.parser.1.fetch_add(1, Ordering::Relaxed),
            Keeps::Decoder | Keeps::State => self.n,
        };
        self.n += 1;
        events.event(event(line, &[&n.to_string(), "0"]));
        Ok(())
    }

    fn state(&self) -> State {
        match self.parser.0 {
            Keeps::State => State::save(1, &self.n),
            Keeps::Decoder | Keeps::Parser => State::default(),
        }
    }
}
