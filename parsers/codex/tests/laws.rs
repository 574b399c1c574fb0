//! The laws of a parser, over this crate's fixtures.

use scrollback_parser_codex::Codex;

scrollback_testkit::parser_laws!(Codex, "fixtures");
