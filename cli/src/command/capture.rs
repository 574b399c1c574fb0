//! `use`, `active`, `clear`, `pause` and `resume`: for which project sessions are captured, and whether they are.

use super::Run;
use crate::args::{Active, Use, Where};
use crate::exit::{Ended, Exit};
use crate::settings;
use anyhow::{Context as _, Result};
use scrollback_core::Timestamp;
use scrollback_engine::capture::{holding, scope_of};
use scrollback_engine::project::project_of;
use scrollback_store::{Access, Holds, Interval, Mode, Scope, Store};
use serde::Serialize;
use std::path::PathBuf;

pub(super) fn bind(run: &mut Run<'_>, args: &Use) -> Result<Exit> {
    let project = args.project.trim();
    if project.is_empty() {
        return Err(Ended::usage("a project's name is not empty").into());
    }
    let scope = here(run)?;
    let mut store = writable(run)?;
    let mut writer = store.writer()?;
    writer.open_interval(&Holds::Bound(project.to_owned()), &scope, run.env.now())?;
    writer.commit()?;
    run.page.line(format_args!("From now on, sessions {} belong to {project:?}.", place(&scope)))?;
    if let Some(named) = settings::project_of(run.env) {
        run.page.line(format_args!(
            "But SCROLLBACK_PROJECT is set here: sessions started with it belong to {named:?}."
        ))?;
    }
    Ok(Exit::Done)
}

pub(super) fn clear(run: &mut Run<'_>) -> Result<Exit> {
    let scope = here(run)?;
    let mut store = writable(run)?;
    let mut writer = store.writer()?;
    let closed = writer.close_interval(false, Some(&scope), run.env.now())?;
    writer.commit()?;
    let place = place(&scope);
    if closed > 0 {
        run.page
            .line(format_args!("From now on, sessions {place} belong to the project of their directory."))?;
    } else {
        run.page.line(format_args!("No project was bound {place}."))?;
    }
    Ok(Exit::Done)
}

pub(super) fn pause(run: &mut Run<'_>, args: &Where) -> Result<Exit> {
    let scope = if args.everywhere { Scope::Everywhere } else { here(run)? };
    let mut store = writable(run)?;
    let is_open = |interval: &Interval| {
        interval.until.is_none() && interval.scope == scope && interval.holds == Holds::Paused
    };
    if let Some(open) = store.intervals()?.into_iter().find(is_open) {
        let since = run.clock.minute(open.since);
        run.page.line(format_args!("Capture is paused {} already, since {since}.", place(&scope)))?;
        return Ok(Exit::Done);
    }
    let mut writer = store.writer()?;
    writer.open_interval(&Holds::Paused, &scope, run.env.now())?;
    writer.commit()?;
    let name = run.name;
    let how = if args.everywhere { " --everywhere" } else { "" };
    run.page.line(format_args!(
        "Capture is paused {}. What is said until `{name} resume{how}` is not stored, now or later.",
        place(&scope)
    ))?;
    Ok(Exit::Done)
}

pub(super) fn resume(run: &mut Run<'_>, args: &Where) -> Result<Exit> {
    let scope = if args.everywhere { None } else { Some(here(run)?) };
    let now = run.env.now();
    let mut store = writable(run)?;
    let mut writer = store.writer()?;
    let closed = writer.close_interval(true, scope.as_ref(), now)?;
    writer.commit()?;
    let place = place(scope.as_ref().unwrap_or(&Scope::Everywhere));
    let directory = current(run)?;
    if let (Some(still), _) = holding(run.env, &store, &directory, now)? {
        let how = match &still.scope {
            Scope::Everywhere => format!("`{} resume --everywhere`", run.name),
            Scope::Repository(root) | Scope::Directory(root) => {
                format!("`{} resume` in {}", run.name, root.display())
            }
        };
        run.complain(&format!("capture is still paused {}; {how} ends that", self::place(&still.scope)))?;
        return Ok(Exit::Failed);
    }
    if closed > 0 {
        run.page.line(format_args!("Capture goes on {place}."))?;
    } else {
        run.page.line(format_args!("Capture was not paused {place}."))?;
    }
    Ok(Exit::Done)
}

