//! The laws of every parser, over the transcripts in `fixtures`.

scrollback_testkit::parser_laws!(scrollback_parser_acme::PARSER, "fixtures");
