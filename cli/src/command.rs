//! The commands, a file each.

mod capture;
mod completions;
mod coverage;
mod demo;
mod doctor;
mod expand;
mod export;
mod follow;
mod install;
mod lines;
mod new;
mod parse;
mod plugins;
mod raw;
mod reparse;
mod search;
mod sessions;
mod show;
mod stats;
mod status;
mod tail;
mod tool;
mod transcript;

use crate::args::{Command, Filters};
use crate::exit::Exit;
use crate::maps::Maps;
use crate::print::{self, Page};
use crate::settings::Settings;
use crate::times::Clock;
use crate::world::World;
use anyhow::Result;
use scrollback_core::{Env, Registry, Timestamp};
use scrollback_store::{Access, SessionFilter, SessionRow, Store};

/// What a command may use.
struct Run<'r> {
    /// The program's name.
    name: &'static str,
    registry: &'r Registry,
    maps: &'r Maps,
    env: &'r dyn Env,
    settings: &'r Settings,
    clock: Clock,
    page: &'r mut Page,
}

/// Runs a command on this machine.
pub(crate) fn start(name: &'static str, registry: &Registry, command: &Command) -> Result<Exit> {
    let env = World;
    let mut page = Page::stdout(&env);
    let settings = Settings::read(&env)?;
    let clock = Clock::here(env.now());
    let maps = Maps::load(registry, &settings.maps());
    let registry = &maps.registry;
    let mut run = Run { name, registry, maps: &maps, env: &env, settings: &settings, clock, page: &mut page };
    let done = run.command(command);
    // What was printed before an error is shown before it.
    let flushed = page.flush();
    let exit = done?;
    flushed?;
    Ok(exit)
}

impl Run<'_> {
    fn command(&mut self, command: &Command) -> Result<Exit> {
        match command {
            Command::Tail(args) => tail::run(self, args),
            Command::Parse(args) => parse::run(self, args),
            Command::Search(args) => search::run(self, args),
            Command::Sessions(args) => sessions::run(self, args),
            Command::Show(args) => show::run(self, args),
            Command::Expand(args) => expand::run(self, args),
            Command::Export(args) => export::run(self, args),
            Command::Stats(args) => stats::run(self, args),
            Command::Coverage(args) => coverage::run(self, args),
            Command::Reparse(args) => reparse::run(self, args),
            Command::Plugins(args) => plugins::run(self, args),
            Command::Demo => demo::run(self),
            Command::New(args) => new::run(self, args),
            Command::Setup(args) => install::setup(self, args),
            Command::Install(args) => install::install(self, args),
            Command::Uninstall(args) => install::uninstall(self, args),
            Command::Status(args) => status::run(self, args),
            Command::Doctor(args) => doctor::run(self, args),
            Command::Use(args) => capture::bind(self, args),
            Command::Active(args) => capture::active(self, args),
            Command::Clear => capture::clear(self),
            Command::Pause(args) => capture::pause(self, args),
            Command::Resume(args) => capture::resume(self, args),
            // They are taken in before the command line is read.
            Command::Hook(_) | Command::Drain(_) => Ok(Exit::Done),
            Command::Completions(args) => completions::run(self, args),
        }
    }

    /// Opens the store for reading.
    fn store(&self) -> Result<Store> {
        Ok(Store::open(&self.settings.store(), Access::Read)?)
    }

    /// Says something on standard error, after what was printed so far.
    fn complain(&mut self, what: &str) -> Result<()> {
        self.page.flush()?;
        print::complain(self.name, what);
        Ok(())
    }

    /// Says on standard error which field maps were refused; returns whether any was.
    fn complain_of_maps(&mut self) -> Result<bool> {
        for refused in &self.maps.refused {
            self.complain(&refused.line())?;
        }
        Ok(!self.maps.refused.is_empty())
    }

    fn since(&self, filters: &Filters) -> Result<Option<Timestamp>> {
        filters.since.as_ref().map(|moment| self.clock.resolve(moment)).transpose()
    }

    fn until(&self, filters: &Filters) -> Result<Option<Timestamp>> {
        filters.until.as_ref().map(|moment| self.clock.resolve(moment)).transpose()
    }

    /// Returns the sessions the filters want, the one with the latest event first.
    fn sessions(&self, store: &Store, filters: &Filters) -> Result<Vec<SessionRow>> {
        let only = filters
            .session
            .as_ref()
            .map(|name| crate::name::session(store, &self.clock, name))
            .transpose()?;
        let wanted = SessionFilter {
            client: filters.client.as_deref(),
            project: project(filters),
            since: self.since(filters)?,
            until: self.until(filters)?,
        };
        let all = wanted.client.is_none() && wanted.project.is_none();
        match only {
            Some(only) if all && wanted.since.is_none() && wanted.until.is_none() => Ok(vec![only]),
            Some(only) => {
                let mut found = store.sessions(&wanted)?;
                found.retain(|session| session.row == only.row);
                Ok(found)
            }
            None => Ok(store.sessions(&wanted)?),
        }
    }
}

/// Returns the project that is wanted, as the store compares it.
fn project(filters: &Filters) -> Option<&str> {
    filters.project.as_deref().map(|project| match project.trim_end_matches('/') {
        "" => project,
        trimmed => trimmed,
    })
}
