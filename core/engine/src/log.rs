//! What nobody is there to be told: a line each in a file of the data directory.

use scrollback_core::Timestamp;
use std::fs::{self, DirBuilder, File};
use std::io::Write as _;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

/// The file is put aside, and the one put aside before is dropped, once it is so long.
const LIMIT: u64 = 1 << 20;

/// Returns where the log of a data directory is.
pub fn path(data: &Path) -> PathBuf {
    data.join("capture.log")
}

/// Returns the lines that are kept, the oldest first; none if there is no log.
pub fn lines(data: &Path) -> Vec<String> {
    let read = |path: PathBuf| fs::read(path).map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    let kept = [read(data.join("capture.log.1")), read(path(data))];
    kept.iter().flatten().flat_map(|text| text.lines()).map(str::to_owned).collect()
}

/// Writes a line: when, who, what. That it cannot be written is nobody's trouble.
pub fn line(data: &Path, now: Timestamp, who: &str, what: &str) {
    let path = path(data);
    if !data.is_dir() && DirBuilder::new().recursive(true).mode(0o700).create(data).is_err() {
        return;
    }
    if fs::metadata(&path).is_ok_and(|found| found.len() > LIMIT) {
        let _kept = fs::rename(&path, data.join("capture.log.1"));
    }
    let line = format!("{now} {who}: {}\n", what.replace(['\n', '\r'], " "));
    if let Ok(mut file) = File::options().append(true).create(true).mode(0o600).open(&path) {
        let _written = file.write_all(line.as_bytes());
    }
}
