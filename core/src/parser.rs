//! What knows a client's transcripts.

use crate::{Env, Events, Memory, State, StateError};
use serde::Deserialize;
use std::borrow::Cow;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// How a source holds its records, and so which of the engine's readers reads it.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub enum Shape {
    /// One JSON value a line, appended.
    Lines,
    /// Text in which some lines open a record.
    Text {
        /// Says whether a line opens a record.
        opens: fn(&[u8]) -> bool,
    },
    /// One JSON document, rewritten whole; `records` is the JSON pointer of the list of records.
    Document {
        /// The JSON pointer.
        records: &'static str,
    },
    /// One JSON document a record, in a folder a session.
    Files,
    /// Rows of a SQLite database.
    Rows,
}

/// Which parsers are asked first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Tier {
    /// Made for one client.
    Client,
    /// Takes what no other is sure of.
    Fallback,
}

/// What can be known of a parser without running it.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ParserSpec {
    /// The parser's id, kebab-case, the same everywhere; also the client's unless [`ParserSpec::client`] says.
    pub id: Cow<'static, str>,
    /// The client's name as people write it.
    pub name: Cow<'static, str>,
    /// The client whose events it gives.
    pub client: Cow<'static, str>,
    /// How its sources hold records.
    pub shape: Shape,
    /// When it is asked.
    pub tier: Tier,
    /// Bytes at a source's start that the client rewrites; no part of the mark's head.
    pub volatile_head: u32,
    /// Whether a user may say whose its sources are, and which session: [`Source::client`], [`Source::session`].
    pub labelled: bool,
}

impl ParserSpec {
    /// Returns the spec of a parser made for the client of that id.
    pub const fn new(id: &'static str, name: &'static str, shape: Shape) -> Self {
        Self {
            id: Cow::Borrowed(id),
            name: Cow::Borrowed(name),
            client: Cow::Borrowed(id),
            shape,
            tier: Tier::Client,
            volatile_head: 0,
            labelled: false,
        }
    }

    /// Returns the spec of a parser that is one of several for the client of that id.
    pub const fn of_client(id: &'static str, client: &'static str, name: &'static str, shape: Shape) -> Self {
        Self {
            id: Cow::Borrowed(id),
            name: Cow::Borrowed(name),
            client: Cow::Borrowed(client),
            shape,
            tier: Tier::Client,
            volatile_head: 0,
            labelled: false,
        }
    }

    /// Returns the spec with another tier.
    #[must_use]
    pub const fn tier(mut self, tier: Tier) -> Self {
        self.tier = tier;
        self
    }

    /// Returns the spec with so many bytes at a source's start left out of the mark.
    #[must_use]
    pub const fn volatile_head(mut self, bytes: u32) -> Self {
        self.volatile_head = bytes;
        self
    }

    /// Returns the spec of a parser whose sources a user may label: its decoders keep to [`Source::client`] and
    /// [`Source::session`].
    #[must_use]
    pub const fn labelled(mut self) -> Self {
        self.labelled = true;
        self
    }
}

/// A first look at a source: its path and at most 64 KiB of its start. Scoring reads nothing else.
#[derive(Debug, Clone, Copy)]
pub struct Probe<'a> {
    /// The path as it was found.
    pub path: &'a Path,
    /// The first bytes; perhaps less than a line.
    pub head: &'a [u8],
    /// The tables, if it is a database.
    pub schema: Option<&'a Schema<'a>>,
}

impl<'a> Probe<'a> {
    /// Returns the lines that begin in the head, blank ones left out; the last may be cut.
    pub fn lines(&self) -> impl Iterator<Item = &'a [u8]> + use<'a> {
        self.head.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii).filter(|line| !line.is_empty())
    }
}

/// The tables and columns of a database.
#[derive(Debug, Clone, Copy)]
pub struct Schema<'a> {
    /// Each table with its columns, in the order the database lists them.
    pub tables: &'a [(String, Vec<String>)],
}

/// How sure a parser is that a source is its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Score {
    /// It is not.
    No,
    /// It may be.
    Maybe,
    /// It is.
    Sure,
}

