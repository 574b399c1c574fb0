//! Scenarios: what is done with a client, and what the store must then hold.

mod both;
mod claude_code;
mod codex;
mod expect;
mod found;

use crate::client::{Client, Sandbox};
use crate::model::HIDDEN;
use anyhow::{Context as _, Result, bail};
use expect::Session;
use std::path::Path;

/// A walkthrough.
pub(crate) struct Scenario {
    pub(crate) client: Client,
    pub(crate) name: &'static str,
    /// A terminal is needed.
    pub(crate) terminal: bool,
    /// Does what a person would, and returns what must be in the store, sessions in the order they began.
    play: fn(&Sandbox) -> Result<Vec<Session>>,
}

/// Returns every scenario of a client.
pub(crate) fn all(client: Client) -> Vec<Scenario> {
    let own = match client {
        Client::ClaudeCode => claude_code::SCENARIOS,
        Client::Codex => codex::SCENARIOS,
    };
    let entry = |(name, terminal, play): &(&'static str, bool, expect::Play)| Scenario {
        client,
        name,
        terminal: *terminal,
        play: *play,
    };
    both::SCENARIOS.iter().chain(own).map(entry).collect()
}

impl Scenario {
    /// Plays it on a machine and compares the store with what must be there. Then reads everything once more,
    /// which must change nothing, and asks whether all of it was understood.
    ///
    /// # Errors
    ///
    /// If something could not be done, or the store holds something else; the text says what it holds.
    pub(crate) fn run(&self, sandbox: &Sandbox) -> Result<()> {
        let expected = (self.play)(sandbox)?;
        sandbox.record()?;
        let export = sandbox.scrollback(&["export"])?;
        crate::files::write(&sandbox.root().join("export.jsonl"), &export)?;
        let found = found::read(&export)?;
        expect::compare(sandbox.client.pinned().id, &expected, &found)?;
        let mut events = export.lines().filter(|line| line.starts_with(r#"{"type":"event""#));
        if let Some(line) = events.find(|line| line.contains(HIDDEN)) {
            bail!("the answer to a side request is in the store: {line}");
        }
        sandbox.scrollback(&["coverage"]).context("not everything that the client wrote was understood")?;
        sandbox.scrollback(&["tail", "--again"])?;
        if sandbox.scrollback(&["export"])? != export {
            bail!("reading everything again changed the store");
        }
        Ok(())
    }

    /// Returns the name of a directory for it.
    pub(crate) fn directory(&self, below: &Path) -> std::path::PathBuf {
        below.join(format!("{}-{}", self.client.pinned().id, self.name))
    }
}
