//! Codex against the model: a provider of one's own in `config.toml`.

use super::{Pinned, To};
use crate::files;
use anyhow::Result;
use std::ffi::OsString;
use std::path::Path;

pub(super) const PINNED: Pinned = Pinned {
    id: "codex",
    name: "Codex",
    version: "0.171.0",
    package: "@openai/codex@0.171.0-linux-x64",
    program: "node_modules/@openai/codex/vendor/x86_64-unknown-linux-musl/bin/codex",
    manifest: "node_modules/@openai/codex/package.json",
    manifest_version: "0.171.0-linux-x64",
};

/// `SHELL` of the sandbox is `sh`; commands run without a sandbox of Codex's own, which wants more of a kernel than
/// a container gives.
const CONFIG: &str = r#"model = "walkthrough-model"
model_provider = "walkthrough"
approval_policy = "never"
sandbox_mode = "danger-full-access"
check_for_update_on_startup = false
disable_paste_burst = true

[model_providers.walkthrough]
name = "walkthrough"
base_url = "{base}/v1"
wire_api = "responses"
env_key = "WALKTHROUGH_KEY"
request_max_retries = 1
stream_max_retries = 1

[analytics]
enabled = false

[projects."{project}"]
trust_level = "trusted"

[tui]
screen_reader_detection_done = true
"#;

pub(super) fn set_up(home: &Path, project: &Path, base: &str) -> Result<()> {
    let config = CONFIG.replace("{base}", base).replace("{project}", &project.to_string_lossy());
    files::write(&home.join(".codex/config.toml"), config)
}

pub(super) fn environment() -> Vec<(&'static str, String)> {
    vec![("WALKTHROUGH_KEY", "made-up".to_owned())]
}

pub(super) fn unpersisted(prompt: &str) -> Vec<OsString> {
    vec!["exec".into(), "--skip-git-repo-check".into(), "--ephemeral".into(), prompt.into()]
}

pub(super) fn print(to: To, last: Option<&str>, prompt: &str) -> Vec<OsString> {
    let mut args: Vec<OsString> = vec!["exec".into(), "--skip-git-repo-check".into()];
    match to {
        To::New => {}
        // The last session is the last that its database knows: one that was killed at once is not in there yet.
        To::Last => {
            args.push("resume".into());
            args.push(last.map_or_else(|| "--last".into(), OsString::from));
        }
        To::Fork => {
            args.push("fork".into());
            args.extend(last.map(OsString::from));
        }
    }
    args.push(prompt.into());
    args
}
