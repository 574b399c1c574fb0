//! The client's records, permissive: a field we do not read is skipped undecoded.

use scrollback_core::Text;
use serde::Deserialize;
use serde::de::value::{BorrowedBytesDeserializer, BytesDeserializer};
use serde::de::{Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::fmt;

/// A field whose presence or truth is all that matters.
pub(crate) type Flag<'r> = Option<&'r RawValue>;

/// Says whether a flag is `true`.
pub(crate) fn is_true(flag: Flag<'_>) -> bool {
    flag.is_some_and(|raw| raw.get() == "true")
}

/// Says whether a flag says anything but no.
pub(crate) fn is_set(flag: Flag<'_>) -> bool {
    flag.is_some_and(|raw| !matches!(raw.get(), "false" | "\"\""))
}

/// One line of a transcript, of whatever type.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(crate) struct Row<'r> {
    #[serde(borrow, rename = "type")]
    pub(crate) kind: Option<Text<'r>>,
    #[serde(borrow)]
    pub(crate) subtype: Option<Text<'r>>,
    #[serde(borrow)]
    pub(crate) uuid: Option<Text<'r>>,
    #[serde(borrow)]
    pub(crate) parent_uuid: Option<Text<'r>>,
    #[serde(borrow)]
    pub(crate) session_id: Option<Text<'r>>,
    #[serde(borrow)]
    pub(crate) agent_id: Option<Text<'r>>,
    #[serde(borrow)]
    pub(crate) agent_name: Option<Text<'r>>,
    #[serde(borrow)]
    pub(crate) timestamp: Option<Text<'r>>,
    #[serde(borrow)]
    pub(crate) cwd: Option<Text<'r>>,
    #[serde(borrow)]
    pub(crate) git_branch: Option<Text<'r>>,
    #[serde(borrow)]
    pub(crate) version: Option<Text<'r>>,
    #[serde(borrow)]
    pub(crate) request_id: Option<Text<'r>>,
    #[serde(borrow)]
    pub(crate) request_session_id: Option<Text<'r>>,
    #[serde(borrow)]
    pub(crate) forked_from: Option<&'r RawValue>,
    #[serde(borrow)]
    pub(crate) message: Option<Message<'r>>,
    #[serde(borrow)]
    pub(crate) tool_use_result: Option<&'r RawValue>,
    #[serde(borrow)]
    pub(crate) attachment: Option<Attached<'r>>,
    #[serde(borrow)]
    pub(crate) rendered: Option<&'r RawValue>,
    /// The text of a `system` row; of others, something else.
    #[serde(borrow)]
    pub(crate) content: Option<&'r RawValue>,

    #[serde(borrow)]
    pub(crate) is_sidechain: Flag<'r>,
    #[serde(borrow)]
    pub(crate) is_meta: Flag<'r>,
    #[serde(borrow)]
    pub(crate) is_api_error_message: Flag<'r>,
    #[serde(borrow)]
    pub(crate) is_compact_summary: Flag<'r>,
    #[serde(borrow)]
    pub(crate) is_virtual: Flag<'r>,
    #[serde(borrow)]
    pub(crate) is_visible_in_transcript_only: Flag<'r>,
    #[serde(borrow)]
    pub(crate) text_not_typed: Flag<'r>,
    #[serde(borrow)]
    pub(crate) handed_off: Flag<'r>,
    #[serde(borrow)]
    pub(crate) queue_skip_attachments: Flag<'r>,
    #[serde(borrow)]
    pub(crate) turn_companion: Flag<'r>,
    #[serde(borrow)]
    pub(crate) wakeup_source: Flag<'r>,
    #[serde(borrow)]
    pub(crate) scheduled_task_id: Flag<'r>,
    #[serde(borrow)]
    pub(crate) plan_content: Flag<'r>,
    #[serde(borrow)]
    pub(crate) hook_text: Flag<'r>,
    #[serde(borrow, rename = "sourceToolUseID")]
    pub(crate) source_tool_use_id: Flag<'r>,
    #[serde(borrow, rename = "rowSource")]
    pub(crate) source: Option<Text<'r>>,
    #[serde(borrow)]
    pub(crate) origin: Option<&'r RawValue>,

    #[serde(borrow)]
    pub(crate) summary: Option<Text<'r>>,
    #[serde(borrow)]
    pub(crate) leaf_uuid: Option<Text<'r>>,
    #[serde(borrow)]
    pub(crate) custom_title: Option<Text<'r>>,
    #[serde(borrow)]
    pub(crate) pr_url: Option<Text<'r>>,
    #[serde(borrow)]
    pub(crate) ai_title: Option<Text<'r>>,
    #[serde(borrow)]
    pub(crate) continued_in_session_id: Option<Text<'r>>,
}

