//! The real clients: how each is installed, set up against the model, and run.

mod claude_code;
mod codex;
mod hooks;
pub(crate) mod install;
mod sandbox;
mod terminal;

pub(crate) use sandbox::{How, PROJECT, Running, Sandbox, until};
pub(crate) use terminal::Terminal;

use anyhow::Result;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// A client that walkthroughs are made with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Client {
    ClaudeCode,
    Codex,
}

/// What is pinned of a client.
#[derive(Clone, Copy)]
pub(crate) struct Pinned {
    /// Its id, the same everywhere.
    pub(crate) id: &'static str,
    /// Its name in the table of clients.
    pub(crate) name: &'static str,
    /// The version.
    pub(crate) version: &'static str,
    /// The package of the npm registry, with its version; it needs no install script.
    pub(crate) package: &'static str,
    /// The program, below the directory that packages are installed in.
    pub(crate) program: &'static str,
    /// The manifest of the installed package, likewise.
    pub(crate) manifest: &'static str,
    /// The version as that manifest has it.
    pub(crate) manifest_version: &'static str,
}

/// How a prompt is given in print mode.
#[derive(Clone, Copy, Debug)]
pub(crate) enum To {
    /// To a new session.
    New,
    /// To the last session.
    Last,
    /// To a fork of the last session.
    Fork,
}

impl Client {
    /// Every client, in the order of the table.
    pub(crate) const ALL: [Self; 2] = [Self::ClaudeCode, Self::Codex];

    /// Returns what is pinned.
    pub(crate) fn pinned(self) -> Pinned {
        match self {
            Self::ClaudeCode => claude_code::PINNED,
            Self::Codex => codex::PINNED,
        }
    }

    /// Writes the client's settings into a home, for work in `project` with the model at `base`.
    pub(crate) fn set_up(self, home: &Path, project: &Path, base: &str) -> Result<()> {
        match self {
            Self::ClaudeCode => claude_code::set_up(home, project),
            Self::Codex => codex::set_up(home, project, base),
        }
    }

    /// Returns the environment that the client needs beside the sandbox's.
    pub(crate) fn environment(self, base: &str, temporary: &Path) -> Vec<(&'static str, String)> {
        match self {
            Self::ClaudeCode => claude_code::environment(base, temporary),
            Self::Codex => codex::environment(),
        }
    }

    /// Returns the arguments for a prompt in print mode. `last` is the id of the last session, for a client that
    /// wants it named.
    pub(crate) fn print(self, to: To, last: Option<&str>, prompt: &str) -> Vec<OsString> {
        match self {
            Self::ClaudeCode => claude_code::print(to, prompt),
            Self::Codex => codex::print(to, last, prompt),
        }
    }

    /// Returns the arguments for a prompt in print mode to a session of which the client keeps nothing.
    pub(crate) fn unpersisted(self, prompt: &str) -> Vec<OsString> {
        match self {
            Self::ClaudeCode => claude_code::unpersisted(prompt),
            Self::Codex => codex::unpersisted(prompt),
        }
    }

    /// Returns the arguments, before all others, that have hooks run which nobody reviewed: a review is a person's.
    pub(crate) fn unreviewed(self) -> &'static [&'static str] {
        match self {
            Self::ClaudeCode => &[],
            Self::Codex => &["--dangerously-bypass-hook-trust"],
        }
    }

    /// Returns the arguments for a session in a terminal.
    pub(crate) fn interactive(self) -> Vec<OsString> {
        match self {
            Self::ClaudeCode => vec!["--permission-mode".into(), "default".into()],
            Self::Codex => vec!["--no-daemon".into()],
        }
    }

    /// Returns the place of its transcripts, below a home.
    pub(crate) fn transcripts(self) -> PathBuf {
        match self {
            Self::ClaudeCode => ".claude/projects".into(),
            Self::Codex => ".codex/sessions".into(),
        }
    }
}
