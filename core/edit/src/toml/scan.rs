//! Where everything stands in a TOML text.

use crate::node::{Kind, Node, Part};
use crate::{EditError, value};
use serde_json::Value;
use std::collections::BTreeMap;
use std::ops::Range;
use toml_parser::parser::{Event, EventKind, parse_document};
use toml_parser::{ParseError, Source};

/// What stands from one header to the next; the first section has none.
#[derive(Debug, Clone, Default)]
pub(crate) struct Section {
    /// The header, from `[` to `]`; empty for the first section.
    pub(crate) header: Range<usize>,
    /// The table's path, with the index of every array's element on the way.
    pub(crate) path: Vec<String>,
    pub(crate) pairs: Vec<Part>,
}

impl Section {
    /// Returns where its last pair, or else its header, ends.
    pub(crate) fn end(&self) -> usize {
        self.pairs.last().map_or(self.header.end, |pair| pair.span.end)
    }
}

/// A scanned text: never without the first section.
#[derive(Debug, Clone)]
pub(crate) struct Scanned {
    pub(crate) sections: Vec<Section>,
    pub(crate) value: Value,
}

/// Scans a text; what is not TOML, a key that is there twice among it, is an error.
pub(crate) fn scan(text: &str) -> Result<Scanned, EditError> {
    let table: toml::Table = toml::from_str(text).map_err(|error| {
        let at = error.span().map_or(0, |span| span.start);
        EditError::at(text, at, error.message())
    })?;
    let source = Source::new(text);
    let mut events: Vec<Event> = Vec::new();
    let mut errors: Vec<ParseError> = Vec::new();
    parse_document(&source.lex().into_vec(), &mut events, &mut errors);
    if let Some(error) = errors.first() {
        let at = error.unexpected().map_or(0, |span| span.start());
        return Err(EditError::at(text, at, error.description()));
    }
    events.retain(|event| {
        !matches!(
            event.kind(),
            EventKind::Whitespace | EventKind::Newline | EventKind::Comment | EventKind::KeySep
        )
    });
    let mut scanner = Scanner { source, events: &events, at: 0 };
    let sections = scanner.sections().ok_or_else(|| {
        let at = events.get(scanner.at).map_or(text.len(), |event| event.span().start());
        EditError::at(text, at, "this is not understood")
    })?;
    Ok(Scanned { sections, value: value::of_toml(table) })
}

struct Scanner<'e> {
    source: Source<'e>,
    events: &'e [Event],
    at: usize,
}

/// Every function returns nothing where the events are not those of a text without errors.
impl Scanner<'_> {
    fn next(&mut self) -> Option<&Event> {
        let event = self.events.get(self.at)?;
        self.at += 1;
        Some(event)
    }

    fn kind(&self) -> Option<EventKind> {
        self.events.get(self.at).map(Event::kind)
    }

    fn sections(&mut self) -> Option<Vec<Section>> {
        let mut sections = vec![Section::default()];
        // How many elements each array of tables has, by the path of the array.
        let mut arrays: BTreeMap<Vec<String>, usize> = BTreeMap::new();
        while let Some(kind) = self.kind() {
            if kind == EventKind::SimpleKey {
                let pair = self.pair()?;
                sections.last_mut()?.pairs.push(pair);
                continue;
            }
            let array = kind == EventKind::ArrayTableOpen;
            if !array && kind != EventKind::StdTableOpen {
                return None;
            }
            let start = self.next()?.span().start();
            let (keys, _) = self.keys()?;
            let end = self.next()?.span().end();
            let mut path = Vec::new();
            let last = keys.len().checked_sub(1)?;
            for (index, key) in keys.into_iter().enumerate() {
                path.push(key);
                if array && index == last {
                    *arrays.entry(path.clone()).or_default() += 1;
                }
                if let Some(count) = arrays.get(&path) {
                    path.push((count - 1).to_string());
                }
            }
            sections.push(Section { header: start..end, path, pairs: Vec::new() });
        }
        Some(sections)
    }

    /// Reads the segments of a key, and where they stand.
    fn keys(&mut self) -> Option<(Vec<String>, Range<usize>)> {
        let mut keys = Vec::new();
        let start = self.events.get(self.at)?.span().start();
        let mut end = start;
        while self.kind() == Some(EventKind::SimpleKey) {
            let event = *self.next()?;
            let raw = self.source.get(event)?;
            let mut key = std::borrow::Cow::Borrowed("");
            raw.decode_key(&mut key, &mut ());
            keys.push(key.into_owned());
            end = event.span().end();
        }
        Some((keys, start..end))
    }

    fn pair(&mut self) -> Option<Part> {
        let (name, key) = self.keys()?;
        if self.next()?.kind() != EventKind::KeyValSep {
            return None;
        }
        let node = self.value()?;
        Some(Part { name, span: key.start..node.span.end, key_end: key.end, node, comma: None })
    }

    fn value(&mut self) -> Option<Node> {
        let event = *self.next()?;
        let start = event.span().start();
        let table = event.kind() == EventKind::InlineTableOpen;
        if event.kind() == EventKind::Scalar {
            return Some(Node { span: start..event.span().end(), kind: Kind::Scalar });
        }
        if !table && event.kind() != EventKind::ArrayOpen {
            return None;
        }
        let mut parts: Vec<Part> = Vec::new();
        loop {
            match self.kind()? {
                EventKind::InlineTableClose | EventKind::ArrayClose => break,
                EventKind::ValueSep => {
                    let comma = self.next()?.span().start();
                    parts.last_mut()?.comma = Some(comma);
                }
                _ if table => parts.push(self.pair()?),
                _ => {
                    let node = self.value()?;
                    let span = node.span.clone();
                    parts.push(Part { name: Vec::new(), key_end: span.start, span, node, comma: None });
                }
            }
        }
        let end = self.next()?.span().end();
        let kind = if table { Kind::Object(parts) } else { Kind::Array(parts) };
        Some(Node { span: start..end, kind })
    }
}
