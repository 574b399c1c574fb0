//! What an export holds, as it is compared and shown.

use anyhow::{Context as _, Result};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt;

/// A session of an export.
#[derive(Debug)]
pub(super) struct Session {
    pub(super) lineage: Option<String>,
    pub(super) project: Option<String>,
    /// The place of the session it came out of.
    pub(super) parent: Option<usize>,
    /// The place of the call that launched it: what caused its first event, whatever that is.
    pub(super) launched: Option<(usize, usize)>,
    pub(super) events: Vec<Event>,
    /// Input and output of each response.
    pub(super) usage: Vec<(u64, u64)>,
    cause: Option<String>,
    key: String,
    parent_key: Option<String>,
    began: String,
}

/// An event of an export.
#[derive(Debug)]
pub(super) struct Event {
    pub(super) kind: String,
    /// The role of a message, the tool of a call or result, the class of a notice, who injected.
    pub(super) what: String,
    pub(super) actor: Option<String>,
    /// The session and the place in it of the event that caused it.
    pub(super) parent: Option<(usize, usize)>,
    /// The text, the input of a call, the output of a result.
    pub(super) text: String,
    pub(super) error: bool,
    id: String,
    parent_id: Option<String>,
}

/// Injected text that belongs to a conversation; what else is injected differs from machine to machine.
const INJECTED: [&str; 1] = ["compaction"];

/// Reads an export: sessions in the order they began, each with its events.
pub(super) fn read(export: &str) -> Result<Vec<Session>> {
    let mut sessions: Vec<Session> = Vec::new();
    let mut events: BTreeMap<String, Vec<Event>> = BTreeMap::new();
    let mut usage: BTreeMap<String, Vec<(u64, u64)>> = BTreeMap::new();
    let mut causes: BTreeMap<String, Option<String>> = BTreeMap::new();
    for line in export.lines() {
        let line: Value = serde_json::from_str(line).with_context(|| format!("not JSON: {line}"))?;
        let text = |key: &str| line[key].as_str().map(str::to_owned);
        match line["type"].as_str() {
            Some("session") => sessions.push(Session {
                lineage: text("lineage"),
                project: text("project"),
                parent: None,
                launched: None,
                events: Vec::new(),
                usage: Vec::new(),
                cause: None,
                key: text("session").context("a session without an id")?,
                parent_key: text("parent_session"),
                began: text("started_at").unwrap_or_default(),
            }),
            Some("event") => {
                let mut event = event(&line)?;
                let session = text("session").context("an event without a session")?;
                if !causes.contains_key(&session) {
                    causes.insert(session.clone(), event.parent_id.take());
                }
                if event.kind != "injected" || INJECTED.contains(&event.what.as_str()) {
                    events.entry(session).or_default().push(event);
                }
            }
            Some("usage") => {
                let count = |key: &str| line[key].as_u64().unwrap_or(0);
                let session = text("session").context("tokens without a session")?;
                usage.entry(session).or_default().push((count("input"), count("output")));
            }
            _ => {}
        }
    }
    sessions.sort_by(|a, b| (&a.began, &a.key).cmp(&(&b.began, &b.key)));
    for session in &mut sessions {
        session.events = events.remove(&session.key).unwrap_or_default();
        session.usage = usage.remove(&session.key).unwrap_or_default();
        session.cause = causes.remove(&session.key).flatten();
    }
    link(&mut sessions);
    Ok(sessions)
}

fn event(line: &Value) -> Result<Event> {
    let text = |key: &str| line[key].as_str().map(str::to_owned);
    let kind = text("kind").context("an event without a kind")?;
    let what = ["role", "tool", "class", "injected_by"].iter().find_map(|key| text(key)).unwrap_or_default();
    let said = match kind.as_str() {
        "tool_call" => line["input"].to_string(),
        "tool_result" => line["output"].as_str().map_or_else(|| line["output"].to_string(), str::to_owned),
        _ => text("text").unwrap_or_default(),
    };
    Ok(Event {
        kind,
        what,
        actor: text("actor"),
        parent: None,
        text: said,
        error: line["error"] == true,
        id: text("id").context("an event without an id")?,
        parent_id: text("parent"),
    })
}

/// Puts places for ids.
fn link(sessions: &mut [Session]) {
    let mut places = BTreeMap::new();
    let mut keys = BTreeMap::new();
    for (n, session) in sessions.iter().enumerate() {
        keys.insert(session.key.clone(), n);
        for (at, event) in session.events.iter().enumerate() {
            places.insert(event.id.clone(), (n, at));
        }
    }
    for session in sessions {
        session.parent = session.parent_key.as_ref().and_then(|key| keys.get(key).copied());
        session.launched = session.cause.as_ref().and_then(|id| places.get(id).copied());
        for event in &mut session.events {
            event.parent = event.parent_id.as_ref().and_then(|id| places.get(id).copied());
        }
    }
}

impl fmt::Display for Session {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "session {}", self.key)?;
        if let Some(lineage) = &self.lineage {
            write!(out, ", {lineage}")?;
        }
        if let Some(parent) = self.parent {
            write!(out, " of {parent}")?;
        }
        if let Some((session, at)) = self.launched {
            write!(out, ", launched by {session}.{at}")?;
        }
        Ok(())
    }
}

impl fmt::Display for Event {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text: String = self.text.chars().take(120).collect();
        write!(out, "{} {} {}", self.kind, self.what, self.actor.as_deref().unwrap_or("-"))?;
        if let Some((session, at)) = self.parent {
            write!(out, " under {session}.{at}")?;
        }
        write!(out, "{} {text:?}", if self.error { " error" } else { "" })
    }
}
