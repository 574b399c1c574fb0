//! Records that were kept raw: read once more, compared with what is read, forgotten.

use super::judged::Seen;
use super::{Current, Place, Reading, client_of};
use crate::tail::{TailError, TailReport};
use scrollback_core::{Parser, State};
use scrollback_store::{Counted, Counts, RawRecord, SourceRow, StoreError};
use std::collections::{BTreeMap, HashSet};

/// The digests of what was read, before redaction, keyed.
#[derive(Default)]
pub(crate) struct Watch {
    /// Of every record.
    pub(crate) read: HashSet<[u8; 16]>,
    /// Of those that were not understood.
    pub(crate) raw: HashSet<[u8; 16]>,
}

/// What reading records as they were kept gave.
#[derive(Default)]
pub(crate) struct Kept {
    /// The rows of those that are understood now.
    pub(crate) understood: Vec<i64>,
    /// What was counted in all of them; of events those that are new.
    pub(crate) counts: Counts,
    /// The kinds in them: why each is counted, kind and version.
    pub(crate) kinds: BTreeMap<(Counted, String, String), u64>,
}

impl Reading<'_, '_> {
    /// Begins to watch what is read; returns what was watched so far.
    pub(crate) fn watch(&mut self) -> Watch {
        self.watch.replace(Watch::default()).unwrap_or_default()
    }

    /// Forgets records kept raw that are understood after all; returns how many.
    pub(crate) fn forget_raw(&mut self, rows: &[i64]) -> Result<u64, StoreError> {
        for row in rows {
            self.writer.raw_understood(*row)?;
        }
        Ok(rows.len() as u64)
    }

    /// Reads records that were kept raw and are in no file any more: each by itself, as it was kept. What it gives
    /// is stored; the rows themselves and what is counted in the source stay as they are.
    pub(crate) fn kept(
        &mut self,
        parser: &dyn Parser,
        row: &SourceRow,
        records: &[RawRecord],
        report: &mut TailReport,
    ) -> Result<Kept, TailError> {
        let mut current = Current {
            path: &row.path,
            parser,
            client: client_of(parser, &row.label),
            label: &row.label,
            source: row.row,
            generation: row.generation,
            // Its file was seen before: an older birth is already known.
            born_ns: i64::MAX,
            counts: Counts::default(),
            kinds: BTreeMap::new(),
            seen: Seen::default(),
            stored: 0,
            keeps: false,
        };
        let mut kept = Kept::default();
        for record in records {
            let bytes = self.writer.store().raw_bytes(record.row)?;
            // What the decoder left belongs to the end of the source, not to this record; but where a user may name
            // the session, nothing in the record need say it.
            let state = if parser.spec().labelled { row.state.clone() } else { State::default() };
            let Some(mut decoder) = self.decoder(&current, &state) else { break };
            let mut place =
                Place { index: record.record, offset: record.offset, length: record.length, part: 0 };
            let before = current.counts;
            match self.record(&bytes, &mut decoder, &mut current, &mut place, report)? {
                Ok(()) => self.hush(&mut decoder, &mut current, place, report)?,
                Err(refused) => self.refuse(&bytes, &refused.what(), &mut current, place, report)?,
            }
            let after = current.counts;
            let understood = (after.unknown, after.unreadable) == (before.unknown, before.unreadable);
            if understood {
                kept.understood.push(record.row);
            }
            for (kind, n) in std::mem::take(&mut current.kinds) {
                *kept.kinds.entry(kind).or_default() += n;
            }
        }
        report.count(&row.parser, 0, current.stored);
        kept.counts = Counts { events: current.stored, ..current.counts };
        Ok(kept)
    }
}
