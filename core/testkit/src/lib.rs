//! The laws every parser of scrollback keeps, as tests.
//!
//! # A parser and its laws
//!
//! A parser crate takes the laws up in `tests/laws.rs`, which holds one line, and keeps transcripts in `fixtures`. This is
//! all of one:
//!
//! ```
//! // src/lib.rs
//! use scrollback_core::{
//!     Body, Event, EventId, Events, Homes, LineParser, ParserSpec, Record, Role, Score, Shape, Source, Text, Unreadable,
//! };
//! use std::borrow::Cow;
//!
//! #[derive(serde::Deserialize)]
//! struct Line<'r> {
//!     #[serde(borrow)]
//!     session: Cow<'r, str>,
//!     #[serde(borrow)]
//!     id: Cow<'r, str>,
//!     #[serde(borrow)]
//!     by: Cow<'r, str>,
//!     #[serde(borrow, default)]
//!     said: Text<'r>,
//! }
//!
//! fn decode<'r>(record: &Record<'r>, _source: &Source<'_>, events: &mut Events<'r>) -> Result<(), Unreadable> {
//!     let line: Line<'r> = record.json()?;
//!     let role = match &*line.by {
//!         "person" => Role::User,
//!         "agent" => Role::Assistant,
//!         _ => {
//!             events.unknown(line.by, None);
//!             return Ok(());
//!         }
//!     };
//!     let id = EventId::of("acme", &[&line.session, &line.id, "0"]);
//!     events.event(Event::new(id, line.session, Body::message(role, line.said)));
//!     Ok(())
//! }
//!
//! pub static ACME: LineParser = LineParser {
//!     spec: ParserSpec::new("acme", "Acme", Shape::Lines),
//!     homes: |_env| Homes::of(["~/.acme/sessions/*.jsonl"]),
//!     score: |probe| if probe.head.starts_with(b"{\"session\":\"acme-") { Score::Sure } else { Score::No },
//!     decode,
//! };
//! scrollback_core::register_parser!(ACME);
//!
//! // tests/laws.rs
//! scrollback_testkit::parser_laws!(ACME, "fixtures");
//! # let fixtures = tempfile::tempdir()?;
//! # let folder = fixtures.path().to_str().unwrap();
//! # std::fs::write(
//! #     fixtures.path().join("hello.jsonl"),
//! #     r#"{"session":"acme-1","id":"1","by":"person","said":"Paint the anvil green."}
//! # {"session":"acme-1","id":"2","by":"agent","said":"It is green now."}
//! # "#,
//! # )?;
//! # use scrollback_testkit::parser;
//! # parser::resuming_changes_nothing(&ACME, folder);
//! # parser::cutting_changes_nothing(&ACME, folder);
//! # parser::names_are_stable(&ACME, folder);
//! # parser::every_record_is_accounted_for(&ACME, folder);
//! # parser::order_is_kept(&ACME, folder);
//! # parser::rubbish_passes(&ACME, folder);
//! # parser::files_come_in_any_order(&ACME, folder);
//! # parser::it_knows_its_own(&ACME, folder);
//! # parser::the_state_is_small(&ACME, folder);
//! # Ok::<(), std::io::Error>(())
//! ```
//!
//! Its `Cargo.toml` has `scrollback-core` and `serde` among the dependencies, and this crate among the dev-dependencies.
//! `scrollback new parser` writes all of it.
//!
//! # The laws
//!
//! Each is a test of its own, over every transcript: `cargo test resuming` runs one. They hand over records as the engine
//! does (the second one reads with its line reader), and end a file as `parse` does, with
//! [`Quiet::SessionEnded`](scrollback_core::Quiet).
//!
//! | law | a parser that breaks it |
//! |---|---|
//! | [`resuming_changes_nothing`](parser::resuming_changes_nothing) | keeps something in its decoder that is in neither state nor memory |
//! | [`cutting_changes_nothing`](parser::cutting_changes_nothing) | the same, or depends on when it is asked |
//! | [`names_are_stable`](parser::names_are_stable) | gives two blocks of a record one id, or makes ids of a clock or a random number |
//! | [`every_record_is_accounted_for`](parser::every_record_is_accounted_for) | passes over a record in silence |
//! | [`order_is_kept`](parser::order_is_kept) | says that an event stands where nothing was read yet |
//! | [`rubbish_passes`](parser::rubbish_passes) | panics on it, or numbers its events by line |
//! | [`files_come_in_any_order`](parser::files_come_in_any_order) | keeps something between two files |
//! | [`it_knows_its_own`](parser::it_knows_its_own) | does not recognise its own transcripts, or is sure of others |
//! | [`the_state_is_small`](parser::the_state_is_small) | keeps in the state what belongs into the memory, or loads a state of another version |
//! | [`goldens_are_true`](parser::goldens_are_true) | gives other events than were agreed |
//!
//! A message names the transcript, the record (counted from 1) and the first difference. `docs/adding-a-parser.md` shows
//! what each says and where to look.
//!
//! # Fixtures and goldens
//!
//! A fixture `x.jsonl` stands beside its golden `x.events.jsonl`, the lines that `scrollback parse` gives for it.
//! `SCROLLBACK_BLESS=1 cargo test` writes the goldens anew, to be read as a diff: they are what the parser promises.
//! Fixtures may lie in folders; files that are no `.jsonl`, goldens and hidden files are no fixtures. A folder without any
//! is a failure.
//!
//! Fixtures are read on a [`World`]: a machine whose user is `dev`, whose clock stands and whose environment is empty, so
//! that goldens are the same everywhere.
//!
//! # An adapter and its laws
//!
//! [`adapter_laws!`] makes the tests of [`adapter`] for an adapter. Its fixtures are `homes/NAME/…`, home directories
//! with settings as people have them (each is tried with other line endings, with a byte-order mark, with tabs, without
//! a final newline), and `payloads/NAME.json`, what the client sends, each with its golden `NAME.hook`.
//!
//! # More than laws
//!
//! A test of one's own reads lines with a [`Reader`]: it keeps what was said of each, and can stop and go on
//! ([`Reader::resume`]).

