//! Records that were kept raw, read by the parsers of today.

use crate::read::{Chosen, Kept, Reading, Watch, client_of};
use crate::redact::Redactor;
use crate::source::stat;
use crate::tail::{TailError, TailOptions, TailReport};
use scrollback_core::{Env, Registry};
use scrollback_store::{Counted, Counts, KindCount, RawRecord, SourceRow, Store, StoreError, Why, Writer};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::io;

/// What reading kept records again gave.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ReparseReport {
    /// Records that were kept raw because they were not understood.
    pub raw: u64,
    /// Of these, those that are understood now.
    pub understood: u64,
    /// Sources read again from their file.
    pub sources: u64,
    /// Sources that are gone, whose records were read as they were kept.
    pub gone: u64,
    /// What reading did.
    pub tail: TailReport,
}

/// A source that is gone, and what its records gave.
struct Gone<'s> {
    row: &'s SourceRow,
    client: String,
    raw: &'s [RawRecord],
    kept: Kept,
}

/// Reads again what was not understood. Where the transcript is still there, it is read from its start, under the
/// same ids; else the records are read as they were kept, and so are those of a transcript that no longer holds
/// them. What is understood is kept raw no more; everything else stays as it is. Of `options`, what a tail keeps
/// and how much it holds in memory counts.
pub fn reparse(
    env: &dyn Env,
    registry: &Registry,
    store: &mut Store,
    options: &TailOptions,
) -> Result<ReparseReport, TailError> {
    let mut report = ReparseReport::default();
    let mut raw: HashMap<i64, Vec<RawRecord>> = HashMap::new();
    for record in store.raw_records()?.into_iter().filter(not_understood) {
        report.raw += 1;
        raw.entry(record.source).or_default().push(record);
    }
    // A record that several sources hold is kept once, and counted in each.
    let wanted =
        |row: &SourceRow| raw.contains_key(&row.row) || row.counts.unknown > 0 || row.counts.unreadable > 0;
    let sources: Vec<SourceRow> = store.sources()?.into_iter().filter(wanted).collect();
    let options = TailOptions { again: true, dry_run: false, ..options.clone() };
    let mut gone = Vec::new();
    let mut writer = store.writer()?;
    let mut reading = Reading::new(env, registry, Redactor::shared(), &options, &mut writer)?;
    for row in &sources {
        let records = raw.get(&row.row).map(Vec::as_slice).unwrap_or_default();
        let parser = match registry.parser(&row.parser) {
            Ok(parser) => parser,
            Err(unknown) => {
                report.tail.problem(&row.path, None, unknown.to_string());
                continue;
            }
        };
        match stat(&row.path) {
            Ok(_) => {
                let chosen = Chosen { path: row.path.clone(), parser: Some(parser), from: None };
                reading.watch();
                let before = report.tail.sources;
                reading.source(&chosen, &mut report.tail, &mut |_, _| {})?;
                if report.tail.sources == before {
                    // It could not be opened, as the report says.
                    continue;
                }
                report.sources += 1;
                let (understood, lost) = sorted(&reading.watch(), records);
                let kept = reading.kept(parser, row, &lost, &mut report.tail)?;
                report.understood += reading.forget_raw(&understood)?;
                report.understood += reading.forget_raw(&kept.understood)?;
            }
            Err(error) if is_gone(&error) => {
                let kept = reading.kept(parser, row, records, &mut report.tail)?;
                report.gone += 1;
                report.understood += reading.forget_raw(&kept.understood)?;
                gone.push(Gone { row, client: client_of(parser, &row.label).to_owned(), raw: records, kept });
            }
            Err(error) => {
                report.tail.skipped += 1;
                report.tail.problem(&row.path, None, error.to_string());
            }
        }
    }
    recount(registry, &mut writer, &gone)?;
    writer.commit()?;
    Ok(report)
}

fn not_understood(record: &RawRecord) -> bool {
    matches!(record.why, Why::Unknown | Why::Unreadable)
}

