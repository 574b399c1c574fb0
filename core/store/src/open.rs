//! Opening a store, and what an open one keeps in memory.

use crate::blocks::{Blocks, Unpacked};
use crate::{StoreError, schema};
use rusqlite::{Connection, OpenFlags};
use std::cell::RefCell;
use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// What a store is opened for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// To write it; it is made if it is not there.
    Write,
    /// To read it; it must be there.
    Read,
}

/// An open store.
pub struct Store {
    pub(crate) conn: Connection,
    pub(crate) path: PathBuf,
    pub(crate) key: [u8; 32],
    pub(crate) caches: Caches,
}

/// What an open store remembers of its tables; emptied when a transaction is rolled back.
#[derive(Default)]
pub(crate) struct Caches {
    pub(crate) names: HashMap<String, i64>,
    pub(crate) sessions: HashMap<i64, HashMap<String, i64>>,
    pub(crate) blocks: Blocks,
    pub(crate) unpacked: RefCell<Unpacked>,
}

impl Store {
    /// Opens the store at `path`. For writing, the file (mode 0600) and its directory (mode 0700) are made if
    /// they are not there, and an older version is brought to this one; a newer is refused.
    pub fn open(path: &Path, access: Access) -> Result<Self, StoreError> {
        let unusable = |what: &dyn std::fmt::Display| StoreError::Unusable {
            path: path.to_owned(),
            what: what.to_string(),
        };
        match access {
            Access::Read if !path.exists() => return Err(StoreError::Missing { path: path.to_owned() }),
            Access::Read => {}
            Access::Write => create_private(path).map_err(|error| unusable(&error))?,
        }
        let flags = match access {
            Access::Write => OpenFlags::SQLITE_OPEN_READ_WRITE,
            Access::Read => OpenFlags::SQLITE_OPEN_READ_ONLY,
        };
        let flags = flags | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        if access == Access::Read && is_fixed(path) {
            // A copy that cannot be written, nobody else writes either: SQLite needs no lock beside it.
            let address = format!("file:{}?immutable=1", escaped(path));
            let conn = Connection::open_with_flags(address, flags | OpenFlags::SQLITE_OPEN_URI)
                .map_err(|error| unusable(&error))?;
            return Self::set_up(conn, path, access);
        }
        let conn = Connection::open_with_flags(path, flags).map_err(|error| unusable(&error))?;
        Self::set_up(conn, path, access).map_err(|error| match error {
            StoreError::Sqlite(cause) => match cause.sqlite_error_code() {
                Some(rusqlite::ErrorCode::NotADatabase | rusqlite::ErrorCode::DatabaseCorrupt) => {
                    StoreError::Damaged { path: path.to_owned(), what: cause.to_string() }
                }
                Some(
                    rusqlite::ErrorCode::ReadOnly
                    | rusqlite::ErrorCode::CannotOpen
                    | rusqlite::ErrorCode::PermissionDenied
                    | rusqlite::ErrorCode::DiskFull,
                ) => unusable(&cause),
                _ => StoreError::Sqlite(cause),
            },
            other => other,
        })
    }

    /// Opens a store that lives as long as the value.
    pub fn open_in_memory() -> Result<Self, StoreError> {
        Self::set_up(Connection::open_in_memory()?, Path::new(":memory:"), Access::Write)
    }

    fn set_up(conn: Connection, path: &Path, access: Access) -> Result<Self, StoreError> {
        conn.busy_timeout(Duration::from_secs(10))?;
        conn.set_prepared_statement_cache_capacity(128);
        // In KiB. What is read for a search is read again for the next; what is written is written once.
        let cache = if access == Access::Read { 65_536 } else { 16_384 };
        conn.pragma_update(None, "cache_size", -cache)?;
        conn.pragma_update(None, "temp_store", "MEMORY")?;
        match access {
            Access::Write => {
                let found = schema::version(&conn)?;
                if found < schema::VERSION {
                    switch_to_wal(&conn)?;
                }
                conn.pragma_update(None, "synchronous", "NORMAL")?;
                schema::migrate(&conn, path)?;
            }
            Access::Read => {
                let found = schema::version(&conn)?;
                if found > schema::VERSION {
                    return Err(StoreError::Newer { path: path.to_owned(), found, known: schema::VERSION });
                }
                if found == 0 {
                    return Err(StoreError::Missing { path: path.to_owned() });
                }
            }
        }
        let key = secret(&conn)?;
        Ok(Self { conn, path: path.to_owned(), key, caches: Caches::default() })
    }

    /// Returns where the store is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the key of the content digests. It is made with the store and never leaves it.
    pub const fn content_key(&self) -> &[u8; 32] {
        &self.key
    }
}

/// Lets readers read while another writes. SQLite does not wait here for another process that does the same.
fn switch_to_wal(conn: &Connection) -> Result<(), StoreError> {
    let mut tries = 0;
    loop {
        let mode: rusqlite::Result<String> =
            conn.query_row("PRAGMA journal_mode = WAL", [], |row| row.get(0));
        match mode.map_err(StoreError::from) {
            Err(error) if error.is_busy() && tries < 1_000 => {
                tries += 1;
                std::thread::sleep(Duration::from_millis(10));
            }
            done => return done.map(drop),
        }
    }
}

/// Returns the store's key, made when the store was.
fn secret(conn: &Connection) -> Result<[u8; 32], StoreError> {
    let value: Vec<u8> =
        conn.query_row("SELECT value FROM secret WHERE name = 'content'", [], |row| row.get(0))?;
    value.try_into().map_err(|_| StoreError::Content("a content key that is not 32 bytes long".to_owned()))
}

/// Says whether a store and its directory cannot be written, and nothing is left beside it to be taken in.
fn is_fixed(path: &Path) -> bool {
    let beside = |end: &str| {
        let mut name = path.as_os_str().to_owned();
        name.push(end);
        fs::metadata(name).is_ok_and(|found| found.len() > 0)
    };
    let locked = |path: &Path| fs::metadata(path).is_ok_and(|found| found.permissions().readonly());
    locked(path) && path.parent().is_some_and(locked) && !beside("-wal") && !beside("-shm")
}

/// Returns a path as it stands in the address of a file.
fn escaped(path: &Path) -> String {
    use std::fmt::Write as _;
    use std::os::unix::ffi::OsStrExt as _;
    path.as_os_str().as_bytes().iter().fold(String::new(), |mut address, byte| {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'.' | b'-' | b'_' => {
                address.push(char::from(*byte));
            }
            other => {
                let _infallible = write!(address, "%{other:02X}");
            }
        }
        address
    })
}

/// Makes the file and its directory, readable by their owner alone.
fn create_private(path: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
    if let Some(directory) = path.parent()
        && !directory.as_os_str().is_empty()
        && !directory.is_dir()
    {
        fs::DirBuilder::new().recursive(true).mode(0o700).create(directory)?;
    }
    match fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(path) {
        Ok(_) => Ok(()),
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(error),
    }
}
