//! The parser over whole transcripts.

#![expect(clippy::unwrap_used, reason = "a test stops where something is missing")]

mod fixtures;
mod hand;
mod support;
