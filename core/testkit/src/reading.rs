//! Reading a fixture as the engine does, and keeping what was said.

use crate::World;
use scrollback_core::{
    Decoder, EventId, Events, MapMemory, Order, Parser, Quiet, Record, Said, Source, State,
};
use scrollback_engine::source::values;
use std::path::{Path, PathBuf};

/// Returns the fixtures below a folder, sorted; goldens, hidden files and what is no `.jsonl` left out. No
/// fixture is a failure: laws over nothing would hold for any parser.
///
/// # Panics
///
/// If the folder holds no fixture, or cannot be read.
pub fn fixtures(folder: &str) -> Vec<PathBuf> {
    let found = fixtures_in(Path::new(folder));
    assert!(!found.is_empty(), "{folder} holds no fixture (*.jsonl)");
    found
}

/// Returns the fixtures below a folder, sorted; none if there is none.
///
/// # Panics
///
/// If the folder cannot be read.
pub fn fixtures_in(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut ahead = vec![folder.to_owned()];
    while let Some(folder) = ahead.pop() {
        let entries =
            std::fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
        for entry in entries {
            let path = entry.unwrap_or_else(|error| panic!("{}: {error}", folder.display())).path();
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            if path.is_dir() {
                ahead.push(path);
            } else if name.ends_with(".jsonl") && !name.ends_with(".events.jsonl") && !name.starts_with('.') {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

/// A decoder over a source, with what it remembers and what it said so far.
pub struct Reader<'p> {
    parser: &'p dyn Parser,
    world: &'p World,
    path: &'p Path,
    decoder: Box<dyn Decoder + 'p>,
    memory: MapMemory,
    /// What was said: the record's index and the text of it, in order.
    pub said: Vec<(u64, String)>,
    /// The id of each event, with the record's index and the text of its content, in order.
    pub events: Vec<(EventId, u64, String)>,
    /// How many records nothing was said of.
    pub silent: u64,
    /// The index of the first of them.
    pub first_silent: Option<u64>,
    /// Where each event says it stands, with the index of the last record read by then.
    pub orders: Vec<(u64, Order)>,
    index: u64,
}

impl<'p> Reader<'p> {
    /// Returns a reader at the start of a source.
    ///
    /// # Panics
    ///
    /// If the parser does not start from the default state.
    pub fn new(parser: &'p dyn Parser, world: &'p World, path: &'p Path) -> Self {
        let decoder = parser
            .decoder(&Source::at(path), world, &State::default())
            .unwrap_or_else(|error| panic!("a decoder must start from the default state: {error}"));
        let (memory, said) = (MapMemory::default(), Vec::new());
        Self {
            parser,
            world,
            path,
            decoder,
            memory,
            said,
            events: Vec::new(),
            silent: 0,
            first_silent: None,
            orders: Vec::new(),
            index: 0,
        }
    }

    /// Reads one line: a record, or as many as it holds. Returns whether all of it could be read.
    pub fn line(&mut self, line: &[u8]) -> bool {
        let line = line.trim_ascii();
        if line.is_empty() {
            return true;
        }
        let index = self.index;
        self.index += 1;
        if self.record(index, line) {
            return true;
        }
        let parts = values(line);
        if parts.parts().len() < 2 {
            return false;
        }
        let mut all = true;
        for part in parts {
            all &= part.whole && self.record(index, part.bytes);
        }
        all
    }

    fn record(&mut self, index: u64, bytes: &[u8]) -> bool {
        let mut events = Events::new();
        let record = Record::new(index, bytes);
        if self.decoder.decode(record, &mut self.memory, &mut events).is_err() {
            return false;
        }
        if events.is_silent() {
            self.silent += 1;
            self.first_silent.get_or_insert(index);
        }
        self.keep(index, &events);
        true
    }

    fn keep(&mut self, index: u64, events: &Events<'_>) {
        for said in events.said() {
            if let Said::Event(event) = said {
                self.events.push((event.id, index, format!("{:?}", event.body)));
                self.orders.push((self.index.saturating_sub(1), event.order));
            }
        }
        self.said.extend(events.said().iter().map(|said| (index, format!("{said:?}"))));
    }

    /// Tells the decoder that the session is over.
    pub fn end(&mut self) {
        let mut events = Events::new();
        self.decoder.quiet(Quiet::SessionEnded, &mut self.memory, &mut events);
        self.keep(u64::MAX, &events);
    }

    /// Stops and goes on with a new decoder, from the state and the memory the old one left; the state goes
    /// through its stored form.
    ///
    /// # Panics
    ///
    /// If the parser refuses the state it saved itself.
    pub fn resume(&mut self) {
        let stored = serde_json::to_string(&self.decoder.state()).unwrap_or_default();
        let state: State = serde_json::from_str(&stored).unwrap_or_default();
        self.decoder =
            self.parser.decoder(&Source::at(self.path), self.world, &state).unwrap_or_else(|error| {
                panic!("{}: a parser must load the state it saved: {error}", self.path.display())
            });
    }

    /// Returns the decoder's state.
    pub fn state(&self) -> State {
        self.decoder.state()
    }
}