/// A source as a decoder may know it.
///
/// The labels are the user's word: `None` for a parser whose spec takes none. With a label, every id is made
/// from it ([`EventId::of`](crate::EventId::of) takes the client), so that the same source under another label is
/// another.
#[derive(Debug, Clone, Copy)]
pub struct Source<'s> {
    /// The path.
    pub path: &'s Path,
    /// The session within a container of several.
    pub logical: Option<&'s str>,
    /// The client the user says it is of, instead of [`ParserSpec::client`].
    pub client: Option<&'s str>,
    /// The session the user says all of it is.
    pub session: Option<&'s str>,
}

impl<'s> Source<'s> {
    /// Returns the source at `path`, which holds one session and has no label.
    pub const fn at(path: &'s Path) -> Self {
        Self { path, logical: None, client: None, session: None }
    }

    /// Returns the file's name without its extension, and without `.jsonl` before a compression's extension.
    pub fn stem(&self) -> String {
        let name = self.path.file_name().unwrap_or_default().to_string_lossy();
        let name = name.strip_suffix(".zst").or_else(|| name.strip_suffix(".gz")).unwrap_or(&name);
        name.rsplit_once('.').map_or(name, |(stem, _)| stem).to_owned()
    }
}

/// Where a client keeps its transcripts: patterns with `*`, `**`, `?` and a leading `~/`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Homes {
    /// What to read.
    pub include: Vec<String>,
    /// What to leave out of that.
    pub exclude: Vec<String>,
}

impl Homes {
    /// Returns homes that leave nothing out.
    pub fn of<T: Into<String>>(include: impl IntoIterator<Item = T>) -> Self {
        Self { include: include.into_iter().map(Into::into).collect(), exclude: Vec::new() }
    }
}

/// One unit of a source: a line, an element, a row.
#[derive(Debug, Clone, Copy)]
pub struct Record<'r> {
    /// Which record of the source this is, from 0. A record keeps its index while the source only grows.
    pub index: u64,
    /// The record's own key, where the shape has one.
    pub key: Option<&'r str>,
    /// The record, whole; for lines without the newline.
    pub bytes: &'r [u8],
    /// `false` for the last record of a text that may still grow; its events must not be settled.
    pub whole: bool,
}

impl<'r> Record<'r> {
    /// Reads the record as one JSON value.
    pub fn json<T: Deserialize<'r>>(&self) -> Result<T, Unreadable> {
        serde_json::from_slice(self.bytes).map_err(|error| Unreadable::new(error.to_string()))
    }
}

/// A record that is not what it should be. It is kept raw and counted, the mark passes it, and what was pushed
/// for it is dropped.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{what}")]
pub struct Unreadable {
    what: String,
}

impl Unreadable {
    /// Returns an error that says what was expected and what was found, as a lower-case fragment.
    pub fn new(what: impl Into<String>) -> Self {
        Self { what: what.into() }
    }
}

/// Why a decoder is told that a source is quiet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Quiet {
    /// The client said that the turn ended.
    TurnEnded,
    /// The client said that the session ended.
    SessionEnded,
    /// The source did not change for a minute.
    Idle,
}

/// Decodes one source, record by record, in order.
///
/// # For implementations
///
/// A decoder is made anew whenever reading goes on, from the state the last one left: reading in one run and in
/// any number of runs must say the same. What is bounded lies in the [`State`], everything else in the
/// [`Memory`]; both are stored with the mark, so that neither is ever ahead of it.
pub trait Decoder: Send {
    /// Says what `record` says. An error drops what was pushed for it.
    fn decode<'r>(
        &mut self,
        record: Record<'r>,
        memory: &mut dyn Memory,
        events: &mut Events<'r>,
    ) -> Result<(), Unreadable>;

    /// Hears that the record of that key is gone from the source. Does nothing by default.
    fn gone(&mut self, _key: &str, _memory: &mut dyn Memory, _events: &mut Events<'static>) {}

    /// Hears that nothing more is coming for now: push what was held back. It may be called at any time, or
    /// never, and reading may go on after it. Does nothing by default.
    fn quiet(&mut self, _why: Quiet, _memory: &mut dyn Memory, _events: &mut Events<'static>) {}

    /// Returns what the next decoder of this source must know; at most 4 KiB.
    fn state(&self) -> State {
        State::default()
    }
}

/// Rows of a live database, read for one generation of its schema.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rows {
    /// The name of the generation; another one is read again from the start, under the same ids.
    pub generation: &'static str,
    /// SQL for one row a session: its id and a token that changes when anything of it does.
    pub sources: String,
    /// SQL for a session's records, each a key and a value, `?1` being the session's id.
    pub records: Vec<String>,
}

