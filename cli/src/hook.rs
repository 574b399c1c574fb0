//! `hook`: what an installed line calls. The first branch of the program, before the command line is defined:
//! it opens no store, asks nobody, and ends with 0, or with 1 if what it leaves could not be written. Nothing
//! else, whatever happens.

use crate::exit::Exit;
use crate::settings;
use crate::settings::Settings;
use crate::world::World;
use anyhow::Result;
use scrollback_core::{Call, Env as _, Level, Registry, Reply};
use scrollback_engine::drain::{DrainReport, Draining, Patience};
use scrollback_engine::hook::{HookCall, Hooked, hook};
use scrollback_engine::spool::Spool;
use scrollback_engine::{TailOptions, drain, log};
use scrollback_store::{Access, Store};
use std::ffi::OsString;
use std::io::{self, Read as _, Write as _};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::time::Instant;

/// The most of a payload that is read; of a longer one nothing is understood.
const LIMIT: u64 = 64 << 20;

/// What an installed line says.
#[derive(Debug, Default, PartialEq, Eq)]
struct Line {
    client: String,
    event: Option<String>,
    json: Option<String>,
    project: Option<String>,
    home: Option<PathBuf>,
    level: Option<Level>,
}

impl Line {
    /// Reads the arguments behind `hook`. What is not understood is passed: an old program may stand behind a newer
    /// line.
    fn of(args: impl Iterator<Item = OsString>) -> Self {
        let mut line = Self::default();
        let mut args = args.map(|arg| arg.to_string_lossy().into_owned());
        while let Some(arg) = args.next() {
            match arg.as_str() {
                "--project" => line.project = args.next().filter(|value| !value.is_empty()),
                "--home" => line.home = args.next().filter(|value| !value.is_empty()).map(PathBuf::from),
                "--level" => {
                    line.level = match args.next().as_deref() {
                        Some("user") => Some(Level::User),
                        Some("project") => Some(Level::Project),
                        _ => None,
                    };
                }
                _ if arg.trim_start().starts_with('{') => line.json = Some(arg),
                _ if arg.starts_with('-') => {}
                _ if line.client.is_empty() => line.client = arg,
                _ => line.event = Some(arg),
            }
        }
        line
    }
}

/// Runs a hook with the arguments behind the word.
pub(crate) fn run(registry: Option<&Registry>, args: impl Iterator<Item = OsString>) -> Exit {
    // A panic's message would be the client's to show.
    std::panic::set_hook(Box::new(|_| {}));
    let line = Line::of(args);
    let done = catch_unwind(AssertUnwindSafe(|| with(registry, |registry| one(registry, &line))));
    let failed = done.unwrap_or_else(|_| {
        trouble(data(&line).as_deref(), "the hook failed (please report it)");
        false
    });
    if failed { Exit::Failed } else { Exit::Done }
}

/// Runs one hook; says whether it failed.
fn one(registry: &Registry, line: &Line) -> bool {
    let data = data(line);
    let Some(data) = data.as_deref() else { return false };
    if line.client.is_empty() {
        trouble(Some(data), "the line names no client: expected `hook CLIENT [EVENT]`");
        return false;
    }
    let payload = line.json.clone().map_or_else(payload, |json| Ok(json.into_bytes()));
    let payload = match payload {
        Ok(payload) => payload,
        Err(error) => {
            trouble(Some(data), &format!("standard input: {error}"));
            return false;
        }
    };
    let call = HookCall {
        client: &line.client,
        call: Call { event: line.event.as_deref(), level: line.level, payload: &payload },
        directory: line.project.as_deref(),
        off: settings::is_off(&World),
    };
    let Hooked { reply, ring, trouble: what } = hook(&World, registry, data, &call);
    if let Some(what) = what {
        trouble(Some(data), &what);
    }
    let failed = print(&reply);
    if ring {
        drain::ring(data);
    }
    failed
}

fn print(reply: &Reply<'_>) -> bool {
    // A client that closed the pipe wants to hear nothing.
    let _written = io::stdout().write_all(reply.stdout.as_bytes()).and_then(|()| io::stdout().flush());
    let _written = io::stderr().write_all(reply.stderr.as_bytes());
    reply.failed
}

fn payload() -> io::Result<Vec<u8>> {
    let mut payload = Vec::new();
    let mut stdin = io::stdin().lock();
    stdin.by_ref().take(LIMIT).read_to_end(&mut payload)?;
    // The client may wait until all of it is read.
    io::copy(&mut stdin, &mut io::sink())?;
    Ok(payload)
}

