//! What the tests share: a source that is read, and what was said of it.

use scrollback_core::{Event, Events, MapMemory, Parser, Quiet, Record, Said, Source, State};
use scrollback_parser_jsonl::Jsonl;
use scrollback_testkit::World;
use std::path::Path;

/// A source: where it is, and whose the user says it is.
#[derive(Clone, Copy)]
pub(crate) struct At<'a> {
    pub(crate) path: &'a str,
    pub(crate) home: &'a str,
    pub(crate) client: Option<&'a str>,
    pub(crate) session: Option<&'a str>,
}

/// Returns a source without a label, below the home directory `/home/dev`.
pub(crate) const fn at(path: &str) -> At<'_> {
    At { path, home: "/home/dev", client: None, session: None }
}

/// Reads lines with the default map; with a new decoder before each line if `anew`. Returns what was said, and how
/// many lines were refused.
pub(crate) fn read_lines(at: At<'_>, lines: &[&str], anew: bool, end: bool) -> (Vec<Said<'static>>, usize) {
    let world = World::new(at.home);
    let source = Source { client: at.client, session: at.session, ..Source::at(Path::new(at.path)) };
    let mut decoder = Jsonl.decoder(&source, &world, &State::default()).unwrap();
    let (mut memory, mut said, mut refused) = (MapMemory::default(), Vec::new(), 0);
    for (index, line) in (0..).zip(lines) {
        let mut events = Events::new();
        let record = Record::new(index, line.as_bytes());
        refused += usize::from(decoder.decode(record, &mut memory, &mut events).is_err());
        said.extend(events.into_said().into_iter().map(owned));
        if anew {
            let state = decoder.state();
            decoder = Jsonl.decoder(&source, &world, &state).unwrap();
        }
    }
    if end {
        let mut events = Events::new();
        decoder.quiet(Quiet::SessionEnded, &mut memory, &mut events);
        said.extend(events.into_said().into_iter().map(owned));
    }
    (said, refused)
}

/// Reads lines to the end.
pub(crate) fn read(at: At<'_>, lines: &[&str]) -> Vec<Said<'static>> {
    read_lines(at, lines, false, true).0
}

/// Returns what was said, on its own. The parser says nothing that borrows.
fn owned(said: Said<'_>) -> Said<'static> {
    match said {
        Said::Event(event) => Said::Event(own_event(event)),
        Said::Facts(..) => Said::Remark(format!("{said:?}").into()),
        Said::Unknown { kind, .. } => Said::Unknown { kind: kind.into_owned().into(), version: None },
        Said::Nothing(kind) => Said::Nothing(kind.into_owned().into()),
        Said::Remark(what) => Said::Remark(what.into_owned().into()),
        other => panic!("a parser of lines says no {other:?}"),
    }
}

fn own_event(event: Event<'_>) -> Event<'static> {
    use scrollback_core::Body;
    let text = |text: std::borrow::Cow<'_, str>| std::borrow::Cow::Owned(text.into_owned());
    let body = match event.body {
        Body::Message { role, text: said, .. } => Body::message(role, said.into_owned()),
        Body::Thinking { text } => Body::thinking(text.into_owned()),
        Body::ToolCall { call_id, tool, input } => {
            Body::call(call_id.into_owned(), tool.into_owned(), input.into_owned())
        }
        Body::ToolResult { call_id, tool, output, error, exit_status, .. } => Body::ToolResult {
            call_id: text(call_id),
            tool: tool.map(text),
            output: text(output),
            error,
            exit_status,
            attachments: Vec::new(),
        },
        Body::Injected { by, text } => Body::injected(by, text.into_owned()),
        other => panic!("a map says no {other:?}"),
    };
    let mut own = Event::new(event.id, event.session.into_owned(), body).at(event.at);
    own.order = event.order;
    own.model = event.model.map(text);
    own
}

/// Returns the events.
pub(crate) fn events(said: &[Said<'static>]) -> Vec<Event<'static>> {
    said.iter()
        .filter_map(|said| if let Said::Event(event) = said { Some(event.clone()) } else { None })
        .collect()
}

/// Returns the sessions of the events, each once.
pub(crate) fn sessions(said: &[Said<'static>]) -> Vec<String> {
    let mut sessions: Vec<String> = events(said).iter().map(|event| event.session.to_string()).collect();
    sessions.sort();
    sessions.dedup();
    sessions
}

/// Returns each event as its id and its words.
pub(crate) fn told(said: &[Said<'static>]) -> Vec<(String, String)> {
    events(said).iter().map(|event| (event.id.to_string(), format!("{:?}", event.body))).collect()
}

/// Says whether it was remarked that the path names the session.
pub(crate) fn rests_on_path(said: &[Said<'static>]) -> bool {
    said.iter().any(|said| matches!(said, Said::Remark(what) if what.contains("named by its path")))
}
