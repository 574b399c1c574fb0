//! Reads the transcripts of Acme into scrollback's events.

use scrollback_core::{
    Body, Event, EventId, Events, Facts, Homes, LineParser, ParserSpec, Probe, Record, Role, Score,
    Shape, Source, Text, Unreadable, Whose,
};
use serde::Deserialize;
use serde_json::value::RawValue;
use std::borrow::Cow;

/// A line as the client writes it, all kinds in one: what a kind does not have is absent.
#[derive(Deserialize)]
struct Line<'r> {
    #[serde(borrow)]
    session: Cow<'r, str>,
    #[serde(borrow)]
    id: Cow<'r, str>,
    #[serde(borrow)]
    kind: Cow<'r, str>,
    #[serde(borrow)]
    at: Option<Cow<'r, str>>,
    #[serde(borrow, default)]
    text: Text<'r>,
    #[serde(borrow, default)]
    call: Cow<'r, str>,
    #[serde(borrow, default)]
    tool: Cow<'r, str>,
    #[serde(borrow)]
    input: Option<&'r RawValue>,
    #[serde(default)]
    failed: bool,
    #[serde(borrow)]
    cwd: Option<Cow<'r, str>>,
}

/// Says what one record says: of every record something, and never anything that does not stand in it.
fn decode<'r>(
    record: &Record<'r>,
    _source: &Source<'_>,
    events: &mut Events<'r>,
) -> Result<(), Unreadable> {
    let line: Line<'r> = record.json()?;
    let at = line.at.and_then(|at| at.parse().ok());
    let body = match &*line.kind {
        "user" => Body::message(Role::User, line.text),
        "agent" => Body::message(Role::Assistant, line.text),
        "call" => Body::call(line.call, line.tool, line.input.map_or("{}", RawValue::get)),
        "result" => Body::result(line.call, line.text, line.failed),
        "start" => {
            let facts = Facts {
                cwd: line.cwd,
                started_at: at,
                ..Facts::default()
            };
            events.facts(Whose::Session(line.session), facts);
            return Ok(());
        }
        "tick" => {
            events.nothing("tick");
            return Ok(());
        }
        _ => {
            events.unknown(line.kind, None);
            return Ok(());
        }
    };
    // The event's identity: what the client wrote, ending in the part of the record. These parts never change.
    let id = EventId::of("acme", &[&line.session, &line.id, "0"]);
    events.event(Event::new(id, line.session, body).at(at));
    Ok(())
}

/// Says whether a file is one of the client's, by its first line.
fn score(probe: &Probe<'_>) -> Score {
    match probe.lines().next() {
        Some(line) if line.starts_with(br#"{"app":"acme/"#) => Score::Sure,
        _ => Score::No,
    }
}

/// The parser of Acme's transcripts.
pub static PARSER: LineParser = LineParser {
    spec: ParserSpec::new("acme", "Acme", Shape::Lines),
    homes: |_env| Homes::of(["~/.acme/sessions/**/*.jsonl"]),
    score,
    decode,
};
scrollback_core::register_parser!(PARSER);
