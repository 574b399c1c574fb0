//! Which files are opened while something else runs.

#[cfg(target_os = "linux")]
use std::collections::HashSet;
use std::path::Path;

use anyhow::Result;

/// Sees every file of a folder, and of those below it, being opened.
#[cfg(target_os = "linux")]
pub(crate) struct Opened(inotify::Inotify);

#[cfg(target_os = "linux")]
impl Opened {
    /// Begins to see; nothing on systems that do not tell.
    pub(crate) fn under(dir: &Path) -> Result<Option<Self>> {
        let inotify = inotify::Inotify::init()?;
        let mut folders = vec![dir.to_owned()];
        while let Some(folder) = folders.pop() {
            inotify.watches().add(&folder, inotify::WatchMask::OPEN | inotify::WatchMask::ONLYDIR)?;
            for entry in std::fs::read_dir(folder)? {
                let entry = entry?;
                if entry.file_type()?.is_dir() {
                    folders.push(entry.path());
                }
            }
        }
        let mut opened = Self(inotify);
        // Walking the folders opened them.
        opened.count()?;
        Ok(Some(opened))
    }

    /// Returns how many different files were opened since this was asked before. Folders are looked through, and not
    /// counted.
    pub(crate) fn count(&mut self) -> Result<u64> {
        let mut buffer = [0; 16_384];
        let mut files = HashSet::new();
        loop {
            match self.0.read_events(&mut buffer) {
                Ok(events) => files.extend(
                    events
                        .filter(|event| !event.mask.contains(inotify::EventMask::ISDIR))
                        .map(|event| (event.wd, event.name.map(ToOwned::to_owned))),
                ),
                Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {
                    return Ok(files.len() as u64);
                }
                Err(error) => return Err(error.into()),
            }
        }
    }
}

/// Sees nothing here.
#[cfg(not(target_os = "linux"))]
pub(crate) struct Opened;

#[cfg(not(target_os = "linux"))]
impl Opened {
    pub(crate) fn under(_: &Path) -> Result<Option<Self>> {
        Ok(None)
    }

    pub(crate) fn count(&mut self) -> Result<u64> {
        Ok(0)
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn files_are_counted_and_folders_are_not() {
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().join("below");
        fs::create_dir(&folder).unwrap();
        fs::write(folder.join("a"), "a").unwrap();
        let mut opened = Opened::under(dir.path()).unwrap().unwrap();
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 1);
        assert_eq!(fs::metadata(folder.join("a")).unwrap().len(), 1);
        assert_eq!(opened.count().unwrap(), 0);
        fs::write(dir.path().join("b"), "b").unwrap();
        for file in [folder.join("a"), dir.path().join("b"), folder.join("a")] {
            fs::read(file).unwrap();
        }
        assert_eq!((opened.count().unwrap(), opened.count().unwrap()), (2, 0));
    }
}
