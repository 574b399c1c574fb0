//! `sessions`

use super::{Run, lines};
use crate::args::Sessions;
use crate::exit::Exit;
use crate::name::{self, Names};
use crate::print::{self, Style};
use crate::text;
use anyhow::Result;
use scrollback_core::Lineage;
use scrollback_store::SessionRow;
use std::collections::HashMap;

/// How many sessions are listed for people unless they say.
const LIMIT: usize = 25;
/// The columns a client's and a project's name take at most.
const NAME: usize = 14;

pub(super) fn run(run: &mut Run<'_>, args: &Sessions) -> Result<Exit> {
    let store = run.store()?;
    let found = run.sessions(&store, &args.filters)?;
    if args.json {
        for session in found.iter().take(args.limit.unwrap_or(usize::MAX)) {
            run.page.json(&lines::Listed::of(session))?;
        }
        return Ok(Exit::Done);
    }
    let all = found.len();
    let mut rows = below_their_parents(found);
    rows.truncate(args.limit.unwrap_or(LIMIT));
    if rows.is_empty() {
        run.page.line(if all > 0 { "No session is to be listed." } else { "No session matches." })?;
        return Ok(Exit::Done);
    }
    table(run, &rows, &Names::of(&store)?)?;
    if all > rows.len() {
        let more = print::count((all - rows.len()) as u64, "more session");
        run.page.line(format_args!("\n{more} (`--limit {all}` lists all)"))?;
    }
    Ok(Exit::Done)
}

/// A session and how deep it stands below the session that launched it.
struct Row {
    session: SessionRow,
    depth: usize,
}

/// Puts the sessions of sub-agents, the first first, below the sessions that launched them, if those are there.
fn below_their_parents(sessions: Vec<SessionRow>) -> Vec<Row> {
    let by_name: HashMap<(&str, &str), usize> = sessions
        .iter()
        .enumerate()
        .map(|(at, session)| ((session.line.client.as_str(), session.line.session.as_str()), at))
        .collect();
    let mut children = vec![Vec::new(); sessions.len()];
    let mut roots = Vec::new();
    for (at, session) in sessions.iter().enumerate() {
        let parent = session.line.parent_session.as_deref();
        let parent = parent.filter(|_| session.line.lineage == Some(Lineage::Subagent));
        match parent.and_then(|parent| by_name.get(&(session.line.client.as_str(), parent))) {
            Some(parent) if *parent != at => children[*parent].push(at),
            _ => roots.push(at),
        }
    }
    // Sub-agents that name each other as parents have no place below any; they come last, as they are.
    roots.extend(0..sessions.len());
    let mut order = Vec::with_capacity(sessions.len());
    let mut seen = vec![false; sessions.len()];
    for root in roots {
        let mut waiting = vec![(root, 0)];
        while let Some((at, depth)) = waiting.pop() {
            if !std::mem::replace(&mut seen[at], true) {
                order.push((at, depth));
                // The last in the listing is the first in time, and the last here is taken first.
                waiting.extend(children[at].iter().map(|child| (*child, depth + 1)));
            }
        }
    }
    let mut sessions: Vec<Option<SessionRow>> = sessions.into_iter().map(Some).collect();
    order.into_iter().filter_map(|(at, depth)| Some(Row { session: sessions[at].take()?, depth })).collect()
}

fn table(run: &mut Run<'_>, rows: &[Row], names: &Names) -> Result<()> {
    let cells: Vec<[String; 6]> = rows
        .iter()
        .map(|row| {
            let line = &row.session.line;
            let mark =
                if row.depth > 0 { format!("{}↳ ", "  ".repeat(row.depth - 1)) } else { String::new() };
            [
                row.session.last_at.or(line.started_at).map(|at| run.clock.short(at)).unwrap_or_default(),
                line.client.clone(),
                name::project(line.project.as_deref()).to_owned(),
                line.turns.to_string(),
                format!("{mark}{}", title(&row.session)),
                names.short(&row.session),
            ]
        })
        .collect();
    let head = ["when", "client", "project", "turns", "title or last prompt", "session"].map(str::to_owned);
    let widest = |at: usize, limit: usize| {
        cells.iter().chain([&head]).map(|row| text::width(&row[at])).max().unwrap_or(0).min(limit)
    };
    let (when, client, project, turns) = (widest(0, 10), widest(1, NAME), widest(2, NAME), widest(3, 7));
    let session = widest(5, usize::MAX);
    let columns = run.page.columns();
    let title = columns
        .saturating_sub(when + client + project + turns + session + 10)
        .clamp(12, 80)
        .min(widest(4, 80));
    for (at, row) in [&head].into_iter().chain(&cells).enumerate() {
        let line = format!(
            "{}  {}  {}  {:>turns$}  {}  {}",
            text::fill(&row[0], when),
            text::fill(&row[1], client),
            text::fill(&row[2], project),
            row[3],
            text::fill(&row[4], title),
            row[5],
        );
        let line = if at == 0 { run.page.styled(Style::Faint, &line) } else { line };
        run.page.line(line)?;
    }
    Ok(())
}

/// Returns what a session is called in a listing; a sub-agent's by its agent too.
fn title(session: &SessionRow) -> String {
    let title = text::one_line(name::title(session));
    match &session.line.agent {
        Some(agent) if session.line.title.as_ref() != Some(agent) && !title.is_empty() => {
            format!("{agent}: {title}")
        }
        Some(agent) => agent.clone(),
        None => title,
    }
}
