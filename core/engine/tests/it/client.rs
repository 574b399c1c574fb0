//! A client that can say everything a decoder may say. A line of its transcripts:
//!
//! `{"id","session","role","text","kind","call","tool","input","result","at","model","from","rank","place",
//! "record","open","turn","hold","file","link","title","cwd","holder","usage","withdraw","do"}`
//!
//! Without `id` an event is the n-th of its words in its session. `session` and `rank` stand until another line
//! says others. With `hold` an event waits for the next record, or until nothing more comes.

use scrollback_core::{
    Attachment, Body, By, Data, Decoder, Env, Event, EventId, Events, Facts, Homes, InjectedBy, Memory,
    NoticeClass, Order, Origin, Parser, ParserSpec, Probe, Quiet, Record, Role, Score, Shape, Source, State,
    StateError, Text, Timestamp, TitleRank, Turn, Unreadable, Usage, Whose, Withdraw, text_digest,
};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use std::borrow::Cow;

pub(crate) const CLIENT: &str = "acme";

#[derive(Deserialize)]
struct Line<'r> {
    #[serde(borrow)]
    id: Option<Cow<'r, str>>,
    #[serde(borrow)]
    session: Option<Cow<'r, str>>,
    role: Option<Role>,
    #[serde(borrow)]
    text: Option<Text<'r>>,
    #[serde(borrow)]
    kind: Option<Cow<'r, str>>,
    #[serde(borrow)]
    call: Option<Cow<'r, str>>,
    #[serde(borrow)]
    tool: Option<Cow<'r, str>>,
    #[serde(borrow)]
    input: Option<&'r RawValue>,
    #[serde(borrow)]
    result: Option<Text<'r>>,
    #[serde(borrow)]
    at: Option<Cow<'r, str>>,
    #[serde(borrow)]
    model: Option<Cow<'r, str>>,
    /// Copied from that session; from one that is not known if it is empty.
    #[serde(borrow)]
    from: Option<Cow<'r, str>>,
    rank: Option<u64>,
    place: Option<(u64, u32)>,
    #[serde(borrow)]
    record: Option<Cow<'r, str>>,
    #[serde(default)]
    open: bool,
    /// `opens` or `joins`.
    #[serde(borrow)]
    turn: Option<Cow<'r, str>>,
    #[serde(default)]
    hold: bool,
    /// Base64 of a PNG.
    #[serde(borrow)]
    file: Option<Cow<'r, str>>,
    #[serde(borrow)]
    link: Option<Cow<'r, str>>,
    #[serde(borrow)]
    title: Option<Cow<'r, str>>,
    #[serde(borrow)]
    cwd: Option<Cow<'r, str>>,
    /// The id of the event whose home title and usage are about.
    #[serde(borrow)]
    holder: Option<Cow<'r, str>>,
    /// Response, input, output.
    #[serde(borrow)]
    usage: Option<(Cow<'r, str>, u64, u64)>,
    #[serde(borrow)]
    withdraw: Option<Back<'r>>,
    /// `panic`, `silent`, `nothing`.
    #[serde(borrow, rename = "do")]
    act: Option<Cow<'r, str>>,
}

#[derive(Deserialize)]
struct Back<'r> {
    #[serde(borrow)]
    event: Option<Cow<'r, str>>,
    #[serde(borrow)]
    record: Option<Cow<'r, str>>,
    /// Rank and record.
    order: Option<(u64, u64)>,
    turns: Option<u32>,
}

/// Returns the id of the event whose line has that `id`.
pub(crate) fn id(name: &str) -> EventId {
    EventId::of(CLIENT, &[name, "0"])
}

#[derive(Clone, Default, Serialize, Deserialize)]
struct Saved {
    session: Option<String>,
    rank: u64,
    held: Option<(String, u64)>,
}

pub(crate) struct Acme(ParserSpec);

pub(crate) static ACME: Acme = Acme(ParserSpec::new(CLIENT, "Acme", Shape::Lines));

impl Parser for Acme {
    fn spec(&self) -> &ParserSpec {
        &self.0
    }

    fn homes(&self, _env: &dyn Env) -> Homes {
        Homes::of(["~/sessions/**/*.jsonl"])
    }

    fn score(&self, probe: &Probe<'_>) -> Score {
        if probe.head.starts_with(b"{\"id\"") { Score::Sure } else { Score::No }
    }

    fn decoder<'d>(
        &'d self,
        source: &Source<'_>,
        _env: &'d dyn Env,
        state: &State,
    ) -> Result<Box<dyn Decoder + 'd>, StateError> {
        Ok(Box::new(Acting { stem: source.stem(), saved: state.load(1)? }))
    }
}

struct Acting {
    stem: String,
    saved: Saved,
}

impl Acting {
    fn release(&mut self, memory: &mut dyn Memory, events: &mut Events<'_>) {
        let Some((text, index)) = self.saved.held.take() else { return };
        let line: Line<'_> = serde_json::from_str(&text).unwrap();
        let mut said = Events::new();
        self.say(&line, Some((index, 0)), memory, &mut said);
        for said in said.into_said() {
            if let scrollback_core::Said::Event(event) = said {
                events.event(owned(event));
            }
        }
    }