/// Knows a client's transcripts.
pub trait Parser: Send + Sync {
    /// Returns what can be known without running it.
    fn spec(&self) -> &ParserSpec;

    /// Returns where transcripts are on this machine, whether anything is there or not.
    fn homes(&self, env: &dyn Env) -> Homes;

    /// Says how sure it is of a source. Must be quick, must not panic, and is never sure of another client's.
    fn score(&self, probe: &Probe<'_>) -> Score;

    /// Returns how to read a database of that schema; an error for a parser of another shape.
    fn rows(&self, _schema: &Schema<'_>) -> Result<Rows, Unreadable> {
        Err(Unreadable::new("this parser reads no database"))
    }

    /// Returns a decoder that goes on from `state`, the default one at a source's start. Sidecars are read
    /// through `env`. A state of another version is an error; the source is then read again from its start.
    fn decoder<'d>(
        &'d self,
        source: &Source<'_>,
        env: &'d dyn Env,
        state: &State,
    ) -> Result<Box<dyn Decoder + 'd>, StateError>;

    /// Returns where the sources of a session would be, for a client whose hooks give only its id.
    fn locate(&self, _env: &dyn Env, _session: &str, _cwd: Option<&Path>) -> Vec<(PathBuf, Option<String>)> {
        Vec::new()
    }
}

/// A whole parser for a client that writes one JSON value a line and whose records need no memory.
#[derive(Debug, Clone)]
pub struct LineParser {
    /// What can be known without running it.
    pub spec: ParserSpec,
    /// Where transcripts are.
    pub homes: fn(&dyn Env) -> Homes,
    /// How sure it is of a source.
    pub score: fn(&Probe<'_>) -> Score,
    /// Says what a record says.
    pub decode: for<'r> fn(&Record<'r>, &Source<'_>, &mut Events<'r>) -> Result<(), Unreadable>,
}

impl Parser for LineParser {
    fn spec(&self) -> &ParserSpec {
        &self.spec
    }

    fn homes(&self, env: &dyn Env) -> Homes {
        (self.homes)(env)
    }

    fn score(&self, probe: &Probe<'_>) -> Score {
        (self.score)(probe)
    }

    fn decoder<'d>(
        &'d self,
        source: &Source<'_>,
        _env: &'d dyn Env,
        _state: &State,
    ) -> Result<Box<dyn Decoder + 'd>, StateError> {
        Ok(Box::new(LineDecoder {
            decode: self.decode,
            path: source.path.to_owned(),
            logical: source.logical.map(str::to_owned),
            client: source.client.map(str::to_owned),
            session: source.session.map(str::to_owned),
        }))
    }
}

struct LineDecoder {
    decode: for<'r> fn(&Record<'r>, &Source<'_>, &mut Events<'r>) -> Result<(), Unreadable>,
    path: PathBuf,
    logical: Option<String>,
    client: Option<String>,
    session: Option<String>,
}

impl Decoder for LineDecoder {
    fn decode<'r>(
        &mut self,
        record: Record<'r>,
        _memory: &mut dyn Memory,
        events: &mut Events<'r>,
    ) -> Result<(), Unreadable> {
        let source = Source {
            path: &self.path,
            logical: self.logical.as_deref(),
            client: self.client.as_deref(),
            session: self.session.as_deref(),
        };
        (self.decode)(&record, &source, events)
    }
}
