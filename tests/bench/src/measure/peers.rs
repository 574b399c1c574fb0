//! Other programs that index the same transcripts.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use serde_json::json;

use super::arg;
use crate::place::{Corpus, Place, size};
use crate::run::{Job, Output};
use crate::table::Table;

/// The versions that are compared with, as the registries have them.
const AGENTSVIEW: &str = "agentsview==0.46.1";
const SESSIONWIKI: [&str; 3] = ["sessionwiki", "--version", "0.34.21"];

/// Runs a command of an installation.
fn install(program: &str, arguments: &[&str]) -> Result<()> {
    let done = Command::new(program)
        .args(arguments)
        .stdin(Stdio::null())
        .output()
        .with_context(|| format!("starting {program}"))?;
    if !done.status.success() {
        let told = String::from_utf8_lossy(&done.stderr);
        bail!(
            "{program} {}: {}",
            arguments.join(" "),
            told.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("no reason given")
        );
    }
    Ok(())
}

/// Returns agentsview's program, from `PyPI`.
fn agentsview(place: &Place) -> Result<PathBuf> {
    let folder = place.root.join("peers/agentsview");
    let program = folder.join("bin/agentsview");
    if !program.exists() {
        install("python3", &["-m", "venv", &arg(&folder)])?;
        install(&arg(&folder.join("bin/pip")), &["install", "--quiet", AGENTSVIEW])?;
    }
    Ok(program)
}

/// Returns sessionwiki's program, from crates.io.
fn sessionwiki(place: &Place) -> Result<PathBuf> {
    let folder = place.root.join("peers/sessionwiki");
    let program = folder.join("bin/sessionwiki");
    if !program.exists() {
        let mut arguments = vec!["install", "--quiet", "--locked"];
        let root = arg(&folder);
        arguments.extend(SESSIONWIKI);
        arguments.extend(["--root", &root]);
        install("cargo", &arguments)?;
    }
    Ok(program)
}

/// Makes a home that has the transcripts where the clients keep them.
fn home(place: &Place, corpora: &[Corpus]) -> Result<PathBuf> {
    let home = place.fresh("peer-home")?;
    for corpus in corpora {
        let folder = if corpus.name == "codex" { ".codex" } else { ".claude" };
        symlink(&corpus.dir, home.join(folder))?;
    }
    Ok(home)
}

/// A peer: its name, its program, and how it is asked to index a home.
struct Peer {
    name: &'static str,
    program: fn(&Place) -> Result<PathBuf>,
    job: fn(&Path, &Path) -> Job,
    /// Our processor time must be at most this share of its.
    most: Option<f64>,
}

const PEERS: [Peer; 2] = [
    Peer {
        name: "agentsview 0.46.1 `sync`",
        program: agentsview,
        job: |program, home| {
            Job::new(program)
                .arg("sync")
                .env("HOME", home)
                .env("AGENTSVIEW_NO_DAEMON", Path::new("1"))
                .env("AGENTSVIEW_DATA_DIR", &home.join("data"))
        },
        most: Some(1.0 / 6.0),
    },
    Peer {
        name: "sessionwiki 0.34.21 `sync`",
        program: sessionwiki,
        job: |program, home| {
            Job::new(program)
                .arg("sync")
                .env("HOME", home)
                .env("XDG_DATA_HOME", &home.join("data"))
                .env("XDG_CACHE_HOME", &home.join("data"))
        },
        most: None,
    },
];

pub(crate) fn rows(place: &Place, corpora: &[Corpus], table: &mut Table) -> Result<()> {
    let bytes: u64 = corpora.iter().map(|corpus| corpus.bytes).sum();
    let mut ours = Duration::MAX;
    for _ in 0..3 {
        let (home, data) = (home(place, corpora)?, place.fresh("peer-ours")?);
        let tail = place.scrollback(&data).env("HOME", &home).arg("tail");
        ours = ours.min(tail.run(&place.root, Output::Kept)?.cpu);
    }
    for peer in PEERS {
        let what = format!("{} on the same files", peer.name);
        let target = peer.most.map_or("", |_| "ours ≤ 1/6 of its CPU");
        let measured = (peer.program)(place).and_then(|program| {
            let home = home(place, corpora)?;
            let used = (peer.job)(&program, &home).run(&place.root, Output::Kept)?;
            let data = if home.join("data").exists() { size(&home.join("data"))? } else { 0 };
            Ok((used, data))
        });
        match measured {
            Err(why) => table.missing(what, target, format!("{why:#}").replace('\n', " ")),
            Ok((used, data)) => {
                let share = ours.as_secs_f64() / used.cpu.as_secs_f64();
                let measured = format!(
                    "ours {:.1} s, its {:.1} s of CPU: 1/{:.1}; its memory {}, its store {:.2} of the transcripts",
                    ours.as_secs_f64(),
                    used.cpu.as_secs_f64(),
                    1.0 / share,
                    super::mib(used.peak),
                    data as f64 / bytes as f64
                );
                let figures = json!({"ours": ours.as_secs_f64(), "its": used.cpu.as_secs_f64(), "peak": used.peak, "data": data});
                match peer.most {
                    Some(most) => table.target(what, target, measured, share <= most, figures),
                    None => table.beside(what, measured, figures),
                }
            }
        }
    }
    fs::remove_dir_all(place.root.join("peer-home"))?;
    Ok(())
}
