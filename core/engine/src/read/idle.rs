//! Sources that did not change for a while: their decoders are told, and say what they held back.

use super::judged::Seen;
use super::memory::Redacted;
use super::{Current, Place, Reading, client_of};
use crate::tail::{TailError, TailReport};
use scrollback_core::{Decoder, Events, LinesMark, Mark, Parser, Quiet, Timestamp};
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

/// A decoder hears that its source is idle when it did not change for this long.
const IDLE_NS: i64 = 60_000_000_000;

impl Reading<'_, '_> {
    /// Says whether a source that did not change has still something to say: its decoder was not yet told that
    /// it is idle, and now it is.
    pub(crate) fn is_due(mark: &LinesMark, now: Timestamp) -> bool {
        !mark.idle && is_idle(mark.mtime_ns, now)
    }

    /// Tells the decoder of a source that did not change for a minute; the source is not opened.
    pub(crate) fn idle(
        &mut self,
        parser: &dyn Parser,
        path: &Path,
        report: &mut TailReport,
    ) -> Result<(), TailError> {
        let Some(row) = self.writer.source_row(path, None)? else { return Ok(()) };
        let Some(Mark::Lines(mark)) = &row.mark else { return Ok(()) };
        if row.parser != parser.spec().id || !Self::is_due(mark, self.now) {
            return Ok(());
        }
        let mut current = Current {
            path: &row.path,
            parser,
            client: client_of(parser, &row.label),
            label: &row.label,
            source: row.row,
            generation: row.generation,
            // Its file was seen before: an older birth is already known.
            born_ns: i64::MAX,
            counts: row.counts,
            kinds: BTreeMap::new(),
            seen: Seen::default(),
            stored: 0,
            keeps: true,
        };
        let mut mark = mark.clone();
        if let Some(mut decoder) = self.decoder(&current, &row.state) {
            self.quiet(&mut decoder, &mut current, &mut mark, report)?;
            self.keep_mark(&mut current, &mark, decoder.as_ref(), true, report)?;
        }
        report.count(&row.parser, 0, current.stored);
        Ok(())
    }

    /// Tells a decoder that its source is idle, if it is.
    pub(super) fn quiet(
        &mut self,
        decoder: &mut Box<dyn Decoder + '_>,
        current: &mut Current<'_>,
        mark: &mut LinesMark,
        report: &mut TailReport,
    ) -> Result<(), TailError> {
        if !is_idle(mark.mtime_ns, self.now) {
            return Ok(());
        }
        let place = Place { index: mark.index, offset: mark.offset, length: 0, part: 0 };
        self.hush(decoder, current, place, report)?;
        mark.idle = true;
        Ok(())
    }

    /// Takes from a decoder what it held back.
    pub(super) fn hush(
        &mut self,
        decoder: &mut Box<dyn Decoder + '_>,
        current: &mut Current<'_>,
        place: Place,
        report: &mut TailReport,
    ) -> Result<(), TailError> {
        let mut events = Events::new();
        let mut memory = Redacted::new(self.writer.memory(current.source), self.redactor);
        let quiet = catch_unwind(AssertUnwindSafe(|| decoder.quiet(Quiet::Idle, &mut memory, &mut events)));
        memory.finish()?;
        if quiet.is_ok() {
            let verdict = self.judge(events.said(), current)?;
            self.apply(events, &verdict, current, place, report)?;
        }
        Ok(())
    }
}

fn is_idle(mtime_ns: i64, now: Timestamp) -> bool {
    now.micros().saturating_mul(1_000).saturating_sub(mtime_ns) > IDLE_NS
}
