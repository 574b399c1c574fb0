//! When to look again: what the system says of directories is a hint to look sooner. Hints get lost, are limited in
//! number and absent on some disks, so that looking at everything from time to time is what counts.

use notify::event::ModifyKind;
use notify::{EventKind, RecommendedWatcher, RecursiveMode, Watcher as _};
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

/// How soon it is asked again whether to stop.
const ASK: Duration = Duration::from_millis(50);
/// How long hints are gathered: a client writes several files at once.
const GATHER: Duration = Duration::from_millis(5);

/// Watches directories.
pub(super) struct Watch {
    watcher: Option<RecommendedWatcher>,
    hints: Receiver<PathBuf>,
    watched: HashSet<PathBuf>,
    /// Whether a directory could not be watched.
    blind: bool,
}

impl Watch {
    pub(super) fn new() -> Self {
        let (sender, hints) = mpsc::channel();
        let heard = move |event: notify::Result<notify::Event>| {
            let Ok(event) = event else { return };
            // Reading is no change, and our own.
            let changed = match event.kind {
                EventKind::Access(_) | EventKind::Modify(ModifyKind::Metadata(_)) => false,
                EventKind::Any
                | EventKind::Create(_)
                | EventKind::Modify(_)
                | EventKind::Remove(_)
                | EventKind::Other => true,
            };
            if changed {
                for path in event.paths {
                    // Nobody hears it once the follower is gone.
                    let _heard = sender.send(path);
                }
            }
        };
        let watcher = notify::recommended_watcher(heard).ok();
        Self { blind: watcher.is_none(), watcher, hints, watched: HashSet::new() }
    }

    /// Watches directories, those only that are not watched yet; says whether there were any.
    pub(super) fn add<'p>(&mut self, directories: impl IntoIterator<Item = &'p Path>) -> bool {
        let mut added = false;
        let Some(watcher) = &mut self.watcher else { return false };
        for directory in directories {
            if self.watched.contains(directory) {
                continue;
            }
            match watcher.watch(directory, RecursiveMode::NonRecursive) {
                Ok(()) => {
                    self.watched.insert(directory.to_owned());
                    added = true;
                }
                // It is not there; its parent is watched, or it is looked for again.
                Err(_) if !directory.is_dir() => {}
                Err(_) => self.blind = true,
            }
        }
        added
    }

    /// Forgets a directory that is gone: one that is made again is another.
    pub(super) fn forget(&mut self, directory: &Path) {
        if self.watched.remove(directory)
            && let Some(watcher) = &mut self.watcher
        {
            // The system may have forgotten it already.
            let _forgotten = watcher.unwatch(directory);
        }
    }

    /// Says whether some directory is not watched though it should be.
    pub(super) fn is_blind(&self) -> bool {
        self.blind
    }

    /// Waits for hints until then, or until `stop` says so; returns what may have changed, each path once.
    pub(super) fn wait(&self, until: Instant, stop: &dyn Fn() -> bool) -> HashSet<PathBuf> {
        let mut hinted = HashSet::new();
        while !stop() {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break;
            }
            match self.hints.recv_timeout(left.min(ASK)) {
                Ok(path) => {
                    hinted.insert(path);
                    std::thread::sleep(GATHER);
                    hinted.extend(self.hints.try_iter());
                    break;
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => std::thread::sleep(left.min(ASK)),
            }
        }
        hinted
    }
}