/// What holds here, in JSON.
#[derive(Serialize)]
struct ActiveLine<'l> {
    directory: &'l PathBuf,
    project: Option<&'l str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    by: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    since: Option<Timestamp>,
    capture: &'static str,
    captured: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    paused: Option<Paused>,
}

#[derive(Serialize)]
struct Paused {
    since: Timestamp,
    everywhere: bool,
}

pub(super) fn active(run: &mut Run<'_>, args: &Active) -> Result<Exit> {
    let directory = current(run)?;
    let (pause, binding) = standing(run, &directory)?;
    let named = settings::project_of(run.env);
    let own = project_of(&directory, None, &[], run.env.home().as_deref());
    let own = own.map(|own| own.to_string_lossy().into_owned());
    let bound = binding.as_ref().and_then(|interval| match &interval.holds {
        Holds::Bound(project) => Some((project.as_str(), interval)),
        Holds::Paused => None,
    });
    let (project, by, since) = match (&named, bound) {
        (Some(named), _) => (Some(named.as_str()), Some("environment"), None),
        (None, Some((project, interval))) => (Some(project), Some("use"), Some(interval.since)),
        (None, None) => (own.as_deref(), own.as_ref().map(|_| "directory"), None),
    };
    let mode = run.settings.capture.mode;
    let unbound = mode == Mode::Bound && matches!(by, None | Some("directory"));
    let captured = pause.is_none() && mode != Mode::Off && !unbound;
    if args.json {
        let paused =
            pause.map(|pause| Paused { since: pause.since, everywhere: pause.scope == Scope::Everywhere });
        run.page.json(&ActiveLine {
            directory: &directory,
            project,
            by,
            since,
            capture: mode.name(),
            captured,
            paused,
        })?;
        return Ok(Exit::Done);
    }
    let how = match (by, bound) {
        (Some("environment"), _) => " (SCROLLBACK_PROJECT)".to_owned(),
        (Some("use"), Some((_, interval))) => {
            format!(" (bound {}, since {})", place(&interval.scope), run.clock.minute(interval.since))
        }
        _ => String::new(),
    };
    run.page.line(format_args!("Project  {}{how}", project.unwrap_or("none")))?;
    let capture = match pause {
        Some(pause) => format!("paused {}, since {}", place(&pause.scope), run.clock.minute(pause.since)),
        None if mode == Mode::Off => "off: nothing is captured".to_owned(),
        None if unbound => {
            format!("only of bound projects, and none is bound here: `{} use PROJECT`", run.name)
        }
        None => "on".to_owned(),
    };
    run.page.line(format_args!("Capture  {capture}"))?;
    Ok(Exit::Done)
}

/// Returns the pause and the binding that hold in a directory now.
fn standing(run: &Run<'_>, directory: &std::path::Path) -> Result<(Option<Interval>, Option<Interval>)> {
    if !run.settings.store().exists() {
        return Ok((None, None));
    }
    Ok(holding(run.env, &run.store()?, directory, run.env.now())?)
}

/// Returns what is to be said of a pause that holds here; none if there is none.
pub(super) fn pause_here(run: &Run<'_>) -> Result<Option<String>> {
    let Some(directory) = run.env.current_dir() else { return Ok(None) };
    let (pause, _) = standing(run, &directory)?;
    Ok(pause.map(|pause| {
        format!("capture is paused {}, since {}", place(&pause.scope), run.clock.minute(pause.since))
    }))
}

fn current(run: &Run<'_>) -> Result<PathBuf> {
    run.env.current_dir().context("this directory has no path that can be used: change to another")
}

fn here(run: &Run<'_>) -> Result<Scope> {
    Ok(scope_of(run.env, &current(run)?))
}

fn writable(run: &Run<'_>) -> Result<Store> {
    Ok(Store::open(&run.settings.store(), Access::Write)?)
}

/// Returns where something holds, for people.
fn place(scope: &Scope) -> String {
    match scope {
        Scope::Everywhere => "everywhere".to_owned(),
        Scope::Repository(root) => format!("in {}", root.display()),
        Scope::Directory(root) => format!("in {} and below it", root.display()),
    }
}
