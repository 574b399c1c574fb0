//! What is measured, and what is wanted of it: the rows of the table.

mod again;
mod check;
mod follow;
mod hook;
mod opened;
mod parse;
mod peers;
mod rows;
mod search;
mod tail;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context as _, Result};
use clap::ValueEnum as _;
use serde_json::json;

use crate::machine::Machine;
use crate::place::Place;
use crate::table::Table;

/// Behind this, in a page, a table stands.
const END: &str = "<!-- /measured -->";

/// What is measured, and where it goes.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// About how many MiB of transcripts of each client.
    #[arg(long, default_value_t = 128)]
    mb: u64,
    /// About how many events the store holds in which is searched.
    #[arg(long, default_value_t = 1_000_000)]
    events: u64,
    /// Only these.
    #[arg(long, value_enum, value_delimiter = ',')]
    only: Vec<Part>,
    /// The program to measure; else the one that was built beside this.
    #[arg(long)]
    scrollback: Option<PathBuf>,
    /// A minute's measurement of little data against bounds that hold on any machine: ratios of processor time, shares,
    /// counts. Fails where one does not hold.
    #[arg(long, conflicts_with_all = ["mb", "events", "only", "write"])]
    check: bool,
    /// Replace the table in this page, between `<!-- measured MB -->` (what `--mb` says; `hook` with `--only hook`) and
    /// `<!-- /measured -->`.
    #[arg(long, value_name = "PAGE")]
    write: Option<PathBuf>,
    /// Print the table in Markdown as well.
    #[arg(long)]
    markdown: bool,
    /// Write the figures behind the table there, as JSON.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

/// A part of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Part {
    /// `parse`, and the plain loops beside it.
    Parse,
    /// The first reading, its memory and its store.
    Tail,
    /// Reading again.
    Again,
    /// From a line to a hit.
    Follow,
    /// The hook, alone and a dozen at once.
    Hook,
    /// Searches in a large store.
    Search,
    /// Other programs on the same files.
    Peers,
}

/// Measures, and prints the table.
pub(crate) fn run(options: &Options) -> Result<ExitCode> {
    let place = Place::new(options.scrollback.clone())?;
    let mut machine = Machine::here(&place);
    let mut table = Table::default();
    let failed = if options.check {
        check::run(&place, &mut table)?;
        table.missed() > 0
    } else {
        parts(options, &place, &mut table)?
    };
    machine.done();
    print(options, &machine, &table)?;
    Ok(if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// Measures what is wanted. What fails is a line of the table, and the rest is measured; says whether anything did.
fn parts(options: &Options, place: &Place, table: &mut Table) -> Result<bool> {
    let wanted = |part| options.only.is_empty() || options.only.contains(&part);
    let both = place.both(options.mb << 20)?;
    let mut large = None;
    let mut failed = false;
    for part in Part::value_variants().iter().copied().filter(|part| wanted(*part)) {
        let measured = match part {
            Part::Parse => parse::rows(place, &both, table),
            Part::Tail => tail::rows(place, &both, table),
            Part::Again => again::rows(place, table),
            Part::Follow => search::Large::held(&mut large, place, options.events)
                .and_then(|large| follow::rows(place, large, table)),
            Part::Hook => search::Large::held(&mut large, place, options.events)
                .and_then(|large| hook::rows(place, large, table)),
            Part::Search => search::Large::held(&mut large, place, options.events)
                .and_then(|large| search::rows(place, large, table)),
            Part::Peers => peers::rows(place, &both, table),
        };
        if let Err(why) = measured {
            table.failed(format!("{part:?}").to_lowercase(), &why);
            failed = true;
        }
    }
    Ok(failed)
}

fn print(options: &Options, machine: &Machine, table: &Table) -> Result<()> {
    println!("{}\n\n{}", machine.text(), table.text());
    if let Some(path) = &options.json {
        let figures = json!({"machine": machine.json(), "rows": table.json()});
        fs::write(path, format!("{figures:#}\n"))?;
    }
    if options.markdown {
        println!("{}\n\n{}", machine.text(), table.markdown());
    }
    if let Some(path) = &options.write {
        let page = fs::read_to_string(path).with_context(|| path.display().to_string())?;
        let which = if options.only == [Part::Hook] { "hook".to_owned() } else { options.mb.to_string() };
        let begin = format!("<!-- measured {which} -->");
        let table = format!("\n{}\n\n{}\n", machine.text(), table.markdown());
        let page = replaced(&page, &begin, &table)
            .with_context(|| format!("{}: no line {begin} and no line {END} behind it", path.display()))?;
        fs::write(path, page)?;
    }
    Ok(())
}

/// Returns a page with what stands between `begin` and the next end replaced.
fn replaced(page: &str, begin: &str, table: &str) -> Option<String> {
    let (before, rest) = page.split_once(begin)?;
    let (_, after) = rest.split_once(END)?;
    Some(format!("{before}{begin}\n{table}{END}{after}"))
}

/// Returns mebibytes for people.
fn mib(bytes: u64) -> String {
    format!("{:.0} MiB", bytes as f64 / f64::from(1 << 20))
}

/// Returns a path as an argument.
fn arg(path: &Path) -> String {
    path.display().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_goes_between_its_marks() {
        let page =
            |table: &str| format!("a\n<!-- measured 1 -->\n{table}\n{END}\n<!-- measured 2 -->\n{END}\n");
        assert_eq!(replaced(&page("old"), "<!-- measured 1 -->", "new\n"), Some(page("new")));
        assert_eq!(replaced("no marks", "<!-- measured 1 -->", "new\n"), None);
    }
}
