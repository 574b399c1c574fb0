//! `coverage`

use super::Run;
use crate::args::Coverage;
use crate::exit::Exit;
use crate::print::{self, Style};
use crate::text;
use anyhow::Result;
use scrollback_engine::{SourceCoverage, Standing};
use scrollback_store::{Counts, RawRecord, Store, Why};
use serde::Serialize;
use std::borrow::Cow;
use std::collections::BTreeMap;

/// How many transcripts and records are listed for people unless they ask for all.
const LISTED: usize = 20;

/// What is in the store of a client's transcripts.
#[derive(Default)]
struct Client {
    sources: u64,
    gone: u64,
    bytes: u64,
    captured: u64,
    counts: Counts,
    /// What was not understood: by kind and version, how often.
    unknown: BTreeMap<(String, String), u64>,
    /// What was not wanted: why and how often.
    skipped: BTreeMap<String, u64>,
    /// What was remarked on its transcripts, and on how many.
    remarks: BTreeMap<String, u64>,
}

/// What is not as it should be.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each may be so or not")]
struct Lacks {
    /// Transcripts that were never read, or not to their end.
    unread: bool,
    /// Transcripts that cannot be read.
    refused: bool,
    /// Records not understood.
    unknown: bool,
    /// Records that are none.
    unreadable: bool,
}

impl Lacks {
    const fn exit(self, allow_unknown: bool) -> Exit {
        let raw = (self.unknown || self.unreadable) && !allow_unknown;
        if self.unread || self.refused || raw { Exit::Missing } else { Exit::Done }
    }
}

pub(super) fn run(run: &mut Run<'_>, args: &Coverage) -> Result<Exit> {
    // Before the first `tail`, everything is missing.
    let store = if run.settings.store().exists() { run.store()? } else { Store::open_in_memory()? };
    let sources = scrollback_engine::coverage(run.env, run.registry, &store)?;
    let mut clients: BTreeMap<String, Client> = BTreeMap::new();
    let mut lacks = Lacks { refused: run.complain_of_maps()?, ..Lacks::default() };
    for source in &sources {
        lacks.unread |= matches!(source.standing, Standing::Missing | Standing::Behind(_));
        lacks.refused |= matches!(source.standing, Standing::Refused(_));
        lacks.unknown |= source.counts.unknown > 0;
        lacks.unreadable |= source.counts.unreadable > 0;
        clients.entry(client(run, source)).or_default().add(source);
    }
    if args.json {
        json(run, &sources, &clients)?;
    } else if sources.is_empty() {
        run.page.line(format_args!(
            "No transcript was found, and none was read. `{0} tail` says where it looks, `{0} tail --path` reads \
             others.",
            run.name
        ))?;
    } else {
        let raw = if lacks.unreadable { store.raw_records()? } else { Vec::new() };
        for (name, client) in &clients {
            summary(run, name, client)?;
        }
        not_understood(run, &clients)?;
        unreadable(run, args, &raw)?;
        let wrong = |source: &&SourceCoverage| source.standing != Standing::Read;
        list(run, "Missing, behind, refused or gone:", args.sources, sources.iter().filter(wrong))?;
        if args.sources {
            list(run, "Every transcript:", true, sources.iter())?;
        }
        run.page.line("")?;
        let advice = advice(lacks, run.name);
        for line in text::wrap(&advice, run.page.prose()) {
            run.page.line(&advice[line])?;
        }
    }
    Ok(lacks.exit(args.allow_unknown))
}

/// Returns the client whose transcript it is: the user's word, else the parser's; of a parser that is not linked,
/// its id.
fn client(run: &Run<'_>, source: &SourceCoverage) -> String {
    if let Some(client) = &source.client {
        return client.clone();
    }
    match run.registry.parser(&source.parser) {
        Ok(parser) => parser.spec().client.to_string(),
        Err(_) => source.parser.clone(),
    }
}

impl Client {
    fn add(&mut self, source: &SourceCoverage) {
        self.sources += 1;
        self.gone += u64::from(source.standing == Standing::Gone);
        self.bytes += source.bytes;
        self.captured += source.captured;
        self.counts.records += source.counts.records;
        self.counts.events += source.counts.events;
        self.counts.nothing += source.counts.nothing;
        self.counts.unknown += source.counts.unknown;
        self.counts.unreadable += source.counts.unreadable;
        self.counts.skipped += source.counts.skipped;
        for (why, n) in &source.skipped {
            *self.skipped.entry(why.clone()).or_default() += n;
        }
        if let Some(remark) = &source.remark {
            *self.remarks.entry(remark.clone()).or_default() += 1;
        }
        for (kind, version, n) in &source.unknown {
            *self.unknown.entry((kind.clone(), version.clone())).or_default() += n;
        }
    }
}

