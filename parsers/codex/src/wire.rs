//! The client's records as types: permissive, every field optional, kinds as strings.

mod event;
mod item;
mod loose;
mod meta;

pub(crate) use event::{
    Attribution, Failure, Happened, Invocation, McpOutcome, ReviewOutput, SpawnedAgent, TokenInfo,
};
pub(crate) use item::{Item, Metadata, Part, Passthrough, Provenance};
pub(crate) use loose::{List, Word};
pub(crate) use meta::{Compacted, Head, Meta, Settings, Tokens, Trigger, TurnContext, UsageRecord};

use loose::{Number, Object};
use scrollback_core::{Record, Unreadable};
use serde::Deserialize;
use serde_json::value::RawValue;

/// One line in its envelope: the legacy one, or the paginated one, which has an ordinal.
#[derive(Debug, Deserialize)]
#[serde(bound(deserialize = "P: Deserialize<'de>"))]
pub(crate) struct Line<'r, P> {
    /// When it was written; a copied line has the time of copying.
    #[serde(borrow, default)]
    pub(crate) timestamp: Word<'r>,
    /// Its place in the thread's history.
    #[serde(default)]
    pub(crate) ordinal: Number,
    /// The kind of the payload.
    #[serde(rename = "type", default)]
    pub(crate) kind: Word<'r>,
    /// What it holds.
    #[serde(default = "none")]
    pub(crate) payload: Option<P>,
    /// What the client notes beside a response item.
    #[serde(default)]
    pub(crate) metadata: Object<Metadata>,
}

fn none<P>() -> Option<P> {
    None
}

/// Reads a record, or says what is wrong with it.
pub(crate) fn read<'r, T: Deserialize<'r>>(record: &Record<'r>) -> Result<T, Unreadable> {
    match std::str::from_utf8(record.bytes) {
        // Known for text as a whole, its strings need not be looked at one by one.
        Ok(text) => serde_json::from_str(text).map_err(|error| Unreadable::new(error.to_string())),
        Err(_) => record.json(),
    }
}

/// Reads a part of a record that was left raw; `None` where it is missing or of another shape.
pub(crate) fn inner<'r, T: Deserialize<'r>>(raw: Option<&'r RawValue>) -> Option<T> {
    serde_json::from_str(raw?.get()).ok()
}

/// Returns the kind that a line in an envelope seems to have, without reading the line. Only a hint: what is then
/// read says its kind itself.
pub(crate) fn hint(bytes: &[u8]) -> Option<&str> {
    const KEY: &[u8] = b"\"type\":\"";
    let head = bytes.get(..bytes.len().min(160))?;
    let start = head.windows(KEY.len()).position(|window| window == KEY)? + KEY.len();
    let rest = head.get(start..)?;
    let end = rest.iter().position(|&byte| byte == b'"')?;
    std::str::from_utf8(rest.get(..end)?).ok()
}
