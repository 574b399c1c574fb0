//! A client in a terminal: tmux holds it, types and looks.

use super::Sandbox;
use super::sandbox::until;
use crate::files;
use anyhow::{Context as _, Result, bail};
use std::process::Command;
use std::time::{Duration, Instant};

/// After how long a prompt without an answer is sent off again.
const AGAIN: Duration = Duration::from_secs(4);

/// A terminal with a client in it. It ends with the value.
pub(crate) struct Terminal<'a> {
    sandbox: &'a Sandbox,
}

impl<'a> Terminal<'a> {
    /// Says whether there is a tmux.
    pub(crate) fn available() -> bool {
        files::command("tmux").arg("-V").output().is_ok_and(|output| output.status.success())
    }

    /// Starts the client in a terminal of 160 columns and 50 rows.
    pub(crate) fn start(sandbox: &'a Sandbox) -> Result<Self> {
        Self::start_with(sandbox, sandbox.first())
    }

    /// Starts the client as a person does who reviews hooks.
    pub(crate) fn start_reviewed(sandbox: &'a Sandbox) -> Result<Self> {
        Self::start_with(sandbox, &[])
    }

    fn start_with(sandbox: &'a Sandbox, first: &[&str]) -> Result<Self> {
        let terminal = Self { sandbox };
        let mut command = terminal.tmux();
        command.args(["new-session", "-d", "-s", "walk", "-x", "160", "-y", "50", "--"]);
        command.arg(sandbox.binary()).args(first).args(sandbox.client.interactive());
        run(command)?;
        Ok(terminal)
    }

    fn tmux(&self) -> Command {
        let mut command = files::command("tmux");
        self.sandbox.within_client(&mut command);
        command.args(["-f", "/dev/null", "-S"]).arg(self.sandbox.root().join("tmux"));
        command
    }

    fn send(&self, args: &[&str]) -> Result<()> {
        let mut command = self.tmux();
        command.args(["send-keys", "-t", "walk"]).args(args);
        run(command).map(drop)
    }

    /// Presses a key, by tmux's name of it.
    pub(crate) fn press(&self, key: &str) -> Result<()> {
        self.send(&[key])
    }

    /// Types a line; when it is on the screen, sends it off.
    pub(crate) fn enter(&self, line: &str) -> Result<()> {
        self.send(&["-l", "--", line])?;
        self.see(line)?;
        self.press("Enter")
    }

    /// Gives a prompt and waits for an answer. A client that is still beginning a session may not take the key that
    /// sends it off, so the key is pressed again after a while; where the prompt was taken it does nothing.
    pub(crate) fn ask(&self, prompt: &str, answer: &str) -> Result<()> {
        self.enter(prompt)?;
        let mut pressed = Instant::now();
        until(&format!("{answer:?} on the screen"), || {
            if self.screen()?.contains(answer) {
                return Ok(true);
            }
            if pressed.elapsed() > AGAIN {
                self.press("Enter")?;
                pressed = Instant::now();
            }
            Ok(false)
        })
        .with_context(|| self.screen().unwrap_or_default())
    }

    /// Returns what is on the screen.
    pub(crate) fn screen(&self) -> Result<String> {
        let mut command = self.tmux();
        command.args(["capture-pane", "-p", "-J", "-t", "walk"]);
        run(command)
    }

    /// Waits until a text is on the screen.
    pub(crate) fn see(&self, text: &str) -> Result<()> {
        until(&format!("{text:?} on the screen"), || Ok(self.screen()?.contains(text)))
            .with_context(|| self.screen().unwrap_or_default())
    }

    /// Waits until a text is no longer on the screen.
    pub(crate) fn miss(&self, text: &str) -> Result<()> {
        until(&format!("{text:?} gone from the screen"), || Ok(!self.screen()?.contains(text)))
            .with_context(|| self.screen().unwrap_or_default())
    }

    /// Kills the client, as `SIGKILL` does, and waits until it is gone.
    pub(crate) fn kill(self) -> Result<()> {
        let mut command = self.tmux();
        command.args(["display-message", "-p", "-t", "walk", "#{pane_pid}"]);
        let pid = run(command)?;
        let mut kill = files::command("kill");
        kill.args(["-9", pid.trim()]);
        run(kill)?;
        self.gone()
    }

    /// Waits until the client has ended by itself.
    pub(crate) fn gone(self) -> Result<()> {
        until("the end of the client", || {
            let mut command = self.tmux();
            command.args(["has-session", "-t", "walk"]);
            Ok(!command.output()?.status.success())
        })
        .with_context(|| self.screen().unwrap_or_default())
    }
}

impl Drop for Terminal<'_> {
    fn drop(&mut self) {
        // A server that has gone already is what is wanted.
        drop(self.tmux().arg("kill-server").output());
    }
}

fn run(mut command: Command) -> Result<String> {
    let output =
        command.output().with_context(|| format!("{} cannot be run", command.get_program().display()))?;
    if !output.status.success() {
        bail!("{command:?} left with {}: {}", output.status, String::from_utf8_lossy(&output.stderr));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}
