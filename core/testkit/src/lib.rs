//! The laws every parser of scrollback keeps, as tests.
//!
//! A parser crate takes them up in `tests/laws.rs`, whole:
//!
//! ```
//! # use scrollback_core::*;
//! # fn decode<'r>(record: &Record<'r>, source: &Source<'_>, events: &mut Events<'r>) -> Result<(), Unreadable> {
//! #     let said: &str = record.json()?;
//! #     events.event(Event::new(EventId::of("acme", &[&source.stem(), said, "0"]), source.stem(), Body::message(Role::User, said)));
//! #     Ok(())
//! # }
//! # static ACME: LineParser = LineParser {
//! #     spec: ParserSpec::new("acme", "Acme", Shape::Lines),
//! #     homes: |_env| Homes::of(["~/.acme/*.jsonl"]),
//! #     score: |probe| if probe.head.starts_with(b"\"") { Score::Sure } else { Score::No },
//! #     decode,
//! # };
//! // `ACME` is the crate's parser, `fixtures` a folder of transcripts beside its Cargo.toml.
//! scrollback_testkit::parser_laws!(ACME, "fixtures");
//! ```
//!
//! Each law is a test of its own. A fixture `x.jsonl` stands beside its golden `x.events.jsonl`, the lines that
//! `scrollback parse` gives for it; `SCROLLBACK_BLESS=1 cargo test` writes the goldens anew, to be read as a diff.
//! Fixtures may lie in folders; files that are no `.jsonl`, goldens and hidden files are no fixtures.

pub mod golden;
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
