//! The laws of a parser, over this crate's fixtures.

use scrollback_parser_jsonl::Jsonl;

scrollback_testkit::parser_laws!(Jsonl, "fixtures");
