//! `tail`

use super::Run;
use super::parse::problem_line;
use crate::args::Tail;
use crate::drain;
use crate::exit::{Ended, Exit};
use crate::print;
use anyhow::{Context as _, Result};
use indicatif::{ProgressBar, ProgressStyle};
use scrollback_engine::capture;
use scrollback_engine::spool::Spool;
use scrollback_engine::{Problem, Progress, TailOptions, TailReport};
use scrollback_store::{Access, Mode, Store};
use serde::Serialize;
use std::fs::{DirBuilder, File, TryLockError};
use std::io::{self, IsTerminal as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How long a second `tail` waits for the first.
const PATIENCE: Duration = Duration::from_secs(2);
/// How many problems are printed for people.
const PROBLEMS: usize = 20;

pub(super) fn run(run: &mut Run<'_>, args: &Tail) -> Result<Exit> {
    let label = args.label.label();
    if !label.is_empty() && args.paths.is_empty() && args.parser.is_none() {
        let what = "--client and --session want --path: which transcripts they are about";
        return Err(Ended::usage(what).into());
    }
    let lock = lock(&run.settings.data)?;
    let path = run.settings.store();
    let mut store = if args.dry_run && !path.exists() {
        Store::open_in_memory()?
    } else {
        Store::open(&path, Access::Write)?
    };
    let options = TailOptions {
        paths: args.paths.clone(),
        parser: args.parser.clone(),
        label,
        again: args.again,
        dry_run: args.dry_run,
        raw_all: run.settings.raw_all,
        keep_blobs: run.settings.keep_blobs,
        capture: run.settings.capture.clone(),
        everything: args.again,
        ..TailOptions::default()
    };
    if options.capture.mode == Mode::Off {
        let summary = TailReport::default();
        if args.json {
            run.page.json(&Summary::of(&summary))?;
        } else {
            run.page.line(
                "Capture is off (SCROLLBACK_CAPTURE, or `capture.mode` in config.toml): nothing was read.",
            )?;
        }
        return Ok(Exit::Done);
    }
    if !args.dry_run {
        // How sessions are to be captured, before they are read.
        capture::take_notes(&mut store, &Spool::of(&run.settings.data))?;
    }
    if args.follow {
        return super::follow::run(run, args, &options, &mut store, lock);
    }
    let bar = io::stderr().is_terminal().then(bar);
    let mut progress = |progress: &Progress| {
        if let Some(bar) = &bar {
            show(bar, progress);
        }
    };
    let report = scrollback_engine::tail(run.env, run.registry, &mut store, &options, &mut progress);
    if let Some(bar) = &bar {
        bar.finish_and_clear();
    }
    let mut report = report?;
    // Of these the user is told apart.
    report
        .problems
        .retain(|problem| !report.unmatched.iter().any(|pattern| problem.path == Path::new(pattern)));
    if args.json {
        let mut summary = Summary::of(&report);
        summary.problems.extend(run.maps.refused.iter().map(|map| ProblemLine {
            path: map.path.clone(),
            record: None,
            what: map.placed().into(),
        }));
        run.page.json(&summary)?;
    } else {
        text(run, args, &report)?;
    }
    for pattern in &report.unmatched {
        run.complain(&nothing_at(pattern))?;
    }
    if !args.dry_run {
        drop(store);
        drain::catch_up(run.registry, run.settings, "tail")?;
    }
    drop(lock);
    let refused = run.complain_of_maps()?;
    let nothing_read = !args.paths.is_empty() && report.sources == 0;
    Ok(if refused || nothing_read || !report.unmatched.is_empty() { Exit::Failed } else { Exit::Done })
}

/// Takes the lock that lets one `tail` write at a time. The system releases it with the process.
pub(super) fn lock(data: &Path) -> Result<File> {
    let until = Instant::now() + PATIENCE;
    lock_or_wait(data, &|| Instant::now() >= until)?
        .ok_or_else(|| Ended::later("another `tail` is writing this store; try again later").into())
}

/// Waits for the lock until `stop` says so; then there is none.
pub(super) fn lock_or_wait(data: &Path, stop: &dyn Fn() -> bool) -> Result<Option<File>> {
    let path = data.join("tail.lock");
    let failed = || format!("cannot use {}", path.display());
    if !data.is_dir() {
        DirBuilder::new().recursive(true).mode(0o700).create(data).with_context(failed)?;
    }
    let file = File::options()
        .create(true)
        .truncate(false)
        .write(true)
        .mode(0o600)
        .open(&path)
        .with_context(failed)?;
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(Some(file)),
            Err(TryLockError::WouldBlock) if stop() => return Ok(None),
            Err(TryLockError::WouldBlock) => std::thread::sleep(Duration::from_millis(20)),
            Err(TryLockError::Error(error)) => return Err(error).with_context(failed),
        }
    }
}