pub mod adapter;
pub mod golden;
mod home;
pub mod parser;
mod reading;
mod world;

pub use reading::{Reader, fixtures, fixtures_in};
pub use world::World;

/// Makes one test of each law, for a parser (a constant expression or static) over the fixtures in a folder of
/// the crate.
#[macro_export]
macro_rules! parser_laws {
    ($parser:expr, $fixtures:literal) => {
        $crate::parser_laws!(@law $parser, $fixtures,
            resuming_changes_nothing, cutting_changes_nothing, names_are_stable, every_record_is_accounted_for,
            order_is_kept, rubbish_passes, files_come_in_any_order, it_knows_its_own, the_state_is_small,
            goldens_are_true);
    };
    (@law $parser:expr, $fixtures:literal, $($law:ident),+) => {
        $(
            #[test]
            fn $law() {
                $crate::parser::$law(&$parser, concat!(env!("CARGO_MANIFEST_DIR"), "/", $fixtures));
            }
        )+
    };
}

/// Makes one test of each law, for an adapter (a constant expression or static) over the fixtures in a folder of the
/// crate.
#[macro_export]
macro_rules! adapter_laws {
    ($adapter:expr, $fixtures:literal) => {
        $crate::adapter_laws!(@law $adapter, $fixtures,
            planning_writes_nothing, a_second_install_changes_nothing, an_uninstall_gives_the_bytes_back,
            what_others_wrote_stays, malformed_settings_are_refused, a_program_may_lie_anywhere,
            one_level_is_enough, nobody_home_is_left_alone, payloads_never_panic, payloads_mean_what_was_agreed,
            replies_are_what_the_client_takes, a_trial_is_a_session_that_starts);
    };
    (@law $adapter:expr, $fixtures:literal, $($law:ident),+) => {
        $(
            #[test]
            fn $law() {
                $crate::adapter::$law(&$adapter, concat!(env!("CARGO_MANIFEST_DIR"), "/", $fixtures));
            }
        )+
    };
}
