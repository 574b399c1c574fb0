//! The program, run as people run it.
#![expect(clippy::unwrap_used, reason = "what a test lays out is there, or the test fails")]

mod commands;
#[cfg(feature = "parser-claude-code")]
mod coverage;
mod errors;
mod home;
mod hook;
mod new;
mod reference;
#[cfg(feature = "parser-claude-code")]
mod tail;
