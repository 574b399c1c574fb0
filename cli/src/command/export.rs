//! `export`

use super::{Run, lines};
use crate::args::Export;
use crate::exit::Exit;
use crate::print;
use anyhow::{Context as _, Result};
use scrollback_core::Line;
use scrollback_store::{Picked, SessionRow, Store};
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::Path;

/// The version of the line format.
const FORMAT: u32 = 1;

pub(super) fn run(run: &mut Run<'_>, args: &Export) -> Result<Exit> {
    let store = run.store()?;
    let mut sessions = run.sessions(&store, &args.filters)?;
    sessions.sort_by(|a, b| {
        (a.line.client.as_str(), &a.line.session).cmp(&(b.line.client.as_str(), &b.line.session))
    });
    let Some(path) = &args.out else {
        export(&store, &sessions, &mut |line| Ok(run.page.json(line)?))?;
        return Ok(Exit::Done);
    };
    let events = to_file(&store, &sessions, path)?;
    run.page.line(format_args!(
        "{} and {} written to {}",
        print::count(sessions.len() as u64, "session"),
        print::count(events, "event"),
        path.display()
    ))?;
    Ok(Exit::Done)
}

/// Writes a file that stands at its path only when all of it is written; returns how many events are in it. A
/// link stays one, and what is no regular file (a device, a pipe) is written into, never replaced.
fn to_file(store: &Store, sessions: &[SessionRow], path: &Path) -> Result<u64> {
    let failed = || format!("cannot write {}", path.display());
    let target = fs::canonicalize(path);
    let path = target.as_deref().unwrap_or(path);
    if fs::metadata(path).is_ok_and(|found| !found.is_file()) {
        let file = fs::OpenOptions::new().write(true).open(path).with_context(failed)?;
        return write(store, sessions, &file).with_context(failed);
    }
    let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    // Only its owner may read a temporary file, and it keeps that mode.
    let file = tempfile::NamedTempFile::new_in(directory).with_context(failed)?;
    let events = write(store, sessions, file.as_file()).with_context(failed)?;
    file.as_file().sync_all().with_context(failed)?;
    file.persist(path).map_err(|error| error.error).with_context(failed)?;
    Ok(events)
}

/// Writes the lines of an exported file; returns how many events are among them.
fn write(store: &Store, sessions: &[SessionRow], file: &File) -> Result<u64> {
    let mut out = io::BufWriter::new(file);
    let mut events = 0;
    export(store, sessions, &mut |line| {
        events += u64::from(matches!(line, Line::Event(_)));
        Ok(print::json_line(&mut out, line)?)
    })?;
    out.flush()?;
    Ok(events)
}

/// Gives `each` the lines of an exported file.
fn export(store: &Store, sessions: &[SessionRow], each: &mut dyn FnMut(&Line) -> Result<()>) -> Result<()> {
    each(&Line::Scrollback { format: FORMAT })?;
    for session in sessions {
        each(&Line::Session(session.line.clone()))?;
        lines::events(store, session, &Picked { withdrawn: true, ..Picked::ALL }, each)?;
        for usage in store.usage_of(session)? {
            each(&Line::Usage(usage))?;
        }
    }
    Ok(())
}
