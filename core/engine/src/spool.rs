//! What hooks leave for the drain: one file that any number of hooks append to, a record each.
//!
//! A hook opens no store. It appends one line to `spool/current` with one `write` under a shared lock; the drain
//! takes the exclusive lock only to rename the file, and empties what it renamed. A record names the transcript. Of
//! what was said it holds the last message, or its keyed digest, and everything where there is no transcript; secrets
//! are taken out before.

use scrollback_core::Role;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs::{self, DirBuilder, File};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

/// The version of the records that this program writes.
pub const VERSION: u32 = 1;
/// How the name of a file begins that a drain took and did not finish.
const TAKEN: &str = "taken-";

/// One record: what a hook was called for.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct SpoolRecord {
    /// The version of the record.
    pub v: u32,
    /// The client.
    pub client: String,
    /// The client's own name of the moment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub event: Option<String>,
    /// When the hook ran, in microseconds since 1970.
    pub at: i64,
    /// How long the hook took until now, in microseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub took: Option<u64>,
    /// The session, as the payload names it: of a sub-agent perhaps its parent's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// How much is to be captured, if the client's environment says so: `all`, `bound` or `off`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub capture: Option<String>,
    /// The project the client's environment names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    /// The session's directory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// The transcripts to read.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub read: Vec<String>,
    /// The environment variables that say where the client keeps its files: the drain's own may be another's.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub roots: BTreeMap<String, String>,
    /// Whether others of the client's sources may have changed unseen, and are to be looked at.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub sweep: bool,
    /// Whether the session is over.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub ended: bool,
    /// Messages that the transcript has or will have: their keyed digests, in lower-case hexadecimal.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub announced: Vec<String>,
    /// Messages that the transcript may never have.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub told: Vec<Told>,
}

/// A message as the client told it to its hook. There is no secret in it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Told {
    /// Whose.
    pub role: Role,
    /// The words.
    pub text: String,
    /// The keyed digest of the words as they were, if a transcript was named that may have them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
}

/// The spool of a data directory.
#[derive(Debug, Clone)]
pub struct Spool {
    folder: PathBuf,
}

impl Spool {
    /// Returns the spool in that data directory, whether there is one yet or not.
    pub fn of(data: &Path) -> Self {
        Self { folder: data.join("spool") }
    }

    /// Appends a record with one write. It is synced only if it is the only copy: what a record names, a later hook or
    /// `tail` reads without it.
    pub fn append(&self, record: &SpoolRecord, only_copy: bool) -> io::Result<()> {
        // A line that a full disk cut short is ended by the next record's first byte.
        let mut line = vec![b'\n'];
        serde_json::to_writer(&mut line, record)?;
        line.push(b'\n');
        loop {
            let mut file = self.open()?;
            file.lock_shared()?;
            if self.is_current(&file)? {
                file.write_all(&line)?;
                return if only_copy { file.sync_data() } else { Ok(()) };
            }
        }
    }