fn bar() -> ProgressBar {
    let bar = ProgressBar::new(0);
    if let Ok(style) = ProgressStyle::with_template("{bar:30} {bytes} of {total_bytes}  {msg}") {
        bar.set_style(style.progress_chars("━━ "));
    }
    bar
}

fn show(bar: &ProgressBar, progress: &Progress) {
    bar.set_length(progress.of_bytes);
    bar.set_position(progress.bytes);
    bar.set_message(format!(
        "{} of {}, {} new",
        print::number(progress.sources),
        print::count(progress.of_sources, "source"),
        print::count(progress.stored, "event")
    ));
}

/// The summary in JSON.
#[derive(Serialize)]
pub(super) struct Summary<'r> {
    sources: u64,
    sources_changed: u64,
    records: u64,
    events: u64,
    stored: u64,
    replaced: u64,
    withdrawn: u64,
    skipped: u64,
    unreadable: u64,
    not_understood: u64,
    bytes: u64,
    seconds: f64,
    parsers: Vec<ParserLine<'r>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    remarks: Vec<RemarkLine<'r>>,
    problems: Vec<ProblemLine<'r>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    passed: Vec<PassedLine<'r>>,
}

/// A parser that sources were read with.
#[derive(Serialize)]
struct ParserLine<'r> {
    parser: &'r str,
    sources: u64,
    stored: u64,
}

/// What was remarked on sources.
#[derive(Serialize)]
struct RemarkLine<'r> {
    what: &'r str,
    sources: u64,
}

/// Records that were not wanted.
#[derive(Serialize)]
struct PassedLine<'r> {
    why: &'r str,
    records: u64,
}

#[derive(Serialize)]
pub(super) struct ProblemLine<'r> {
    path: PathBuf,
    #[serde(skip_serializing_if = "Option::is_none")]
    record: Option<u64>,
    what: std::borrow::Cow<'r, str>,
}

impl<'r> ProblemLine<'r> {
    pub(super) fn of(problem: &'r Problem) -> Self {
        Self {
            path: PathBuf::from(problem.path.to_string_lossy().into_owned()),
            record: problem.record,
            what: problem.what.as_str().into(),
        }
    }
}

impl<'r> Summary<'r> {
    pub(super) fn of(report: &'r TailReport) -> Self {
        let of_pattern = |pattern: &'r String| ProblemLine {
            path: PathBuf::from(pattern),
            record: None,
            what: "matches no file".into(),
        };
        Self {
            sources: report.sources,
            sources_changed: report.sources_changed,
            records: report.records,
            events: report.events,
            stored: report.stored,
            replaced: report.replaced,
            withdrawn: report.withdrawn,
            skipped: report.skipped,
            unreadable: report.unreadable,
            not_understood: report.not_understood,
            bytes: report.bytes,
            seconds: report.seconds,
            passed: report
                .passed
                .iter()
                .map(|(why, records)| PassedLine { why, records: *records })
                .collect(),
            parsers: report
                .by_parser
                .iter()
                .map(|(parser, sources, stored)| ParserLine { parser, sources: *sources, stored: *stored })
                .collect(),
            remarks: report
                .remarks
                .iter()
                .map(|(what, sources)| RemarkLine { what, sources: *sources })
                .collect(),
            problems: report
                .unmatched
                .iter()
                .map(of_pattern)
                .chain(report.problems.iter().map(ProblemLine::of))
                .collect(),
        }
    }
}

fn nothing_at(pattern: &str) -> String {
    format!("{pattern}: matches no file")
}

fn text(run: &mut Run<'_>, args: &Tail, report: &TailReport) -> Result<()> {
    if report.sources == 0 && report.problems.is_empty() {
        if args.paths.is_empty() {
            no_transcripts(run, &report.looked_at)?;
        }
        return Ok(());
    }
    for line in summary(report, args.dry_run) {
        run.page.line(line)?;
    }
    problems(run, &report.problems)
}

/// Prints the first problems.
pub(super) fn problems(run: &mut Run<'_>, problems: &[Problem]) -> Result<()> {
    for problem in problems.iter().take(PROBLEMS) {
        run.page.line(problem_line(problem))?;
    }
    if problems.len() > PROBLEMS {
        let more = print::number((problems.len() - PROBLEMS) as u64);
        run.page.line(format_args!("and {more} more (`--json` lists all)"))?;
    }
    Ok(())
}

