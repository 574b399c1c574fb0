//! Reads one source from its mark into the store: every record is an event, a fact, known to carry nothing, or
//! kept raw.

mod apply;
mod heard;
mod idle;
mod judged;
mod kept;
mod memory;
mod recognise;
mod record;
mod told;

pub(crate) use heard::Heard;
pub(crate) use kept::{Kept, Watch};
pub(crate) use recognise::choose;
pub(crate) use told::Telling;

use crate::capture::Judge;
use crate::redact::Redactor;
use crate::source::{Limits, LineReader, Verdict};
use crate::tail::{TailError, TailOptions, TailReport};
use judged::Seen;
use scrollback_core::{Decoder, Env, LinesMark, Mark, Parser, Registry, Source, State, Timestamp};
use scrollback_store::{Counted, Counts, Label, StoreError, Writer};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

/// A transaction ends after so many bytes read, if not before.
const BATCH_BYTES: u64 = 16 << 20;

/// A source to be read.
pub(crate) struct Chosen<'r> {
    pub(crate) path: PathBuf,
    pub(crate) parser: Option<&'r dyn Parser>,
    /// Where it may have been before, if it was not read at this path yet.
    pub(crate) from: Option<PathBuf>,
}

/// What reading any source needs.
pub(crate) struct Reading<'a, 's> {
    env: &'a dyn Env,
    registry: &'a Registry,
    redactor: &'a Redactor,
    options: &'a TailOptions,
    writer: &'a mut Writer<'s>,
    key: [u8; 32],
    login: Option<String>,
    home: Option<PathBuf>,
    now: Timestamp,
    /// Events put and bytes read since the transaction began.
    batch: (u64, u64),
    /// What was read and what was kept raw, if that is to be known.
    watch: Option<Watch>,
    /// What is listened for, if anything was announced.
    heard: Option<Heard>,
    /// Says what is wanted, if not everything is.
    judge: Option<Judge>,
}

/// What reading the source at hand needs.
struct Current<'c> {
    path: &'c Path,
    parser: &'c dyn Parser,
    client: &'c str,
    label: &'c Label,
    source: i64,
    generation: u16,
    born_ns: i64,
    counts: Counts,
    kinds: BTreeMap<(Counted, String, String), u64>,
    /// What is known of its sessions, if events are judged.
    seen: Seen,
    stored: u64,
    /// Whether what is not understood is kept raw; it is not where it already was.
    keeps: bool,
}

/// Where a record stands.
#[derive(Clone, Copy)]
struct Place {
    index: u64,
    offset: u64,
    length: u64,
    /// The part its next event is.
    part: u32,
}

/// How the reading of a source ended.
enum Read {
    Done,
    /// The state the decoder left is not one it goes on from.
    AnotherVersion,
    /// Another process read the source too.
    Overtaken,
}

impl<'a, 's> Reading<'a, 's> {
    pub(crate) fn new(
        env: &'a dyn Env,
        registry: &'a Registry,
        redactor: &'a Redactor,
        options: &'a TailOptions,
        writer: &'a mut Writer<'s>,
    ) -> Result<Self, StoreError> {
        let key = *writer.content_key();
        let judge = Judge::of(writer, &options.capture, options.everything)?;
        Ok(Self {
            env,
            registry,
            redactor,
            options,
            writer,
            key,
            login: env.login(),
            home: env.home(),
            now: env.now(),
            batch: (0, 0),
            watch: None,
            heard: None,
            judge,
        })
    }

