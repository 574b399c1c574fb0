//! What knows a client's transcripts.

use crate::{Env, Events, Memory, State, StateError};
use serde::Deserialize;
use std::borrow::Cow;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// How a source holds its records, and so which of the engine's readers reads it. So far the engine reads lines;
/// what the traits say of the other shapes is how they will be read.
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

/// Which parsers are asked first: a fallback gets a source only if no client's parser claims it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Tier {
    /// Made for one client.
    Client,
    /// Takes what no other is sure of.
    Fallback,
}

/// What can be known of a parser without running it. It is a constant: help, lists and probes work on it.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ParserSpec {
    /// The parser's id: kebab-case, the same everywhere, one a program. It is what `--parser` takes.
    pub id: Cow<'static, str>,
    /// The client's name as people write it.
    pub name: Cow<'static, str>,
    /// The id of the client whose events it gives: that of the parser, unless a client has several. Events of one
    /// client share sessions and ids, whichever of its parsers gave them.
    pub client: Cow<'static, str>,
    /// How its sources hold records.
    pub shape: Shape,
    /// When it is asked.
    pub tier: Tier,
    /// How many bytes at a source's start the client rewrites in place, such as a header with a count. A change in
    /// them is not taken for another file.
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
///
/// The path is worth little: transcripts are copied, archived and renamed. A score rests on the content.
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

/// How sure a parser is that a source is its own. The surest of the first tier gets it; of several equally sure, the
/// first by id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Score {
    /// It is not, or nothing speaks for it.
    No,
    /// It may be: the form is right, and nothing names the client.
    Maybe,
    /// It is: something in it that no other client writes.
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
///
/// They say where to look, whether anything is there or not; what a client's variable moves is asked of
/// [`Env::var`].
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Homes {
    /// What to read.
    pub include: Vec<String>,
    /// What to leave out of that.
    pub exclude: Vec<String>,
}

impl Homes {
    /// Returns homes that are nowhere: the client's transcripts are read only where a user points to them.
    pub const fn nowhere() -> Self {
        Self { include: Vec::new(), exclude: Vec::new() }
    }

    /// Returns homes that leave nothing out.
    pub fn of<T: Into<String>>(include: impl IntoIterator<Item = T>) -> Self {
        Self { include: include.into_iter().map(Into::into).collect(), exclude: Vec::new() }
    }

    /// Returns the homes with more left out of them.
    #[must_use]
    pub fn without<T: Into<String>>(mut self, exclude: impl IntoIterator<Item = T>) -> Self {
        self.exclude.extend(exclude.into_iter().map(Into::into));
        self
    }
}

/// One unit of a source: a line, an element, a row. What a decoder says borrows from its bytes.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Record<'r> {
    /// Which record of the source this is, from 0. A record keeps its index while the source only grows; several
    /// values on one line share theirs. It is good for an [`Order`](crate::Order), and for nothing else: an id made of
    /// it changes when the file is rewritten.
    pub index: u64,
    /// The record's own key, where the shape has one.
    pub key: Option<&'r str>,
    /// The record, whole; for lines without the newline.
    pub bytes: &'r [u8],
    /// `false` for the last record of a text that may still grow; its events must not be settled.
    pub whole: bool,
}

impl<'r> Record<'r> {
    /// Returns a whole record without a key: what the engine reads, and what a test makes up.
    pub const fn new(index: u64, bytes: &'r [u8]) -> Self {
        Self { index, key: None, bytes, whole: true }
    }

    /// Returns the record with a key of its own.
    #[must_use]
    pub const fn keyed(mut self, key: &'r str) -> Self {
        self.key = Some(key);
        self
    }

    /// Returns the record as one that may still grow.
    #[must_use]
    pub const fn unfinished(mut self) -> Self {
        self.whole = false;
        self
    }

    /// Reads the record as one JSON value.
    pub fn json<T: Deserialize<'r>>(&self) -> Result<T, Unreadable> {
        serde_json::from_slice(self.bytes).map_err(|error| Unreadable::new(error.to_string()))
    }
}

/// A record that is not what it should be. It is kept raw and counted, the mark passes it, and what was put into
/// [`Events`] for it is dropped.
///
/// It is for what is malformed. A record that can be read and is merely new is [`Events::unknown`].
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{what}")]
pub struct Unreadable {
    what: String,
}

impl Unreadable {
    /// Returns an error that says what was expected and what was found, as a lower-case fragment. People read it
    /// beside the file and the record; it quotes none of the record's text.
    pub fn new(what: impl Into<String>) -> Self {
        Self { what: what.into() }
    }
}