/// Returns what was read and stored, for people.
fn summary(report: &TailReport, dry_run: bool) -> Vec<String> {
    let changes = [(report.stored, "new"), (report.replaced, "replaced"), (report.withdrawn, "taken back")];
    let changes: Vec<String> = changes
        .iter()
        .filter(|(n, _)| *n > 0)
        .map(|(n, what)| format!("{} {what}", print::number(*n)))
        .collect();
    let mut lines = Vec::new();
    if changes.is_empty() && report.records == 0 {
        lines.push(format!("Nothing new in {}.", print::count(report.sources, "source")));
    } else {
        let changes = if changes.is_empty() { "nothing new".to_owned() } else { changes.join(", ") };
        lines.push(format!(
            "Read {} ({} changed): {}, {}, {changes}.",
            print::count(report.sources, "source"),
            print::number(report.sources_changed),
            print::count(report.records, "record"),
            print::count(report.events, "event"),
        ));
        let widest = report.by_parser.iter().map(|(id, _, _)| id.len()).max().unwrap_or(0);
        for (id, sources, stored) in report.by_parser.iter().filter(|(_, sources, _)| *sources > 0) {
            lines.push(format!(
                "  {id:widest$}  {}, {} new",
                print::count(*sources, "source"),
                print::count(*stored, "event")
            ));
        }
    }
    for (what, n) in &report.remarks {
        lines.push(format!("{}: {what}.", print::count(*n, "source")));
    }
    for (why, n) in &report.passed {
        lines.push(format!("{} skipped: {why}.", print::count(*n, "record")));
    }
    let kept = [(report.not_understood, "of a kind never seen"), (report.unreadable, "unreadable")];
    for (n, what) in kept.into_iter().filter(|(n, _)| *n > 0) {
        lines.push(format!("{} {what}: kept raw.", print::count(n, "record")));
    }
    if report.skipped > 0 {
        lines.push(format!("{} left out.", print::count(report.skipped, "file")));
    }
    if dry_run {
        lines.push("Nothing was stored: this was a dry run.".to_owned());
    }
    lines
}

/// Says where transcripts were looked for.
fn no_transcripts(run: &mut Run<'_>, looked_at: &[(String, Vec<String>)]) -> Result<()> {
    run.page.line("No transcript was found. Looked for:")?;
    let widest = looked_at.iter().map(|(parser, _)| parser.len()).max().unwrap_or(0);
    for (parser, patterns) in looked_at {
        for pattern in patterns {
            run.page.line(format_args!("  {parser:widest$}  {pattern}"))?;
        }
    }
    if looked_at.is_empty() {
        run.page.line("  nothing: no parser is linked into this program")?;
    }
    run.page
        .line("Transcripts elsewhere are read with `--path`; `demo` shows what can be done with them.")?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_summary_says_what_is_not_zero() {
        let mut report = TailReport {
            sources: 12,
            sources_changed: 3,
            records: 4210,
            events: 1812,
            stored: 1790,
            by_parser: vec![("claude-code".to_owned(), 10, 1780), ("codex".to_owned(), 2, 10)],
            ..TailReport::default()
        };
        assert_eq!(
            summary(&report, false),
            [
                "Read 12 sources (3 changed): 4,210 records, 1,812 events, 1,790 new.",
                "  claude-code  10 sources, 1,780 events new",
                "  codex        2 sources, 10 events new",
            ]
        );
        report.by_parser.clear();
        (report.stored, report.withdrawn, report.unreadable) = (0, 2, 1);
        assert_eq!(
            summary(&report, true),
            [
                "Read 12 sources (3 changed): 4,210 records, 1,812 events, 2 taken back.",
                "1 record unreadable: kept raw.",
                "Nothing was stored: this was a dry run.",
            ]
        );
        let report = TailReport { sources: 1, ..TailReport::default() };
        assert_eq!(summary(&report, false), ["Nothing new in 1 source."]);
    }

    #[test]
    fn the_lock_is_taken_once() {
        let data = tempfile::tempdir().unwrap();
        let data = data.path().join("made");
        let held = lock(&data).unwrap();
        let error = lock(&data).unwrap_err();
        assert_eq!(Exit::of(&error), Exit::Later);
        drop(held);
        assert!(lock(&data).is_ok());
    }
}
