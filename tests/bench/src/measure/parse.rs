//! `parse`, beside plain loops over the same files.

use std::time::Duration;

use anyhow::{Context as _, Result};
use serde_json::json;

use crate::baseline;
use crate::place::{Corpus, Place};
use crate::run::{Job, Output};
use crate::table::Table;

/// How often each is run; the quickest counts, since whatever else runs only adds.
const RUNS: usize = 5;

/// What it took each to go over one corpus once.
#[derive(Debug)]
pub(crate) struct Loops {
    pub(crate) values: Duration,
    pub(crate) parse: Duration,
    pub(crate) fallback: Duration,
    pub(crate) python: Option<Duration>,
}

impl Loops {
    /// Measures each in turn, several times over.
    pub(crate) fn of(place: &Place, corpus: &Corpus, runs: usize, python: bool) -> Result<Self> {
        let files = corpus.transcripts()?;
        let home = place.fresh("parse")?;
        let values = Job::new(&place.own).arg("values").args(files.clone());
        let parse = place.scrollback(&home).args(["parse", "--parser", corpus.name]).args(files.clone());
        let fallback = place.scrollback(&home).args(["parse", "--parser", "jsonl"]).args(files.clone());
        let mut jobs = vec![values, parse, fallback];
        if python {
            jobs.push(
                Job::new("/usr/bin/python3".as_ref()).args(["-I", "-S", "-c", baseline::PYTHON]).args(files),
            );
        }
        let mut best = vec![Duration::MAX; jobs.len()];
        for _ in 0..runs {
            for (job, best) in jobs.iter().zip(&mut best) {
                *best = (*best).min(job.run(&home, Output::Nowhere)?.cpu);
            }
        }
        let of = |at: usize| best.get(at).copied().context("a loop that did not run");
        Ok(Self {
            values: of(0)?,
            parse: of(1)?,
            fallback: of(2)?,
            python: python.then(|| of(3)).transpose()?,
        })
    }

    /// Returns how many times as fast as the loop over values `parse` is.
    pub(crate) fn ratio(&self) -> f64 {
        self.values.as_secs_f64() / self.parse.as_secs_f64()
    }
}

pub(crate) fn rows(place: &Place, corpora: &[Corpus], table: &mut Table) -> Result<()> {
    for corpus in corpora {
        let name = corpus.name;
        let python = std::path::Path::new("/usr/bin/python3").exists();
        let loops = Loops::of(place, corpus, RUNS, python)?;
        let rate = |cpu: Duration| corpus.bytes as f64 / 1e6 / cpu.as_secs_f64();
        let figures = json!({"values": loops.values.as_secs_f64(), "parse": loops.parse.as_secs_f64(), "bytes": corpus.bytes});
        table.target(
            format!("`parse > /dev/null`, {name}"),
            "≥ 1.5 × a `Value` loop, aim 2",
            format!("{:.2} × ({:.0} MB per CPU-second)", loops.ratio(), rate(loops.parse)),
            loops.ratio() >= 1.5,
            figures,
        );
        let beside = |what: &str, cpu: Duration| {
            (format!("— {what}, {name}"), format!("{:.0} MB per CPU-second", rate(cpu)))
        };
        let mut loops_beside = vec![beside("`serde_json::Value` loop", loops.values)];
        if name == "claude-code" {
            // In Codex's envelopes the fallback finds little to say.
            loops_beside.push(beside("`parse --parser jsonl`", loops.fallback));
        }
        match loops.python {
            Some(cpu) => loops_beside.push(beside("`/usr/bin/python3` json loop", cpu)),
            None => table.missing(format!("— `/usr/bin/python3` json loop, {name}"), "", "there is none"),
        }
        for (what, measured) in loops_beside {
            table.beside(what, measured, serde_json::Value::Null);
        }
    }
    Ok(())
}