/// Says whether nothing is at a path any more.
pub(crate) fn is_gone(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

/// Returns, of a source's records that were kept raw, the rows of those that were read and understood, and the
/// records that are not in its file any more.
fn sorted(watch: &Watch, records: &[RawRecord]) -> (Vec<i64>, Vec<RawRecord>) {
    let (mut understood, mut lost) = (Vec::new(), Vec::new());
    for record in records.iter().filter(|record| !watch.raw.contains(&record.digest)) {
        if watch.read.contains(&record.digest) {
            understood.push(record.row);
        } else {
            lost.push(record.clone());
        }
    }
    (understood, lost)
}

/// Puts the counts of sources that are gone: what their records gave is not counted as unknown any more. Records
/// that are kept under another source, or are there several times, are still not understood as long as one of
/// their kind is kept raw.
fn recount(registry: &Registry, writer: &mut Writer<'_>, gone: &[Gone<'_>]) -> Result<(), StoreError> {
    if gone.is_empty() {
        return Ok(());
    }
    let client = |row: &SourceRow| match registry.parser(&row.parser) {
        Ok(parser) => client_of(parser, &row.label).to_owned(),
        Err(_) => row.parser.clone(),
    };
    let store = writer.store();
    let clients: HashMap<i64, String> = store.sources()?.iter().map(|row| (row.row, client(row))).collect();
    let mut left: HashSet<(&str, String)> = HashSet::new();
    let mut unreadable: HashSet<&str> = HashSet::new();
    let mut long: HashMap<i64, u64> = HashMap::new();
    for record in store.raw_records()? {
        let Some(client) = clients.get(&record.source) else { continue };
        match record.why {
            Why::Unknown => {
                left.insert((client, record.kind));
            }
            Why::Unreadable => {
                unreadable.insert(client);
            }
            Why::Long => *long.entry(record.source).or_default() += 1,
            Why::All => {}
        }
    }
    let kinds: Vec<KindCount> =
        store.kind_counts()?.into_iter().filter(|kind| kind.counted == Counted::Unknown).collect();
    for Gone { row, client, raw, kept } in gone {
        let mut fresh: BTreeMap<(String, String), u64> = BTreeMap::new();
        for ((counted, kind, version), n) in &kept.kinds {
            if *counted == Counted::Nothing {
                writer.count_kind(row.row, Counted::Nothing, kind, version, *n)?;
            } else {
                *fresh.entry((kind.clone(), version.clone())).or_default() += n;
            }
        }
        let mut read: HashMap<&str, u64> = HashMap::new();
        for record in raw.iter().filter(|record| record.why == Why::Unknown) {
            *read.entry(&record.kind).or_default() += 1;
        }
        let mut elsewhere = 0;
        for kind in kinds.iter().filter(|kind| kind.source == row.row) {
            let read = read.entry(&kind.kind).or_default();
            let others = kind.n.saturating_sub(*read);
            *read -= kind.n - others;
            if others > 0 && left.contains(&(client.as_str(), kind.kind.clone())) {
                *fresh.entry((kind.kind.clone(), kind.version.clone())).or_default() += others;
                elsewhere += others;
            }
        }
        let (were, found) = (&row.counts, &kept.counts);
        let read = |why| raw.iter().filter(|record| record.why == why).count() as u64;
        let long = long.get(&row.row).copied().unwrap_or(0);
        let others = were.unreadable.saturating_sub(read(Why::Unreadable) + long);
        let others = if unreadable.contains(client.as_str()) { others } else { 0 };
        let counts = Counts {
            records: were.records,
            events: were.events + found.events,
            nothing: were.nothing + found.nothing,
            unknown: found.unknown + elsewhere.min(were.unknown.saturating_sub(read(Why::Unknown))),
            unreadable: found.unreadable + long + others,
            skipped: were.skipped,
        };
        let unknown: Vec<_> = fresh.into_iter().map(|((kind, version), n)| (kind, version, n)).collect();
        writer.recount(row.row, &counts, &unknown)?;
    }
    Ok(())
}
