//! `demo`

use super::Run;
use crate::args;
use crate::exit::Exit;
use crate::maps::Maps;
use crate::print::Style;
use crate::times::Clock;
use crate::world;
use anyhow::{Context as _, Result};
use scrollback_core::{Env, Timestamp};
use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The sample sessions: where each stands below a home directory, and its bytes.
static SAMPLES: &[(&str, &[u8])] = &[
    (
        ".claude/projects/-home-dev-demo/9f8ea63d-16ca-413c-a289-7019a50ed6a9.jsonl",
        include_bytes!("../../demo/claude-code/9f8ea63d-16ca-413c-a289-7019a50ed6a9.jsonl"),
    ),
    (
        ".claude/projects/-home-dev-demo/9f8ea63d-16ca-413c-a289-7019a50ed6a9/subagents/agent-acb9467d70f3509c5.jsonl",
        include_bytes!("../../demo/claude-code/agent-acb9467d70f3509c5.jsonl"),
    ),
    (
        ".claude/projects/-home-dev-demo/9f8ea63d-16ca-413c-a289-7019a50ed6a9/subagents/agent-acb9467d70f3509c5.meta.json",
        include_bytes!("../../demo/claude-code/agent-acb9467d70f3509c5.meta.json"),
    ),
    (
        ".codex/sessions/2026/11/30/rollout-2026-11-30T20-46-39-01a22e35-adc4-7e23-a02d-3ce26c009c8c.jsonl",
        include_bytes!(
            "../../demo/codex/rollout-2026-11-30T20-46-39-01a22e35-adc4-7e23-a02d-3ce26c009c8c.jsonl"
        ),
    ),
];

/// A word that stands in them.
const WORD: &str = "greet";

pub(super) fn run(run: &mut Run<'_>) -> Result<Exit> {
    let scratch =
        tempfile::Builder::new().prefix("scrollback-demo-").tempdir().context("no place for the demo")?;
    let home = scratch.path().join("home");
    lay_out(&home).context("cannot write the sample sessions")?;
    let settings = run.settings.in_directory(&scratch.path().join("data"));
    let env = Sandbox { home };
    // The samples are of linked clients; what the user declared may have its home outside the scratch directory.
    let maps = Maps::none(&run.maps.linked);
    let mut demo = Run {
        name: run.name,
        registry: &maps.registry,
        maps: &maps,
        env: &env,
        settings: &settings,
        clock: Clock::here(env.now()),
        page: run.page,
    };
    step(&mut demo, &["tail"])?;
    step(&mut demo, &["sessions"])?;
    step(&mut demo, &["search", WORD])?;
    let latest = {
        let store = demo.store()?;
        let names = crate::name::Names::of(&store)?;
        store
            .sessions(&scrollback_store::SessionFilter::default())?
            .first()
            .map(|session| names.short(session))
    };
    if let Some(latest) = latest {
        step(&mut demo, &["show", &latest])?;
    }
    scratch.close().context("cannot remove the demo's directory")?;
    Ok(Exit::Done)
}

/// Prints a command line, and what it prints.
fn step(run: &mut Run<'_>, words: &[&str]) -> Result<()> {
    let line = run.page.styled(Style::Strong, &format!("$ {} {}", run.name, words.join(" ")));
    run.page.line(line)?;
    let line = std::iter::once(run.name).chain(words.iter().copied()).map(OsString::from);
    run.command(&args::parse(run.name, None, line)?)?;
    run.page.line("")?;
    Ok(())
}

#[expect(clippy::disallowed_methods, reason = "sample transcripts, in a directory of our own")]
fn lay_out(home: &Path) -> io::Result<()> {
    for (path, bytes) in SAMPLES {
        let path = home.join(path);
        fs::create_dir_all(path.parent().unwrap_or(home))?;
        fs::write(path, bytes)?;
    }
    Ok(())
}

/// A machine on which only the samples are.
struct Sandbox {
    home: PathBuf,
}

impl Env for Sandbox {
    fn var(&self, name: &str) -> Option<String> {
        let path = match name {
            "HOME" => self.home.clone(),
            "CLAUDE_CONFIG_DIR" => self.home.join(".claude"),
            "CODEX_HOME" => self.home.join(".codex"),
            _ => return None,
        };
        Some(path.to_string_lossy().into_owned())
    }

    fn home(&self) -> Option<PathBuf> {
        Some(self.home.clone())
    }

    fn current_dir(&self) -> Option<PathBuf> {
        Some(self.home.clone())
    }

    fn login(&self) -> Option<String> {
        Some("dev".to_owned())
    }

    fn now(&self) -> Timestamp {
        world::World.now()
    }

    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        world::read(path)
    }

    fn list(&self, path: &Path) -> io::Result<Vec<PathBuf>> {
        world::list(path)
    }
}
