//! Runs the decoder over a transcript and keeps what it said, record by record.

use scrollback_core::{
    Attachment, Body, By, Data, Decoder, Env, Event, Events, MapMemory, Parser, Record, Role, Said, Source,
    State, Timestamp, Turn, Unreadable,
};
use scrollback_parser_claude_code::ClaudeCode;
use std::io;
use std::path::{Path, PathBuf};

/// A machine with a file system and nothing else.
pub(crate) struct Disk;

impl Env for Disk {
    fn var(&self, _name: &str) -> Option<String> {
        None
    }

    fn home(&self) -> Option<PathBuf> {
        None
    }

    fn current_dir(&self) -> Option<PathBuf> {
        None
    }

    fn login(&self) -> Option<String> {
        None
    }

    fn now(&self) -> Timestamp {
        Timestamp::from_micros(0).unwrap()
    }

    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        std::fs::read(path)
    }

    fn list(&self, path: &Path) -> io::Result<Vec<PathBuf>> {
        std::fs::read_dir(path)?.map(|entry| Ok(entry?.path())).collect()
    }
}

pub(crate) type Heard = Result<Vec<Said<'static>>, Unreadable>;

/// A transcript that is read a record at a time.
pub(crate) struct Reading {
    path: PathBuf,
    decoder: Box<dyn Decoder>,
    memory: MapMemory,
    index: u64,
}

impl Reading {
    pub(crate) fn of(path: &Path) -> Self {
        let decoder = decoder(path, &State::default());
        Self { path: path.to_owned(), decoder, memory: MapMemory::default(), index: 0 }
    }

    pub(crate) fn line(&mut self, line: &'static [u8]) -> Heard {
        let mut events = Events::new();
        let record = Record::new(self.index, line);
        self.index += 1;
        self.decoder.decode(record, &mut self.memory, &mut events)?;
        Ok(events.into_said())
    }

    /// Stops and goes on, as another run would.
    pub(crate) fn resume(&mut self) {
        let state = self.decoder.state();
        assert!(state.json.len() <= State::LIMIT, "a state of {} bytes", state.json.len());
        self.decoder = decoder(&self.path, &state);
    }
}

fn decoder(path: &Path, state: &State) -> Box<dyn Decoder> {
    ClaudeCode.decoder(&Source::at(path), &Disk, state).unwrap()
}

/// Returns the lines of a text, kept for as long as the test runs.
pub(crate) fn lines(text: impl Into<Vec<u8>>) -> Vec<&'static [u8]> {
    let text: &'static [u8] = Vec::leak(text.into());
    text.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).collect()
}

/// Reads a whole transcript.
pub(crate) fn read(path: &Path) -> Vec<Heard> {
    let mut reading = Reading::of(path);
    lines(std::fs::read(path).unwrap()).into_iter().map(|line| reading.line(line)).collect()
}

/// Returns the events among what was heard.
pub(crate) fn events(heard: &[Heard]) -> Vec<&Event<'static>> {
    said(heard)
        .filter_map(|said| match said {
            Said::Event(event) => Some(event),
            _ => None,
        })
        .collect()
}

pub(crate) fn said(heard: &[Heard]) -> impl Iterator<Item = &Said<'static>> {
    heard.iter().flatten().flatten()
}

/// Returns a short line for each thing said but usage: `record kind what words`.
pub(crate) fn brief(heard: &[Heard]) -> Vec<String> {
    let mut lines = Vec::new();
    for (index, record) in heard.iter().enumerate() {
        match record {
            Ok(said) => lines.extend(said.iter().filter_map(one).map(|line| format!("{index} {line}"))),
            Err(_) => lines.push(format!("{index} unreadable")),
        }
    }
    lines
}

fn one(said: &Said<'_>) -> Option<String> {
    Some(match said {
        Said::Event(event) => body(event),
        Said::Facts(..) | Said::Usage { .. } => return None,
        Said::Withdraw(_) => "withdraw".to_owned(),
        Said::Nothing(kind) => format!("nothing: {kind}"),
        Said::Remark(what) => format!("remark: {what}"),
        Said::Unknown { kind, .. } => format!("unknown: {kind}"),
    })
}

fn body(event: &Event<'_>) -> String {
    let by = match &event.by {
        By::Person => "person",
        By::Agent(_) => "agent",
        By::Harness => "harness",
        By::Nobody => "nobody",
    };
    match &event.body {
        Body::Message { role: Role::User, text, attachments } => {
            let turn = if event.turn == Turn::ByKind { String::new() } else { format!(" {:?}", event.turn) };
            format!("user by {by}{turn}: {}", marked(text, attachments))
        }
        Body::Message { text, .. } => format!("assistant by {by}: {text}"),
        Body::Thinking { text } | Body::Note { text } => format!("thinking: {text}"),
        Body::ToolCall { call_id, tool, input } => format!("call by {by} {tool} {call_id}: {input}"),
        Body::ToolResult { call_id, tool, output, error, exit_status, attachments } => {
            let tool = tool.as_ref().map(|tool| format!(" {tool}")).unwrap_or_default();
            let failed = match (error, exit_status) {
                (false, None) => String::new(),
                (true, None) => " failed".to_owned(),
                (_, Some(status)) => format!(" failed={error} exit {status}"),
            };
            format!("result by {by}{tool} {call_id}{failed}: {}", marked(output, attachments))
        }
        Body::Injected { by, text } => format!("injected {by:?}: {text}"),
        Body::Notice { class, text } => format!("notice {class:?}: {text}"),
        Body::Decision { what, .. } => what.to_string(),
    }
}

/// Returns a text with its attachments where the engine would mark them.
fn marked(text: &str, attachments: &[Attachment<'_>]) -> String {
    let mut marked = text.to_owned();
    for attachment in attachments.iter().rev() {
        let what = match &attachment.data {
            Data::Base64(_) => &attachment.media_type,
            Data::Elsewhere(place) => place,
        };
        let name = attachment.name.as_deref().unwrap_or_default();
        marked.insert_str(attachment.place.unwrap_or(text.len()), &format!("[{what}{name}]"));
    }
    marked
}