/// The API message of a conversation row.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Message<'r> {
    #[serde(borrow)]
    pub(crate) id: Option<Text<'r>>,
    #[serde(borrow)]
    pub(crate) model: Option<Text<'r>>,
    #[serde(borrow)]
    pub(crate) content: Option<Content<'r>>,
    pub(crate) usage: Option<Tokens>,
}

/// Token counts, as the API gives them; gateways write some as fractions.
#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Tokens {
    #[serde(rename = "input_tokens")]
    pub(crate) input: Option<f64>,
    #[serde(rename = "output_tokens")]
    pub(crate) output: Option<f64>,
    #[serde(rename = "cache_creation_input_tokens")]
    pub(crate) cache_write: Option<f64>,
    #[serde(rename = "cache_read_input_tokens")]
    pub(crate) cache_read: Option<f64>,
    #[serde(rename = "output_tokens_details")]
    pub(crate) details: Option<TokenDetails>,
}

#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(default)]
pub(crate) struct TokenDetails {
    #[serde(rename = "thinking_tokens")]
    pub(crate) thinking: Option<f64>,
}

/// What an `attachment` row carries.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(crate) struct Attached<'r> {
    #[serde(borrow, rename = "type")]
    pub(crate) kind: Option<Text<'r>>,
    #[serde(borrow)]
    pub(crate) prompt: Option<&'r RawValue>,
    #[serde(borrow)]
    pub(crate) command_mode: Option<Text<'r>>,
    #[serde(borrow)]
    pub(crate) origin: Option<&'r RawValue>,
    #[serde(borrow)]
    pub(crate) is_meta: Flag<'r>,
    #[serde(borrow)]
    pub(crate) timestamp: Option<Text<'r>>,
    #[serde(borrow)]
    pub(crate) hook_event: Option<Text<'r>>,
    #[serde(borrow)]
    pub(crate) content: Option<&'r RawValue>,
}

/// One item of `rendered`.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Rendered<'r> {
    #[serde(borrow)]
    pub(crate) content: Option<Content<'r>>,
}

/// The names in a small object: an origin's kind, the session a row was forked from, a sub-agent's id, a launching
/// call's prompt.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(crate) struct Named<'r> {
    #[serde(borrow)]
    pub(crate) kind: Option<Text<'r>>,
    #[serde(borrow)]
    pub(crate) session_id: Option<Text<'r>>,
    #[serde(borrow)]
    pub(crate) agent_id: Option<Text<'r>>,
    #[serde(borrow)]
    pub(crate) agent_type: Option<Text<'r>>,
    #[serde(borrow, rename = "subagent_type")]
    pub(crate) subagent_type: Option<Text<'r>>,
    #[serde(borrow)]
    pub(crate) prompt: Option<Text<'r>>,
}

impl<'r> Named<'r> {
    /// Reads an object; anything else has no names.
    pub(crate) fn of(raw: Option<&'r RawValue>) -> Self {
        raw.filter(|raw| raw.get().starts_with('{'))
            .and_then(|raw| serde_json::from_str(raw.get()).ok())
            .unwrap_or_default()
    }
}

/// What stands under a `content` key: a string, a list of blocks, or something of a server's tool.
#[derive(Debug)]
pub(crate) enum Content<'r> {
    Text(Cow<'r, str>),
    Blocks(Vec<Block<'r>>),
    Raw(&'r RawValue),
}

impl<'r> Content<'r> {
    /// Reads what was kept raw.
    pub(crate) fn of(raw: &'r RawValue) -> Self {
        serde_json::from_str(raw.get()).unwrap_or(Self::Raw(raw))
    }
}

impl<'de: 'r, 'r> Deserialize<'de> for Content<'r> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct TextOrBlocks;

        impl<'de> Visitor<'de> for TextOrBlocks {
            type Value = Content<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string or a list")
            }

            fn visit_borrowed_bytes<E: Error>(self, bytes: &'de [u8]) -> Result<Self::Value, E> {
                let text = Text::deserialize(BorrowedBytesDeserializer::new(bytes))?;
                Ok(Content::Text(text.into_inner()))
            }

            fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<Self::Value, E> {
                let text = Text::deserialize(BytesDeserializer::new(bytes))?;
                Ok(Content::Text(Cow::Owned(text.into_inner().into_owned())))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Self::Value, A::Error> {
                let mut blocks = Vec::new();
                while let Some(block) = items.next_element()? {
                    blocks.push(block);
                }
                Ok(Content::Blocks(blocks))
            }
        }

        // As bytes, a string may hold half a surrogate pair; this format gives a list to the same visitor.
        deserializer.deserialize_bytes(TextOrBlocks)
    }
}

