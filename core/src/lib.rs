//! The model, the traits and the registry of scrollback: what the author of a parser, an adapter or a sink
//! needs, and nothing else.
//!
//! **A parser** turns one whole record of a client's transcript into events ([`Parser`], [`Decoder`]). It never
//! sees a file: the engine reads, keeps the [`Mark`] and never hands over half a line, so a parser cannot lose
//! its place. **An adapter** says what should change on the machine as a value, a [`Plan`], and never writes
//! ([`Adapter`]). **A sink** takes a batch and says what became of it ([`Sink`]).
//!
//! Plugins are registered where they are defined ([`register_parser!`], [`register_adapter!`],
//! [`register_sink!`]) and gathered when a program is linked ([`Registry::linked`]). A whole parser for a client
//! with one JSON object a line is a [`LineParser`] and a function:
//!
//! ```
//! use scrollback_core::{
//!     Body, Event, EventId, Events, Homes, LineParser, ParserSpec, Probe, Record, Role, Score, Shape, Source, Unreadable,
//! };
//! use serde::Deserialize;
//! use std::borrow::Cow;
//!
//! #[derive(Deserialize)]
//! struct Line<'r> {
//!     id: &'r str,
//!     #[serde(borrow)]
//!     said: Cow<'r, str>,
//! }
//!
//! fn decode<'r>(record: &Record<'r>, source: &Source<'_>, events: &mut Events<'r>) -> Result<(), Unreadable> {
//!     let line: Line<'r> = record.json()?;
//!     let id = EventId::of("acme", &[line.id, "0"]);
//!     events.event(Event::new(id, source.stem(), Body::message(Role::User, line.said)));
//!     Ok(())
//! }
//!
//! static ACME: LineParser = LineParser {
//!     spec: ParserSpec::new("acme", "Acme", Shape::Lines),
//!     homes: |_env| Homes::of(["~/.acme/sessions/*.jsonl"]),
//!     score: |probe: &Probe<'_>| if probe.head.starts_with(b"{\"id\":") { Score::Sure } else { Score::No },
//!     decode,
//! };
//! scrollback_core::register_parser!(ACME);
//! # assert!(scrollback_core::Registry::linked().unwrap().parser("acme").is_ok());
//! ```
//!
//! This crate does no I/O, reads no environment and depends on no other crate of the project.

mod adapter;
mod env;
mod event;
mod facts;
mod id;
mod line;
mod mark;
mod parser;
mod plan;
mod registry;
mod said;
mod sink;
mod text;
mod time;

pub use adapter::{
    Adapter, AdapterSpec, Call, Hook, HookLine, Host, Level, Limit, McpEntry, Moment, Outcome, PayloadError,
    Presence, Read, Reply, Seen, Standing, Unit, Wanted,
};
pub use env::Env;
pub use event::{Attachment, Body, By, Data, Event, InjectedBy, NoticeClass, Order, Origin, Role, Turn};
pub use facts::{Facts, Lineage, TitleRank, Usage};
pub use id::{EventId, NAMESPACE, text_digest};
pub use line::{AttachmentLine, EventLine, Line, LineBody, SessionLine, UsageLine};
pub use mark::{Digest, LinesMark, Mark, State, StateError};
pub use parser::{
    Decoder, Homes, LineParser, Parser, ParserSpec, Probe, Quiet, Record, Rows, Schema, Score, Shape, Source,
    Tier, Unreadable,
};
pub use plan::{Plan, PlanError, Step};
pub use registry::{DuplicateId, Registry, Unknown};
pub use said::{Events, MapMemory, Memory, Said, Whose, Withdraw};
pub use sink::{Batch, Change, Delivery, Limits, Sink, SinkError, SinkSpec, What};
pub use text::Text;
pub use time::{Timestamp, TimestampError};

#[doc(hidden)]
pub mod __private {
    pub use crate::registry::{AdapterPlugin, ParserPlugin, SinkPlugin};
    pub use inventory;
}
