//! One file of a plan: where it really is, how it is backed up and replaced.

use super::ApplyError;
use std::fs::{self, File, Metadata, Permissions};
use std::io::{self, ErrorKind, Write as _};
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

/// How many symbolic links lead to a file at most.
const LINKS: usize = 40;
/// What the names of staged files begin and end with.
const PREFIX: &str = ".scrollback-";
const SUFFIX: &str = ".tmp";

/// Returns where a path leads through symbolic links, also to a file that is not there yet.
pub(super) fn target(path: &Path) -> Result<PathBuf, ApplyError> {
    let mut target = path.to_owned();
    for _ in 0..LINKS {
        match fs::read_link(&target) {
            Ok(link) => target = target.parent().unwrap_or(Path::new("/")).join(link),
            // Not a link, or nothing.
            Err(error) if matches!(error.kind(), ErrorKind::InvalidInput | ErrorKind::NotFound) => {
                return Ok(target);
            }
            Err(error) => return Err(ApplyError::io(path, error)),
        }
    }
    Err(ApplyError::io(path, io::Error::other("too many symbolic links")))
}

/// Returns a file's bytes, `None` if it is not there; anything but a regular file is an error.
pub(super) fn read(path: &Path) -> Result<Option<Vec<u8>>, ApplyError> {
    match metadata(path)? {
        None => Ok(None),
        Some(found) if !found.is_file() => Err(ApplyError::NotAFile { path: path.to_owned() }),
        Some(_) => fs::read(path).map(Some).map_err(|error| ApplyError::io(path, error)),
    }
}

fn metadata(path: &Path) -> Result<Option<Metadata>, ApplyError> {
    match fs::metadata(path) {
        Ok(found) => Ok(Some(found)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(ApplyError::io(path, error)),
    }
}

/// Says whether a file or directory is there and may not be written to.
pub(super) fn is_read_only(path: &Path) -> Result<bool, ApplyError> {
    Ok(metadata(path)?.is_some_and(|found| found.permissions().readonly()))
}

/// Puts bytes into a temporary file beside `target`, on the disk, with the mode of `like` if that is there.
pub(super) fn stage(target: &Path, bytes: &[u8], like: &Path) -> Result<NamedTempFile, ApplyError> {
    let stage = || -> io::Result<NamedTempFile> {
        let mut builder = tempfile::Builder::new();
        builder.prefix(PREFIX).suffix(SUFFIX);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            // As any new file: what the user's mask leaves of it.
            builder.permissions(Permissions::from_mode(0o666));
        }
        let mut file = builder.tempfile_in(target.parent().unwrap_or(Path::new("/")))?;
        file.write_all(bytes)?;
        match fs::metadata(like) {
            Ok(found) => file.as_file().set_permissions(found.permissions())?,
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
        file.as_file().sync_all()?;
        Ok(file)
    };
    stage().map_err(|error| ApplyError::io(target, error))
}

/// Takes away what a process that was ended in the middle of a plan staged in a directory.
pub(super) fn clear(directory: &Path) {
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        let name = entry.file_name();
        if name.to_str().is_some_and(|name| name.starts_with(PREFIX) && name.ends_with(SUFFIX)) {
            // One that cannot be taken away does no harm.
            drop(fs::remove_file(entry.path()));
        }
    }
}

/// Puts a staged file in its place, in one step.
pub(super) fn put(staged: NamedTempFile, target: &Path) -> Result<(), ApplyError> {
    staged.persist(target).map_err(|error| ApplyError::io(target, error.error))?;
    sync_around(target)
}

/// Takes a file away.
pub(super) fn take(target: &Path) -> Result<(), ApplyError> {
    fs::remove_file(target).map_err(|error| ApplyError::io(target, error))?;
    sync_around(target)
}

/// Writes a file in one step: all of it is there, or none.
pub(super) fn write(target: &Path, bytes: &[u8], like: &Path) -> Result<(), ApplyError> {
    put(stage(target, bytes, like)?, target)
}

/// Sees to it that a file's name is on the disk too.
fn sync_around(target: &Path) -> Result<(), ApplyError> {
    #[cfg(unix)]
    {
        let directory = target.parent().unwrap_or(Path::new("/"));
        let synced = File::open(directory).and_then(|directory| directory.sync_all());
        synced.map_err(|error| ApplyError::io(directory, error))?;
    }
    Ok(())
}

/// Returns where a backup goes: `<file>.bak`, unless something stands there that is not `known` to be a backup of
/// ours; then `<file>.bak.1` and so on. `None` if one of them holds these bytes already.
pub(super) fn backup_place(
    path: &Path,
    bytes: &[u8],
    known: impl Fn(&Path, &[u8]) -> bool,
) -> Result<Option<PathBuf>, ApplyError> {
    for n in 0_u32.. {
        let mut name = path.as_os_str().to_owned();
        name.push(if n == 0 { ".bak".to_owned() } else { format!(".bak.{n}") });
        let place = PathBuf::from(name);
        if fs::symlink_metadata(&place).is_err_and(|error| error.kind() == ErrorKind::NotFound) {
            return Ok(Some(place));
        }
        let Ok(there) = fs::read(&place) else { continue };
        if there == bytes {
            return Ok(None);
        }
        if known(&place, &there) {
            return Ok(Some(place));
        }
    }
    Err(ApplyError::io(path, io::Error::other("too many backups")))
}
