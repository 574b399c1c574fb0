//! What must be in the store, as values that read like a conversation.

use super::found;
use crate::client::{PROJECT, Sandbox};
use crate::model::TOKENS;
use anyhow::{Result, bail};
use std::fmt::Write as _;

/// Does what a person would, and returns what must be in the store.
pub(super) type Play = fn(&Sandbox) -> Result<Vec<Session>>;

/// A session that must be there.
#[derive(Debug)]
pub(crate) struct Session {
    lineage: Option<&'static str>,
    parent: Option<usize>,
    /// The call that launched it, by its place in that session.
    launched: Option<usize>,
    /// Who speaks beside the user, after the client's name: the name of a sub-agent.
    agent: Option<&'static str>,
    /// The folder of its project.
    project: &'static str,
    /// How many responses are counted.
    responses: usize,
    events: Vec<Event>,
}

/// An event that must be there.
#[derive(Debug)]
pub(super) struct Event {
    kind: &'static str,
    what: &'static str,
    by: By,
    /// The place, in its session, of the event that caused it.
    parent: Option<usize>,
    text: &'static str,
    said: Said,
    error: bool,
}

/// How the text of an event is compared.
#[derive(Debug, Clone, Copy)]
enum Said {
    /// It is the one given.
    Exactly,
    /// It holds the one given.
    Holding,
    /// It begins as the one given, and this whole text goes on after it.
    CutFrom(&'static str),
}

/// Who caused an event.
#[derive(Debug, Clone, Copy)]
enum By {
    User,
    Agent,
    /// The agent of the session that this one came out of.
    Launcher,
    /// The client itself.
    System,
}

impl Session {
    /// A session that began by itself. One response is counted in it.
    pub(super) fn new(events: Vec<Event>) -> Self {
        Self {
            lineage: None,
            parent: None,
            launched: None,
            agent: None,
            project: PROJECT,
            responses: 1,
            events,
        }
    }

    /// A session that came out of another, which is at a place in the list.
    pub(super) fn out_of(parent: usize, lineage: &'static str, events: Vec<Event>) -> Self {
        Self {
            lineage: Some(lineage),
            parent: Some(parent),
            launched: None,
            agent: None,
            project: PROJECT,
            responses: 1,
            events,
        }
    }

    /// The same, of another project.
    pub(super) fn in_project(mut self, folder: &'static str) -> Self {
        self.project = folder;
        self
    }

    /// The same, with so many responses.
    pub(super) fn responses(mut self, count: usize) -> Self {
        self.responses = count;
        self
    }

    /// The same, launched by the call at a place in the other session.
    pub(super) fn launched_by(mut self, call: usize) -> Self {
        self.launched = Some(call);
        self
    }

    /// The same, of a sub-agent whose name stands in its actor.
    pub(super) fn by(mut self, agent: &'static str) -> Self {
        self.agent = Some(agent);
        self
    }
}

impl Event {
    fn new(kind: &'static str, what: &'static str, by: By, text: &'static str) -> Self {
        Self { kind, what, by, parent: None, text, said: Said::Holding, error: false }
    }

    fn exactly(mut self) -> Self {
        self.said = Said::Exactly;
        self
    }

