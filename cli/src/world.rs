//! The real machine. The environment and the clock are read here and nowhere else.

use scrollback_core::{Env, Timestamp};
use std::fs;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

/// The most a file read for a plugin may hold.
const LIMIT: u64 = 16 << 20;
/// The last moment of the year 9999, in microseconds since 1970; a clock beyond it is taken for it.
const LAST: i64 = 253_402_300_799_999_999;

/// The machine this program runs on.
pub(crate) struct World;

impl Env for World {
    #[expect(clippy::disallowed_methods, reason = "this is where the environment is read")]
    fn var(&self, name: &str) -> Option<String> {
        std::env::var(name).ok().filter(|value| !value.is_empty())
    }

    #[expect(clippy::disallowed_methods, reason = "this is where the environment is read")]
    fn home(&self) -> Option<PathBuf> {
        std::env::home_dir().filter(|home| !home.as_os_str().is_empty())
    }

    #[expect(clippy::disallowed_methods, reason = "this is where the environment is read")]
    fn current_dir(&self) -> Option<PathBuf> {
        std::env::current_dir().ok()
    }

    fn login(&self) -> Option<String> {
        self.var("USER").or_else(|| self.var("LOGNAME"))
    }

    #[expect(clippy::disallowed_methods, reason = "this is where the clock is read")]
    fn now(&self) -> Timestamp {
        let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
        let micros = i64::try_from(since.as_micros()).unwrap_or(i64::MAX).min(LAST);
        Timestamp::from_micros(micros).unwrap_or_else(|_| unreachable!("from 1970 to 9999"))
    }

    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        read(path)
    }

    fn list(&self, path: &Path) -> io::Result<Vec<PathBuf>> {
        list(path)
    }
}

/// Returns a file's bytes; one over 16 MiB is an error.
pub(crate) fn read(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    if !fs::metadata(path)?.is_file() {
        // Opening a pipe would wait for somebody to write.
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file"));
    }
    fs::File::open(path)?.take(LIMIT + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > LIMIT {
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, "the file is larger than 16 MiB"));
    }
    Ok(bytes)
}

/// Returns the paths in a directory, sorted.
pub(crate) fn list(path: &Path) -> io::Result<Vec<PathBuf>> {
    let mut paths =
        fs::read_dir(path)?.map(|entry| entry.map(|entry| entry.path())).collect::<Result<Vec<_>, _>>()?;
    paths.sort();
    Ok(paths)
}

#[cfg(test)]
pub(crate) mod testing {
    use super::*;
    use std::collections::BTreeMap;

    /// A machine of these variables, standing in `/srv/here`, on which it is 2026-11-30 20:00 UTC.
    pub(crate) struct Machine(BTreeMap<String, String>);

    impl Machine {
        pub(crate) fn of(variables: &[(&str, &str)]) -> Self {
            Self(variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect())
        }
    }

    impl Env for Machine {
        fn var(&self, name: &str) -> Option<String> {
            self.0.get(name).cloned()
        }

        fn home(&self) -> Option<PathBuf> {
            self.var("HOME").map(PathBuf::from)
        }

        fn current_dir(&self) -> Option<PathBuf> {
            Some(PathBuf::from("/srv/here"))
        }

        fn login(&self) -> Option<String> {
            self.var("USER")
        }

        fn now(&self) -> Timestamp {
            "2026-11-30T20:00:00Z".parse().unwrap()
        }

        fn read(&self, _path: &Path) -> io::Result<Vec<u8>> {
            Err(io::ErrorKind::NotFound.into())
        }

        fn list(&self, _path: &Path) -> io::Result<Vec<PathBuf>> {
            Err(io::ErrorKind::NotFound.into())
        }
    }
}
