//! Reading transcripts as they grow.

use super::watch::Watch;
use super::{Ahead, TailError, TailOptions, TailReport, by_path, changed, find, label, read};
use crate::discover;
use crate::read::Chosen;
use crate::redact::Redactor;
use crate::source::{Stat, stat};
use scrollback_core::{Env, Parser, Registry};
use scrollback_store::{SourceRow, Store};
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Everything is looked at so often where hints are to be had.
const SWEEP: Duration = Duration::from_secs(2);
/// And where they are not.
const BLIND: Duration = Duration::from_millis(100);
/// Looking at everything takes no more than one part in so many of the time.
const SHARE: u32 = 20;

/// Reads transcripts as they grow: what changed, when it changes.
///
/// [`Follower::pass`] reads what is new, [`Follower::wait`] waits until something may be. The store is the
/// caller's between the two: another process may read the same transcripts meanwhile, and each event is stored
/// once.
pub struct Follower<'a> {
    env: &'a dyn Env,
    registry: &'a Registry,
    options: &'a TailOptions,
    only: Option<&'a dyn Parser>,
    watch: Watch,
    /// The files that the last sweep found.
    files: HashMap<PathBuf, Option<&'a dyn Parser>>,
    /// How files looked that no parser took.
    refused: HashMap<PathBuf, Stat>,
    /// What was told already.
    told: HashSet<(PathBuf, Option<u64>, String)>,
    hinted: HashSet<PathBuf>,
    /// What gave a hint and was no source when everything was looked at.
    dismissed: HashSet<PathBuf>,
    sweep: Instant,
}

impl<'a> Follower<'a> {
    /// Returns a follower that has looked at nothing yet.
    pub fn new(
        env: &'a dyn Env,
        registry: &'a Registry,
        options: &'a TailOptions,
    ) -> Result<Self, TailError> {
        Ok(Self {
            env,
            registry,
            options,
            only: options.parser.as_deref().map(|id| registry.parser(id)).transpose()?,
            watch: Watch::new(),
            files: HashMap::new(),
            refused: HashMap::new(),
            told: HashSet::new(),
            hinted: HashSet::new(),
            dismissed: HashSet::new(),
            sweep: Instant::now(),
        })
    }

    /// Reads what is new: in everything, if that is due, else in what may have changed. A pattern that matches
    /// nothing yet is no problem, and no problem is told twice.
    pub fn pass(&mut self, store: &mut Store) -> Result<TailReport, TailError> {
        let started = Instant::now();
        let hinted = std::mem::take(&mut self.hinted);
        let mut report = TailReport::default();
        let unforeseen = |path: &PathBuf| {
            !self.files.contains_key(path) && !self.dismissed.contains(path) && self.may_matter(path)
        };
        let everything = started >= self.sweep || hinted.iter().any(unforeseen);
        let ahead = if everything {
            let ahead = self.sweep(store, &mut report)?;
            let no_source = |path: &PathBuf| !self.files.contains_key(path) && path.is_file();
            self.dismissed.extend(hinted.into_iter().filter(no_source));
            ahead
        } else {
            self.hints(store, &hinted, &mut report)?
        };
        if !ahead.is_empty() {
            read(
                self.env,
                self.registry,
                store,
                self.options,
                Redactor::shared(),
                &ahead,
                &mut report,
                &mut |_| {},
            )?;
            self.remember_refused(&ahead, store)?;
        }
        report.unmatched.clear();
        report
            .problems
            .retain(|problem| self.told.insert((problem.path.clone(), problem.record, problem.what.clone())));
        report.seconds = started.elapsed().as_secs_f64();
        Ok(report)
    }

    /// Waits until something may have changed, everything is to be looked at again, or `stop` says so; it is asked
    /// every 50 ms.
    pub fn wait(&mut self, stop: &dyn Fn() -> bool) {
        self.hinted = self.watch.wait(self.sweep, stop);
    }