    fn open(&self) -> io::Result<File> {
        let path = self.current();
        let open = || File::options().append(true).create(true).mode(0o600).open(&path);
        match open() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                self.make_folder()?;
                open()
            }
            opened => opened,
        }
    }

    fn make_folder(&self) -> io::Result<()> {
        DirBuilder::new().recursive(true).mode(0o700).create(&self.folder)
    }

    fn current(&self) -> PathBuf {
        self.folder.join("current")
    }

    /// Says whether the file is still the one that hooks append to.
    fn is_current(&self, file: &File) -> io::Result<bool> {
        let opened = file.metadata()?;
        match fs::metadata(self.current()) {
            Ok(there) => Ok((there.dev(), there.ino()) == (opened.dev(), opened.ino())),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Says whether hooks left something that no drain finished; looks at names and sizes only.
    pub fn has_some(&self) -> bool {
        fs::metadata(self.current()).is_ok_and(|found| found.len() > 0)
            || self.taken().is_ok_and(|taken| !taken.is_empty())
    }

    /// Takes what hooks left: what an earlier drain did not finish, then what is new. It stays on the disk until
    /// [`Batch::done`].
    pub fn take(&self) -> io::Result<Batch> {
        self.take_current()?;
        let mut batch = Batch { files: self.taken()?, records: Vec::new(), damaged: 0, newer: 0 };
        for path in batch.files.clone() {
            batch.read(&path)?;
        }
        Ok(batch)
    }

    /// Returns what hooks left and no drain finished, and takes nothing: a drain may do so meanwhile.
    pub fn peek(&self) -> io::Result<Vec<SpoolRecord>> {
        let mut batch = Batch { files: Vec::new(), records: Vec::new(), damaged: 0, newer: 0 };
        for path in self.taken()?.into_iter().chain([self.current()]) {
            match batch.read(&path) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                read => read?,
            }
        }
        Ok(batch.records)
    }

    fn take_current(&self) -> io::Result<()> {
        let file = match File::open(self.current()) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(error),
        };
        if file.metadata()?.len() == 0 {
            return Ok(());
        }
        file.lock()?;
        if self.is_current(&file)? {
            let path = |n: u32| self.folder.join(format!("{TAKEN}{n:08}"));
            let mut n = 1;
            while path(n).exists() {
                n += 1;
            }
            fs::rename(self.current(), path(n))?;
        }
        Ok(())
    }

    fn taken(&self) -> io::Result<Vec<PathBuf>> {
        let entries = match fs::read_dir(&self.folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(error),
        };
        let mut taken = Vec::new();
        for entry in entries {
            let entry = entry?;
            if entry.file_name().to_string_lossy().starts_with(TAKEN) {
                taken.push(entry.path());
            }
        }
        taken.sort();
        Ok(taken)
    }

    /// Returns the key of the digests in records; it is made at the first call and never leaves the machine.
    pub fn key(&self) -> io::Result<[u8; 32]> {
        let path = self.folder.join("key");
        loop {
            let mut held = Vec::new();
            match File::open(&path) {
                Ok(file) => {
                    file.take(33).read_to_end(&mut held)?;
                    return held.try_into().map_err(|_| {
                        let what = format!("{}: expected a key of 32 bytes", path.display());
                        io::Error::new(io::ErrorKind::InvalidData, what)
                    });
                }
                Err(error) if error.kind() == io::ErrorKind::NotFound => self.make_key(&path)?,
                Err(error) => return Err(error),
            }
        }
    }

    fn make_key(&self, path: &Path) -> io::Result<()> {
        self.make_folder()?;
        let mut key = [0; 32];
        File::open("/dev/urandom")?.read_exact(&mut key)?;
        // Whole or not there: of several that make one at once, processes or threads, the first stays.
        let made = self.folder.join(format!("key-{}", blake3::hash(&key).to_hex()));
        let mut file = File::options().write(true).create_new(true).mode(0o600).open(&made)?;
        file.write_all(&key)?;
        let linked = fs::hard_link(&made, path);
        fs::remove_file(&made)?;
        match linked {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
            _ => Ok(()),
        }
    }
}

/// Records that were taken from the spool.
#[derive(Debug)]
pub struct Batch {
    files: Vec<PathBuf>,
    /// The records, in the order of the hooks.
    pub records: Vec<SpoolRecord>,
    /// Lines that are no record: a full disk cut them short.
    pub damaged: u64,
    /// Records of a newer version, which this program passes.
    pub newer: u64,
}

impl Batch {
    fn read(&mut self, path: &Path) -> io::Result<()> {
        let mut bytes = Vec::new();
        File::open(path)?.read_to_end(&mut bytes)?;
        for line in bytes.split(|&byte| byte == b'\n').filter(|line| !line.is_empty()) {
            match serde_json::from_slice::<SpoolRecord>(line) {
                Ok(record) if record.v > VERSION => self.newer += 1,
                Ok(record) => self.records.push(record),
                Err(_) => self.damaged += 1,
            }
        }
        Ok(())
    }

    /// Takes the records off the disk: what they ask for is done.
    pub fn done(self) -> io::Result<()> {
        self.files.iter().try_for_each(fs::remove_file)
    }
}

/// Returns the keyed digest of a message, in lower-case hexadecimal; blanks around it do not count.
pub(crate) fn digest(key: &[u8; 32], text: &str) -> String {
    blake3::keyed_hash(key, text.trim().as_bytes()).to_hex().to_string()
}

#[cfg(test)]
mod tests;
