//! One record: decoded, refused, or kept raw.

use super::apply::cut;
use super::judged::Judged;
use super::memory::Redacted;
use super::{Current, Place, Reading, state_of};
use crate::prepare::short;
use crate::redact::Streamer;
use crate::source::{Line, LineReader, values};
use crate::tail::{TailError, TailReport};
use scrollback_core::{Decoder, Events, Record, Said, State, Unreadable};
use scrollback_store::{Counted, StoreError, Why};
use std::panic::{AssertUnwindSafe, catch_unwind};

pub(super) enum Refused {
    Unreadable(Unreadable),
    Panicked,
}

impl Refused {
    pub(super) fn what(&self) -> String {
        match self {
            Self::Unreadable(unreadable) => unreadable.to_string(),
            Self::Panicked => "the parser failed on this record (please report it)".to_owned(),
        }
    }
}

impl<'a> Reading<'a, '_> {
    /// Decodes a line: one record, or, where that fails, as many as it holds.
    pub(super) fn line<'c>(
        &mut self,
        line: Line<'_>,
        decoder: &mut Box<dyn Decoder + 'c>,
        current: &mut Current<'c>,
        report: &mut TailReport,
        state: &mut State,
    ) -> Result<(), TailError>
    where
        'a: 'c,
    {
        let mut place = Place { index: line.index, offset: line.offset, length: line.length, part: 0 };
        let whole = self.record(line.bytes, decoder, current, &mut place, report)?;
        let Err(refused) = whole else { return Ok(()) };
        if let Refused::Panicked = refused {
            // Goes on from what it would have left, as a decoder made after this record does.
            let left = state_of(decoder.as_ref());
            if let Some(fresh) = self.decoder(current, &left).or_else(|| self.decoder(current, state)) {
                *decoder = fresh;
            }
        }
        let parts = values(line.bytes);
        if parts.parts().len() < 2 {
            return self.refuse(line.bytes, &refused.what(), current, place, report);
        }
        for part in parts {
            let refused = if part.whole {
                self.record(part.bytes, decoder, current, &mut place, report)?
                    .err()
                    .map(|refused| refused.what())
            } else {
                Some("a record that is not finished".to_owned())
            };
            if let Some(what) = refused {
                self.refuse(part.bytes, &what, current, place, report)?;
            }
        }
        Ok(())
    }

    /// Decodes one record and keeps what it says; or says why it was refused.
    pub(super) fn record(
        &mut self,
        bytes: &[u8],
        decoder: &mut Box<dyn Decoder + '_>,
        current: &mut Current<'_>,
        place: &mut Place,
        report: &mut TailReport,
    ) -> Result<Result<(), Refused>, TailError> {
        if let Some(watch) = &mut self.watch {
            watch.read.insert(short(blake3::keyed_hash(&self.key, bytes)));
        }
        let mut events = Events::new();
        let record = Record::new(place.index, bytes);
        let mut memory = Redacted::new(self.writer.memory(current.source), self.redactor);
        let outcome = catch_unwind(AssertUnwindSafe(|| decoder.decode(record, &mut memory, &mut events)));
        memory.finish()?;
        match outcome {
            Err(_) => return Ok(Err(Refused::Panicked)),
            Ok(Err(unreadable)) => return Ok(Err(Refused::Unreadable(unreadable))),
            Ok(Ok(())) => {}
        }
        let judged = self.judge(events.said(), current)?;
        if let Judged::Skip(why) = judged {
            self.skip(why, current, report);
            place.part = self.apply(events, &judged, current, *place, report)?;
            return Ok(Ok(()));
        }
        report.records += 1;
        current.counts.records += 1;
        let unknown = events.said().iter().find_map(|said| match said {
            Said::Unknown { kind, version } => {
                Some((kind.to_string(), version.as_ref().map(ToString::to_string)))
            }
            _ => None,
        });
        let unknown =
            if events.is_silent() { Some(("(the parser said nothing)".to_owned(), None)) } else { unknown };
        if let Some((kind, version)) = &unknown {
            if events.is_silent() {
                self.count(current, Counted::Unknown, kind, "");
            }
            current.counts.unknown += 1;
            report.not_understood += 1;
            self.keep_raw(bytes, Why::Unknown, kind, version.as_deref(), current, *place)?;
        } else if self.options.raw_all && !matches!(events.said(), [Said::Nothing(_)]) {
            self.keep_raw(bytes, Why::All, "", None, current, *place)?;
        }
        if let [Said::Nothing(kind), rest @ ..] = events.said()
            && rest.iter().all(|said| matches!(said, Said::Nothing(_) | Said::Remark(_)))
        {
            current.counts.nothing += 1;
            self.count(current, Counted::Nothing, kind, "");
        }
        place.part = self.apply(events, &judged, current, *place, report)?;
        Ok(Ok(()))
    }

    pub(super) fn refuse(
        &mut self,
        bytes: &[u8],
        what: &str,
        current: &mut Current<'_>,
        place: Place,
        report: &mut TailReport,
    ) -> Result<(), TailError> {
        if let Judged::Skip(why) = self.judge_unread(current)? {
            self.skip(why, current, report);
            return Ok(());
        }
        report.records += 1;
        report.unreadable += 1;
        current.counts.records += 1;
        current.counts.unreadable += 1;
        report.problem(current.path, Some(place.index + 1), format!("{what}; kept raw"));
        self.keep_raw(bytes, Why::Unreadable, what, None, current, place)?;
        Ok(())
    }

    /// Counts a record that is passed.
    fn skip(&self, why: &'static str, current: &mut Current<'_>, report: &mut TailReport) {
        report.records += 1;
        report.pass(why, 1);
        current.counts.records += 1;
        current.counts.skipped += 1;
        self.count(current, Counted::Skipped, why, "");
    }

    fn keep_raw(
        &mut self,
        bytes: &[u8],
        why: Why,
        kind: &str,
        version: Option<&str>,
        current: &Current<'_>,
        place: Place,
    ) -> Result<(), StoreError> {
        if !current.keeps && why != Why::All {
            return Ok(());
        }
        let digest = short(blake3::keyed_hash(&self.key, bytes));
        if let Some(watch) = self.watch.as_mut().filter(|_| why != Why::All) {
            watch.raw.insert(digest);
        }
        let place = (place.index, place.offset, place.length);
        let bytes = self.redactor.record(bytes);
        let kind = self.redactor.text(kind);
        self.writer.raw(current.client, current.source, place, why, cut(&kind), version, &digest, &bytes)
    }

    /// Keeps a record that is too long to be held in memory, chunk by chunk.
    pub(super) fn long(
        &mut self,
        reader: &mut LineReader,
        current: &mut Current<'_>,
        (index, offset, length): (u64, u64, u64),
        report: &mut TailReport,
    ) -> Result<(), TailError> {
        if let Judged::Skip(why) = self.judge_unread(current)? {
            self.skip(why, current, report);
            while let Ok(Some(_)) = reader.next_chunk() {}
            return Ok(());
        }
        let what = format!(
            "a record of {length} bytes, over the limit of {}: kept raw, not decoded",
            self.options.max_line
        );
        let raw = self.writer.raw_begin(current.client, current.source, index, offset, &what)?;
        let mut hasher = blake3::Hasher::new_keyed(&self.key);
        let mut streamer = Streamer::new(self.redactor);
        let (mut out, mut chunks) = (Vec::new(), 0);
        loop {
            match reader.next_chunk() {
                Ok(Some(chunk)) => {
                    hasher.update(chunk);
                    streamer.push(chunk, &mut out);
                }
                Ok(None) => break,
                Err(error) => {
                    report.problem(current.path, Some(index + 1), error.to_string());
                    break;
                }
            }
            if out.len() >= 1 << 20 {
                self.writer.raw_chunk(raw, chunks, &out)?;
                chunks += 1;
                out.clear();
            }
        }
        streamer.finish(&mut out);
        self.writer.raw_chunk(raw, chunks, &out)?;
        self.writer.raw_end(raw, length, &short(hasher.finalize()))?;
        report.records += 1;
        report.unreadable += 1;
        current.counts.records += 1;
        current.counts.unreadable += 1;
        report.problem(current.path, Some(index + 1), what);
        Ok(())
    }
}
