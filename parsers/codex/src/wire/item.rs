//! Response items: what the model said and was given.

use super::loose::{Flag, FromText, List, Object, Word};
use scrollback_core::Text;
use serde::Deserialize;
use serde_json::value::RawValue;
use std::borrow::Cow;

/// A response item of any kind, flat.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Item<'r> {
    #[serde(rename = "type", borrow)]
    pub(crate) kind: Word<'r>,
    pub(crate) id: Word<'r>,
    pub(crate) role: Word<'r>,
    pub(crate) content: List<Part<'r>>,
    pub(crate) summary: List<Part<'r>>,
    pub(crate) phase: Word<'r>,
    pub(crate) name: Word<'r>,
    pub(crate) namespace: Word<'r>,
    pub(crate) call_id: Word<'r>,
    pub(crate) status: Word<'r>,
    pub(crate) arguments: Option<&'r RawValue>,
    pub(crate) input: Option<&'r RawValue>,
    pub(crate) output: Option<&'r RawValue>,
    pub(crate) action: Option<&'r RawValue>,
    pub(crate) tools: Option<&'r RawValue>,
    pub(crate) revised_prompt: Option<&'r RawValue>,
    pub(crate) result: Word<'r>,
    pub(crate) author: Word<'r>,
    #[serde(rename = "internal_chat_message_metadata_passthrough")]
    pub(crate) passthrough: Object<Passthrough<'r>>,
}

impl Item<'_> {
    /// Returns the turn the item says it belongs to.
    pub(crate) fn turn_id(&self) -> Option<&str> {
        self.passthrough.0.as_ref().and_then(|passthrough| passthrough.turn_id.get())
    }
}

/// One part of a message's content, of a reasoning's summary, of an output.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Part<'r> {
    #[serde(rename = "type", borrow)]
    pub(crate) kind: Word<'r>,
    pub(crate) text: Option<Text<'r>>,
    pub(crate) image_url: Word<'r>,
    pub(crate) audio_url: Word<'r>,
    pub(crate) file_id: Word<'r>,
    /// Base64 of an image or a sound, as an MCP server gives it.
    pub(crate) data: Word<'r>,
    #[serde(rename = "mimeType")]
    pub(crate) mime_type: Word<'r>,
}

impl<'r> FromText<'r> for Part<'r> {
    fn from_text(text: Cow<'r, str>) -> Option<Self> {
        Some(Self { text: Some(Text(text)), ..Self::default() })
    }
}

/// What a response item carries for its own bookkeeping.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Passthrough<'r> {
    #[serde(borrow)]
    pub(crate) turn_id: Word<'r>,
    /// Seconds since 1970, with a fraction.
    pub(crate) create_time: Option<&'r RawValue>,
    pub(crate) content_item_kinds: List<Word<'r>>,
    pub(crate) content_item_metadata: List<PartMetadata<'r>>,
}

/// What is noted about one content part.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct PartMetadata<'r> {
    #[serde(borrow)]
    pub(crate) provenance: Object<Provenance<'r>>,
}

impl<'r> FromText<'r> for PartMetadata<'r> {
    fn from_text(_: Cow<'r, str>) -> Option<Self> {
        None
    }
}

/// Where a content part came from.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Provenance<'r> {
    #[serde(rename = "type", borrow)]
    pub(crate) kind: Word<'r>,
    pub(crate) hook: Flag,
}

/// What stands beside the payload of a response item.
#[derive(Debug, Default, Clone, Copy, Deserialize)]
#[serde(default)]
pub(crate) struct Metadata {
    pub(crate) compaction_output: Flag,
    pub(crate) inherited_user_message: Flag,
    pub(crate) delivered_assistant_message: Flag,
    /// The client writes such notes at all.
    #[serde(skip)]
    pub(crate) known: bool,
}
