//! One transcript to lines, without a store.

use crate::discover;
use crate::prepare::{self, Prepared};
use crate::read::{choose, client_of};
use crate::redact::Redactor;
use crate::source::{Limits, LineReader, stat, values};
use crate::tail::{LabelError, Problem};
use scrollback_core::{
    Body, Decoder, Env, EventId, EventLine, Events, Facts, Line, LineBody, MapMemory, Origin, Parser, Quiet,
    Record, Registry, Role, Said, SessionLine, Source, State, TitleRank, Turn, Unknown, Usage, UsageLine,
    Whose, Withdraw,
};
use scrollback_store::Label;
use serde_json::value::RawValue;
use std::collections::{BTreeMap, HashMap};
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use thiserror::Error;

/// What `parse` met.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ParseReport {
    /// Records read.
    pub records: u64,
    /// Events said.
    pub events: u64,
    /// Records with a kind never seen.
    pub not_understood: u64,
    /// What was wrong.
    pub problems: Vec<Problem>,
}

/// Why a file could not be parsed.
#[derive(Debug, Error)]
pub enum ParseError {
    /// No parser of that id.
    #[error(transparent)]
    Unknown(#[from] Unknown),
    /// No parser knows the file.
    #[error("{}: no parser knows this file; name one with --parser (known: {})", path.display(), known.join(", "))]
    NoParser {
        /// The file.
        path: PathBuf,
        /// The parsers there are.
        known: Vec<String>,
    },
    /// It does not take the label that was given.
    #[error(transparent)]
    Label(#[from] LabelError),
    /// It cannot be read.
    #[error("{}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// The lines could not be written.
    #[error("{0}")]
    Write(io::Error),
}

/// Gives `out` the lines of one transcript, redacted: its events as they are read, one whose content
/// changes once more with its revision, then its sessions and their usage. Place and turn are counted as read, withdrawn events included.
pub fn parse(
    env: &dyn Env,
    registry: &Registry,
    path: &Path,
    parser: Option<&str>,
    out: &mut dyn FnMut(&Line) -> io::Result<()>,
) -> Result<ParseReport, ParseError> {
    parse_labelled(env, registry, path, parser, &Label::default(), out)
}

/// Does what [`parse`] does; of a parser that lets a user say it, `label` says whose the transcript is.
pub fn parse_labelled(
    env: &dyn Env,
    registry: &Registry,
    path: &Path,
    parser: Option<&str>,
    label: &Label,
    out: &mut dyn FnMut(&Line) -> io::Result<()>,
) -> Result<ParseReport, ParseError> {
    let read = |source: io::Error| ParseError::Read { path: path.to_owned(), source };
    // Where an id rests on the path, it is the one that `tail` has.
    let canonical = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let parser: &dyn Parser = if let Some(id) = parser {
        registry.parser(id)?
    } else {
        stat(path).map_err(read)?;
        let head = discover::read_head(path).map_err(read)?;
        choose(env, registry, &canonical, &head).ok_or_else(|| ParseError::NoParser {
            path: path.to_owned(),
            known: registry.parsers().map(|parser| parser.spec().id.to_string()).collect(),
        })?
    };
    if !label.is_empty() && !parser.spec().labelled {
        let parser = parser.spec().id.to_string();
        return Err(LabelError::NotTaken { path: path.to_owned(), parser }.into());
    }
    let (client, session) = (label.client.as_deref(), label.session.as_deref());
    let source = Source { client, session, ..Source::at(&canonical) };
    parse_source(env, path, &source, parser, client_of(parser, label), out)
}

/// Does what [`parse`] does, with that parser.
pub fn parse_with(
    env: &dyn Env,
    path: &Path,
    parser: &dyn Parser,
    out: &mut dyn FnMut(&Line) -> io::Result<()>,
) -> Result<ParseReport, ParseError> {
    parse_source(env, path, &Source::at(path), parser, &parser.spec().client, out)
}

/// Parses the file at `path`, which its decoder knows as `source`.
fn parse_source(
    env: &dyn Env,
    path: &Path,
    source: &Source<'_>,
    parser: &dyn Parser,
    client: &str,
    out: &mut dyn FnMut(&Line) -> io::Result<()>,
) -> Result<ParseReport, ParseError> {
    let read = |source: io::Error| ParseError::Read { path: path.to_owned(), source };
    let limits = Limits::default();
    let volatile_head = parser.spec().volatile_head;
    let (mut reader, _) = LineReader::open(path, None, volatile_head, limits, env.now()).map_err(read)?;
    reader.session_is_over();
    let Ok(mut decoder) = parser.decoder(source, env, &State::default()) else {
        return Err(read(io::Error::other("the parser does not start from nothing")));
    };
    let mut lines = Lines::new(client, env.login(), Redactor::shared());
    let mut memory = MapMemory::default();
    let mut report = ParseReport::default();
    while let Some(line) = reader.next().map_err(read)? {
        let (index, over, length) = (line.index, line.over, line.length);
        if over {
            let what = format!("a record of {length} bytes, over the limit of {}", limits.max_line);
            report.problems.push(Problem { path: path.to_owned(), record: Some(index + 1), what });
            continue;
        }
        if line.bytes.is_empty() {
            continue;
        }
        let mut refused = Vec::new();
        if let Err(what) =
            decode(decoder.as_mut(), line.bytes, index, &mut memory, &mut lines, &mut report, out)?
        {
            let parts = values(line.bytes);
            if parts.parts().len() < 2 {
                refused.push(what);
            } else {
                for part in parts {
                    if !part.whole {
                        refused.push("a record that is not finished".to_owned());
                    } else if let Err(what) = decode(
                        decoder.as_mut(),
                        part.bytes,
                        index,
                        &mut memory,
                        &mut lines,
                        &mut report,
                        out,
                    )? {
                        refused.push(what);
                    }
                }
            }
        }
        report.records += refused.len() as u64;
        let problem = |what| Problem { path: path.to_owned(), record: Some(index + 1), what };
        report.problems.extend(refused.into_iter().map(problem));
    }
    let mut events = Events::new();
    let quiet = AssertUnwindSafe(|| decoder.quiet(Quiet::SessionEnded, &mut memory, &mut events));
    if catch_unwind(quiet).is_err() {
        events = Events::new();
    }
    lines.say(events, &mut report, out).map_err(ParseError::Write)?;
    lines.end(out).map_err(ParseError::Write)?;
    Ok(report)
}

fn decode(
    decoder: &mut dyn Decoder,
    bytes: &[u8],
    index: u64,
    memory: &mut MapMemory,
    lines: &mut Lines<'_>,
    report: &mut ParseReport,
    out: &mut dyn FnMut(&Line) -> io::Result<()>,
) -> Result<Result<(), String>, ParseError> {
    let mut events = Events::new();
    let record = Record::new(index, bytes);
    match catch_unwind(AssertUnwindSafe(|| decoder.decode(record, memory, &mut events))) {
        Ok(Ok(())) => {}
        Ok(Err(unreadable)) => return Ok(Err(unreadable.to_string())),
        Err(_) => return Ok(Err("the parser failed on this record (please report it)".to_owned())),
    }
    report.records += 1;
    if events.is_silent() || events.said().iter().any(|said| matches!(said, Said::Unknown { .. })) {
        report.not_understood += 1;
    }
    lines.say(events, report, out).map_err(ParseError::Write)?;
    Ok(Ok(()))
}

/// Turns what decoders say into lines.
struct Lines<'a> {
    client: &'a str,
    login: Option<String>,
    redactor: &'a Redactor,
    sessions: BTreeMap<String, Session>,
    usage: BTreeMap<(String, String), UsageLine>,
    homes: HashMap<EventId, Home>,
    /// What was said of the home of an event that has not come.
    waiting: Vec<(EventId, Facts<'static>)>,
}

/// Where an event was said first, and what it said last.
#[derive(Clone)]
struct Home {
    session: String,
    seq: u64,
    turn: u64,
    content: [u8; 16],
    revision: u64,
}

#[derive(Default)]
struct Session {
    line: SessionLine,
    rank: Option<TitleRank>,
    seq: u64,
    turn: u64,
    calls: HashMap<String, (EventId, String)>,
    /// Each event with the record and the turn it stands in, for withdrawals.
    events: Vec<(u64, u64, Option<String>, EventId)>,
}

impl<'a> Lines<'a> {
    fn new(client: &'a str, login: Option<String>, redactor: &'a Redactor) -> Self {
        Self {
            client,
            login,
            redactor,
            sessions: BTreeMap::new(),
            usage: BTreeMap::new(),
            homes: HashMap::new(),
            waiting: Vec::new(),
        }
    }

    fn say(
        &mut self,
        events: Events<'_>,
        report: &mut ParseReport,
        out: &mut dyn FnMut(&Line) -> io::Result<()>,
    ) -> io::Result<()> {
        for said in events.into_said() {
            match said {
                Said::Event(event) => {
                    let held = self.homes.get(&event.id).cloned();
                    let copy = matches!(event.origin, Origin::Copied { .. });
                    if held.as_ref().is_some_and(|held| copy || held.session != event.session) {
                        continue;
                    }
                    let copied_from = match &event.origin {
                        Origin::Copied { from: Some(from) } if *from != event.session => {
                            Some(from.to_string())
                        }
                        _ => None,
                    };
                    let prepared = prepare::prepare(event, self.redactor, &[0; 32]);
                    if held.as_ref().is_some_and(|held| held.content == prepared.content) {
                        continue;
                    }
                    report.events += u64::from(held.is_none());
                    out(&Line::Event(self.event(prepared, copied_from, held)))?;
                }
                Said::Facts(whose, mut facts) => {
                    prepare::redact_facts(&mut facts, self.redactor);
                    match self.whose(&whose) {
                        Some(session) => self.session(&session).learn(&facts),
                        None => {
                            if let Whose::HolderOf(id) = whose {
                                self.waiting.push((id, owned(&facts)));
                            }
                        }
                    }
                }
                Said::Usage { response, whose, model, at, usage } => {
                    if let Some(session) = self.whose(&whose).filter(|_| !usage.is_zero()) {
                        let response = self.redactor.text(&response);
                        let model = model.as_deref().map(|model| self.redactor.text(model).into_owned());
                        let line =
                            self.usage.entry((session.clone(), response.to_string())).or_insert_with(|| {
                                UsageLine {
                                    client: self.client.to_owned(),
                                    session,
                                    response: response.to_string(),
                                    model: None,
                                    at: None,
                                    usage: Usage::default(),
                                }
                            });
                        line.usage = line.usage.merged(usage);
                        line.model = line.model.take().into_iter().chain(model).min();
                        line.at = line.at.into_iter().chain(at).min();
                    }
                }
                Said::Withdraw(what) => {
                    for (session, id) in self.withdrawn(&what) {
                        out(&Line::Withdraw { id, client: self.client.to_owned(), session })?;
                    }
                }
                Said::Nothing(_) | Said::Unknown { .. } | Said::Remark(_) => {}
            }
        }
        Ok(())
    }

    fn session(&mut self, name: &str) -> &mut Session {
        let client = self.client;
        self.sessions.entry(name.to_owned()).or_insert_with(|| Session {
            line: SessionLine {
                client: client.to_owned(),
                session: name.to_owned(),
                ..SessionLine::default()
            },
            ..Session::default()
        })
    }

    fn whose(&self, whose: &Whose<'_>) -> Option<String> {
        match whose {
            Whose::Session(name) => Some(name.to_string()),
            Whose::HolderOf(id) => self.homes.get(id).map(|home| home.session.clone()),
        }
    }

    fn event(
        &mut self,
        prepared: Prepared<'_>,
        copied_from: Option<String>,
        held: Option<Home>,
    ) -> EventLine {
        let Prepared { event, attachments, content, .. } = prepared;
        let actor = prepare::actor(&event.by, self.client, self.login.as_deref());
        let name = event.session.into_owned();
        let waiting: Vec<Facts<'static>> =
            self.waiting.extract_if(.., |(id, _)| *id == event.id).map(|(_, facts)| facts).collect();
        let client = self.client.to_owned();
        let session = self.session(&name);
        for facts in &waiting {
            session.learn(facts);
        }
        let opens = match event.turn {
            Turn::Opens => true,
            Turn::Joins => false,
            Turn::ByKind => matches!(event.body, Body::Message { role: Role::User, .. }),
        };
        session.turn += u64::from(opens && held.is_none());
        let mut parent = event.parent;
        let body = match event.body {
            Body::Message { role, text, .. } => {
                if opens {
                    session.line.last_prompt = Some(text.chars().take(300).collect());
                }
                LineBody::Message { role, text: text.into_owned(), attachments }
            }
            Body::Thinking { text } => LineBody::Thinking { text: text.into_owned() },
            Body::ToolCall { call_id, tool, input } => {
                session.calls.insert(call_id.to_string(), (event.id, tool.to_string()));
                let input = raw(&input);
                LineBody::ToolCall { call_id: call_id.into_owned(), tool: tool.into_owned(), input }
            }
            Body::ToolResult { call_id, tool, output, error, exit_status, .. } => {
                let call = session.calls.get(&*call_id);
                parent = parent.or(call.map(|(id, _)| *id));
                let tool = tool.map(Into::into).or_else(|| call.map(|(_, tool)| tool.clone()));
                LineBody::ToolResult {
                    call_id: call_id.into_owned(),
                    tool: tool.unwrap_or_else(|| "unknown".to_owned()),
                    output: output.into_owned(),
                    error,
                    exit_status,
                    attachments,
                }
            }
            Body::Injected { by, text } => LineBody::Injected { injected_by: by, text: text.into_owned() },
            Body::Decision { what, why, alternatives } => LineBody::Decision {
                what: what.into_owned(),
                why: why.map(Into::into),
                alternatives: alternatives.map(Into::into),
            },
            Body::Note { text } => LineBody::Note { text: text.into_owned() },
            Body::Notice { class, text } => LineBody::Notice { class, text: text.into_owned() },
        };
        let home = if let Some(held) = held {
            Home { content, revision: held.revision + 1, ..held }
        } else {
            let record = event.order.place.map_or(u64::MAX, |(record, _)| record);
            session.events.push((record, session.turn, event.record_id.map(Into::into), event.id));
            session.seq += 1;
            Home { session: name.clone(), seq: session.seq - 1, turn: session.turn, content, revision: 0 }
        };
        session.line.started_at = session.line.started_at.or(event.at);
        let (seq, turn, revision) = (home.seq, home.turn, home.revision);
        self.homes.insert(event.id, home);
        EventLine {
            id: event.id,
            client,
            session: name,
            seq,
            turn,
            at: event.at,
            body,
            trust: if actor.is_some() { "claimed" } else { "unattributed" }.to_owned(),
            actor,
            project: None,
            model: event.model.map(Into::into),
            parent,
            revision: (revision > 0).then_some(revision),
            evidence: Vec::new(),
            copied_from,
            data: event.data.and_then(|data| RawValue::from_string(data.into_owned()).ok()),
        }
    }

    /// Returns what a withdrawal takes back of what was said in this file.
    fn withdrawn(&mut self, what: &Withdraw<'_>) -> Vec<(String, EventId)> {
        let (name, from) = match what {
            Withdraw::Event(id) => {
                let home = self.homes.get(id).map(|home| (home.session.clone(), *id));
                return home.into_iter().collect();
            }
            Withdraw::FromRecord { session, record_id } => {
                let at = self.sessions.get(&**session).and_then(|held| {
                    held.events.iter().position(|(_, _, id, _)| id.as_deref() == Some(record_id))
                });
                (session, at)
            }
            // The file that is cut is another one: what it held is not known here.
            Withdraw::FromOrder { session, .. } => (session, None),
            Withdraw::LastTurns { session, n } => {
                let at = self.sessions.get_mut(&**session).and_then(|held| {
                    let first = held.turn.saturating_sub(u64::from(*n)) + 1;
                    held.turn = first - 1;
                    held.events.iter().position(|(_, turn, _, _)| *turn >= first)
                });
                (session, at)
            }
        };
        let Some(held) = self.sessions.get_mut(&**name) else { return Vec::new() };
        let Some(from) = from else { return Vec::new() };
        held.events.drain(from..).map(|(_, _, _, id)| (name.to_string(), id)).collect()
    }

    fn end(&mut self, out: &mut dyn FnMut(&Line) -> io::Result<()>) -> io::Result<()> {
        for session in self.sessions.values_mut() {
            session.line.turns = session.turn;
            out(&Line::Session(session.line.clone()))?;
        }
        for usage in self.usage.values() {
            out(&Line::Usage(usage.clone()))?;
        }
        Ok(())
    }
}

/// Returns a text as JSON: itself, else a string of it.
fn raw(text: &str) -> Box<RawValue> {
    RawValue::from_string(text.to_owned())
        .or_else(|_| serde_json::value::to_raw_value(text))
        .unwrap_or_else(|_| RawValue::NULL.to_owned())
}

impl Session {
    fn learn(&mut self, facts: &Facts<'_>) {
        let first = |held: &mut Option<String>, new: &Option<std::borrow::Cow<'_, str>>| {
            if held.is_none() {
                *held = new.as_ref().map(ToString::to_string);
            }
        };
        let last = |held: &mut Option<String>, new: &Option<std::borrow::Cow<'_, str>>| {
            if let Some(new) = new {
                *held = Some(new.to_string());
            }
        };
        let line = &mut self.line;
        first(&mut line.parent_session, &facts.parent_session);
        first(&mut line.agent, &facts.agent);
        first(&mut line.cwd, &facts.cwd);
        first(&mut line.branch, &facts.branch);
        last(&mut line.model, &facts.model);
        last(&mut line.client_version, &facts.client_version);
        last(&mut line.end_reason, &facts.end_reason);
        last(&mut line.status, &facts.status);
        last(&mut line.summary, &facts.summary);
        last(&mut line.pull_request, &facts.pull_request);
        line.lineage = line.lineage.or(facts.lineage);
        line.started_at = [line.started_at, facts.started_at].into_iter().flatten().min();
        line.ended_at = line.ended_at.max(facts.ended_at);
        if let Some((rank, title)) = &facts.title
            && self.rank.is_none_or(|held| *rank >= held)
        {
            self.rank = Some(*rank);
            line.title = Some(title.to_string());
        }
    }
}

fn owned(facts: &Facts<'_>) -> Facts<'static> {
    Facts {
        title: facts.title.as_ref().map(|(rank, title)| (*rank, title.to_string().into())),
        summary: facts.summary.as_ref().map(|summary| summary.to_string().into()),
        ..Facts::default()
    }
}
