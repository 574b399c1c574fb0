//! An event as the columns of its row.

use crate::{Put, StoreError, Writer};
use rusqlite::types::{Null, ToSqlOutput};
use scrollback_core::{AttachmentLine, Body, Role, Turn};

/// What of an event stands in columns of its own.
pub(crate) struct Cells<'p> {
    pub(crate) kind: i64,
    pub(crate) opens: bool,
    pub(crate) call: Option<&'p str>,
    pub(crate) tool: Option<i64>,
    pub(crate) detail: Option<i64>,
    pub(crate) exit_status: Option<i64>,
    pub(crate) text: ToSqlOutput<'p>,
    pub(crate) more: Option<String>,
}

/// What of an event stands in one column as JSON.
#[derive(Default, serde::Serialize)]
struct More<'m> {
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    attachments: &'m [AttachmentLine],
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<&'m str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    alternatives: Option<&'m str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    data: Option<&'m serde_json::value::RawValue>,
}

impl More<'_> {
    fn is_empty(&self) -> bool {
        self.attachments.is_empty()
            && self.why.is_none()
            && self.alternatives.is_none()
            && self.data.is_none()
    }
}

impl Writer<'_> {
    pub(crate) fn cells<'p>(&mut self, put: &Put<'p>) -> Result<Cells<'p>, StoreError> {
        let mut more = More { attachments: put.attachments, ..More::default() };
        let body = &put.event.body;
        let mut cells = Cells {
            kind: kind_code(body),
            opens: match put.event.turn {
                Turn::Opens => true,
                Turn::Joins => false,
                Turn::ByKind => matches!(body, Body::Message { role: Role::User, .. }),
            },
            call: None,
            tool: None,
            detail: None,
            exit_status: None,
            text: Null.into(),
            more: None,
        };
        match body {
            Body::Message { text, .. } | Body::Thinking { text } | Body::Note { text } => {
                cells.text = self.store.text_value(text)?;
            }
            Body::ToolCall { call_id, tool, input } => {
                cells.call = Some(call_id);
                cells.tool = Some(self.store.name_id(tool)?);
                cells.text = self.store.text_value(input)?;
            }
            Body::ToolResult { call_id, tool, output, error, exit_status, .. } => {
                cells.call = Some(call_id);
                cells.tool = tool.as_ref().map(|tool| self.store.name_id(tool)).transpose()?;
                cells.detail = error.then_some(1);
                cells.exit_status = *exit_status;
                cells.text = self.store.text_value(output)?;
            }
            Body::Injected { by, text } => {
                cells.detail = Some(*by as i64);
                cells.text = self.store.text_value(text)?;
            }
            Body::Notice { class, text } => {
                cells.detail = Some(*class as i64);
                cells.text = self.store.text_value(text)?;
            }
            Body::Decision { what, why, alternatives } => {
                more.why = why.as_deref();
                more.alternatives = alternatives.as_deref();
                cells.text = self.store.text_value(what)?;
            }
        }
        more.data = put.event.data.as_deref().and_then(|data| serde_json::from_str(data).ok());
        if !more.is_empty() {
            let json = serde_json::to_string(&more)
                .map_err(|error| StoreError::Content(format!("what does not serialize: {error}")))?;
            cells.more = Some(json);
        }
        Ok(cells)
    }
}

/// Returns the number a kind is stored as.
pub(crate) const fn kind_code(body: &Body<'_>) -> i64 {
    match body {
        Body::Message { role: Role::User, .. } => 1,
        Body::Message { role: Role::Assistant, .. } => 2,
        Body::Thinking { .. } => 3,
        Body::ToolCall { .. } => 4,
        Body::ToolResult { .. } => 5,
        Body::Injected { .. } => 6,
        Body::Decision { .. } => 7,
        Body::Note { .. } => 8,
        Body::Notice { .. } => 9,
    }
}