    /// Reads a source from its mark on. What is wrong with it goes into the report; an error is the store's.
    /// `progress` hears the bytes and the new events of this source so far.
    pub(crate) fn source(
        &mut self,
        chosen: &Chosen<'_>,
        report: &mut TailReport,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<(), TailError> {
        let path = chosen.path.as_path();
        let parser = match chosen.parser {
            Some(parser) => parser,
            None => match self.recognise(path, report) {
                Some(parser) => parser,
                None => return Ok(()),
            },
        };
        let mut again = self.options.again;
        if let Some(from) = &chosen.from {
            self.follow(from, path, parser)?;
        }
        // Another process that read the source meanwhile left another mark: reading goes on from there.
        while let Read::Overtaken = self.source_once(path, parser, again, report, progress)? {
            again = false;
        }
        Ok(())
    }

    /// Lets the source at `from` go on at `path`, if the bytes there say that it is the same: it was moved, or
    /// compressed, or is plain again.
    fn follow(&mut self, from: &Path, path: &Path, parser: &dyn Parser) -> Result<(), TailError> {
        let Some(row) = self.writer.source_row(from, None)? else { return Ok(()) };
        let Some(Mark::Lines(mark)) = &row.mark else { return Ok(()) };
        if row.parser != parser.spec().id || self.writer.source_row(path, None)?.is_some() {
            return Ok(());
        }
        let limits = Limits { max_line: self.options.max_line, ..Limits::default() };
        let volatile_head = parser.spec().volatile_head;
        // What cannot be opened is told when it is read.
        if let Ok(Some(reader)) = LineReader::open_moved(path, mark, volatile_head, limits, self.now) {
            let mark = LinesMark { idle: mark.idle, tried: mark.tried, ..reader.mark() };
            self.writer.moved(row.row, path, &Mark::Lines(mark))?;
        }
        Ok(())
    }

    fn source_once(
        &mut self,
        path: &Path,
        parser: &dyn Parser,
        again: bool,
        report: &mut TailReport,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<Read, TailError> {
        let spec = parser.spec();
        let row = self.writer.source_row(path, None)?;
        let held = row.as_ref().filter(|row| row.parser == spec.id);
        let mark = match held.and_then(|row| row.mark.as_ref()) {
            Some(Mark::Lines(mark)) if !again => Some(mark),
            _ => None,
        };
        let limits = Limits { max_line: self.options.max_line, ..Limits::default() };
        report.opened += 1;
        let (reader, verdict) = match LineReader::open(path, mark, spec.volatile_head, limits, self.now) {
            Ok(opened) => opened,
            Err(error) => {
                report.skipped += 1;
                report.problem(path, None, error.to_string());
                return Ok(Read::Done);
            }
        };
        report.sources += 1;
        let source = self.writer.source(path, None, &spec.id)?;
        let label = held.map(|row| &row.label).cloned().unwrap_or_default();
        let label = if spec.labelled { self.options.label.or(&label) } else { Label::default() };
        if row.as_ref().is_none_or(|row| row.label != label) {
            self.writer.label(source, &label)?;
        }
        let generation = row.as_ref().map_or(0, |row| row.generation);
        let mut current = Current {
            path,
            parser,
            client: client_of(parser, &label),
            label: &label,
            source,
            generation,
            born_ns: born_ns(path),
            counts: held.map(|row| row.counts).unwrap_or_default(),
            kinds: BTreeMap::new(),
            seen: Seen::default(),
            stored: 0,
            keeps: true,
        };
        let mut state = held.map(|row| row.state.clone()).unwrap_or_default();
        if let Verdict::Again { head_same, .. } = verdict {
            let begun_anew = mark.is_some() && !head_same;
            self.start_over(&mut current, &mut state, begun_anew)?;
        }
        let mut read = self.read(reader, &mut current, state, report, progress)?;
        if let Read::AnotherVersion = read {
            // The parser's state is of another version: everything again, under the same ids.
            match LineReader::open(path, None, spec.volatile_head, limits, self.now) {
                Ok((reader, _)) => {
                    let mut state = State::default();
                    self.start_over(&mut current, &mut state, false)?;
                    read = self.read(reader, &mut current, state, report, progress)?;
                    if let Read::AnotherVersion = read {
                        report.skipped += 1;
                        let what = "the parser failed before the first record (please report it)";
                        report.problem(path, None, what);
                    }
                }
                Err(error) => report.problem(path, None, error.to_string()),
            }
        }
        report.count(&spec.id, u64::from(!matches!(read, Read::Overtaken)), current.stored);
        if let Read::Overtaken = read {
            report.sources -= 1;
        }
        Ok(read)
    }

    fn start_over(
        &mut self,
        current: &mut Current<'_>,
        state: &mut State,
        anew: bool,
    ) -> Result<(), StoreError> {
        if anew {
            current.generation = current.generation.saturating_add(1);
        }
        current.counts = Counts::default();
        *state = State::default();
        self.writer.again(current.source, current.generation)
    }

    fn read<'c>(
        &mut self,
        mut reader: LineReader,
        current: &mut Current<'c>,
        mut state: State,
        report: &mut TailReport,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<Read, TailError>
    where
        'a: 'c,
    {
        let Some(mut decoder) = self.decoder(current, &state) else { return Ok(Read::AnotherVersion) };
        let (bytes_before, stored_before) = (report.bytes, report.stored);
        let mut changed = false;
        loop {
            let line = match reader.next() {
                Ok(Some(line)) => line,
                Ok(None) => break,
                Err(error) => {
                    report.problem(current.path, None, error.to_string());
                    break;
                }
            };
            changed = true;
            if line.nuls {
                let what = "NUL bytes were left out: the machine may have gone down while the client wrote";
                report.problem(current.path, Some(line.index + 1), what);
            }
            report.bytes += line.length;
            self.batch.1 += line.length;
            if line.over {
                let (index, offset, length) = (line.index, line.offset, line.length);
                self.long(&mut reader, current, (index, offset, length), report)?;
            } else if !line.bytes.is_empty() {
                self.line(line, &mut decoder, current, report, &mut state)?;
            }
            if self.batch.0 >= self.options.batch || self.batch.1 >= BATCH_BYTES {
                let mark = reader.mark();
                state = self.keep_mark(current, &mark, decoder.as_ref(), false, report)?;
                self.checkpoint()?;
                progress(report.bytes - bytes_before, report.stored - stored_before);
                let row = self.writer.source_row(current.path, None)?;
                if row.and_then(|row| row.mark) != Some(Mark::Lines(mark)) {
                    return Ok(Read::Overtaken);
                }
            }
        }
        let mut mark = reader.mark();
        self.quiet(&mut decoder, current, &mut mark, report)?;
        if changed {
            report.sources_changed += 1;
        }
        self.keep_mark(current, &mark, decoder.as_ref(), true, report)?;
        self.writer.read_through(current.source)?;
        Ok(Read::Done)
    }

    fn decoder<'c>(&self, current: &Current<'c>, state: &State) -> Option<Box<dyn Decoder + 'c>>
    where
        'a: 'c,
    {
        let (client, session) = (current.label.client.as_deref(), current.label.session.as_deref());
        let source = Source { client, session, ..Source::at(current.path) };
        catch_unwind(AssertUnwindSafe(|| current.parser.decoder(&source, self.env, state).ok()))
            .ok()
            .flatten()
    }

    fn keep_mark(
        &mut self,
        current: &mut Current<'_>,
        mark: &LinesMark,
        decoder: &dyn Decoder,
        last: bool,
        report: &mut TailReport,
    ) -> Result<State, StoreError> {
        for ((counted, kind, version), n) in std::mem::take(&mut current.kinds) {
            self.writer.count_kind(current.source, counted, &kind, &version, n)?;
        }
        let mut state = state_of(decoder);
        if state.json.len() > State::LIMIT {
            if last {
                let what = format!(
                    "the parser's state is {} bytes long, over the limit of 4096: once the source grows it will be read again from its start",
                    state.json.len()
                );
                report.problem(current.path, None, what);
            }
            state = no_state();
        }
        if let Cow::Owned(redacted) = self.redactor.json(&state.json) {
            state.json = redacted;
        }
        self.writer.mark(current.source, &Mark::Lines(mark.clone()), &state, &current.counts)?;
        Ok(state)
    }

    fn checkpoint(&mut self) -> Result<(), StoreError> {
        self.batch = (0, 0);
        if self.options.dry_run { Ok(()) } else { self.writer.checkpoint() }
    }
}

/// Returns the client a source is of: the user's word, else the parser's.
pub(crate) fn client_of<'c>(parser: &'c dyn Parser, label: &'c Label) -> &'c str {
    label.client.as_deref().unwrap_or(&parser.spec().client)
}

/// Returns what a decoder leaves.
fn state_of(decoder: &dyn Decoder) -> State {
    catch_unwind(AssertUnwindSafe(|| decoder.state())).unwrap_or_else(|_| no_state())
}

/// Returns a state no decoder goes on from: its source is read again from the start.
fn no_state() -> State {
    State { version: u32::MAX, json: String::new() }
}

/// Returns when a file was made, in nanoseconds since 1970; when it last changed where the system does not say.
fn born_ns(path: &Path) -> i64 {
    let born =
        std::fs::metadata(path).and_then(|metadata| metadata.created().or_else(|_| metadata.modified()));
    let since = born.ok().and_then(|born| born.duration_since(std::time::UNIX_EPOCH).ok());
    since.map_or(i64::MAX, |since| i64::try_from(since.as_nanos()).unwrap_or(i64::MAX))
}
