//! Messages, thinking, and what agents tell each other.

use super::known::{digest, short};
use super::pen::{Key, Pen, memory_key};
use super::pieces::{Piece, Said, join, pieces};
use super::{thread, tools, twins};
use crate::injected;
use crate::names;
use crate::wire::{Item, Metadata, Part};
use scrollback_core::{
    Attachment, Body, By, EventId, Facts, InjectedBy, Role, Timestamp, Turn, Whose, text_digest,
};
use std::borrow::Cow;

/// What ends the copied conversation of another client.
const IMPORTED: &str = "<EXTERNAL SESSION IMPORTED>";

/// Says whether a message ends the copied conversation of another client.
pub(super) fn ends_import(item: &Item<'_>) -> bool {
    let texts = item.content.0.iter().filter_map(|part| part.text.as_ref());
    item.kind.is("message") && texts.into_iter().any(|text| text.trim_start().starts_with(IMPORTED))
}

/// Reads a message.
pub(super) fn message<'r>(pen: &mut Pen<'_, 'r>, item: Item<'r>, metadata: Metadata, enveloped: bool) {
    let Some(role) = item.role.get().map(str::to_owned) else { return pen.unknown("message without a role") };
    if !matches!(role.as_str(), "user" | "assistant" | "developer" | "system") {
        return pen.unknown(format!("message of {role}"));
    }
    let whole = whole_text(&item.content.0);
    if role == "assistant" && !pen.lone && enveloped && holds_summary(pen, &item, metadata, &whole) {
        return;
    }
    let key = pen.item_key(item.id.get(), "message", &role, &whole);
    if metadata.compaction_output.is_set() {
        return pen.nothing("compaction output");
    }
    if metadata.delivered_assistant_message.is_set() && was_delivered(pen, &whole) {
        return pen.nothing("delivered message");
    }
    if role == "assistant" {
        remember_text(pen, &whole, metadata);
    }
    let before = pen.events.said().len();
    let turn_id = item.turn_id().map(str::to_owned);
    let pieces = pieces(pen, &role, item.content.0, item.passthrough.0.as_ref());
    let phase = item.phase;
    for piece in pieces {
        match piece {
            Piece::Said(Said { part, text, attachments, texts }) => {
                if text.is_empty() && attachments.is_empty() {
                    continue;
                }
                let id = key.part(&part.to_string());
                if role == "assistant" {
                    let body = Body::Message { role: Role::Assistant, text, attachments };
                    let mut event = pen.event(id, body).model(pen.model());
                    event.data = match phase.get() {
                        Some("commentary") => Some(Cow::Borrowed(r#"{"phase":"commentary"}"#)),
                        Some("partial_answer") => Some(Cow::Borrowed(r#"{"phase":"partial_answer"}"#)),
                        Some("final_answer") => Some(Cow::Borrowed(r#"{"phase":"final_answer"}"#)),
                        _ => None,
                    };
                    pen.put(event);
                } else {
                    if !pen.lone {
                        twins::prompt_told(pen, &text, texts > 1 || !attachments.is_empty());
                    }
                    prompt(pen, &key, part, text, attachments, turn_id.as_deref());
                }
            }
            Piece::Injected { part, text, by } => {
                let id = key.part(&part.to_string());
                inject(pen, id, by, text);
            }
            Piece::Shell { part, text } => shell(pen, &key, part, &text),
        }
    }
    if pen.events.said().len() == before {
        pen.nothing("empty message");
    }
}

/// Puts a prompt, the editor's context in it apart.
pub(super) fn prompt<'r>(
    pen: &mut Pen<'_, 'r>,
    key: &Key,
    part: usize,
    mut text: Cow<'r, str>,
    mut attachments: Vec<Attachment<'r>>,
    turn_id: Option<&str>,
) {
    if let Some((context, rest)) = injected::editor_prompt(&text) {
        let (context, rest) = (context.to_owned(), rest.to_owned());
        let id = key.part(&format!("{part}.0"));
        inject(pen, id, InjectedBy::Environment, context.into());
        text = rest.into();
        for held in &mut attachments {
            held.place = None;
        }
    }
    let subagent = pen.known.levels.last().is_some_and(|level| level.subagent);
    let by_agent = subagent && pen.known.turn_by_agent.unwrap_or(true);
    let running = turn_id.or(pen.known.turn.as_deref()).map(short);
    let joins = running.is_some() && running == pen.known.prompted;
    if running.is_some() {
        pen.known.prompted = running;
    }
    let body = Body::Message { role: Role::User, text, attachments };
    let id = key.part(&part.to_string());
    let mut event = pen.event(id, body);
    if by_agent {
        event.by = By::Agent(None);
        event.turn = Turn::Opens;
    }
    if joins {
        event.turn = Turn::Joins;
    }
    pen.known.tasked |= !pen.copied;
    pen.put(event);
}

/// Puts a passage nobody said. What a client repeats is told when first seen.
pub(super) fn inject<'r>(pen: &mut Pen<'_, 'r>, id: EventId, by: InjectedBy, text: Cow<'r, str>) {
    if text.trim().is_empty() {
        return pen.nothing("empty passage");
    }
    let repeats = match by {
        InjectedBy::Environment | InjectedBy::Instructions | InjectedBy::Reminder => true,
        InjectedBy::Skill => !text.trim_start().starts_with("<skill>"),
        _ => false,
    };
    if repeats && !pen.lone {
        let key = memory_key("told", &[&pen.origin, &text_digest(&text)]);
        if pen.memory.get(key.as_bytes()).is_some() {
            return pen.nothing("repeated");
        }
        pen.memory.put(key.as_bytes(), Some(b"1"));
    }
    if by == InjectedBy::Environment
        && !pen.copied
        && !pen.known.cwd_said
        && let Some(cwd) = injected::environment_cwd(&text)
    {
        pen.known.cwd_said = true;
        let facts = Facts { cwd: Some(Cow::Owned(cwd.to_owned())), ..Facts::default() };
        pen.events.facts(Whose::Session(pen.known.thread().to_owned().into()), facts);
    }
    let event = pen.event(id, Body::injected(by, text));
    pen.put(event);
}

/// Puts a shell command of the person's as the call and the result it was, unless an item told of it.
fn shell(pen: &mut Pen<'_, '_>, key: &Key, part: usize, text: &str) {
    if pen.known.shells > 0 {
        pen.known.shells -= 1;
        return pen.nothing("twin");
    }
    let Some((command, output)) = injected::shell_command(text) else {
        return inject(pen, key.part(&part.to_string()), InjectedBy::Command, text.to_owned().into());
    };
    let call = key.part(&format!("{part}.0"));
    let result = key.part(&format!("{part}.1"));
    tools::shell(pen, call, result, command, output);
}

/// Reads a thought of the model.
pub(super) fn reasoning<'r>(pen: &mut Pen<'_, 'r>, item: Item<'r>) {
    let had_twin = item.id.get().is_some_and(|id| twins::release_id(pen, id));
    if let Some(id) = item.id.get().filter(|_| !had_twin) {
        twins::remember_untwinned(pen, twins::id_key(id));
    }
    let mut text: Cow<'r, str> = Cow::Borrowed("");
    for part in item.summary.0.into_iter().chain(item.content.0) {
        if let Some(part) = part.text {
            if !pen.lone && !had_twin {
                twins::thought_told(pen, &part);
            }
            join(&mut text, part.into_inner());
        }
    }
    thought(pen, item.id.get(), text);
}

/// Puts a thought, if it was written down.
pub(super) fn thought<'r>(pen: &mut Pen<'_, 'r>, id: Option<&str>, text: Cow<'r, str>) {
    let key = pen.item_key(id, "reasoning", "", &text);
    if text.trim().is_empty() {
        return pen.nothing("encrypted reasoning");
    }
    let event = pen.event(key.part("0"), Body::thinking(text)).model(pen.model());
    pen.put(event);
}

/// Reads what one agent tells another.
pub(super) fn agent_message<'r>(pen: &mut Pen<'_, 'r>, item: Item<'r>) {
    let mut text: Cow<'r, str> = Cow::Borrowed("");
    for part in item.content.0 {
        let Some(part) = part.text else { continue };
        if text.is_empty() {
            text = part.into_inner();
        } else {
            let held = text.to_mut();
            if !held.ends_with('\n') {
                held.push('\n');
            }
            held.push_str(&part);
        }
    }
    let key = pen.item_key(item.id.get(), "agent_message", item.author.get().unwrap_or_default(), &text);
    let triggers = std::mem::take(&mut pen.known.triggers);
    if text.trim().is_empty() {
        return pen.nothing("encrypted message");
    }
    let mut event = pen.event(key.part("0"), Body::injected(InjectedBy::Other, text));
    event.by = By::Agent(item.author.get().map(|path| Cow::Owned(path.trim_start_matches('/').to_owned())));
    let subagent = pen.known.levels.last().is_some_and(|level| level.subagent);
    if !pen.copied && subagent && (triggers || !pen.known.tasked) {
        event.turn = Turn::Opens;
        pen.known.tasked = true;
    }
    pen.put(event);
}

/// Returns all text of a message.
pub(super) fn whole(item: &Item<'_>) -> String {
    whole_text(&item.content.0).into_owned()
}

/// Returns all text of a message as the client wrote it.
fn whole_text<'a>(parts: &'a [Part<'_>]) -> Cow<'a, str> {
    let mut texts = parts.iter().filter_map(|part| part.text.as_deref());
    let first = texts.next().unwrap_or_default();
    texts.fold(Cow::Borrowed(first), |mut whole, text| {
        let held = whole.to_mut();
        held.push_str("\n\n");
        held.push_str(text);
        whole
    })
}

/// Takes back the held twin of an assistant message. Where there is none though the file has twins, the message may
/// be the summary of a compaction, which is told with that: it is then held back until the next record.
fn holds_summary(pen: &mut Pen<'_, '_>, item: &Item<'_>, metadata: Metadata, text: &str) -> bool {
    let had_twin = twins::answer_told(pen, item.id.get(), text);
    if !had_twin && !text.is_empty() {
        twins::remember_untwinned(pen, item.id.get().map_or_else(|| twins::text_key(text), twins::id_key));
        if item.id.get().is_some() && !metadata.known {
            // The older events name no item.
            twins::remember_untwinned(pen, twins::text_key(text));
        }
    }
    let known = metadata.compaction_output.is_set() || metadata.known;
    if had_twin || known || !pen.known.has_twins || text.is_empty() {
        return false;
    }
    twins::hold(pen, twins::Tag::Summary, digest(text));
    pen.nothing("held back");
    true
}

fn remember_text(pen: &mut Pen<'_, '_>, text: &str, metadata: Metadata) {
    pen.known.last_text = (!metadata.known).then(|| (text.len(), digest(text)));
    if let Some((_, rest)) = text.split_once("<proposed_plan>")
        && let Some((plan, _)) = rest.split_once("</proposed_plan>")
    {
        pen.known.last_plan = Some(digest(plan.trim()));
    }
}

/// Says whether the text was the argument of the last call that delivers messages.
fn was_delivered(pen: &Pen<'_, '_>, text: &str) -> bool {
    let Some(arguments) = pen.memory.get(tools::DELIVERED) else { return false };
    let Ok(quoted) = serde_json::to_string(text.trim()) else { return false };
    let Some(inner) = quoted.get(1..quoted.len() - 1).filter(|inner| !inner.is_empty()) else { return false };
    String::from_utf8_lossy(&arguments).contains(inner)
}

/// Returns when an item was made, by its own word.
pub(super) fn made_at(item: &Item<'_>, id_is_own: bool) -> Option<Timestamp> {
    let seconds = item.passthrough.0.as_ref().and_then(|passthrough| passthrough.create_time);
    let by_time = seconds.and_then(|seconds| {
        let (whole, fraction) = seconds.get().split_once('.').unwrap_or((seconds.get(), "0"));
        let micros: String = fraction.chars().chain("000000".chars()).take(6).collect();
        let micros: i64 = micros.parse().ok()?;
        whole.parse::<i64>().ok()?.checked_mul(1_000_000)?.checked_add(micros)
    });
    if let Some(micros) = by_time {
        return Timestamp::from_micros(micros).ok();
    }
    let id = item.id.get().filter(|_| id_is_own).and_then(names::uuid7_ms);
    let ms = id.or_else(|| item.turn_id().and_then(names::uuid7_ms))?;
    Timestamp::from_millis(ms).ok()
}

/// Gives an item among inherited ones to the file's own thread, where it was made for that.
pub(super) fn made_for_child(
    pen: &mut Pen<'_, '_>,
    item: &Item<'_>,
    metadata: Metadata,
    at: Option<Timestamp>,
) {
    let began = pen.known.levels.first().map_or(i64::MAX, |own| own.at);
    let fresh = item.id.get().and_then(names::uuid7_ms).is_some_and(|ms| ms >= began);
    let inherited = metadata.inherited_user_message.is_set() || item.turn_id().is_some();
    if pen.known.inherited_before.is_some() && fresh && !inherited {
        thread::not_inherited(pen, at);
    }
}
