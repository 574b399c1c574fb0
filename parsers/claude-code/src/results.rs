//! What tools gave back, and the images and documents in it.

use crate::wire::{Block, Content, Media, is_true};
use scrollback_core::{Attachment, Body, Data};
use serde::Deserialize;
use serde_json::value::RawValue;
use std::borrow::Cow;

/// A list of blocks as one text: its items joined by newlines, each image or document an item of its own.
#[derive(Debug, Default)]
pub(crate) struct Joined<'r> {
    pub(crate) text: Cow<'r, str>,
    pub(crate) attachments: Vec<Attachment<'r>>,
    items: usize,
}

impl<'r> Joined<'r> {
    /// Adds a text.
    pub(crate) fn text(&mut self, text: Cow<'r, str>) {
        if self.items == 0 {
            self.text = text;
        } else {
            let held = self.text.to_mut();
            held.push('\n');
            held.push_str(&text);
        }
        self.items += 1;
    }

    /// Adds an image or a document, or the text it is.
    pub(crate) fn media(&mut self, block: Block<'r>) {
        let media = block.source.unwrap_or_default();
        if media.kind.as_deref() == Some("text") {
            self.text(media.data.unwrap_or_default().0);
            return;
        }
        let place = self.text.len() + usize::from(self.items > 0);
        if let Some(mut attachment) = attachment(media, block.title.map(|title| title.0)) {
            self.text(Cow::Borrowed(""));
            attachment.place = Some(place);
            self.attachments.push(attachment);
        }
    }

    /// Adds an item of a result; returns the name of its kind if it was never seen.
    fn item(&mut self, item: Block<'r>) -> Option<String> {
        let kind = item.kind.as_deref().unwrap_or_default().to_owned();
        match kind.as_str() {
            "text" => self.text(item.text.unwrap_or_default().0),
            "image" | "document" => self.media(item),
            "tool_reference" => {
                self.text(Cow::Owned(format!("[tool: {}]", item.tool_name.as_deref().unwrap_or("unknown"))));
            }
            "search_result" | "web_search_result" => {
                let named = [item.title.as_deref(), item.url.as_deref()];
                self.text(Cow::Owned(named.into_iter().flatten().collect::<Vec<_>>().join(" ")));
            }
            _ => {
                return Some(if kind.is_empty() {
                    "result item without type".to_owned()
                } else {
                    format!("result item {kind}")
                });
            }
        }
        None
    }

    /// Returns text and attachments; what stands at the end needs no place, and no line of its own.
    pub(crate) fn finish(mut self) -> (Cow<'r, str>, Vec<Attachment<'r>>) {
        let mut end = self.text.len();
        for attachment in self.attachments.iter_mut().rev() {
            if attachment.place != Some(end) {
                break;
            }
            attachment.place = None;
            if self.text.get(..end).is_some_and(|text| text.ends_with('\n')) {
                end -= 1;
            }
        }
        if end < self.text.len() {
            self.text = crate::injected::slice(&self.text, 0, end);
        }
        (self.text, self.attachments)
    }
}

fn attachment<'r>(media: Media<'r>, name: Option<Cow<'r, str>>) -> Option<Attachment<'r>> {
    let data = match (media.data, media.url, media.file_id) {
        (Some(data), _, _) => Data::Base64(data.0),
        (None, Some(url), _) => Data::Elsewhere(url.0),
        (None, None, Some(file)) => Data::Elsewhere(file.0),
        (None, None, None) => return None,
    };
    let media_type = media.mime.map_or(Cow::Borrowed("application/octet-stream"), |media_type| media_type.0);
    Some(Attachment { media_type, name, data, place: None })
}

/// A tool's result, read.
#[derive(Debug, Default)]
pub(crate) struct Outcome<'r> {
    pub(crate) call_id: Cow<'r, str>,
    pub(crate) output: Joined<'r>,
    error: bool,
    exit_status: Option<i64>,
    /// Kinds of items never seen.
    pub(crate) unknown: Vec<String>,
}

/// What a server's tool puts where other results have text.
#[derive(Default, Deserialize)]
#[serde(default)]
struct ServerResult {
    r#type: Option<String>,
    return_code: Option<i64>,
}

impl<'r> Outcome<'r> {
    /// Reads a result block; `failed` is what the row besides says of it.
    pub(crate) fn of(block: Block<'r>, failed: bool) -> Self {
        let mut outcome = Self {
            call_id: block.tool_use_id.map(|id| id.0).unwrap_or_default(),
            error: failed || is_true(block.is_error),
            ..Self::default()
        };
        match block.content {
            Some(Content::Text(text)) => outcome.output.text(text),
            Some(Content::Blocks(items)) => {
                for item in items {
                    outcome.unknown.extend(outcome.output.item(item));
                }
            }
            Some(Content::Raw(raw)) => outcome.server(raw),
            None => {}
        }
        if outcome.error {
            outcome.exit_status = outcome.exit_status.or_else(|| exit_status(&outcome.output.text));
        }
        outcome
    }

    fn server(&mut self, raw: &'r RawValue) {
        let result = serde_json::from_str::<ServerResult>(raw.get()).unwrap_or_default();
        self.error |= result.r#type.is_some_and(|kind| kind.ends_with("_error"));
        self.error |= result.return_code.is_some_and(|code| code != 0);
        self.exit_status = result.return_code;
        self.output.text(Cow::Borrowed(raw.get()));
    }

    /// Says whether it only stands where the client dropped the result.
    pub(crate) fn is_stand_in(&self) -> bool {
        let text = self.output.text.trim();
        text == "[Old tool result content cleared]" || text.starts_with("[Tool call result not in this copy")
    }

    /// Returns it as an event's body.
    pub(crate) fn body(self) -> Body<'r> {
        let (output, attachments) = self.output.finish();
        Body::ToolResult {
            call_id: self.call_id,
            tool: None,
            output,
            error: self.error,
            exit_status: self.exit_status,
            attachments,
        }
    }
}

/// Returns a failed command's exit status, which is only text: `Exit code 3`.
fn exit_status(output: &str) -> Option<i64> {
    let line = output.strip_prefix("Exit code ")?.lines().next()?;
    line.trim().parse().ok()
}

/// Says whether a row's own result, beside the text the model got, is that of a failure.
pub(crate) fn says_failed(result: Option<&RawValue>) -> bool {
    result.is_some_and(|raw| {
        ["\"Error", "\"User rejected tool use"].iter().any(|opening| raw.get().starts_with(opening))
    })
}
