//! A machine whose sessions record themselves: set up once for the user, in settings that have comments, where
//! the client takes them, and other people's hooks.

use super::{Client, Sandbox, until};
use crate::files;
use anyhow::{Context as _, Result, bail, ensure};
use std::fs;
use std::path::PathBuf;

/// What a hook of somebody else leaves, below the home.
pub(super) const THEIRS: &str = "theirs";

/// Settings as they were before the set-up.
pub(super) struct Before(Vec<(PathBuf, Option<Vec<u8>>)>);

impl Sandbox {
    /// Puts comments and other people's hooks into the client's settings, and sets recording up.
    pub(super) fn set_up_hooks(&self) -> Result<Before> {
        let home = self.home();
        let before = match self.client {
            Client::ClaudeCode => {
                let settings = home.join(".claude/settings.json");
                files::write(&settings, CLAUDE)?;
                vec![settings]
            }
            Client::Codex => {
                let config = home.join(".codex/config.toml");
                let text = fs::read_to_string(&config)?;
                files::write(&config, format!("# What I set.\n{text}"))?;
                files::write(&home.join(".codex/hooks.json"), CODEX)?;
                vec![home.join(".codex/hooks.json")]
            }
        };
        let before = before.into_iter().map(|path| (path.clone(), fs::read(&path).ok())).collect();
        let ran = self.ran(&["setup", "--yes"])?;
        // Codex's hooks are to be reviewed by the user.
        let expected = if self.client == Client::Codex { 3 } else { 0 };
        ensure!(ran.code == Some(expected), "setup left with {:?}\n{}{}", ran.code, ran.stdout, ran.stderr);
        ensure!(
            self.ran(&["setup", "--yes"])?.stdout.ends_with("Nothing to change.\n"),
            "a second setup writes"
        );
        Ok(Before(before))
    }

    /// Waits until what the hooks left is in the store; says whether everything that the client wrote is.
    pub(super) fn drained(&self) -> Result<bool> {
        until("the drain at its end", || {
            Ok(self.scrollback(&["status"])?.contains("Drain  has nothing to do"))
        })?;
        Ok(self.ran(&["coverage"])?.code == Some(0))
    }

    /// Takes out what the set-up put in, which must give back what was there.
    pub(super) fn take_out_hooks(&self, before: &Before) -> Result<()> {
        let status = self.ran(&["status", "--check"])?;
        // Only a scenario that reviews Codex's hooks as a person does leaves nothing to be said.
        let waits = status.stdout.contains("wait for your review");
        let expected = if waits && self.client == Client::Codex { 3 } else { 0 };
        ensure!(
            status.code == Some(expected),
            "status --check left with {:?}\n{}",
            status.code,
            status.stdout
        );
        self.scrollback(&["uninstall", "--yes"])?;
        for (path, was) in &before.0 {
            let is = fs::read(path).ok();
            if is != *was {
                let text = |bytes: &Option<Vec<u8>>| {
                    bytes.as_ref().map(|bytes| String::from_utf8_lossy(bytes).into_owned())
                };
                bail!("{} is {:?}\nand was {:?}", path.display(), text(&is), text(was));
            }
        }
        let theirs = self.home().join(THEIRS);
        ensure!(theirs.exists(), "somebody else's hook did not run");
        Ok(())
    }

    /// Returns the log of the drain, for what it says of a failure.
    pub(super) fn log(&self) -> String {
        let path = self.root().join("data/capture.log");
        fs::read_to_string(&path).with_context(|| path.display().to_string()).unwrap_or_default()
    }
}

/// Settings of Claude Code, as people write them: 2.1.332 refuses a file with comments.
const CLAUDE: &str = r#"{
    "permissions": { "allow": ["Bash", "Agent", "Write", "Edit", "Read"] },
    "hooks": {
        "SessionStart": [{ "hooks": [{ "type": "command", "command": "echo started >> \"$HOME/theirs\"" }] }],
        "Stop": []
    }
}"#;

/// Hooks of Codex, as people write them.
const CODEX: &str = r#"{
  "description": "Mine.",
  "hooks": {
    "SessionStart": [ { "hooks": [ { "type": "command", "command": "echo started >> \"$HOME/theirs\"" } ] } ],
    "Stop": []
  }
}
"#;