/// A content block; one without a kind is no object, or an object without `type`.
#[derive(Debug, Default)]
pub(crate) struct Block<'r> {
    pub(crate) kind: Option<Text<'r>>,
    pub(crate) text: Option<Text<'r>>,
    pub(crate) thinking: Option<Text<'r>>,
    pub(crate) id: Option<Text<'r>>,
    pub(crate) name: Option<Text<'r>>,
    pub(crate) input: Option<&'r RawValue>,
    pub(crate) tool_use_id: Option<Text<'r>>,
    pub(crate) content: Option<Content<'r>>,
    pub(crate) is_error: Flag<'r>,
    pub(crate) source: Option<Media<'r>>,
    pub(crate) tool_name: Option<Text<'r>>,
    pub(crate) title: Option<Text<'r>>,
    pub(crate) url: Option<Text<'r>>,
}

/// Where an image's or a document's bytes are.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Media<'r> {
    #[serde(borrow, rename = "type")]
    pub(crate) kind: Option<Text<'r>>,
    #[serde(borrow, rename = "media_type")]
    pub(crate) mime: Option<Text<'r>>,
    #[serde(borrow)]
    pub(crate) data: Option<Text<'r>>,
    #[serde(borrow)]
    pub(crate) url: Option<Text<'r>>,
    #[serde(borrow)]
    pub(crate) file_id: Option<Text<'r>>,
}

#[derive(Deserialize)]
#[serde(field_identifier, rename_all = "snake_case")]
enum Key {
    Type,
    Text,
    Thinking,
    Id,
    Name,
    Input,
    ToolUseId,
    Content,
    IsError,
    Source,
    ToolName,
    Title,
    Url,
    #[serde(other)]
    Other,
}

impl<'r> Block<'r> {
    fn is(&self, kind: &str) -> bool {
        self.kind.as_deref() == Some(kind)
    }

    fn read<'de: 'r, A: MapAccess<'de>>(&mut self, key: &Key, map: &mut A) -> Result<(), A::Error> {
        match key {
            Key::Type => self.kind = map.next_value()?,
            Key::Text => self.text = map.next_value()?,
            Key::Thinking => self.thinking = map.next_value()?,
            Key::Id => self.id = map.next_value()?,
            Key::Name => self.name = map.next_value()?,
            Key::Input => self.input = map.next_value()?,
            Key::ToolUseId => self.tool_use_id = map.next_value()?,
            // One pass for what is large; a server's tool may put an object here.
            Key::Content if self.is("tool_result") => self.content = map.next_value()?,
            Key::Content => self.content = map.next_value::<Flag<'de>>()?.map(Content::of),
            Key::IsError => self.is_error = map.next_value()?,
            Key::Source if self.is("image") || self.is("document") => self.source = map.next_value()?,
            Key::Source => {
                let raw = map.next_value::<Flag<'de>>()?;
                self.source = raw.and_then(|raw| serde_json::from_str(raw.get()).ok());
            }
            Key::ToolName => self.tool_name = map.next_value()?,
            Key::Title => self.title = map.next_value()?,
            Key::Url => self.url = map.next_value()?,
            Key::Other => drop(map.next_value::<IgnoredAny>()?),
        }
        Ok(())
    }
}

impl<'de: 'r, 'r> Deserialize<'de> for Block<'r> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Any;

        impl<'de> Visitor<'de> for Any {
            type Value = Block<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a content block")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut block = Block::default();
                while let Some(key) = map.next_key::<Key>()? {
                    block.read(&key, &mut map)?;
                }
                Ok(block)
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Self::Value, A::Error> {
                while items.next_element::<IgnoredAny>()?.is_some() {}
                Ok(Block::default())
            }

            fn visit_str<E: Error>(self, _: &str) -> Result<Self::Value, E> {
                Ok(Block::default())
            }

            fn visit_unit<E: Error>(self) -> Result<Self::Value, E> {
                Ok(Block::default())
            }

            fn visit_bool<E: Error>(self, _: bool) -> Result<Self::Value, E> {
                Ok(Block::default())
            }

            fn visit_i64<E: Error>(self, _: i64) -> Result<Self::Value, E> {
                Ok(Block::default())
            }

            fn visit_u64<E: Error>(self, _: u64) -> Result<Self::Value, E> {
                Ok(Block::default())
            }

            fn visit_f64<E: Error>(self, _: f64) -> Result<Self::Value, E> {
                Ok(Block::default())
            }
        }

        deserializer.deserialize_any(Any)
    }
}