    fn say<'r>(
        &mut self,
        line: &Line<'r>,
        place: Option<(u64, u32)>,
        memory: &mut dyn Memory,
        events: &mut Events<'r>,
    ) {
        let session = self.saved.session.clone().unwrap_or_else(|| self.stem.clone());
        let Some(body) = body(line) else { return };
        let id = line.id.as_deref().map_or_else(
            || {
                let words = text_digest(line.text.as_deref().unwrap_or_default());
                let n = memory.count(format!("{session}\u{1f}{words}").as_bytes());
                EventId::of(CLIENT, &[&session, &words, &n.to_string()])
            },
            id,
        );
        let mut event = Event::new(id, session, body)
            .at(line.at.as_deref().and_then(|at| at.parse::<Timestamp>().ok()))
            .model(line.model.clone());
        event.order = Order { rank: self.saved.rank, place: line.place.or(place) };
        event.settled = !line.open;
        event.record_id.clone_from(&line.record);
        event.turn = match line.turn.as_deref() {
            Some("opens") => Turn::Opens,
            Some("joins") => Turn::Joins,
            _ => Turn::ByKind,
        };
        if let Some(from) = &line.from {
            event.origin = Origin::Copied { from: (!from.is_empty()).then(|| from.clone()) };
        }
        events.event(event);
    }
}

fn body<'r>(line: &Line<'r>) -> Option<Body<'r>> {
    let text = || line.text.clone().map(Text::into_inner).unwrap_or_default();
    let file = || Attachment {
        media_type: "image/png".into(),
        name: Some("picture.png".into()),
        data: Data::Base64(line.file.clone().unwrap_or_default()),
        place: None,
    };
    let attachments = line.file.iter().map(|_| file()).collect();
    if let Some(input) = line.input {
        let call = line.call.clone().unwrap_or_default();
        return Some(Body::call(call, line.tool.clone().unwrap_or("Bash".into()), input.get()));
    }
    if let Some(output) = line.result.clone() {
        return Some(Body::ToolResult {
            call_id: line.call.clone().unwrap_or_default(),
            tool: line.tool.clone(),
            output: output.into_inner(),
            error: false,
            exit_status: None,
            attachments,
        });
    }
    line.text.as_ref()?;
    Some(match line.kind.as_deref() {
        None | Some("message") => {
            Body::Message { role: line.role.unwrap_or(Role::User), text: text(), attachments }
        }
        Some("thinking") => Body::thinking(text()),
        Some("injected") => Body::injected(InjectedBy::Hook, text()),
        Some("notice") => Body::notice(NoticeClass::ApiError, text()),
        Some("note") => Body::Note { text: text() },
        Some("decision") => Body::Decision { what: text(), why: None, alternatives: None },
        Some(_) => return None,
    })
}

impl Decoder for Acting {
    fn decode<'r>(
        &mut self,
        record: Record<'r>,
        memory: &mut dyn Memory,
        events: &mut Events<'r>,
    ) -> Result<(), Unreadable> {
        let line: Line<'r> = record.json()?;
        self.release(memory, events);
        if let Some(session) = &line.session {
            self.saved.session = Some(session.to_string());
        }
        self.saved.rank = line.rank.unwrap_or(self.saved.rank);
        match line.act.as_deref() {
            Some("panic") => panic!("as the test wants"),
            Some("silent") => return Ok(()),
            Some("nothing") => events.nothing("known"),
            _ => {}
        }
        let known = [None, Some("message"), Some("thinking"), Some("injected"), Some("notice"), Some("note")];
        if !known.contains(&line.kind.as_deref()) && line.kind.as_deref() != Some("decision") {
            events.unknown(line.kind.clone().unwrap_or_default(), Some("1.2.3".into()));
        }
        if line.hold {
            let text = std::str::from_utf8(record.bytes).map_err(|_| Unreadable::new("no text"))?;
            self.saved.held = Some((text.to_owned(), record.index));
            events.nothing("held");
        } else {
            self.say(&line, None, memory, events);
        }
        let session = self.saved.session.clone().unwrap_or_else(|| self.stem.clone());
        let whose = line
            .holder
            .as_deref()
            .map_or(Whose::Session(session.clone().into()), |holder| Whose::HolderOf(id(holder)));
        if line.title.is_some() || line.link.is_some() || line.cwd.is_some() {
            let facts = Facts {
                title: line.title.clone().map(|title| (TitleRank::Summary, title)),
                copied_from: line.link.clone(),
                cwd: line.cwd.clone(),
                ..Facts::default()
            };
            events.facts(whose.clone(), facts);
        }
        if let Some((response, input, output)) = line.usage.clone() {
            let usage = Usage { input: Some(input), output: Some(output), ..Usage::default() };
            events.usage(response, whose, line.model.clone(), None, usage);
        }
        if let Some(back) = line.withdraw {
            let session = || Cow::Owned(session.clone());
            if let Some(event) = back.event {
                events.withdraw(Withdraw::Event(id(&event)));
            }
            if let Some(record_id) = back.record {
                events.withdraw(Withdraw::FromRecord { session: session(), record_id });
            }
            if let Some((rank, record)) = back.order {
                let order = Order { rank, place: Some((record, 0)) };
                events.withdraw(Withdraw::FromOrder { session: session(), order });
            }
            if let Some(n) = back.turns {
                events.withdraw(Withdraw::LastTurns { session: session(), n });
            }
        }
        if events.is_silent() {
            events.nothing("blank");
        }
        Ok(())
    }

    fn quiet(&mut self, _why: Quiet, memory: &mut dyn Memory, events: &mut Events<'static>) {
        self.release(memory, events);
    }

    fn state(&self) -> State {
        State::save(1, &self.saved)
    }
}

fn owned(event: Event<'_>) -> Event<'static> {
    let body = match event.body {
        Body::Message { role, text, .. } => Body::message(role, text.into_owned()),
        other => panic!("only messages are held back, not {other:?}"),
    };
    let mut free = Event::new(event.id, event.session.into_owned(), body).at(event.at).by(By::Person);
    free.order = event.order;
    free
}
