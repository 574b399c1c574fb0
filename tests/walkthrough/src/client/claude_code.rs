//! Claude Code against the model: an address and a made-up key in the environment.

use super::{Pinned, To};
use crate::files;
use anyhow::Result;
use serde_json::json;
use std::ffi::OsString;
use std::path::Path;

pub(super) const PINNED: Pinned = Pinned {
    id: "claude-code",
    name: "Claude Code",
    version: "2.1.332",
    package: "@anthropic-ai/claude-code-linux-x64@2.1.332",
    program: "node_modules/@anthropic-ai/claude-code-linux-x64/claude",
    manifest: "node_modules/@anthropic-ai/claude-code-linux-x64/package.json",
    manifest_version: "2.1.332",
};

/// A key that is none; a session in a terminal wants its last twenty characters approved.
const KEY: &str = "made-up-key-of-the-walkthrough";

pub(super) fn set_up(home: &Path, project: &Path) -> Result<()> {
    let end = &KEY[KEY.len() - 20..];
    let state = json!({
        "hasCompletedOnboarding": true,
        "theme": "dark",
        "customApiKeyResponses": {"approved": [end], "rejected": []},
        "projects": {project.to_string_lossy(): {"hasTrustDialogAccepted": true, "allowedTools": []}},
    });
    files::write(&home.join(".claude.json"), state.to_string())?;
    let settings = json!({"permissions": {"allow": ["Bash", "Agent", "Write", "Edit", "Read"]}});
    files::write(&home.join(".claude/settings.json"), settings.to_string())
}

/// Without a directory of its own it shares one below `/tmp` with every other session of the user.
pub(super) fn environment(base: &str, temporary: &Path) -> Vec<(&'static str, String)> {
    vec![
        ("ANTHROPIC_BASE_URL", base.to_owned()),
        ("ANTHROPIC_API_KEY", KEY.to_owned()),
        ("CLAUDE_CODE_TMPDIR", temporary.to_string_lossy().into_owned()),
        ("DISABLE_TELEMETRY", "1".to_owned()),
        ("DISABLE_ERROR_REPORTING", "1".to_owned()),
        ("DISABLE_AUTOUPDATER", "1".to_owned()),
    ]
}

pub(super) fn unpersisted(prompt: &str) -> Vec<OsString> {
    vec!["-p".into(), "--no-session-persistence".into(), prompt.into()]
}

pub(super) fn print(to: To, prompt: &str) -> Vec<OsString> {
    let mut args: Vec<OsString> = vec!["-p".into()];
    match to {
        To::New => {}
        To::Last => args.push("--continue".into()),
        To::Fork => args.extend(["--continue".into(), "--fork-session".into()]),
    }
    args.push(prompt.into());
    args
}
