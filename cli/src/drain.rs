//! `drain`: what a hook starts, and what `tail` does for one that did not run.

use crate::exit::Exit;
use crate::hook::{Line, with};
use crate::settings::Settings;
use crate::world::World;
use anyhow::Result;
use scrollback_core::{Env as _, Registry};
use scrollback_engine::capture::Capture;
use scrollback_engine::drain::{DrainReport, Draining, Patience};
use scrollback_engine::spool::Spool;
use scrollback_engine::{TailOptions, drain, log};
use scrollback_store::{Access, Store};
use std::ffi::OsString;
use std::fmt::Write as _;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::time::Instant;

/// Runs the drain that a hook started.
pub(crate) fn run(registry: Option<&Registry>, args: impl Iterator<Item = OsString>) -> Exit {
    std::panic::set_hook(Box::new(|_| {}));
    let line = Line::of(args);
    // Absolute, before it goes elsewhere.
    let Some(data) = line.data().and_then(|data| std::path::absolute(data).ok()) else {
        return Exit::Failed;
    };
    let data: &Path = &data;
    // Out of the client's session, so that nothing of how it ends reaches us.
    let _alone = rustix::process::setsid();
    let _elsewhere = std::env::set_current_dir("/");
    let done = catch_unwind(AssertUnwindSafe(|| with(registry, |registry| drained(registry, data))));
    match done {
        Ok(Ok(())) => Exit::Done,
        Ok(Err(error)) => {
            log::line(data, World.now(), "drain", &format!("{error:#}"));
            Exit::Failed
        }
        Err(_) => {
            log::line(data, World.now(), "drain", "the drain failed (please report it)");
            Exit::Failed
        }
    }
}

/// Empties the spool, for as long as hooks fill it.
fn drained(registry: &Registry, data: &Path) -> Result<()> {
    let spool = Spool::of(data);
    while spool.has_some() {
        // Another drain looks once more before it leaves.
        let Some(lock) = drain::lock(data)? else { return Ok(()) };
        let began = Instant::now();
        let settings = Settings::read(&World)?;
        let report = empty(registry, &settings, data, Patience::LONG)?;
        drop(lock);
        let took = began.elapsed().as_millis();
        log::line(data, World.now(), "drain", &format!("{} in {took} ms", told(&report)));
    }
    Ok(())
}

/// Does what a drain that did not run left undone, without waiting for anything; `who` is the command, for the log.
pub(crate) fn catch_up(registry: &Registry, settings: &Settings, who: &str) -> Result<()> {
    let data = &settings.data;
    if Spool::of(data).has_some()
        && !drain::runs(data)
        && let Some(_lock) = drain::lock(data)?
    {
        let report = empty(registry, settings, data, Patience::NONE)?;
        log::line(data, World.now(), who, &told(&report));
    }
    Ok(())
}

/// Empties the spool once into the store.
fn empty(registry: &Registry, settings: &Settings, data: &Path, patience: Patience) -> Result<DrainReport> {
    let mut store = Store::open(&data.join("store.db"), Access::Write)?;
    let options = TailOptions {
        raw_all: settings.raw_all,
        keep_blobs: settings.keep_blobs,
        capture: Capture { mode: settings.configured, ..settings.capture.clone() },
        ..TailOptions::default()
    };
    let unpersisted = settings.unpersisted;
    let draining = Draining { env: &World, registry, options: &options, patience, unpersisted };
    Ok(draining.run(&mut store, &Spool::of(data))?)
}

/// Returns what a drain did, on one line.
fn told(report: &DrainReport) -> String {
    let DrainReport {
        records,
        damaged,
        sources,
        bytes,
        stored,
        came,
        missing,
        told: told_only,
        tried,
        trouble,
    } = report;
    let mut told = format!(
        "{records} hooks, {damaged} damaged; {sources} transcripts, {bytes} bytes, {stored} events; \
         announced messages: {came} came, {missing} did not"
    );
    if *told_only > 0 {
        let _ = write!(told, "; {told_only} events that only hooks told");
    }
    for session in tried {
        told.push_str("; tried: ");
        told.push_str(session);
    }
    for trouble in trouble {
        told.push_str("; ");
        told.push_str(trouble);
    }
    told
}
