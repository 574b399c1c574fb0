//! `status`

use super::Run;
use crate::args::Status;
use crate::exit::Exit;
use crate::installed::{self, Installed};
use crate::print::{self, Style};
use anyhow::Result;
use scrollback_core::Timestamp;
use scrollback_engine::{SourceCoverage, Standing, coverage, drain, log, spool::Spool};
use scrollback_store::{Hooked, SessionFilter, Store};
use serde::Serialize;
use std::path::PathBuf;

/// A client, as a line of JSON.
#[derive(Serialize)]
struct Line<'r> {
    client: &'r str,
    found: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    directory: Option<&'r PathBuf>,
    levels: Vec<LevelLine>,
    #[serde(skip_serializing_if = "Option::is_none")]
    last_event: Option<Timestamp>,
    behind: Behind,
    #[serde(skip_serializing_if = "Option::is_none")]
    hooks: Option<Latency>,
    problems: &'r [String],
}

#[derive(Serialize)]
struct LevelLine {
    level: &'static str,
    hooks: usize,
    mcp: bool,
    current: bool,
}

/// Transcripts that are not read to their end.
#[derive(Default, Serialize)]
struct Behind {
    sources: u64,
    bytes: u64,
}

/// How long hooks took, of the last hundred.
#[derive(Serialize)]
struct Latency {
    last: Timestamp,
    median_ms: f64,
    slowest_ms: f64,
    count: usize,
}

/// The drain, as a line of JSON.
#[derive(Serialize)]
struct DrainLine {
    drain: DrainState,
    paused_here: bool,
}

#[derive(Serialize)]
struct DrainState {
    runs: bool,
    waiting: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    last: Option<String>,
}

pub(super) fn run(run: &mut Run<'_>, args: &Status) -> Result<Exit> {
    let store = if run.settings.store().exists() { Some(run.store()?) } else { None };
    let sources = match &store {
        Some(store) => coverage(run.env, run.registry, store)?,
        None => Vec::new(),
    };
    let mut wrong = false;
    let registry = run.registry;
    for adapter in registry.adapters() {
        let mut of = Installed::of(adapter, run.env, run.name);
        let client = &*adapter.spec().client;
        let behind = behind(&sources, adapter.spec().parser.as_deref().unwrap_or_default());
        if behind.sources > 0 && of.directory.is_some() {
            let (n, bytes) = (print::count(behind.sources, "transcript"), print::size(behind.bytes));
            of.problems.push(format!("{n} not read to the end ({bytes}); `{} tail` reads them", run.name));
        }
        wrong |= of.directory.is_some() && !of.problems.is_empty();
        let filter = SessionFilter { client: Some(client), ..SessionFilter::default() };
        let last_event = match &store {
            Some(store) => store.sessions(&filter)?.into_iter().filter_map(|session| session.last_at).max(),
            None => None,
        };
        let hooks = latency(store.as_ref(), client)?;
        if args.json {
            let levels = of.standing.iter().map(|at| LevelLine {
                level: installed::level(at.level),
                hooks: at.hooks.len(),
                mcp: at.mcp,
                current: at.current,
            });
            run.page.json(&Line {
                client,
                found: of.directory.is_some(),
                directory: of.directory.as_ref(),
                levels: levels.collect(),
                last_event,
                behind,
                hooks,
                problems: &of.problems,
            })?;
        } else {
            tell(run, &of, last_event, hooks.as_ref())?;
        }
    }
    let spool = Spool::of(&run.settings.data);
    let state = DrainState {
        runs: drain::runs(&run.settings.data),
        waiting: spool.has_some(),
        last: log::lines(&run.settings.data).into_iter().rev().find(|line| line.contains(" drain: ")),
    };
    let stuck = state.waiting && !state.runs;
    let pause = super::capture::pause_here(run)?;
    if args.json {
        run.page.json(&DrainLine { drain: state, paused_here: pause.is_some() })?;
    } else {
        tell_drain(run, &state)?;
        if let Some(pause) = pause {
            let pause = run.page.styled(Style::Wrong, &pause);
            run.page.line(pause)?;
        }
    }
    Ok(if args.check && (wrong || stuck) { Exit::Missing } else { Exit::Done })
}

fn behind(sources: &[SourceCoverage], parser: &str) -> Behind {
    let mut behind = Behind::default();
    for source in sources.iter().filter(|source| source.parser == parser) {
        let bytes = match &source.standing {
            Standing::Behind(bytes) => *bytes,
            Standing::Missing => source.bytes,
            Standing::Read | Standing::Gone | Standing::Refused(_) => continue,
        };
        behind.sources += 1;
        behind.bytes += bytes;
    }
    behind
}

fn latency(store: Option<&Store>, client: &str) -> Result<Option<Latency>> {
    let hooks: Vec<Hooked> = store.map(|store| store.hooked(client)).transpose()?.unwrap_or_default();
    let Some(last) = hooks.first().map(|hook| hook.at) else { return Ok(None) };
    let mut took: Vec<f64> = hooks.iter().map(|hook| hook.took.as_secs_f64() * 1_000.0).collect();
    took.sort_by(f64::total_cmp);
    let at = |n: usize| took.get(n).copied().unwrap_or_default();
    let (median_ms, slowest_ms) = (at(took.len() / 2), at(took.len() - 1));
    Ok(Some(Latency { last, median_ms, slowest_ms, count: took.len() }))
}

fn tell(
    run: &mut Run<'_>,
    of: &Installed<'_>,
    last: Option<Timestamp>,
    hooks: Option<&Latency>,
) -> Result<()> {
    let name = run.page.styled(Style::Strong, &of.adapter.spec().name);
    let Some(directory) = &of.directory else {
        run.page.line(format_args!("{name}  not found here"))?;
        return Ok(());
    };
    run.page.line(format_args!("{name}  {}", directory.display()))?;
    for at in &of.standing {
        let mut what = Vec::new();
        if !at.hooks.is_empty() {
            what.push(print::count(at.hooks.len() as u64, "hook"));
        }
        if at.mcp {
            what.push("an MCP entry".to_owned());
        }
        run.page.line(format_args!("  {}: {}", installed::level(at.level), what.join(", ")))?;
    }
    match last {
        Some(at) => {
            let when = run.clock.minute(at);
            run.page.line(format_args!("  last event: {when}"))?;
        }
        None => run.page.line("  nothing recorded yet")?,
    }
    if let Some(Latency { last, median_ms, slowest_ms, count }) = hooks {
        let (when, of) = (run.clock.minute(*last), print::count(*count as u64, "hook"));
        run.page.line(format_args!(
            "  last hook: {when}; of the last {of}, half took under {median_ms:.1} ms, the slowest {slowest_ms:.1} ms"
        ))?;
    }
    for problem in &of.problems {
        let problem = run.page.styled(Style::Wrong, problem);
        run.page.line(format_args!("  {problem}"))?;
    }
    Ok(())
}

fn tell_drain(run: &mut Run<'_>, state: &DrainState) -> Result<()> {
    let name = run.page.styled(Style::Strong, "Drain");
    let now = match (state.runs, state.waiting) {
        (true, _) => "runs",
        (false, true) => "does not run, though hooks left records; the next hook or `tail` takes them in",
        (false, false) => "has nothing to do",
    };
    run.page.line(format_args!("{name}  {now}"))?;
    if let Some(last) = &state.last {
        let last = run.page.styled(Style::Faint, &crate::text::clean(last));
        run.page.line(format_args!("  {last}"))?;
    }
    Ok(())
}