fn data(line: &Line) -> Option<PathBuf> {
    line.home.clone().or_else(|| Settings::data(&World).ok())
}

fn trouble(data: Option<&Path>, what: &str) {
    if let Some(data) = data {
        log::line(data, World.now(), "hook", what);
    }
}

/// Runs the drain that a hook started.
pub(crate) fn drain(registry: Option<&Registry>, args: impl Iterator<Item = OsString>) -> Exit {
    std::panic::set_hook(Box::new(|_| {}));
    let line = Line::of(args);
    let Some(data) = data(&line) else { return Exit::Failed };
    let data: &Path = &data;
    // Out of the client's session, so that nothing of how it ends reaches us.
    let _alone = rustix::process::setsid();
    let _elsewhere = std::env::set_current_dir("/");
    let done = catch_unwind(AssertUnwindSafe(|| with(registry, |registry| drained(registry, data))));
    match done {
        Ok(Ok(())) => Exit::Done,
        Ok(Err(error)) => {
            log::line(data, World.now(), "drain", &format!("{error:#}"));
            Exit::Failed
        }
        Err(_) => {
            log::line(data, World.now(), "drain", "the drain failed (please report it)");
            Exit::Failed
        }
    }
}

/// Empties the spool, for as long as hooks fill it.
fn drained(registry: &Registry, data: &Path) -> Result<()> {
    let spool = Spool::of(data);
    while spool.has_some() {
        // Another drain looks once more before it leaves.
        let Some(lock) = drain::lock(data)? else { return Ok(()) };
        let began = Instant::now();
        let settings = Settings::read(&World)?;
        let report = empty(registry, &settings, data, Patience::LONG)?;
        drop(lock);
        let took = began.elapsed().as_millis();
        log::line(data, World.now(), "drain", &format!("{} in {took} ms", told(&report)));
    }
    Ok(())
}

/// Does what a drain that did not run left undone, without waiting for anything.
pub(crate) fn catch_up(registry: &Registry, settings: &Settings) -> Result<()> {
    let data = &settings.data;
    if Spool::of(data).has_some()
        && let Some(_lock) = drain::lock(data)?
    {
        let report = empty(registry, settings, data, Patience::NONE)?;
        log::line(data, World.now(), "tail", &told(&report));
    }
    Ok(())
}

/// Empties the spool once into the store.
fn empty(registry: &Registry, settings: &Settings, data: &Path, patience: Patience) -> Result<DrainReport> {
    let mut store = Store::open(&data.join("store.db"), Access::Write)?;
    let options =
        TailOptions { raw_all: settings.raw_all, keep_blobs: settings.keep_blobs, ..TailOptions::default() };
    let draining = Draining { env: &World, registry, options: &options, patience };
    Ok(draining.run(&mut store, &Spool::of(data))?)
}

/// Returns what a drain did, on one line.
fn told(report: &DrainReport) -> String {
    let DrainReport { records, damaged, sources, bytes, stored, came, missing, trouble } = report;
    let mut told = format!(
        "{records} hooks, {damaged} damaged; {sources} transcripts, {bytes} bytes, {stored} events; \
         announced messages: {came} came, {missing} did not"
    );
    for trouble in trouble {
        told.push_str("; ");
        told.push_str(trouble);
    }
    told
}

/// Does something with the plugins that were given, or with those that are linked.
fn with<T>(registry: Option<&Registry>, done: impl FnOnce(&Registry) -> T) -> T {
    match registry {
        Some(registry) => done(registry),
        None => done(&Registry::linked().unwrap_or_default()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(args: &[&str]) -> Line {
        Line::of(args.iter().map(OsString::from))
    }

    #[test]
    fn a_line_is_read_whatever_stands_in_it() {
        let read = line(&["codex", "Stop", "--home", "/d", "--project", "/p", "--level", "user"]);
        assert_eq!(
            read,
            Line {
                client: "codex".into(),
                event: Some("Stop".into()),
                json: None,
                project: Some("/p".into()),
                home: Some("/d".into()),
                level: Some(Level::User),
            }
        );
        assert_eq!(line(&["codex", "{\"type\":\"x\"}"]).json.as_deref(), Some("{\"type\":\"x\"}"));
        // What a newer version may have written, and what a shell may have left empty.
        assert_eq!(
            line(&["--new-flag", "codex", "--project", ""]),
            Line { client: "codex".into(), ..Line::default() }
        );
        assert_eq!(line(&[]), Line::default());
        assert_eq!(line(&["--home"]), Line::default());
    }
}