fn summary(run: &mut Run<'_>, name: &str, client: &Client) -> Result<()> {
    let name = run.page.styled(Style::Strong, name);
    run.page.line(name)?;
    let gone = match client.gone {
        0 => String::new(),
        gone => format!(" ({} gone)", print::number(gone)),
    };
    run.page.line(format_args!(
        "  {}{gone}: {} on disk, {} captured",
        print::count(client.sources, "source"),
        print::size(client.bytes),
        print::size(client.captured),
    ))?;
    let counts = &client.counts;
    let without = counts.nothing + counts.unknown + counts.unreadable + counts.skipped;
    let skipped: Vec<String> =
        client.skipped.iter().map(|(why, n)| format!(", {} skipped ({why})", print::number(*n))).collect();
    run.page.line(format_args!(
        "  {}: {} with content ({}), {} nothing, {} not understood, {} unreadable{}",
        print::count(counts.records, "record"),
        print::number(counts.records.saturating_sub(without)),
        print::count(counts.events, "event"),
        print::number(counts.nothing),
        print::number(counts.unknown),
        print::number(counts.unreadable),
        skipped.concat(),
    ))?;
    for (remark, n) in &client.remarks {
        run.page.line(format_args!("  {}: {}", print::count(*n, "source"), text::one_line(remark)))?;
    }
    Ok(())
}

fn not_understood(run: &mut Run<'_>, clients: &BTreeMap<String, Client>) -> Result<()> {
    let mut rows: Vec<[String; 4]> = Vec::new();
    for (name, client) in clients {
        for ((kind, version), n) in &client.unknown {
            rows.push([print::number(*n), name.clone(), text::one_line(version), text::one_line(kind)]);
        }
    }
    if rows.is_empty() {
        return Ok(());
    }
    run.page.line("\nNot understood, kept raw:")?;
    let widest = |at: usize| rows.iter().map(|row| text::width(&row[at])).max().unwrap_or(0);
    let (n, name, version) = (widest(0), widest(1), widest(2));
    for row in &rows {
        let (client, version) = (text::fill(&row[1], name), text::fill(&row[2], version));
        run.page.line(format_args!("  {:>n$}  {client}  {version}  {}", row[0], row[3]))?;
    }
    Ok(())
}

fn unreadable(run: &mut Run<'_>, args: &Coverage, raw: &[RawRecord]) -> Result<()> {
    let records: Vec<&RawRecord> =
        raw.iter().filter(|record| matches!(record.why, Why::Unreadable | Why::Long)).collect();
    if records.is_empty() {
        return Ok(());
    }
    let limit = if args.sources { usize::MAX } else { LISTED };
    run.page.line("\nUnreadable, kept raw:")?;
    for record in records.iter().take(limit) {
        let path = text::one_line(&record.path.to_string_lossy());
        run.page.line(format_args!("  {path}:{}: {}", record.record + 1, text::one_line(&record.kind)))?;
    }
    more(run, records.len().saturating_sub(limit))
}

/// Lists transcripts, the first few or all of them.
fn list<'s>(
    run: &mut Run<'_>,
    head: &str,
    all: bool,
    sources: impl Iterator<Item = &'s SourceCoverage>,
) -> Result<()> {
    let mut sources: Vec<&SourceCoverage> = sources.collect();
    if sources.is_empty() {
        return Ok(());
    }
    let rank = |standing: &Standing| match standing {
        Standing::Refused(_) => 0,
        Standing::Missing => 1,
        Standing::Behind(_) => 2,
        Standing::Gone => 3,
        Standing::Read => 4,
    };
    // What matters most is not what is cut off; the order of paths stays otherwise.
    sources.sort_by_key(|source| rank(&source.standing));
    run.page.line(format_args!("\n{head}"))?;
    let limit = if all { usize::MAX } else { LISTED };
    for source in sources.iter().take(limit) {
        let path = text::one_line(&source.path.to_string_lossy());
        let what = match &source.standing {
            Standing::Read => format!("read     {path}, {}", found(source)),
            Standing::Behind(left) => format!("behind   {path}, {} to read", print::size(*left)),
            Standing::Missing => format!("missing  {path}, {}", print::size(source.bytes)),
            Standing::Gone => format!("gone     {path}, {}", found(source)),
            Standing::Refused(why) => format!("refused  {path}: {}", text::one_line(why)),
        };
        run.page.line(format_args!("  {what}"))?;
    }
    more(run, sources.len().saturating_sub(limit))
}

fn found(source: &SourceCoverage) -> String {
    format!("{}, {}", print::size(source.captured), print::count(source.counts.records, "record"))
}

fn more(run: &mut Run<'_>, more: usize) -> Result<()> {
    if more > 0 {
        run.page.line(format_args!("  and {} more (`--sources` lists all)", print::number(more as u64)))?;
    }
    Ok(())
}

