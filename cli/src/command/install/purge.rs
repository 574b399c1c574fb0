//! `uninstall --purge`: what is kept goes too.

use super::Run;
use crate::exit::Ended;
use crate::print;
use anyhow::{Context as _, Result};
use scrollback_engine::{apply, drain};
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// What this program makes in its directory. Field maps are the user's.
const FILES: [&str; 10] = [
    "store.db",
    "store.db-wal",
    "store.db-shm",
    "tail.lock",
    "capture.log",
    "capture.log.1",
    "installed.json",
    "installed.lock",
    "drain.lock",
    "spool",
];

/// Says what goes.
pub(super) fn announce(run: &mut Run<'_>) -> Result<()> {
    let store = run.settings.store();
    let held = fs::metadata(&store).map(|found| format!(" ({})", print::size(found.len())));
    let held = held.unwrap_or_default();
    run.page.line(format_args!(
        "Everything that was recorded goes: {}{held}, and with it what else is kept there, and backups of settings.\n",
        store.display()
    ))?;
    Ok(())
}

/// Takes backups of settings, and everything this program made in its directory.
pub(super) fn run(run: &mut Run<'_>) -> Result<()> {
    let data = run.settings.data.clone();
    if !data.exists() {
        return Ok(());
    }
    let Some(_drain) = drain::lock(&data)? else {
        return Err(Ended::later("a drain is still reading; try again").into());
    };
    for gone in apply::drop_backups(&data)? {
        run.page.line(format_args!("removed {}", gone.display()))?;
    }
    let own = std::iter::once(data.join("bin")).chain(FILES.iter().map(|name| data.join(name)));
    for path in own {
        remove(&path).with_context(|| path.display().to_string())?;
    }
    // What is not ours stays, and the directory with it.
    match fs::remove_dir(&data) {
        Ok(()) => run.page.line(format_args!("removed {}", data.display()))?,
        Err(_) => {
            for left in left(&data) {
                run.page.line(format_args!("kept {}, which is yours", left.display()))?;
            }
        }
    }
    Ok(())
}

fn remove(path: &Path) -> std::io::Result<()> {
    let removed = match fs::symlink_metadata(path) {
        Ok(found) if found.is_dir() => fs::remove_dir_all(path),
        Ok(_) => fs::remove_file(path),
        Err(error) => Err(error),
    };
    match removed {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

fn left(data: &Path) -> Vec<PathBuf> {
    fs::read_dir(data).into_iter().flatten().flatten().map(|entry| entry.path()).collect()
}
