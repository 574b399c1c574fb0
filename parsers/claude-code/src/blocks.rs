//! Assistant rows: what the model said, thought and asked for, one block a row.

use crate::results::Outcome;
use crate::said::Put;
use crate::usage;
use crate::wire::{Block, Content, Message, Named, Row, is_true};
use scrollback_core::{Body, By, InjectedBy, NoticeClass, Role};
use std::borrow::Cow;

/// A model that is none: the client itself wrote the row.
const SYNTHETIC: &str = "<synthetic>";

/// Says what an assistant's row says.
pub(crate) fn assistant<'r>(put: &mut Put<'_, 'r>, row: &Row<'r>, message: Message<'r>) {
    let model = message.model.map(|model| model.0).filter(|model| model != SYNTHETIC && !model.is_empty());
    let mut speech =
        Speech { synthetic: model.is_none(), model, api_error: is_true(row.is_api_error_message) };
    match message.content {
        Some(Content::Text(text)) => speech.text(put, "0", text),
        Some(Content::Blocks(blocks)) => {
            for (index, block) in blocks.into_iter().enumerate() {
                speech.block(put, index, block);
            }
        }
        Some(Content::Raw(_)) | None => put.unknown("assistant without content".to_owned()),
    }
    put.saved.now.command = None;
    if let Some(tokens) = message.usage {
        usage::say(put, row, message.id.as_deref(), speech.model, tokens);
    }
}

/// How the blocks of a row are to be said.
struct Speech<'r> {
    model: Option<Cow<'r, str>>,
    synthetic: bool,
    api_error: bool,
}

impl<'r> Speech<'r> {
    fn put(&self, put: &mut Put<'_, 'r>, part: &str, body: Body<'r>) {
        let by = if self.synthetic { By::Harness } else { put.agent() };
        let event = put.event(part, body).by(by).model(self.model.clone());
        put.push(event);
    }

    fn text(&mut self, put: &mut Put<'_, 'r>, part: &str, text: Cow<'r, str>) {
        let words = text.trim();
        if words.is_empty() {
            return;
        }
        if self.api_error || (self.synthetic && words.starts_with("API Error")) {
            put.body(part, Body::notice(NoticeClass::ApiError, text));
        } else if self.synthetic && words == "No response requested." {
            put.events.nothing("stand-in");
        } else {
            self.put(put, part, Body::message(Role::Assistant, text));
        }
    }

    fn block(&mut self, put: &mut Put<'_, 'r>, index: usize, block: Block<'r>) {
        let part = index.to_string();
        match block.kind.as_deref().unwrap_or_default() {
            "text" => self.text(put, &part, block.text.unwrap_or_default().0),
            "thinking" => {
                let text = block.thinking.unwrap_or_default().0;
                if !text.trim().is_empty() {
                    self.put(put, &part, Body::thinking(text));
                }
            }
            "tool_use" | "server_tool_use" | "mcp_tool_use" => self.call(put, &part, block),
            "redacted_thinking" | "search_result" | "container_upload" | "compaction" | "fallback"
            | "mid_conv_system" | "mcp_tool_listing" => {}
            kind if kind.ends_with("tool_result") => {
                let mut outcome = Outcome::of(block, false);
                for kind in std::mem::take(&mut outcome.unknown) {
                    put.unknown(kind);
                }
                let event = put.event(&part, outcome.body()).by(put.agent());
                put.push(event);
            }
            "" => put.unknown("assistant block without type".to_owned()),
            kind => {
                let kind = format!("assistant block {kind}");
                put.unknown(kind);
            }
        }
    }

    fn call(&self, put: &mut Put<'_, 'r>, part: &str, block: Block<'r>) {
        let tool = block.name.map_or(Cow::Borrowed("unknown"), |name| name.0);
        let input = block.input.map_or("{}", |input| input.get());
        let call_id = match block.id {
            Some(id) => id.0,
            None => Cow::Owned(put.id.part(part).to_string()),
        };
        if matches!(&*tool, "Task" | "Agent") && !put.is_copy() {
            let named = Named::of(block.input);
            put.saved.launch(&call_id, &named.prompt.unwrap_or_default(), named.subagent_type.as_deref());
        }
        self.put(put, part, Body::call(call_id, tool, input));
    }
}

/// Says what a stretch of text beside results or the like is: nobody said it.
pub(crate) fn injected<'r>(put: &mut Put<'_, 'r>, part: &str, by: InjectedBy, text: Cow<'r, str>) {
    if !text.trim().is_empty() {
        put.body(part, Body::injected(by, text));
    }
}
