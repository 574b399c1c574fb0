//! The embedded store: events and marks in one transaction, a change log, search, and what could not be
//! understood, kept raw. SQLite with FTS5; no server to start.
//!
//! [`Store::writer`] begins a transaction; what is put through the [`Writer`] is there after
//! [`Writer::commit`], all of it or nothing. Reading goes through the methods of [`Store`].
//!
//! An event lies in one session, its home. Every (event, session) pair that a source says is a *claim*; which
//! claim is home is a function of the set of claims, never of the order of reading (`home.rs`).

mod blocks;
mod capture;
mod cells;
mod changes;
mod error;
mod event;
mod facts;
mod home;
mod hooked;
mod known;
mod memory;
mod open;
mod query;
mod raw;
mod read;
mod schema;
mod search;
mod session;
mod source;
mod stats;
mod strings;
mod told;
mod usage;
mod withdraw;
mod words;
mod write;

pub use capture::{Holds, Interval, Mode, Note, NoteRow, Scope};
pub use error::StoreError;
pub use hooked::Hooked;
pub use memory::SourceMemory;
pub use open::{Access, Store};
pub use query::{Query, QueryError};
pub use raw::{RawRecord, Why};
pub use read::{Kinds, Picked, StoredEvent};
pub use search::{Filter, Found, Hit, Scan, Sort};
pub use session::{SessionFilter, SessionRow};
pub use source::{Counted, Counts, KindCount, Label, SourceRow};
pub use stats::{By, Key, Stats, Totals};
pub use told::HOOK;
pub use write::{Claim, Put, Stored, Writer};
