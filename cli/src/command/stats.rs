//! `stats`

use super::{Run, project};
use crate::args::{Key as Wanted, Stats};
use crate::exit::Exit;
use crate::print::{self, Style};
use crate::{name, text};
use anyhow::Result;
use scrollback_core::Usage;
use scrollback_store::{By, Key, SessionFilter, Totals};
use serde::Serialize;
use std::collections::HashMap;

/// The columns a key takes at most.
const KEY: usize = 40;

/// A row in JSON.
#[derive(Serialize)]
struct Row<'r> {
    #[serde(rename = "type")]
    kind: &'static str,
    #[serde(skip_serializing_if = "str::is_empty")]
    day: &'r str,
    #[serde(skip_serializing_if = "str::is_empty")]
    client: &'r str,
    #[serde(skip_serializing_if = "str::is_empty")]
    project: &'r str,
    #[serde(skip_serializing_if = "str::is_empty")]
    model: &'r str,
    sessions: u64,
    turns: u64,
    tool_calls: u64,
    responses: u64,
    #[serde(flatten)]
    usage: Usage,
}

pub(super) fn run(run: &mut Run<'_>, args: &Stats) -> Result<Exit> {
    let store = run.store()?;
    let only = args
        .filters
        .session
        .as_ref()
        .map(|session| name::session(&store, &run.clock, session))
        .transpose()?;
    let filter = SessionFilter {
        client: args.filters.client.as_deref(),
        project: project(&args.filters),
        since: run.since(&args.filters)?,
        until: run.until(&args.filters)?,
    };
    let mut keys: Vec<Wanted> = Vec::new();
    for key in &args.by {
        if !keys.contains(key) {
            keys.push(*key);
        }
    }
    let by = By {
        client: keys.contains(&Wanted::Client),
        project: keys.contains(&Wanted::Project),
        model: keys.contains(&Wanted::Model),
        day: keys.contains(&Wanted::Day),
    };
    let clock = &run.clock;
    let mut found = store.stats(&filter, only.as_ref(), by, &|at| clock.day(at))?;
    let sorted = |key: &Key| keys.iter().map(|wanted| value(key, *wanted).to_owned()).collect::<Vec<_>>();
    found.rows.sort_by_cached_key(|(key, _)| sorted(key));
    if args.json {
        for (key, totals) in &found.rows {
            run.page.json(&row("stats", key, totals))?;
        }
        run.page.json(&row("total", &Key::default(), &found.total))?;
    } else if found.rows.is_empty() {
        run.page.line("Nothing is to be counted.")?;
    } else {
        table(run, &keys, &found.rows, &found.total)?;
    }
    Ok(Exit::Done)
}

fn row<'r>(kind: &'static str, key: &'r Key, totals: &Totals) -> Row<'r> {
    Row {
        kind,
        day: &key.day,
        client: &key.client,
        project: &key.project,
        model: &key.model,
        sessions: totals.sessions,
        turns: totals.turns,
        tool_calls: totals.tool_calls,
        responses: totals.responses,
        usage: totals.usage,
    }
}

fn value(key: &Key, wanted: Wanted) -> &str {
    match wanted {
        Wanted::Client => &key.client,
        Wanted::Project => &key.project,
        Wanted::Model => &key.model,
        Wanted::Day => &key.day,
    }
}

const fn title(wanted: Wanted) -> &'static str {
    match wanted {
        Wanted::Client => "client",
        Wanted::Project => "project",
        Wanted::Model => "model",
        Wanted::Day => "day",
    }
}

