//! `search`

use super::{Run, project};
use crate::args::{Kind, Search};
use crate::drain;
use crate::exit::{Ended, Exit};
use crate::name::{self, Names};
use crate::print::{self, Style};
use crate::snippet::{Snippet, snippet};
use crate::text;
use anyhow::Result;
use scrollback_core::{EventId, Role, Timestamp};
use scrollback_engine::log;
use scrollback_store::{Filter, Found, Hit, Kinds, Query, SessionRow, Sort, Store};
use serde::Serialize;
use std::collections::HashMap;

/// The columns of a snippet in JSON.
const SNIPPET: usize = 240;
/// How far a snippet is indented.
const INDENT: usize = 2;

pub(super) fn run(run: &mut Run<'_>, args: &Search) -> Result<Exit> {
    let query = Query::parse(&args.query.join(" ")).map_err(|error| Ended::usage(error.to_string()))?;
    if run.settings.store().exists()
        && let Err(error) = drain::catch_up(run.registry, run.settings, "search")
    {
        // What is in the store is searched all the same.
        log::line(&run.settings.data, run.env.now(), "search", &format!("{error:#}"));
    }
    let store = run.store()?;
    let session = match &args.filters.session {
        Some(name) => Some(name::session(&store, &run.clock, name)?.row),
        None => None,
    };
    let filter = Filter {
        client: args.filters.client.as_deref(),
        project: project(&args.filters),
        session,
        since: run.since(&args.filters)?,
        until: run.until(&args.filters)?,
        kinds: Kind::set(&args.kind).unwrap_or(Kinds::SEARCHED),
        role: args.role.map(Role::from),
        actor: args.actor.as_deref(),
    };
    let found = store.search(&query, &filter, Sort::from(args.sort), args.limit)?;
    let sessions = sessions_of(&store, &found)?;
    if args.json {
        for hit in &found.hits {
            if let Some(session) = sessions.get(&hit.session) {
                run.page.json(&json(hit, session, &query))?;
            }
        }
        return Ok(Exit::Done);
    }
    let names = Names::of(&store)?;
    for hit in &found.hits {
        if let Some(session) = sessions.get(&hit.session) {
            print_hit(run, &query, hit, session, &names)?;
        }
    }
    summary(run, &found, &sessions, &names, args.limit)?;
    Ok(Exit::Done)
}

fn sessions_of(store: &Store, found: &Found) -> Result<HashMap<i64, SessionRow>> {
    let mut sessions = HashMap::new();
    for hit in &found.hits {
        if let std::collections::hash_map::Entry::Vacant(place) = sessions.entry(hit.session) {
            place.insert(store.session_row(hit.session)?);
        }
    }
    Ok(sessions)
}

/// A hit in JSON.
#[derive(Serialize)]
struct HitLine<'h> {
    event: EventId,
    client: &'h str,
    session: &'h str,
    turn: u64,
    snippet: String,
    score: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    at: Option<Timestamp>,
    kind: &'h str,
    #[serde(skip_serializing_if = "Option::is_none")]
    role: Option<Role>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool: Option<&'h str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    project: Option<&'h str>,
}

fn json<'h>(hit: &'h Hit, session: &'h SessionRow, query: &Query) -> HitLine<'h> {
    HitLine {
        event: hit.event,
        client: &session.line.client,
        session: &session.line.session,
        turn: hit.turn,
        snippet: snippet(query, words(hit), SNIPPET).text,
        score: hit.score,
        at: hit.at,
        kind: hit.kind,
        role: hit.role,
        tool: hit.tool.as_deref(),
        project: session.line.project.as_deref(),
    }
}

/// Returns the text of a hit, without the name of the tool that the head line has.
fn words(hit: &Hit) -> &str {
    hit.tool.as_deref().and_then(|tool| hit.text.strip_prefix(tool)).unwrap_or(&hit.text)
}

fn print_hit(run: &mut Run<'_>, query: &Query, hit: &Hit, session: &SessionRow, names: &Names) -> Result<()> {
    let what = match (hit.role, hit.tool.as_deref()) {
        (Some(Role::User), _) => "user",
        (Some(Role::Assistant), _) => "assistant",
        (None, Some(tool)) => tool,
        (None, None) => hit.kind,
    };
    let name = format!("{}:{}", names.short(session), hit.turn);
    let mut head = vec![run.page.styled(Style::Strong, &name)];
    head.extend(hit.at.map(|at| run.clock.minute(at)));
    head.push(session.line.client.clone());
    head.extend(
        Some(name::project(session.line.project.as_deref())).filter(|it| !it.is_empty()).map(str::to_owned),
    );
    head.push(what.to_owned());
    run.page.line(head.join("  "))?;

    let columns = run.page.prose() - INDENT;
    // Two lines of it; a few columns less, for words that do not break where the line does.
    let snippet = snippet(query, words(hit), 2 * columns - 12);
    for line in text::wrap(&snippet.text, columns).into_iter().take(2) {
        let line = marked(run, &snippet, line);
        run.page.line(format_args!("{:INDENT$}{line}", ""))?;
    }
    run.page.line("")?;
    Ok(())
}

/// Returns a line of a snippet with what was searched for standing out.
fn marked(run: &Run<'_>, snippet: &Snippet, line: std::ops::Range<usize>) -> String {
    let mut marked = String::new();
    let mut at = line.start;
    for place in &snippet.places {
        let (start, end) = (place.start.max(at), place.end.min(line.end));
        if start >= end {
            continue;
        }
        marked.push_str(&snippet.text[at..start]);
        marked.push_str(&run.page.styled(Style::Found, &snippet.text[start..end]));
        at = end;
    }
    marked.push_str(&snippet.text[at..line.end]);
    marked
}

fn summary(
    run: &mut Run<'_>,
    found: &Found,
    sessions: &HashMap<i64, SessionRow>,
    names: &Names,
    limit: usize,
) -> Result<()> {
    if found.more_than_ranked {
        run.page.line("There are more than 5,000 matches: the newest 5,000 were ranked.")?;
    }
    if let Some(scan) = found.scan {
        let how_far = if scan.sessions < scan.of { "the newest " } else { "" };
        let all = if scan.sessions < scan.of {
            format!(" of {}", print::number(scan.of as u64))
        } else {
            String::new()
        };
        run.page.line(format_args!(
            "Looked through {how_far}{}{all} for what is not in the index.",
            print::count(scan.sessions as u64, "session"),
        ))?;
    }
    let Some((first, session)) = found.hits.first().and_then(|hit| Some((hit, sessions.get(&hit.session)?)))
    else {
        run.page.line("Nothing found.")?;
        return Ok(());
    };
    let n = found.hits.len();
    let more = if n == limit { ", perhaps more (`--limit`)" } else { "" };
    run.page.line(format_args!(
        "{}{more}. To open the first: {} show {}:{}",
        print::count(n as u64, "hit"),
        run.name,
        names.short(session),
        first.turn
    ))?;
    Ok(())
}
