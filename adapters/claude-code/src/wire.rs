//! What the client sends a hook, as it writes it. Unknown fields are ignored, and any may be missing.

use scrollback_core::Text;
use serde::Deserialize;

/// The payload of any moment.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Payload<'p> {
    #[serde(borrow)]
    pub(crate) hook_event_name: Option<Text<'p>>,
    #[serde(borrow)]
    pub(crate) session_id: Option<Text<'p>>,
    #[serde(borrow)]
    pub(crate) transcript_path: Option<Text<'p>>,
    #[serde(borrow)]
    pub(crate) agent_transcript_path: Option<Text<'p>>,
    #[serde(borrow)]
    pub(crate) agent_id: Option<Text<'p>>,
    #[serde(borrow)]
    pub(crate) cwd: Option<Text<'p>>,
    #[serde(borrow)]
    pub(crate) prompt: Option<Text<'p>>,
    #[serde(borrow)]
    pub(crate) last_assistant_message: Option<Text<'p>>,
    /// Cursor runs this client's hook files and says so.
    #[serde(borrow)]
    pub(crate) cursor_version: Option<Text<'p>>,
}