    /// Says whether a path that no sweep found may be a source, or hold some.
    fn may_matter(&self, path: &Path) -> bool {
        !self.options.paths.is_empty()
            || path.file_name().is_some_and(discover::is_transcript)
            || path.is_dir()
            || self.files.keys().any(|file| file.starts_with(path))
    }

    fn sweep(&mut self, store: &Store, report: &mut TailReport) -> Result<Ahead<'a>, TailError> {
        let started = Instant::now();
        let mut files = find(self.env, self.registry, self.only, self.options, report);
        let known = by_path(store.sources()?);
        label::settle(self.env, self.registry, &known, &mut files, self.options)?;
        for folder in self.files.keys().filter_map(|file| file.parent()).filter(|folder| !folder.is_dir()) {
            self.watch.forget(folder);
        }
        self.files = files.iter().cloned().collect();
        self.dismissed.retain(|path| path.is_file());
        let bases = self.bases();
        let added = self.watch.add(folders(self.files.keys(), &bases));
        files.retain(|(path, _)| self.is_news(path, &known));
        let ahead = changed(self.env, self.registry, &known, files, self.options, report);
        let pause = if self.watch.is_blind() { BLIND } else { SWEEP };
        // What was written before a directory was watched gave no hint.
        let pause = if added { BLIND } else { pause };
        self.sweep = Instant::now() + pause.max(started.elapsed() * SHARE);
        Ok(ahead)
    }

    fn hints(
        &self,
        store: &Store,
        hinted: &HashSet<PathBuf>,
        report: &mut TailReport,
    ) -> Result<Ahead<'a>, TailError> {
        let mut files: Vec<_> =
            hinted.iter().filter_map(|path| Some((path.clone(), *self.files.get(path)?))).collect();
        files.sort_by(|a, b| a.0.cmp(&b.0));
        let mut known = Vec::new();
        for (path, _) in &files {
            known.extend(store.source_row(path, None)?);
        }
        let known = by_path(known);
        label::settle(self.env, self.registry, &known, &mut files, self.options)?;
        // One that is gone by now is the next sweep's.
        files.retain(|(path, _)| path.exists() && self.is_news(path, &known));
        Ok(changed(self.env, self.registry, &known, files, self.options, report))
    }

    /// Says whether a file was read before, or does not look as it did when no parser took it.
    fn is_news(&self, path: &Path, known: &HashMap<PathBuf, SourceRow>) -> bool {
        known.contains_key(path)
            || self.refused.get(path).is_none_or(|seen| stat(path).ok().as_ref() != Some(seen))
    }

    fn remember_refused(&mut self, ahead: &Ahead<'_>, store: &Store) -> Result<(), TailError> {
        for Chosen { path, .. } in &ahead.read {
            if store.source_row(path, None)?.is_some() {
                self.refused.remove(path);
            } else if let Ok(found) = stat(path) {
                self.refused.insert(path.clone(), found);
            }
        }
        Ok(())
    }

    /// Returns the directories that patterns begin in, where new ones may appear.
    fn bases(&self) -> Vec<PathBuf> {
        let patterns: Vec<String> = if self.options.paths.is_empty() {
            let parsers = self.registry.parsers();
            let wanted =
                parsers.filter(|parser| self.only.is_none_or(|only| only.spec().id == parser.spec().id));
            wanted.flat_map(|parser| parser.homes(self.env).include).collect()
        } else {
            self.options.paths.clone()
        };
        patterns.iter().filter_map(|pattern| discover::base(self.env, pattern)).collect()
    }
}

/// Returns the directories in which a file may grow or appear: those of the files, up to where patterns begin.
fn folders<'p>(files: impl Iterator<Item = &'p PathBuf>, bases: &'p [PathBuf]) -> HashSet<&'p Path> {
    let mut folders: HashSet<&Path> = bases.iter().map(PathBuf::as_path).collect();
    for file in files {
        for folder in file.ancestors().skip(1) {
            let inside = bases.iter().any(|base| folder.starts_with(base));
            if !folders.insert(folder) || !inside {
                break;
            }
        }
    }
    folders
}