/// Returns what is to be done, for people.
fn advice(lacks: Lacks, name: &str) -> String {
    let mut steps = Vec::new();
    if lacks.unread {
        steps.push(format!("`{name} tail` reads what is missing or behind."));
    }
    if lacks.refused {
        steps.push("What is refused can be read once its files are as the messages want them.".to_owned());
    }
    if lacks.unknown {
        steps.push(format!(
            "Please report the kinds that are not understood; once a version of this program knows them, \
             `{name} reparse` reads them."
        ));
    }
    if lacks.unreadable {
        steps.push(format!("Unreadable records stay as they are; `{name} reparse` tries them again."));
    }
    if steps.is_empty() { "Everything is captured and understood.".to_owned() } else { steps.join(" ") }
}

/// A client in JSON.
#[derive(Serialize)]
struct ClientLine<'l> {
    #[serde(rename = "type")]
    kind: &'static str,
    client: &'l str,
    sources: u64,
    gone: u64,
    bytes: u64,
    captured: u64,
    records: u64,
    events: u64,
    nothing: u64,
    not_understood: u64,
    unreadable: u64,
    skipped: u64,
}

/// A kind that is not understood in JSON.
#[derive(Serialize)]
struct KindLine<'l> {
    #[serde(rename = "type")]
    line: &'static str,
    client: &'l str,
    kind: &'l str,
    #[serde(skip_serializing_if = "str::is_empty")]
    client_version: &'l str,
    n: u64,
}

/// Records that were not wanted, in JSON.
#[derive(Serialize)]
struct SkippedLine<'l> {
    #[serde(rename = "type")]
    line: &'static str,
    client: &'l str,
    why: &'l str,
    n: u64,
}

/// A transcript in JSON.
#[derive(Serialize)]
struct SourceLine<'l> {
    #[serde(rename = "type")]
    kind: &'static str,
    path: Cow<'l, str>,
    client: String,
    parser: &'l str,
    standing: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    behind: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<&'l str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    remark: Option<&'l str>,
    bytes: u64,
    captured: u64,
    records: u64,
    events: u64,
    nothing: u64,
    not_understood: u64,
    unreadable: u64,
    skipped: u64,
}

fn json(run: &mut Run<'_>, sources: &[SourceCoverage], clients: &BTreeMap<String, Client>) -> Result<()> {
    for (name, client) in clients {
        run.page.json(&ClientLine {
            kind: "client",
            client: name,
            sources: client.sources,
            gone: client.gone,
            bytes: client.bytes,
            captured: client.captured,
            records: client.counts.records,
            events: client.counts.events,
            nothing: client.counts.nothing,
            not_understood: client.counts.unknown,
            unreadable: client.counts.unreadable,
            skipped: client.counts.skipped,
        })?;
    }
    for (name, client) in clients {
        for ((kind, version), n) in &client.unknown {
            let line = "not_understood";
            run.page.json(&KindLine { line, client: name, kind, client_version: version, n: *n })?;
        }
        for (why, n) in &client.skipped {
            run.page.json(&SkippedLine { line: "skipped", client: name, why, n: *n })?;
        }
    }
    for source in sources {
        let (standing, behind, why) = match &source.standing {
            Standing::Read => ("read", None, None),
            Standing::Behind(left) => ("behind", Some(*left), None),
            Standing::Missing => ("missing", None, None),
            Standing::Gone => ("gone", None, None),
            Standing::Refused(why) => ("refused", None, Some(why.as_str())),
        };
        let client = client(run, source);
        run.page.json(&SourceLine {
            kind: "source",
            path: source.path.to_string_lossy(),
            client,
            parser: &source.parser,
            standing,
            behind,
            why,
            remark: source.remark.as_deref(),
            bytes: source.bytes,
            captured: source.captured,
            records: source.counts.records,
            events: source.counts.events,
            nothing: source.counts.nothing,
            not_understood: source.counts.unknown,
            unreadable: source.counts.unreadable,
            skipped: source.counts.skipped,
        })?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_code_and_the_advice_are_of_what_is_lacking() {
        let nothing = Lacks::default();
        let cases = [
            (nothing, 0, 0, "Everything is captured and understood."),
            (Lacks { unread: true, ..nothing }, 3, 3, "`x tail`"),
            (Lacks { refused: true, ..nothing }, 3, 3, "refused"),
            (Lacks { unknown: true, ..nothing }, 3, 0, "`x reparse`"),
            (Lacks { unreadable: true, ..nothing }, 3, 0, "`x reparse`"),
        ];
        for (lacks, strict, allowing, advised) in cases {
            let codes = (lacks.exit(false) as u8, lacks.exit(true) as u8);
            assert_eq!(codes, (strict, allowing), "{lacks:?}");
            assert!(advice(lacks, "x").contains(advised), "{lacks:?}");
        }
    }
}
