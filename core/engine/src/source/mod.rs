//! Sources: which file it is, what changed since the mark, and its records one by one.

mod input;
mod lines;
mod stat;
mod values;
mod window;

pub use lines::{Limits, Line, LineReader, Verdict, Why};
pub use stat::{Stat, stat};
pub use values::{Part, Values, values};

use std::fs::File;
use std::io;
use std::path::Path;

/// Reads the first bytes of a source, decompressed, at most `most`; what a damaged one has before the damage.
pub(crate) fn head(path: &Path, most: u64, into: &mut Vec<u8>) -> io::Result<()> {
    let mut input = input::Input::new(File::open(path)?)?;
    let most = usize::try_from(most).unwrap_or(usize::MAX);
    let mut chunk = vec![0; most.min(64 << 10)];
    while into.len() < most {
        let room = chunk.len().min(most - into.len());
        match input.read_at(chunk.get_mut(..room).unwrap_or_default(), into.len() as u64) {
            Ok(0) => break,
            Ok(count) => into.extend_from_slice(chunk.get(..count).unwrap_or_default()),
            Err(_) if !into.is_empty() => break,
            Err(error) => return Err(error),
        }
    }
    Ok(())
}
