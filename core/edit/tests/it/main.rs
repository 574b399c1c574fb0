//! Edits of settings: by hand, and over documents in every style.
#![expect(clippy::unwrap_used, reason = "what a test lays out is there, or the test fails")]

mod identity;
mod json;
mod toml;
mod written;
