//! The command line of scrollback, as a library: a program of one's own links its parsers and calls [`main`].
//!
//! ```no_run
//! // use acme_parser as _;
//! fn main() -> std::process::ExitCode {
//!     scrollback_cli::main()
//! }
//! ```
//!
//! Nothing else of the project prints, reads the environment or exits.

mod args;
mod builtin;
mod command;
mod config;
mod drain;
mod exit;
mod hook;
mod installed;
mod maps;
mod name;
mod print;
mod program;
mod reference;
mod settings;
mod snippet;
mod text;
mod times;
mod world;

pub use reference::reference;

use crate::exit::Exit;
use scrollback_core::Registry;
use std::ffi::OsString;
use std::process::ExitCode;
use std::time::Instant;

/// Runs the command line this process was given, under the name `scrollback` and with what is linked.
pub fn main() -> ExitCode {
    Cli::new().run()
}

/// The command line, before it is run.
#[derive(Default)]
pub struct Cli {
    name: Option<&'static str>,
    version: Option<&'static str>,
    registry: Option<Registry>,
}

impl Cli {
    /// Returns the command line as `scrollback` has it.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the program's name, as help, hints and errors give it.
    #[must_use]
    pub fn name(mut self, name: &'static str) -> Self {
        self.name = Some(name);
        self
    }

    /// Sets the version that `--version` prints.
    #[must_use]
    pub fn version(mut self, version: &'static str) -> Self {
        self.version = Some(version);
        self
    }

    /// Sets the plugins that may be used, instead of those that are linked.
    #[must_use]
    pub fn registry(mut self, registry: Registry) -> Self {
        self.registry = Some(registry);
        self
    }

    /// Runs the command line this process was given. Returns one of the exit codes of `docs/cli.md`.
    pub fn run(self) -> ExitCode {
        self.run_from(std::env::args_os()).into()
    }

    fn run_from(self, args: impl Iterator<Item = OsString>) -> Exit {
        let began = Instant::now();
        let name = self.name.unwrap_or(args::NAME);
        let args: Vec<OsString> = args.collect();
        // A client waits for it: before anything else is made.
        let rest = || args.iter().skip(2).cloned();
        let helps = || rest().any(|arg| arg == "--help" || arg == "-h");
        match args.get(1).and_then(|command| command.to_str()) {
            Some("hook") if !helps() => return hook::run(self.registry.as_ref(), rest(), began),
            Some("drain") if !helps() => return drain::run(self.registry.as_ref(), rest()),
            _ => {}
        }
        let parsed = match args::parse(name, self.version, args.into_iter()) {
            Ok(parsed) => parsed,
            Err(error) => return exit::of_clap(&error),
        };
        let done = match self.registry {
            Some(registry) => command::start(name, &registry, &parsed),
            None => Registry::linked()
                .map_err(anyhow::Error::from)
                .and_then(|registry| command::start(name, &registry, &parsed)),
        };
        done.unwrap_or_else(|error| {
            let exit = Exit::of(&error);
            if exit != Exit::Done {
                print::complain(name, &format!("{error:#}"));
            }
            exit
        })
    }
}
