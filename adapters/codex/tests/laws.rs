//! The laws of an adapter, over this crate's fixtures.

use scrollback_adapter_codex::Codex;

scrollback_testkit::adapter_laws!(Codex, "fixtures");
