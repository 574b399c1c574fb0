//! `reparse`

use super::{Run, tail};
use crate::args::Reparse;
use crate::exit::Exit;
use crate::print;
use anyhow::Result;
use scrollback_engine::{ReparseReport, TailOptions};
use scrollback_store::{Access, Store};
use serde::Serialize;

/// The summary in JSON.
#[derive(Serialize)]
struct Summary<'r> {
    raw: u64,
    understood: u64,
    left: u64,
    sources: u64,
    gone: u64,
    records: u64,
    events: u64,
    stored: u64,
    replaced: u64,
    withdrawn: u64,
    problems: Vec<tail::ProblemLine<'r>>,
}

pub(super) fn run(run: &mut Run<'_>, args: &Reparse) -> Result<Exit> {
    // A store that is not there is not made.
    drop(run.store()?);
    let _lock = tail::lock(&run.settings.data)?;
    let mut store = Store::open(&run.settings.store(), Access::Write)?;
    let options = TailOptions {
        capture: run.settings.capture.clone(),
        raw_all: run.settings.raw_all,
        keep_blobs: run.settings.keep_blobs,
        ..TailOptions::default()
    };
    let report = scrollback_engine::reparse(run.env, run.registry, &mut store, &options)?;
    let exit = if run.complain_of_maps()? { Exit::Failed } else { Exit::Done };
    if args.json {
        run.page.json(&Summary {
            raw: report.raw,
            understood: report.understood,
            left: left(&report),
            sources: report.sources,
            gone: report.gone,
            records: report.tail.records,
            events: report.tail.events,
            stored: report.tail.stored,
            replaced: report.tail.replaced,
            withdrawn: report.tail.withdrawn,
            problems: report.tail.problems.iter().map(tail::ProblemLine::of).collect(),
        })?;
        return Ok(exit);
    }
    for line in summary(&report, run.name) {
        run.page.line(line)?;
    }
    tail::problems(run, &report.tail.problems)?;
    Ok(exit)
}

const fn left(report: &ReparseReport) -> u64 {
    report.raw.saturating_sub(report.understood)
}

/// Returns what was read and what became of it, for people.
fn summary(report: &ReparseReport, name: &str) -> Vec<String> {
    if report.raw == 0 && report.sources == 0 && report.gone == 0 {
        return vec!["Nothing was kept raw: everything read so far is understood.".to_owned()];
    }
    let mut lines = vec![format!(
        "{} kept raw: {} understood now, {} new.",
        print::count(report.raw, "record"),
        print::number(report.understood),
        print::count(report.tail.stored, "event"),
    )];
    let read = [(report.sources, "read again"), (report.gone, "gone: read as its records were kept")];
    for (n, what) in read.into_iter().filter(|(n, _)| *n > 0) {
        lines.push(format!("  {} {what}", print::count(n, "source")));
    }
    match left(report) {
        0 => {}
        1 => lines.push(format!("1 record stays raw (`{name} coverage` names its kind).")),
        left => lines.push(format!(
            "{} stay raw (`{name} coverage` names their kinds).",
            print::count(left, "record")
        )),
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_summary_says_what_became_of_the_records() {
        let mut report = ReparseReport::default();
        assert_eq!(summary(&report, "x"), ["Nothing was kept raw: everything read so far is understood."]);
        (report.raw, report.understood, report.sources, report.gone) = (1200, 1198, 3, 1);
        report.tail.stored = 1;
        assert_eq!(
            summary(&report, "x"),
            [
                "1,200 records kept raw: 1,198 understood now, 1 event new.",
                "  3 sources read again",
                "  1 source gone: read as its records were kept",
                "2 records stay raw (`x coverage` names their kinds).",
            ]
        );
    }
}
