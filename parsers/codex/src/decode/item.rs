//! Response items.

use super::pen::Pen;
use super::{message, thread, tools};
use crate::wire::{Item, Metadata};

/// Returns what the client notes beside an item.
pub(super) fn notes(metadata: Option<Metadata>) -> Metadata {
    let known = metadata.is_some();
    Metadata { known, ..metadata.unwrap_or_default() }
}

/// Reads a response item.
pub(super) fn item<'r>(pen: &mut Pen<'_, 'r>, item: Item<'r>, metadata: Metadata, enveloped: bool) {
    let written = pen.written;
    if pen.copied {
        message::made_for_child(pen, &item, metadata, written);
    } else if metadata.inherited_user_message.is_set() {
        thread::inherited(pen);
    }
    if pen.copied && pen.at.is_none() {
        let own_id = item.id.get().is_some_and(|id| pen.is_own_id(id));
        pen.at = message::made_at(&item, own_id);
    }
    if pen.known.importing {
        if message::ends_import(&item) {
            pen.known.importing = false;
        }
        return pen.nothing("imported");
    }
    match item.kind.get() {
        Some("message") => message::message(pen, item, metadata, enveloped),
        Some("reasoning") => message::reasoning(pen, item),
        Some("agent_message") => message::agent_message(pen, item),
        Some("function_call" | "custom_tool_call" | "local_shell_call" | "tool_search_call") => {
            tools::call(pen, item);
        }
        Some("function_call_output" | "custom_tool_call_output" | "tool_search_output") => {
            tools::output(pen, item);
        }
        Some("web_search_call") => tools::web_search(pen, &item),
        Some("image_generation_call") => tools::image_generation(pen, item),
        Some("additional_tools") => pen.nothing("additional_tools"),
        Some("compaction" | "compaction_summary" | "context_compaction") => pen.nothing("compaction item"),
        Some("ghost_snapshot") => pen.nothing("ghost_snapshot"),
        Some(kind) => {
            let kind = format!("response_item/{kind}");
            pen.unknown(kind);
        }
        None => pen.unknown("response_item without a type"),
    }
}
