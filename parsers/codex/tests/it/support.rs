//! Runs the parser over a file as the engine would, and writes down what it said.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on stops")]

use scrollback_core::{
    Body, By, Data, Env, Events, Facts, MapMemory, Order, Origin, Parser as _, Probe, Quiet, Record, Said,
    Score, Source, State, Timestamp, Turn, Usage, Whose, Withdraw,
};
use scrollback_parser_codex::Codex;
use std::fmt::Write as _;
use std::io;
use std::path::{Path, PathBuf};

/// A machine with one file on it, or none.
#[derive(Default)]
pub(crate) struct World {
    pub(crate) file: Option<(PathBuf, Vec<u8>)>,
    pub(crate) codex_home: Option<String>,
}

impl Env for World {
    fn var(&self, name: &str) -> Option<String> {
        self.codex_home.clone().filter(|_| name == "CODEX_HOME")
    }
    fn home(&self) -> Option<PathBuf> {
        Some("/home/dev".into())
    }
    fn current_dir(&self) -> Option<PathBuf> {
        None
    }
    fn login(&self) -> Option<String> {
        None
    }
    fn now(&self) -> Timestamp {
        Timestamp::from_millis(1_796_070_000_000).unwrap()
    }
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        match &self.file {
            Some((held, bytes)) if held == path => Ok(bytes.clone()),
            _ => Err(io::ErrorKind::NotFound.into()),
        }
    }
    fn list(&self, _: &Path) -> io::Result<Vec<PathBuf>> {
        Err(io::ErrorKind::NotFound.into())
    }
}

/// A file's lines.
pub(crate) struct Transcript {
    pub(crate) path: PathBuf,
    pub(crate) lines: Vec<Vec<u8>>,
}

impl Transcript {
    pub(crate) fn of(path: impl Into<PathBuf>, bytes: &[u8]) -> Self {
        let lines = bytes.split(|&byte| byte == b'\n').filter(|line| !line.is_empty()).map(<[u8]>::to_vec);
        Self { path: path.into(), lines: lines.collect() }
    }

    pub(crate) fn read(path: &Path) -> Self {
        Self::of(path, &std::fs::read(path).unwrap())
    }

    /// Returns how sure the parser is of it.
    pub(crate) fn score(&self) -> Score {
        let head = self.lines.join(&b'\n');
        let head = &head[..head.len().min(65_536)];
        Codex.score(&Probe { path: &self.path, head, schema: None })
    }

    /// Reads it in one run.
    pub(crate) fn told(&self) -> Told<'_> {
        self.told_on(&World::default(), |_| false)
    }

    /// Reads it, each time `stops` says so from the state the decoder left, which is kept as JSON.
    pub(crate) fn told_on(&self, world: &World, stops: impl Fn(usize) -> bool) -> Told<'_> {
        let source = Source::at(&self.path);
        let mut memory = MapMemory::default();
        let mut state = State::default();
        let mut told = Told { records: Vec::new(), last: Vec::new() };
        let mut decoder = Codex.decoder(&source, world, &state).unwrap();
        for (index, line) in self.lines.iter().enumerate() {
            let mut events = Events::new();
            let record = Record::new(index as u64, line);
            let outcome = decoder.decode(record, &mut memory, &mut events);
            told.records.push(outcome.map(|()| events.into_said()).map_err(|error| error.to_string()));
            assert!(decoder.state().json.len() <= State::LIMIT, "the state is too long after record {index}");
            if stops(index) {
                let json = serde_json::to_string(&decoder.state()).unwrap();
                drop(decoder);
                state = serde_json::from_str(&json).unwrap();
                decoder = Codex.decoder(&source, world, &state).unwrap();
            }
        }
        let mut events = Events::new();
        decoder.quiet(Quiet::SessionEnded, &mut memory, &mut events);
        told.last = events.into_said();
        told
    }
}

/// What a decoder said of a file: of each record, and when it was over.
#[derive(Debug, PartialEq)]
pub(crate) struct Told<'a> {
    pub(crate) records: Vec<Result<Vec<Said<'a>>, String>>,
    pub(crate) last: Vec<Said<'static>>,
}

impl<'a> Told<'a> {
    /// Returns all that was said, in order.
    pub(crate) fn all(&self) -> impl Iterator<Item = &Said<'a>> {
        self.records.iter().flatten().flatten().chain(&self.last)
    }

    /// Returns the events.
    pub(crate) fn events(&self) -> Vec<&scrollback_core::Event<'a>> {
        let event = |said: &'_ &Said<'a>| matches!(said, Said::Event(_));
        self.all()
            .filter(event)
            .filter_map(|said| if let Said::Event(event) = said { Some(event) } else { None })
            .collect()
    }

    /// Returns the names of unknown kinds.
    pub(crate) fn unknown(&self) -> Vec<&str> {
        let kinds = self.all().filter_map(|said| match said {
            Said::Unknown { kind, .. } => Some(&**kind),
            _ => None,
        });
        let mut kinds: Vec<&str> = kinds.collect();
        kinds.sort_unstable();
        kinds.dedup();
        kinds
    }

    /// Returns the facts of sessions.
    pub(crate) fn facts(&self) -> Vec<(&str, &Facts<'a>)> {
        let facts = self.all().filter_map(|said| match said {
            Said::Facts(Whose::Session(session), facts) => Some((&**session, facts)),
            _ => None,
        });
        facts.collect()
    }

    /// Returns each response's tokens with its session.
    pub(crate) fn usage(&self) -> Vec<(&str, &str, Usage)> {
        let usage = self.all().filter_map(|said| match said {
            Said::Usage { response, whose: Whose::Session(session), usage, .. } => {
                Some((&**session, &**response, *usage))
            }
            _ => None,
        });
        usage.collect()
    }

    /// Returns what was said as lines, for people and for comparison.
    pub(crate) fn lines(&self) -> String {
        let mut text = String::new();
        for (index, record) in self.records.iter().enumerate() {
            match record {
                Ok(said) => said.iter().for_each(|said| line(&mut text, &index.to_string(), said)),
                Err(error) => writeln!(text, "{index} unreadable {error}").unwrap(),
            }
        }
        self.last.iter().for_each(|said| line(&mut text, "end", said));
        text
    }
}

