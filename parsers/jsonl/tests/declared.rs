//! The laws of a parser, over a client that a field map declares.

use scrollback_parser_jsonl::FieldMap;
use std::sync::LazyLock;

static ACME: LazyLock<FieldMap> =
    LazyLock::new(|| FieldMap::read(include_str!("declared/acme.toml")).expect("the map of the test"));

scrollback_testkit::parser_laws!(*ACME, "tests/declared");
