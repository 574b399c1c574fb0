//! Where corpora, stores and peers lie: under `target/bench`, made once, kept.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use serde_json::Value;

use crate::corpus::{self, Client, Plan};
use crate::run::Job;

/// Changes when the generator writes other bytes, so that no corpus of an older one is measured.
const GENERATOR: u32 = 1;

/// The programs and folders of a run.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    /// The program that is measured.
    pub(crate) scrollback: PathBuf,
    /// This program, for what it compares with.
    pub(crate) own: PathBuf,
    /// Where everything lies.
    pub(crate) root: PathBuf,
}

/// A corpus on disk.
#[derive(Clone, Debug)]
pub(crate) struct Corpus {
    pub(crate) name: &'static str,
    pub(crate) dir: PathBuf,
    pub(crate) bytes: u64,
    pub(crate) events: u64,
    pub(crate) longest: u64,
}

impl Place {
    /// Returns the place beside this program, measuring `scrollback` or what was built beside it.
    pub(crate) fn new(scrollback: Option<PathBuf>) -> Result<Self> {
        let own = std::env::current_exe()?;
        let built = own.parent().context("a folder")?;
        let scrollback = scrollback.unwrap_or_else(|| built.join("scrollback"));
        if !scrollback.is_file() {
            bail!("{} is not there: cargo build --release -p scrollback-cli", scrollback.display());
        }
        let root = built.parent().context("a target folder")?.join("bench");
        fs::create_dir_all(&root)?;
        Ok(Self { scrollback: scrollback.canonicalize()?, own, root })
    }

    /// Returns an empty folder.
    pub(crate) fn fresh(&self, name: &str) -> Result<PathBuf> {
        let path = self.root.join(name);
        if path.exists() {
            fs::remove_dir_all(&path)?;
        }
        fs::create_dir_all(&path)?;
        Ok(path)
    }

    /// Returns a corpus, written now or earlier.
    pub(crate) fn corpus(&self, plan: Plan) -> Result<Corpus> {
        let name = plan.client.name();
        let lean = if plan.lean { "-lean" } else { "" };
        let dir = self
            .root
            .join(format!("corpus-{GENERATOR}/{name}-{}-{}-{}{lean}", plan.bytes, plan.files, plan.seed));
        let manifest = dir.join("manifest.json");
        if !manifest.exists() {
            if dir.exists() {
                fs::remove_dir_all(&dir)?;
            }
            corpus::write(&dir, plan)?;
        }
        let counts: Value = serde_json::from_slice(&fs::read(&manifest)?)?;
        let figure = |key: &str| counts[key].as_u64().unwrap_or_default();
        Ok(Corpus {
            name,
            dir,
            bytes: figure("bytes"),
            events: figure("events"),
            longest: figure("longest_line"),
        })
    }

    /// Returns both clients' corpora of about `bytes` each.
    pub(crate) fn both(&self, bytes: u64) -> Result<[Corpus; 2]> {
        let of = |client| self.corpus(Plan { client, bytes, seed: 1, files: 1, lean: false });
        Ok([of(Client::ClaudeCode)?, of(Client::Codex)?])
    }

    /// Returns a run of `scrollback` with a home of its own.
    pub(crate) fn scrollback(&self, home: &Path) -> Job {
        Job::new(&self.scrollback).env("SCROLLBACK_HOME", home).env("HOME", home)
    }
}

impl Corpus {
    /// Returns the transcripts, in order.
    pub(crate) fn transcripts(&self) -> Result<Vec<String>> {
        let mut found = Vec::new();
        let mut folders = vec![self.dir.clone()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder)? {
                let path = entry?.path();
                if path.is_dir() {
                    folders.push(path);
                } else if path.extension().is_some_and(|end| end == "jsonl") {
                    found.push(path.display().to_string());
                }
            }
        }
        found.sort();
        Ok(found)
    }
}

/// Returns how many bytes lie under `path`.
pub(crate) fn size(path: &Path) -> Result<u64> {
    if path.is_file() {
        return Ok(path.metadata()?.len());
    }
    let mut bytes = 0;
    for entry in fs::read_dir(path)? {
        bytes += size(&entry?.path())?;
    }
    Ok(bytes)
}
