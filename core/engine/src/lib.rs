//! What runs scrollback: finding transcripts, reading them into a store or into lines, redaction, projects.
//!
//! [`tail`] is the main job: it finds sources ([`discover`]), reads what is new in each ([`source`]), lets the
//! parser's decoder say what each record says, takes secrets out ([`redact`]) and puts events and the source's
//! mark into the store in one transaction. [`parse`] is the one way without a store.
//!
//! [`apply`] carries out the plans of adapters.
//!
//! This crate reads files; the clock and the environment come through [`scrollback_core::Env`].

pub mod apply;
pub mod capture;
pub mod discover;
pub mod drain;
pub mod hook;
pub mod log;
pub mod project;
pub mod redact;
pub mod source;
pub mod spool;

mod coverage;
mod parse;
mod prepare;
mod read;
mod reparse;
mod tail;

pub use coverage::{SourceCoverage, Standing, coverage};
pub use parse::{ParseError, ParseReport, parse, parse_labelled, parse_with};
pub use reparse::{ReparseReport, reparse};
pub use tail::{Follower, LabelError, Problem, Progress, TailError, TailOptions, TailReport, tail};
