//! An event that outlives the record it was read from.

use scrollback_core::{Attachment, Body, By, Data, Event, Origin};
use std::borrow::Cow;

fn cow(text: Cow<'_, str>) -> Cow<'static, str> {
    Cow::Owned(text.into_owned())
}

fn attachments(attachments: Vec<Attachment<'_>>) -> Vec<Attachment<'static>> {
    let own = |held: Attachment<'_>| Attachment {
        media_type: cow(held.media_type),
        name: held.name.map(cow),
        data: match held.data {
            Data::Base64(text) => Data::Base64(cow(text)),
            Data::Elsewhere(text) => Data::Elsewhere(cow(text)),
        },
        place: held.place,
    };
    attachments.into_iter().map(own).collect()
}

fn body(body: Body<'_>) -> Body<'static> {
    match body {
        Body::Message { role, text, attachments: held } => {
            Body::Message { role, text: cow(text), attachments: attachments(held) }
        }
        Body::Thinking { text } => Body::Thinking { text: cow(text) },
        Body::ToolCall { call_id, tool, input } => {
            Body::ToolCall { call_id: cow(call_id), tool: cow(tool), input: cow(input) }
        }
        Body::ToolResult { call_id, tool, output, error, exit_status, attachments: held } => {
            Body::ToolResult {
                call_id: cow(call_id),
                tool: tool.map(cow),
                output: cow(output),
                error,
                exit_status,
                attachments: attachments(held),
            }
        }
        Body::Injected { by, text } => Body::Injected { by, text: cow(text) },
        Body::Decision { what, why, alternatives } => {
            Body::Decision { what: cow(what), why: why.map(cow), alternatives: alternatives.map(cow) }
        }
        Body::Note { text } => Body::Note { text: cow(text) },
        Body::Notice { class, text } => Body::Notice { class, text: cow(text) },
    }
}

/// Returns the event with nothing borrowed.
pub(super) fn own(event: Event<'_>) -> Event<'static> {
    Event {
        id: event.id,
        session: cow(event.session),
        order: event.order,
        at: event.at,
        origin: match event.origin {
            Origin::Own => Origin::Own,
            Origin::Copied { from } => Origin::Copied { from: from.map(cow) },
        },
        settled: event.settled,
        record_id: event.record_id.map(cow),
        by: match event.by {
            By::Agent(name) => By::Agent(name.map(cow)),
            By::Person => By::Person,
            By::Harness => By::Harness,
            By::Nobody => By::Nobody,
        },
        parent: event.parent,
        model: event.model.map(cow),
        turn: event.turn,
        data: event.data.map(cow),
        body: body(event.body),
    }
}