/// Why a decoder is told that a source is quiet. Most decoders treat all of them alike.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Quiet {
    /// The turn ended, by a hook's word; the session may go on.
    TurnEnded,
    /// The session ended, or all of a file was read that nobody will read on (`parse`).
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
///
/// Here the first line of a file names the session (state), and lines have no id, so that the same words a second
/// time are told apart by their count (memory):
///
/// ```
/// use scrollback_core::*;
/// use serde::{Deserialize, Serialize};
///
/// #[derive(Deserialize)]
/// struct Line<'r> {
///     session: Option<&'r str>,
///     #[serde(borrow, default)]
///     said: Text<'r>,
/// }
///
/// #[derive(Default, Serialize, Deserialize)]
/// struct Known {
///     session: String,
/// }
///
/// struct AcmeDecoder(Known);
///
/// impl Decoder for AcmeDecoder {
///     fn decode<'r>(
///         &mut self,
///         record: Record<'r>,
///         memory: &mut dyn Memory,
///         events: &mut Events<'r>,
///     ) -> Result<(), Unreadable> {
///         // What can fail comes first: what was remembered before an error stays.
///         let line: Line<'r> = record.json()?;
///         if let Some(session) = line.session {
///             self.0.session = session.to_owned();
///             events.nothing("session");
///             return Ok(());
///         }
///         let digest = text_digest(&line.said);
///         let n = memory.count(digest.as_bytes()).to_string();
///         let id = EventId::of("acme", &[&self.0.session, &digest, &n, "0"]);
///         events.event(Event::new(id, self.0.session.clone(), Body::message(Role::User, line.said)));
///         Ok(())
///     }
///
///     fn state(&self) -> State {
///         State::save(1, &self.0)
///     }
/// }
///
/// // As the engine does: the first line, a stop, and on from what was stored.
/// let (mut memory, mut events) = (MapMemory::default(), Events::new());
/// let mut first = AcmeDecoder(State::default().load(1)?);
/// first.decode(Record::new(0, br#"{"session":"s1"}"#), &mut memory, &mut events).unwrap();
/// let mut second = AcmeDecoder(first.state().load(1)?);
/// second.decode(Record::new(1, br#"{"said":"Go on."}"#), &mut memory, &mut events).unwrap();
/// second.decode(Record::new(2, br#"{"said":"Go on."}"#), &mut memory, &mut events).unwrap();
/// let [Said::Nothing(kind), Said::Event(one), Said::Event(two)] = events.said() else { panic!() };
/// assert_eq!(kind, "session");
/// assert_eq!((&*one.session, &one.body), ("s1", &two.body));
/// assert_ne!(one.id, two.id);
/// # Ok::<(), StateError>(())
/// ```
pub trait Decoder: Send {
    /// Says what `record` says: at least one thing. An error drops what was put into `events` for it, and nothing
    /// else: what it put into `memory`, or changed in the decoder, stays.
    fn decode<'r>(
        &mut self,
        record: Record<'r>,
        memory: &mut dyn Memory,
        events: &mut Events<'r>,
    ) -> Result<(), Unreadable>;

    /// Hears that the record of that key is gone from the source, where records have keys: rows, documents, files.
    /// Called after the last record. Does nothing by default: what merely disappeared is not taken back.
    fn gone(&mut self, _key: &str, _memory: &mut dyn Memory, _events: &mut Events<'static>) {}

    /// Hears that nothing more is coming for now: say what was held back. It may be called at any time, or
    /// never, and reading may go on after it; so what is not finished is said as not settled, under an id that it
    /// keeps, and stays in the memory. Does nothing by default.
    fn quiet(&mut self, _why: Quiet, _memory: &mut dyn Memory, _events: &mut Events<'static>) {}

    /// Returns what the next decoder of this source must know; at most 4 KiB. May be called after any record. The
    /// default is none, for a decoder that keeps nothing or everything in the memory.
    fn state(&self) -> State {
        State::default()
    }
}

/// Rows of a live database, read for one generation of its schema.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Rows {
    /// The name of the generation; another one is read again from the start, under the same ids.
    pub generation: &'static str,
    /// SQL for one row a session: its id and a token that changes when anything of it does.
    pub sources: String,
    /// SQL for a session's records, each a key and a value, `?1` being the session's id.
    pub records: Vec<String>,
}

impl Rows {
    /// Returns the rows of a generation: SQL that lists its sessions, and SQL for the records of one.
    pub fn new<T: Into<String>>(
        generation: &'static str,
        sources: impl Into<String>,
        records: impl IntoIterator<Item = T>,
    ) -> Self {
        Self { generation, sources: sources.into(), records: records.into_iter().map(Into::into).collect() }
    }
}

/// Knows a client's transcripts.
///
/// # For implementations
///
/// A parser is a constant: it keeps nothing between two sources. `scrollback-testkit` has the laws; most are about
/// its decoders.
pub trait Parser: Send + Sync {
    /// Returns what can be known without running it.
    fn spec(&self) -> &ParserSpec;

    /// Returns where transcripts are on this machine, whether anything is there or not. Asks `env` for the
    /// variables that move them, and looks at no file.
    fn homes(&self, env: &dyn Env) -> Homes;

    /// Says how sure it is of a source. Must be quick, must not panic, and is never sure of another client's, nor
    /// of an empty file.
    fn score(&self, probe: &Probe<'_>) -> Score;

    /// Returns how to read a database of that schema; an error for a parser of another shape.
    fn rows(&self, _schema: &Schema<'_>) -> Result<Rows, Unreadable> {
        Err(Unreadable::new("this parser reads no database"))
    }

    /// Returns a decoder that goes on from `state`, the default one at a source's start. Sidecars are read
    /// through `env`. A state of another version is an error ([`State::load`] says so); the source is then read again
    /// from its start, so a decoder must always start from the default one.
    fn decoder<'d>(
        &'d self,
        source: &Source<'_>,
        env: &'d dyn Env,
        state: &State,
    ) -> Result<Box<dyn Decoder + 'd>, StateError>;

    /// Returns where the sources of a session would be, for a client whose hooks give only its id: paths, each with
    /// the session within it if it holds several. Nothing by default.
    fn locate(&self, _env: &dyn Env, _session: &str, _cwd: Option<&Path>) -> Vec<(PathBuf, Option<String>)> {
        Vec::new()
    }
}

/// A whole parser for a client that writes one JSON value a line and whose records need no memory. The
/// [front page](crate#a-whole-parser) has one.
///
/// These fields are all there will be: what needs more implements [`Parser`].
#[derive(Debug, Clone)]
pub struct LineParser {
    /// What can be known without running it.
    pub spec: ParserSpec,
    /// Where transcripts are, as [`Parser::homes`].
    pub homes: fn(&dyn Env) -> Homes,
    /// How sure it is of a source, as [`Parser::score`].
    pub score: fn(&Probe<'_>) -> Score,
    /// Says what a record says, as [`Decoder::decode`].
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
