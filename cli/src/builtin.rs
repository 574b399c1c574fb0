//! The plugins of this build, a line each. A crate that no code names is not linked, without a warning.

#[cfg(feature = "adapter-claude-code")]
use scrollback_adapter_claude_code as _;
#[cfg(feature = "adapter-codex")]
use scrollback_adapter_codex as _;
#[cfg(feature = "parser-claude-code")]
use scrollback_parser_claude_code as _;
#[cfg(feature = "parser-codex")]
use scrollback_parser_codex as _;
#[cfg(feature = "parser-jsonl")]
use scrollback_parser_jsonl as _;