    /// The same, caused by the event at a place in its session.
    pub(super) fn under(mut self, at: usize) -> Self {
        self.parent = Some(at);
        self
    }
}

/// A prompt, in full.
pub(super) fn user(text: &'static str) -> Event {
    Event::new("message", "user", By::User, text).exactly()
}

/// The task of a sub-agent, in full: a prompt by the agent that launched it.
pub(super) fn task(text: &'static str) -> Event {
    Event::new("message", "user", By::Launcher, text).exactly()
}

/// An answer, in full.
pub(super) fn assistant(text: &'static str) -> Event {
    Event::new("message", "assistant", By::Agent, text).exactly()
}

/// An answer that was cut off: how it begins, and what all of it would have been.
pub(super) fn cut(begin: &'static str, all: &'static str) -> Event {
    Event { said: Said::CutFrom(all), ..Event::new("message", "assistant", By::Agent, begin) }
}

/// Reasoning, in full.
pub(super) fn thinking(text: &'static str) -> Event {
    Event::new("thinking", "", By::Agent, text).exactly()
}

/// A call of a tool, and what its input holds.
pub(super) fn call(tool: &'static str, input: &'static str) -> Event {
    Event::new("tool_call", tool, By::Agent, input)
}

/// The result of the call at a place in its session, and what it holds.
pub(super) fn result(tool: &'static str, at: usize, output: &'static str) -> Event {
    Event::new("tool_result", tool, By::Agent, output).under(at)
}

/// The same, of a call that failed.
pub(super) fn failed(tool: &'static str, at: usize, output: &'static str) -> Event {
    Event { error: true, ..result(tool, at, output) }
}

/// The summary of a compaction, and what it holds.
pub(super) fn summary(text: &'static str) -> Event {
    Event::new("injected", "compaction", By::System, text)
}

/// A notice of a class, and what it holds.
pub(super) fn notice(class: &'static str, text: &'static str) -> Event {
    Event::new("notice", class, By::System, text)
}

/// Compares what must be there with what is there: every session, every event, in order, and nothing else.
///
/// # Errors
///
/// If they differ: what does, and everything that was found.
pub(super) fn compare(client: &str, expected: &[Session], found: &[found::Session]) -> Result<()> {
    let mut wrong = Vec::new();
    if expected.len() != found.len() {
        wrong.push(format!("{} sessions, not {}", found.len(), expected.len()));
    }
    for (n, (session, is)) in expected.iter().zip(found).enumerate() {
        if session.lineage != is.lineage.as_deref() || session.parent != is.parent {
            wrong.push(format!("session {n}: not {:?} of {:?}", session.lineage, session.parent));
        }
        if is.project.as_deref().and_then(|path| path.rsplit('/').next()) != Some(session.project) {
            wrong.push(format!("session {n}: in {:?}, not in {}", is.project, session.project));
        }
        if is.usage != vec![TOKENS; session.responses] {
            wrong.push(format!(
                "session {n}: tokens {:?}, not {} times {TOKENS:?}",
                is.usage, session.responses
            ));
        }
        let launched = session.parent.zip(session.launched);
        if launched != is.launched {
            wrong.push(format!("session {n}: launched by {:?}, not {launched:?}", is.launched));
        }
        if session.events.len() != is.events.len() {
            wrong.push(format!("session {n}: {} events, not {}", is.events.len(), session.events.len()));
        }
        for (at, (event, is)) in session.events.iter().zip(&is.events).enumerate() {
            if let Some(why) = event.differs(client, session.agent, n, is) {
                wrong.push(format!("{n}.{at}: {why}"));
            }
        }
    }
    if wrong.is_empty() {
        return Ok(());
    }
    let mut text = wrong.join("\n");
    text.push_str("\nfound:");
    for (n, session) in found.iter().enumerate() {
        write!(text, "\n  {n}: {session}")?;
        for (at, event) in session.events.iter().enumerate() {
            write!(text, "\n    {n}.{at} {event}")?;
        }
    }
    bail!(text)
}

impl Event {
    /// Returns in what an event that was found differs.
    fn differs(
        &self,
        client: &str,
        agent: Option<&str>,
        session: usize,
        is: &found::Event,
    ) -> Option<String> {
        if (self.kind, self.what) != (is.kind.as_str(), is.what.as_str()) {
            return Some(format!("a {} {}, not a {} {}", is.kind, is.what, self.kind, self.what));
        }
        let same = match self.said {
            Said::Exactly => is.text == self.text,
            Said::Holding => is.text.contains(self.text),
            Said::CutFrom(all) => {
                is.text.starts_with(self.text) && all.len() > is.text.len() && all.starts_with(&is.text)
            }
        };
        if !same {
            return Some(format!("it does not say {:?}", self.text));
        }
        let actor = match (self.by, agent) {
            (By::User, _) => "user:dev".to_owned(),
            (By::Agent, None) | (By::Launcher, _) => format!("agent:{client}"),
            (By::Agent, Some(agent)) => format!("agent:{client}/{agent}"),
            (By::System, _) => format!("system:{client}"),
        };
        if is.actor.as_deref() != Some(actor.as_str()) {
            return Some(format!("it is not by {actor}"));
        }
        let parent = self.parent.map(|at| (session, at));
        if is.parent != parent {
            return Some(format!("it is not under {parent:?}"));
        }
        (is.error != self.error).then(|| format!("an error: {}", is.error))
    }
}
