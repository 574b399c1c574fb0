//! The laws of an adapter, over this crate's fixtures.

use scrollback_adapter_claude_code::ClaudeCode;

scrollback_testkit::adapter_laws!(ClaudeCode, "fixtures");