/// What is counted: its name, in two lines, and the number.
type Column = ([&'static str; 2], fn(&Totals) -> Option<u64>);

const COLUMNS: [Column; 9] = [
    (["", "sessions"], |totals| Some(totals.sessions)),
    (["", "turns"], |totals| Some(totals.turns)),
    (["tool", "calls"], |totals| Some(totals.tool_calls)),
    (["", "responses"], |totals| Some(totals.responses)),
    (["", "input"], |totals| totals.usage.input),
    (["", "output"], |totals| totals.usage.output),
    (["cache", "read"], |totals| totals.usage.cache_read),
    (["cache", "write"], |totals| totals.usage.cache_write),
    (["", "reasoning"], |totals| totals.usage.reasoning),
];

/// A line of the table.
struct Line {
    keys: Vec<String>,
    numbers: Vec<String>,
    style: Option<Style>,
}

/// Prints the rows and, where there are several, their total. What nobody said is no column.
fn table(run: &mut Run<'_>, keys: &[Wanted], rows: &[(Key, Totals)], total: &Totals) -> Result<()> {
    let lines = lines(keys, rows, total);
    let widest = |of: &dyn Fn(&Line) -> Vec<usize>| {
        let wider = |a: Vec<usize>, b: Vec<usize>| a.into_iter().zip(b).map(|(a, b)| a.max(b)).collect();
        lines.iter().map(of).reduce(wider).unwrap_or_default()
    };
    let left = widest(&|line| line.keys.iter().map(|key| text::width(key).min(KEY)).collect());
    let right = widest(&|line| line.numbers.iter().map(|number| text::width(number)).collect());
    let wide: usize = left.iter().chain(&right).map(|width| width + 2).sum();
    let gap = if wide - 2 <= run.page.columns() { "  " } else { " " };
    for Line { keys, numbers, style } in &lines {
        let keys = keys.iter().zip(&left).map(|(key, width)| text::fill(key, *width));
        let numbers = numbers.iter().zip(&right).map(|(number, width)| format!("{number:>width$}"));
        let cells: Vec<String> = keys.chain(numbers).collect();
        let line = cells.join(gap);
        let line = match style {
            Some(style) => run.page.styled(*style, line.trim_end()),
            None => line.trim_end().to_owned(),
        };
        run.page.line(line)?;
    }
    Ok(())
}

fn lines(keys: &[Wanted], rows: &[(Key, Totals)], total: &Totals) -> Vec<Line> {
    let columns: Vec<&Column> = COLUMNS.iter().filter(|(_, of)| of(total).is_some()).collect();
    let numbers = |totals: &Totals| {
        columns.iter().map(|(_, of)| of(totals).map_or_else(String::new, print::short)).collect()
    };
    let projects = projects(rows);
    let called = |key: &Key, wanted: Wanted| match (wanted, value(key, wanted)) {
        (_, "") => "unknown".to_owned(),
        (Wanted::Project, path) => projects.get(path).cloned().unwrap_or_default(),
        (_, value) => text::one_line(value),
    };
    let mut lines = Vec::new();
    for second in [false, true] {
        let head = |[one, two]: [&'static str; 2]| if second { two } else { one }.to_owned();
        lines.push(Line {
            keys: keys.iter().map(|wanted| head(["", title(*wanted)])).collect(),
            numbers: columns.iter().map(|(heads, _)| head(*heads)).collect(),
            style: Some(Style::Faint),
        });
    }
    for (key, totals) in rows {
        let keys = keys.iter().map(|wanted| called(key, *wanted)).collect();
        lines.push(Line { keys, numbers: numbers(totals), style: None });
    }
    if rows.len() > 1 {
        let keys = (0..keys.len()).map(|at| if at == 0 { "total" } else { "" }.to_owned()).collect();
        lines.push(Line { keys, numbers: numbers(total), style: Some(Style::Strong) });
    }
    lines
}

/// Returns what each project is called: the end of its path, or all of it where another ends alike.
fn projects(rows: &[(Key, Totals)]) -> HashMap<&str, String> {
    let mut paths: Vec<&str> = rows.iter().map(|(key, _)| key.project.as_str()).collect();
    paths.sort_unstable();
    paths.dedup();
    let alike = |short: &str| paths.iter().filter(|path| name::project(Some(path)) == short).count();
    let called = |path: &&str| match name::project(Some(path)) {
        short if alike(short) == 1 => text::one_line(short),
        _ => text::one_line(path),
    };
    paths.iter().map(|path| (*path, called(path))).collect()
}
