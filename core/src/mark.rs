//! Where reading of a source stopped.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// Where reading of a source stopped, and enough to notice that it is no longer the source it was. Kept by the
/// engine in the transaction of the events before it; a parser never sees one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "shape", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Mark {
    /// Of a source of lines.
    Lines(LinesMark),
}

/// Where reading of a source of lines stopped.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct LinesMark {
    /// The first byte not read; what stands before it ended with a newline, or the source was over.
    pub offset: u64,
    /// How many records stand before it.
    pub index: u64,
    /// The first bytes of the source, at most 4096, past what the client rewrites.
    pub head: Digest,
    /// The last bytes before `offset`, at most 4096.
    pub tail: Digest,
    /// The source's size when it was last looked at.
    pub size: u64,
    /// When the source was last changed, in nanoseconds since 1970.
    pub mtime_ns: i64,
    /// When its inode was last changed, in nanoseconds since 1970.
    pub ctime_ns: i64,
    /// The device it is on.
    pub dev: u64,
    /// Its inode.
    pub ino: u64,
    /// How the source's bytes lie in its file, if not as they are: `zstd` or `gzip`. All positions are in the
    /// decompressed bytes, `size` is the file's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub codec: Option<String>,
    /// How many decompressed bytes there were, of a source that is compressed.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub length: u64,
    /// Whether what stands after `offset` was tried as an unfinished last line, and did not parse.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub tried: bool,
    /// Whether the decoder heard that the source is idle, and did not change since.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub idle: bool,
}

impl LinesMark {
    /// Returns how many bytes of records the source had when it was last looked at.
    pub fn end(&self) -> u64 {
        if self.codec.is_some() { self.length } else { self.size }
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
const fn is_zero(length: &u64) -> bool {
    *length == 0
}

/// The digest of a stretch of a source.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Digest {
    /// How many bytes.
    pub bytes: u32,
    /// Their digest, in lower-case hexadecimal.
    pub hex: String,
}

/// What a decoder must know of what it has read: bounded, and of a version.
///
/// The version is that of the saved type: raise it when a field changes its meaning, not when one is added with a
/// default. A state over the limit is dropped, and the source read again from its start whenever it grows.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct State {
    /// The version of the decoder that saved it; 0 is no state.
    pub version: u32,
    /// What it saved, as JSON.
    pub json: String,
}

impl State {
    /// The most a state may hold, in bytes; more belongs into the memory.
    pub const LIMIT: usize = 4096;

    /// Returns `value` as a state of `version`, which is not 0.
    pub fn save(version: u32, value: &impl Serialize) -> Self {
        // A struct of plain fields always serializes; if it does not, the source is read again from its start.
        Self { version, json: serde_json::to_string(value).unwrap_or_default() }
    }

    /// Returns what was saved, the default at a source's start; an error for another version.
    pub fn load<T: DeserializeOwned + Default>(&self, version: u32) -> Result<T, StateError> {
        if self.version == 0 {
            return Ok(T::default());
        }
        if self.version != version {
            return Err(StateError { found: self.version, wanted: version });
        }
        serde_json::from_str(&self.json).map_err(|_| StateError { found: self.version, wanted: version })
    }
}

/// A state that another version of the parser saved.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("the state is of version {found}, this parser reads version {wanted}")]
pub struct StateError {
    /// The version that saved it.
    pub found: u32,
    /// The version that reads.
    pub wanted: u32,
}
