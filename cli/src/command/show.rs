//! `show`

use super::{Run, lines, raw, transcript};
use crate::args::{Kind, Show};
use crate::exit::Exit;
use crate::name::{self, Names};
use crate::print::{self, Style};
use crate::text;
use anyhow::{Result, bail};
use scrollback_core::{EventId, Line, Lineage};
use scrollback_store::{Kinds, Picked, SessionRow, Store, StoredEvent};
use std::collections::{HashMap, HashSet};

/// What a session took over: the session it has it from, and which of that one's events.
type Inherited = (SessionRow, HashSet<EventId>);

pub(super) fn run(run: &mut Run<'_>, args: &Show) -> Result<Exit> {
    let store = run.store()?;
    let named = name::session_and_turn(&store, &run.clock, &args.session)?;
    let (session, turn) = (named.session, named.turn);
    if let Some(turn) = turn.filter(|turn| *turn > session.line.turns) {
        let has = print::count(session.line.turns, "turn");
        bail!("there is no turn {turn}: session {} has {has}", session.line.session);
    }
    let everything = args.full || args.json || args.raw;
    let usual = if everything { Kinds::ALL } else { Kinds::ALL.without(thinking()) };
    let kinds = Kind::set(&args.kind).unwrap_or(usual);
    let picked = Picked { turn, kinds, withdrawn: args.withdrawn, only: None };
    let inherited = if turn.is_none() { store.inherited(&session)? } else { Vec::new() };

    if args.json {
        return json(run, &store, &session, &picked, if args.inherited { &inherited } else { &[] });
    }
    let mut taken_over = Vec::new();
    if args.inherited {
        for (home, ids) in &inherited {
            taken_over.extend(store.events(home, &Picked { only: Some(ids), ..picked })?);
        }
    }
    let events = store.events(&session, &picked)?;
    if args.raw {
        taken_over.extend(events);
        return raw::print(run, &store, &taken_over);
    }
    text(run, &store, args, &session, &inherited, &taken_over, &events)?;
    Ok(Exit::Done)
}

fn thinking() -> Kinds {
    Kind::set(&[Kind::Thinking]).unwrap_or(Kinds::ALL)
}

fn json(
    run: &mut Run<'_>,
    store: &Store,
    session: &SessionRow,
    picked: &Picked<'_>,
    inherited: &[Inherited],
) -> Result<Exit> {
    let mut print = |line: &Line| Ok(run.page.json(line)?);
    print(&Line::Session(session.line.clone()))?;
    for (home, ids) in inherited {
        lines::events(store, home, &Picked { only: Some(ids), ..*picked }, &mut print)?;
    }
    lines::events(store, session, picked, &mut print)?;
    Ok(Exit::Done)
}

fn text(
    run: &mut Run<'_>,
    store: &Store,
    args: &Show,
    session: &SessionRow,
    inherited: &[Inherited],
    taken_over: &[StoredEvent],
    events: &[StoredEvent],
) -> Result<()> {
    let names = Names::of(store)?;
    head(run, session)?;
    if !inherited.is_empty() {
        run.page.line("")?;
    }
    for (home, ids) in inherited {
        let (n, home) = (print::count(ids.len() as u64, "event"), names.short(home));
        let hint = if args.inherited { "" } else { " (--inherited shows them)" };
        let line = format!("↑ {n} from {home}{hint}");
        let line = run.page.styled(Style::Faint, &line);
        run.page.line(line)?;
    }
    let nothing = events.is_empty() && taken_over.is_empty();
    if !taken_over.is_empty() {
        transcript::print(run, taken_over, args.full, &HashMap::new())?;
        run.page.line("")?;
        let line = run.page.styled(Style::Faint, &format!("↓ from here on {}", names.short(session)));
        run.page.line(line)?;
    }
    transcript::print(run, events, args.full, &launched(store, session, &names)?)?;
    if nothing {
        run.page.line("\nNothing of it is to be shown.")?;
    }
    Ok(())
}

/// Prints what is known of a session.
fn head(run: &mut Run<'_>, session: &SessionRow) -> Result<()> {
    let line = &session.line;
    let title = text::one_line(name::title(session));
    if !title.is_empty() {
        let title = run.page.styled(Style::Strong, &text::clip(&title, run.page.prose()));
        run.page.line(title)?;
    }
    run.page.line(format_args!("{}/{}", line.client, line.session))?;
    let mut facts: Vec<String> = Vec::new();
    if let Some(parent) = &line.parent_session {
        let how = match line.lineage {
            Some(Lineage::Subagent) => "sub-agent of",
            Some(Lineage::Fork) => "fork of",
            Some(Lineage::Resume) => "resumed from",
            Some(Lineage::Continuation) => "goes on from",
            None => "from",
        };
        let agent = line.agent.as_ref().map(|agent| format!("{agent}, ")).unwrap_or_default();
        facts.push(format!("{agent}{how} {parent}"));
    }
    if let (Some(agent), None) = (&line.agent, &line.parent_session) {
        facts.push(format!("agent {agent}"));
    }
    facts.extend(line.project.iter().chain(line.cwd.iter().filter(|_| line.project.is_none())).cloned());
    facts.extend(line.branch.as_ref().map(|branch| format!("branch {branch}")));
    facts.extend(line.model.clone());
    if let Some(started) = line.started_at {
        let from = run.clock.minute(started);
        let to = session.last_at.map_or_else(|| from.clone(), |last| run.clock.minute(last));
        let end = session
            .last_at
            .filter(|last| from != to && *last > started)
            .map(|last| run.clock.since(last, Some(started)));
        facts.push(end.map_or(from.clone(), |end| format!("{from} to {end}")));
    }
    facts.push(print::count(line.turns, "turn"));
    facts.push(print::count(session.events, "event"));
    let mut lines: Vec<String> = Vec::new();
    for fact in facts {
        let fact = text::one_line(&fact);
        match lines.last_mut() {
            Some(line) if text::width(line) + text::width(&fact) + 3 <= run.page.prose() => {
                line.push_str(" · ");
                line.push_str(&fact);
            }
            _ => lines.push(fact),
        }
    }
    for line in lines {
        let line = run.page.styled(Style::Faint, &line);
        run.page.line(line)?;
    }
    Ok(())
}

/// Returns, by the call that launched it, a line on each session of a sub-agent.
fn launched(store: &Store, session: &SessionRow, names: &Names) -> Result<HashMap<String, String>> {
    let mut lines = HashMap::new();
    for child in store.children(session)? {
        let (name, turns) = (names.short(&child), print::count(child.line.turns, "turn"));
        let agent = child.line.agent.map(|agent| format!("{agent}, ")).unwrap_or_default();
        if let Some(call) = child.launched_by {
            lines.insert(call, format!("↳ {name} ({agent}{turns})"));
        }
    }
    Ok(lines)
}
