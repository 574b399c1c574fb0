//! What the file system says of a source, without opening it.

use std::fs::{FileType, Metadata};
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::Path;

/// What the file system says of a source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stat {
    /// How many bytes it has.
    pub size: u64,
    /// When it was last changed, in nanoseconds since 1970.
    pub mtime_ns: i64,
    /// When its inode was last changed, in nanoseconds since 1970.
    pub ctime_ns: i64,
    /// The device it is on.
    pub dev: u64,
    /// Its inode.
    pub ino: u64,
}

impl Stat {
    /// Returns what `metadata` says; an error that names what it is if it is no regular file.
    pub(super) fn of(metadata: &Metadata) -> io::Result<Self> {
        if !metadata.is_file() {
            return Err(refused(metadata.file_type()));
        }
        Ok(Self {
            size: metadata.size(),
            mtime_ns: nanos(metadata.mtime(), metadata.mtime_nsec()),
            ctime_ns: nanos(metadata.ctime(), metadata.ctime_nsec()),
            dev: metadata.dev(),
            ino: metadata.ino(),
        })
    }
}

/// Returns what the file system says of the file at `path`, symlinks followed. What is no regular file is an
/// error that names what it is; nothing is opened.
pub fn stat(path: &Path) -> io::Result<Stat> {
    match std::fs::metadata(path) {
        Ok(metadata) => Stat::of(&metadata),
        Err(error) if error.raw_os_error() == Some(LOOP) => {
            Err(io::Error::other("a symlink loop, not a file"))
        }
        Err(error) => Err(error),
    }
}

/// The system's number for "too many levels of symbolic links".
const LOOP: i32 = if cfg!(any(target_os = "linux", target_os = "android")) { 40 } else { 62 };

fn nanos(seconds: i64, nanos: i64) -> i64 {
    seconds.saturating_mul(1_000_000_000).saturating_add(nanos)
}

fn refused(kind: FileType) -> io::Error {
    if kind.is_dir() {
        return io::Error::new(io::ErrorKind::IsADirectory, "a directory, not a file");
    }
    let what = if kind.is_fifo() {
        "a FIFO, not a file"
    } else if kind.is_socket() {
        "a socket, not a file"
    } else if kind.is_char_device() || kind.is_block_device() {
        "a device, not a file"
    } else {
        "not a regular file"
    };
    io::Error::new(io::ErrorKind::InvalidInput, what)
}
