//! The model, the traits and the registry of scrollback: what the author of a parser, an adapter or a sink
//! needs, and nothing else.
//!
//! **A parser** turns one whole record of a client's transcript into events ([`Parser`], [`Decoder`]). It never
//! sees a file: the engine reads, keeps the [`Mark`] and never hands over half a line, so a parser cannot lose
//! its place. **An adapter** says what should change on the machine as a value, a [`Plan`], and never writes
//! ([`Adapter`]). **A sink** takes a batch and says what became of it ([`Sink`]).
//!
//! This crate does no I/O, reads no environment and depends on no other crate of the project. The rest of this page is
//! the manual of a parser, from the shortest one to what is promised about it. `scrollback new parser` writes a crate
//! to begin with, `docs/adding-a-parser.md` goes through it step by step, and `scrollback-testkit` has its laws.
//!
//! 1. [A whole parser](#a-whole-parser)
//! 2. [The life of a record](#the-life-of-a-record)
//! 3. [What can be said](#what-can-be-said)
//! 4. [Identity](#identity)
//! 5. [Order and turns](#order-and-turns)
//! 6. [What is remembered](#what-is-remembered)
//! 7. [What is not final](#what-is-not-final)
//! 8. [Copies, forks, sub-agents](#copies-forks-sub-agents)
//! 9. [Taking back](#taking-back)
//! 10. [When something is wrong](#when-something-is-wrong)
//! 11. [What the engine guarantees](#what-the-engine-guarantees)
//! 12. [What may grow](#what-may-grow)
//!
//! # A whole parser
//!
//! For a client that writes one JSON object a line, and whose records need nothing of those before them, a parser is a
//! [`LineParser`]: facts, and a function from a record to what it says.
//!
//! ```
//! use scrollback_core::{
//!     Body, Event, EventId, Events, Homes, LineParser, ParserSpec, Record, Role, Score, Shape, Source, Unreadable,
//! };
//! use std::borrow::Cow;
//!
//! #[derive(serde::Deserialize)]
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
//! pub static ACME: LineParser = LineParser {
//!     spec: ParserSpec::new("acme", "Acme", Shape::Lines),
//!     homes: |_env| Homes::of(["~/.acme/sessions/*.jsonl"]),
//!     score: |probe| if probe.head.starts_with(b"{\"id\":") { Score::Sure } else { Score::No },
//!     decode,
//! };
//! scrollback_core::register_parser!(ACME);
//! # assert!(scrollback_core::Registry::linked().unwrap().parser("acme").is_ok());
//! ```
//!
//! [`register_parser!`] has every program that links the crate find the parser ([`Registry::linked`]); a program must
//! name the crate for that (`use acme_parser as _;`). A client whose records need those before them has a [`Parser`] and
//! a [`Decoder`] instead; [`Decoder`] shows one.
//!
//! # The life of a record
//!
//! 1. **Found.** [`Parser::homes`] says where the client keeps its transcripts, as patterns. Of a file that a user names,
//!    every parser is asked by [`Parser::score`].
//! 2. **Read.** The engine compares the file with its [`Mark`]: what is unchanged is not opened, what grew is read on,
//!    what was rewritten is read again from its start. A half-written line waits.
//! 3. **Decoded.** [`Decoder::decode`] gets the [`Record`] and puts what it says into [`Events`]. Nothing else of the
//!    parser runs for it.
//! 4. **Redacted.** Secrets are taken out of every text. Ids were taken before, so they are the same on every machine.
//! 5. **Stored.** Events, facts, usage, what the decoder remembers and the new mark go in together, or not at all.
//! 6. **Read back.** Places in the session and turns are counted when somebody asks.
//!
//! # What can be said
//!
//! Something must be said of every record. What a record does not say is left out: a parser never makes anything up, and
//! every field that may be unknown is an `Option`.
//!
//! | a record holds | say | it becomes |
//! |---|---|---|
//! | something said or done | [`Events::event`] with a [`Body`] | an event, shown and searched |
//! | something about a session: directory, title, model, its parent | [`Events::facts`] with [`Facts`] | the session's line |
//! | the tokens of a response | [`Events::usage`] with [`Usage`] | counted once a response, however often it is said |
//! | that earlier events no longer count | [`Events::withdraw`] with [`Withdraw`] | events kept, and marked as taken back |
//! | nothing worth keeping: a heartbeat, a cache | [`Events::nothing`] with its kind | a count |
//! | a kind the parser does not know | [`Events::unknown`] with its kind | kept raw, counted by name and version, read again by a later parser |
//! | what is no record of this client at all | `Err` of [`Unreadable`] | kept raw, reported; the next record is read as ever |
//!
//! The kinds of event are those of [`Body`]. **What the model saw and nobody said is [`Body::Injected`]**, however the
//! client files it: a hook's output in a user's message, a reminder in front of a prompt. It is cut out and said as an
//! event of its own, so that a person's words are that person's.
//!
//! Text that people and tools wrote is read with [`Text`]: half of a surrogate pair, which is common where clients cut,
//! would else cost the whole line. Tool input is passed on as the client wrote it: a `&RawValue` in the wire type. Wire
//! types are flat structs of optional fields; serde's tagged and untagged enums and `flatten` break on both.
//!
//! # Identity
//!
//! The [`EventId`] is what makes an event one event, wherever and however often it is read: a file read again, moved,
//! copied, compressed, rewritten or forked gives the same ids. So it is made of what the client wrote and nothing else.
//!
//! - It **begins with the session** the record was first written in, unless the client's own id of the record is unique
//!   everywhere. A copied record names its origin's session, not that of the file it stands in.
//! - Then comes the **client's id** of the record. Where there is none: the kind, the [`text_digest`] of its text, and n,
//!   how many such records there were before ([`Memory::count`]).
//! - It **ends with the part**: the block's index in its record, `0` if there are no blocks, `b.k` for the k-th passage cut
//!   out of block b. The index in the record, not a count of what gave events.
//! - **Never** a path, an offset, a line number ([`Record::index`]), a clock, or anything out of [`Memory`] that was text
//!   (memory is redacted).
//!
//! The parts are a promise: change them, and everything in every store comes a second time. A later kind of record gets
//! new parts. `docs/formats.md` lists those of each client.
//!
//! Under one id, [`Body`] is content and the rest of [`Event`] are facts. Other content under an id already held is a new
//! revision of the event; of facts the first known value stands.
//!
//! # Order and turns
//!
//! Events stand in the order of their records, and those of one record in the order they are put. Two cases need more:
//! [`Order::place`] puts an event that was held back where it began, and [`Order::rank`] orders the files of one session.
//!
//! A user's message opens a turn, everything else stands in the running one; [`Turn`] says otherwise. Counting is not the
//! parser's: there is no index in an event.
//!
//! # What is remembered
//!
//! A decoder is made anew whenever reading goes on: tomorrow, after a crash, in another process. What it must know by then
//! lies in one of two places, both stored with the mark, so that neither is ever ahead of it or behind:
//!
//! - [`State`]: a few fields, at most 4 KiB, with a version. The session's id, the model in use. A state of another version
//!   is refused ([`State::load`]), and the file is read again from its start; ids make that harmless.
//! - [`Memory`]: keys and values without a bound. Counts, open calls, a text that is still growing.
//!
//! Both are of one source and empty at its start. What spans files cannot be remembered and need not be: a result finds its
//! call in the store, by [call id](Body::ToolResult), also when the call comes later.
//!
//! # What is not final
//!
//! What the client may still change is said with [`Event::settled`] `false`: it is kept and shown, and delivered later. Said
//! again under the same id, it is a revision. What is better held back than said too early is put into the memory and said
//! when it ends, or when [`Decoder::quiet`] says that nothing more comes for now.
//!
//! # Copies, forks, sub-agents
//!
//! An event has one home session. Forks and resumed sessions copy records, so a parser says of each event in which session
//! it *stands* ([`Event::session`]) and whether it was first written there ([`Origin`]); the store decides the home from all
//! that was said, whichever file is read first. Where a record does not tell, [`Facts::copied_from`] tells it of the session.
//!
//! How a session came out of another is [`Lineage`], with [`Facts::parent_session`]. A sub-agent is a session of its own; if
//! its id is not unique everywhere, it is `<parent session>/<agent id>`, and [`Facts::launched_by`] names the call.
//!
//! What a copied record says of its session (directory, model, tokens) is its origin's, and not said of the copy;
//! [`Whose::HolderOf`] names whichever session an event turns out to have its home in.
//!
//! # Taking back
//!
//! Only an explicit record withdraws: a rewind, an undo, a rollback ([`Withdraw`]). A record that is missing withdraws
//! nothing. Clients compact, clean up and lose files; the history is here for that.
//!
//! # When something is wrong
//!
//! | | what happens |
//! |---|---|
//! | `decode` returns [`Unreadable`] | what it put into [`Events`] is dropped, the record is kept raw, its text is reported with file and record, reading goes on |
//! | `decode` panics | the same, and a decoder is made anew; it is a bug of the parser |
//! | nothing is said of a record | it is kept raw and counted as not understood; a law forbids it |
//! | a line holds several JSON values (a torn line with another behind it) | it is refused whole, then each is a record under the same index |
//! | a line of more than 32 MiB | it never reaches the parser; it is kept raw, piece by piece |
//!
//! What `decode` put into the [`Memory`] before it failed, or changed in itself, stays. So it reads the record first, with
//! `?`, and remembers after.
//!
//! # What the engine guarantees
//!
//! - Records are handed over whole and in order, from where the last decoder of that source stopped.
//! - Whatever stops it, at any instruction: what was stored is whole, and what was not is read again.
//! - A record never costs more than itself.
//! - A secret that was recognised is in no event, fact, raw record, state or memory that is stored.
//! - Base64 in an [`Attachment`] is decoded and kept once by its digest; a marker takes its place in the text.
//! - Nothing is cut: texts are as long as the client wrote them.
//!
//! A plugin, for its part, touches neither file system, environment nor clock. What it needs of the machine it asks of
//! [`Env`]: variables and the home directory for [`Parser::homes`], a sidecar beside a transcript in [`Parser::decoder`].
//!
//! # What may grow
//!
//! [`Record`], [`Homes`], [`Rows`] and the specs are made by their constructors and may get fields. [`Event`] is built
//! with [`Event::new`], [`Facts`] and [`Usage`] with `..Facts::default()`; written so, a parser compiles when they get
//! fields. A [`LineParser`] has these four fields for good: what needs more implements [`Parser`], whose new methods have
//! defaults.

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
    Adapter, AdapterSpec, Call, Half, Hook, HookLine, Host, Level, Limit, McpEntry, Moment, Outcome,
    PayloadError, Presence, Read, Reply, Seen, Standing, StandingHook, Unit, Wanted,
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
pub use plan::{Memos, Plan, PlanError, Step};
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