fn line(text: &mut String, at: &str, said: &Said<'_>) {
    write!(text, "{at} ").unwrap();
    match said {
        Said::Event(held) => event(text, held),
        Said::Facts(of, facts) => {
            let mut shown = format!("{facts:?}");
            for empty in [
                "parent_session",
                "lineage",
                "launched_by",
                "copied_from",
                "project",
                "cwd",
                "branch",
                "title",
                "model",
                "client_version",
                "started_at",
                "ended_at",
                "end_reason",
                "status",
                "summary",
                "agent",
            ] {
                for (from, to) in [(format!(", {empty}: None"), ""), (format!("{empty}: None, "), "")] {
                    shown = shown.replace(&from, to);
                }
            }
            write!(text, "facts {of:?} {shown}").unwrap();
        }
        Said::Usage { response, whose, model, usage, .. } => {
            let Usage { input, output, cache_read, cache_write, reasoning } = usage;
            write!(text, "usage {response} {whose:?} model={model:?} ").unwrap();
            write!(text, "{:?}", [input, output, cache_read, cache_write, reasoning]).unwrap();
        }
        Said::Withdraw(what) => match what {
            Withdraw::FromOrder { session, order } => {
                write!(text, "withdraw {session} from {order:?}").unwrap();
            }
            Withdraw::LastTurns { session, n } => write!(text, "withdraw {session} last {n}").unwrap(),
            other => write!(text, "withdraw {other:?}").unwrap(),
        },
        Said::Nothing(kind) => write!(text, "nothing {kind}").unwrap(),
        Said::Remark(what) => write!(text, "remark {what}").unwrap(),
        Said::Unknown { kind, version } => write!(text, "UNKNOWN {kind} {version:?}").unwrap(),
    }
    text.push('\n');
}

fn event(text: &mut String, event: &scrollback_core::Event<'_>) {
    write!(text, "event {} ", event.id).unwrap();
    if let Some(at) = event.at {
        write!(text, "{at} ").unwrap();
    } else {
        text.push_str("no-time ");
    }
    if event.order != Order::default() {
        write!(text, "order={}/{:?} ", event.order.rank, event.order.place).unwrap();
    }
    if let Origin::Copied { from } = &event.origin {
        write!(text, "copied-from={} ", from.as_deref().unwrap_or("?")).unwrap();
    }
    match &event.by {
        By::Person => text.push_str("person "),
        By::Agent(name) => {
            write!(text, "agent{} ", name.as_ref().map(|n| format!("/{n}")).unwrap_or_default()).unwrap();
        }
        By::Harness => text.push_str("harness "),
        By::Nobody => text.push_str("nobody "),
    }
    if event.turn != Turn::ByKind {
        write!(text, "{:?} ", event.turn).unwrap();
    }
    if let Some(model) = &event.model {
        write!(text, "model={model} ").unwrap();
    }
    if let Some(parent) = event.parent {
        write!(text, "parent={parent} ").unwrap();
    }
    if let Some(data) = &event.data {
        write!(text, "data={data} ").unwrap();
    }
    let mut held = &Vec::new();
    match &event.body {
        Body::Message { role, text: words, attachments } => {
            held = attachments;
            write!(text, "message {role:?} {}", cut(words)).unwrap();
        }
        Body::Thinking { text: words } => write!(text, "thinking {}", cut(words)).unwrap(),
        Body::ToolCall { call_id, tool, input } => {
            write!(text, "call {call_id} {tool} {}", cut(input)).unwrap();
        }
        Body::ToolResult { call_id, tool, output, error, exit_status, attachments } => {
            held = attachments;
            write!(text, "result {call_id} {tool:?} error={error} exit={exit_status:?} {}", cut(output))
                .unwrap();
        }
        Body::Injected { by, text: words } => write!(text, "injected {by:?} {}", cut(words)).unwrap(),
        Body::Notice { class, text: words } => write!(text, "notice {class:?} {}", cut(words)).unwrap(),
        other => write!(text, "{other:?}").unwrap(),
    }
    for picture in held {
        let data = match &picture.data {
            Data::Base64(data) => format!("base64 {}", cut(data)),
            Data::Elsewhere(address) => format!("at {address}"),
        };
        write!(text, " [{} {:?} {data} place={:?}]", picture.media_type, picture.name, picture.place)
            .unwrap();
    }
}

fn cut(words: &str) -> String {
    let shown: String = words.chars().take(160).collect();
    let more = words.chars().count().saturating_sub(160);
    if more == 0 { format!("{shown:?}") } else { format!("{shown:?}+{more}") }
}

/// Returns the rollouts in the crate's own folder of examples.
pub(crate) fn examples() -> Vec<PathBuf> {
    rollouts(&Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures"))
}

/// Returns the rollouts below a folder, in order.
pub(crate) fn rollouts(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(rollouts(&path));
        } else if path.extension().is_some_and(|extension| extension == "jsonl")
            && !path.to_string_lossy().ends_with(".events.jsonl")
        {
            found.push(path);
        }
    }
    found.sort();
    found
}

/// Returns one of the crate's own examples.
pub(crate) fn example(name: &str) -> Transcript {
    Transcript::read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures").join(name))
}
