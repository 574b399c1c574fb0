//! The laws of a parser, over this crate's fixtures.

use scrollback_parser_claude_code::ClaudeCode;

scrollback_testkit::parser_laws!(ClaudeCode, "fixtures");
