//! `tail --follow`

use super::Run;
use super::tail::{self, Summary};
use crate::args::Tail;
use crate::exit::Exit;
use crate::print;
use anyhow::Result;
use scrollback_engine::capture;
use scrollback_engine::spool::Spool;
use scrollback_engine::{Follower, TailOptions, TailReport};
use scrollback_store::Store;
use signal_hook::consts::{SIGINT, SIGTERM};
use std::fs::File;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Reads what is appended until it is told to stop. The lock is held while it reads, not while it waits, so that
/// others have their turn.
pub(super) fn run(
    run: &mut Run<'_>,
    args: &Tail,
    options: &TailOptions,
    store: &mut Store,
    lock: File,
) -> Result<Exit> {
    let stop = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM] {
        // Whoever asks twice does not wait for what is at hand.
        signal_hook::flag::register_conditional_shutdown(signal, 128 + signal, Arc::clone(&stop))?;
        signal_hook::flag::register(signal, Arc::clone(&stop))?;
    }
    let stopped = || stop.load(Ordering::Relaxed);
    let mut follower = Follower::new(run.env, run.registry, options)?;
    let mut total = TailReport::default();
    let mut lock = Some(lock);
    run.complain_of_maps()?;
    while !stopped() {
        let held = match lock.take() {
            Some(held) => held,
            None => match tail::lock_or_wait(&run.settings.data, &stopped)? {
                Some(held) => held,
                None => break,
            },
        };
        capture::take_notes(store, &Spool::of(&run.settings.data))?;
        let report = follower.pass(store)?;
        drop(held);
        said(run, args, &report)?;
        total.add(&report);
        follower.wait(&stopped);
    }
    if args.json {
        run.page.json(&Summary::of(&total))?;
    } else {
        let (new, sources) =
            (print::count(total.stored, "new event"), print::count(total.sources_changed, "source"));
        run.page.line(format_args!("Stopped: {new} from {sources}."))?;
    }
    Ok(Exit::Done)
}

/// Tells what a look gave, if it gave anything.
fn said(run: &mut Run<'_>, args: &Tail, report: &TailReport) -> Result<()> {
    let news = report.stored + report.replaced + report.withdrawn + report.unreadable + report.not_understood;
    if news == 0 && report.problems.is_empty() {
        return Ok(());
    }
    if args.json {
        run.page.json(&Summary::of(report))?;
    } else {
        if report.stored + report.replaced + report.withdrawn > 0 {
            let (new, sources) =
                (print::count(report.stored, "new event"), print::count(report.sources_changed, "source"));
            run.page.line(format_args!("{new} from {sources}"))?;
        }
        for problem in &report.problems {
            let line = super::parse::problem_line(problem);
            run.complain(&line)?;
        }
    }
    run.page.flush()?;
    Ok(())
}
