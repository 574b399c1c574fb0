//! What is said twice: response items, and the events that show the same. The item is told; an event whose item
//! never comes is told in its stead, in its own place.

use super::happened;
use super::known::digest;
use super::own::own;
use super::pen::{Pen, memory_key};
use super::{item, message};
use crate::wire::{Happened, Item, Line};
use scrollback_core::{EventId, Events, Said, Timestamp};
use serde::{Deserialize, Serialize};

/// What kind of twin is held back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Tag {
    /// A prompt.
    Prompt,
    /// An assistant's message.
    Answer,
    /// A thought.
    Thought,
    /// A call with its result.
    Call,
    /// A search of the web.
    Search,
    /// An image that was made.
    Image,
    /// The outcome of a review.
    Review,
    /// A plan.
    Plan,
    /// Not a twin: an assistant message that may be told with a compaction.
    Summary,
}

/// A record held back, as it is remembered.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Held {
    record: u64,
    pub(super) tag: Tag,
    /// What it is matched by: `#` and an id, or a text's length and digest.
    key: String,
    /// It came while a turn was running.
    in_turn: bool,
    origin: String,
    copied: bool,
    at: Option<i64>,
    model: Option<String>,
    script: Option<EventId>,
}

impl Held {
    /// Says whether it came while a turn was running.
    pub(super) fn in_turn(&self) -> bool {
        self.in_turn
    }
}

const LIST: &[u8] = b"held";

fn place(record: u64) -> Vec<u8> {
    memory_key("held", &[&record.to_string()]).into_bytes()
}

/// Returns what is held back, to be changed and saved.
fn take(pen: &mut Pen<'_, '_>) -> Vec<Held> {
    if pen.known.held == 0 {
        return Vec::new();
    }
    let read = |pen: &Pen<'_, '_>| serde_json::from_slice(&pen.memory.get(LIST)?).ok();
    pen.known.holding.take().or_else(|| read(pen)).unwrap_or_default()
}

/// Returns what is held back.
fn list<'a>(pen: &'a mut Pen<'_, '_>) -> &'a [Held] {
    let held = take(pen);
    pen.known.holding.insert(held)
}

fn save(pen: &mut Pen<'_, '_>, held: Vec<Held>) {
    pen.known.held = u32::try_from(held.len()).unwrap_or(u32::MAX);
    let json = serde_json::to_vec(&held).unwrap_or_default();
    pen.memory.put(LIST, (!held.is_empty()).then_some(json.as_slice()));
    pen.known.holding = Some(held);
}

/// Holds the record back until what it shows is told, or the turn ends.
pub(super) fn hold(pen: &mut Pen<'_, '_>, tag: Tag, key: String) {
    let mut held = take(pen);
    held.push(Held {
        record: pen.record,
        tag,
        key,
        in_turn: pen.known.turn.is_some(),
        origin: pen.origin.to_string(),
        copied: pen.copied,
        at: pen.at.map(Timestamp::micros),
        model: pen.known.model.clone(),
        script: pen.known.script,
    });
    pen.memory.put(&place(pen.record), Some(pen.bytes));
    save(pen, held);
}

/// Returns the key of an id.
pub(super) fn id_key(id: &str) -> String {
    if id.len() <= 40 { format!("#{id}") } else { format!("#{}", digest(id)) }
}

/// Returns the key of a text.
pub(super) fn text_key(text: &str) -> String {
    let text = text.trim();
    format!("{} {}", text.len(), digest(text))
}

fn release(pen: &mut Pen<'_, '_>, is_it: impl Fn(&Held) -> bool) -> bool {
    let Some(at) = list(pen).iter().position(is_it) else { return false };
    let mut held = take(pen);
    let gone = held.remove(at);
    pen.memory.put(&place(gone.record), None);
    save(pen, held);
    true
}

/// Drops the twin that has that id.
pub(super) fn release_id(pen: &mut Pen<'_, '_>, id: &str) -> bool {
    let key = id_key(id);
    pen.known.held > 0 && release(pen, |held| held.key == key)
}

/// Hears that a call is being told: a twin that came before it says how it ended.
pub(super) fn call_told(pen: &mut Pen<'_, '_>, call_id: &str) {
    if pen.known.held == 0 {
        return;
    }
    let key = id_key(call_id);
    let is_it = |held: &&Held| held.key == key && held.tag == Tag::Call;
    let Some(held) = list(pen).iter().find(is_it).cloned() else { return };
    if let Some(bytes) = pen.memory.get(&place(held.record)).map(std::borrow::Cow::into_owned)
        && let Ok(Line { payload: Some(payload), .. }) =
            serde_json::from_slice::<Line<'_, Happened<'_>>>(&bytes)
    {
        let outcome = happened::outcome(payload.item.0.as_deref().unwrap_or(&payload));
        put_outcome(pen, call_id, outcome);
    }
    release(pen, |other| other.record == held.record);
}

/// Drops the oldest twin of that kind.
pub(super) fn release_tag(pen: &mut Pen<'_, '_>, tag: Tag) -> bool {
    pen.known.held > 0 && release(pen, |held| held.tag == tag)
}

/// Hears that an assistant's message is being told; says whether its twin was held.
pub(super) fn answer_told(pen: &mut Pen<'_, '_>, id: Option<&str>, text: &str) -> bool {
    if pen.known.held == 0 {
        return false;
    }
    let text = text.trim();
    if !text.is_empty() {
        release(pen, |held| matches!(held.tag, Tag::Review | Tag::Plan) && is_start_of(&held.key, text));
        if let Some((_, plan)) = text.split_once("<proposed_plan>") {
            let plan = text_key(plan.split_once("</proposed_plan>").map_or(plan, |(plan, _)| plan));
            release(pen, |held| held.tag == Tag::Plan && held.key == plan);
        }
    }
    if id.is_some_and(|id| release_id(pen, id)) {
        return true;
    }
    let whole = text_key(text);
    release(pen, |held| held.tag == Tag::Answer && held.key == whole)
        || release(pen, |held| held.tag == Tag::Answer && is_start_of(&held.key, text))
        // What the client shows lacks the blocks that it takes out of the text.
        || text.contains("</") && release(pen, |held| held.tag == Tag::Answer && !held.key.starts_with('#'))
}

/// Says whether `key` is that of the first part of `text`.
fn is_start_of(key: &str, text: &str) -> bool {
    let Some((length, of)) = key.split_once(' ') else { return false };
    let start =
        length.parse().ok().filter(|&length: &usize| length > 0).and_then(|length| text.get(..length));
    start.is_some_and(|start| digest(start) == of)
}

/// Hears that one part of a thought is being told.
pub(super) fn thought_told(pen: &mut Pen<'_, '_>, text: &str) {
    let key = text_key(text);
    if pen.known.held == 0 || !release(pen, |held| held.tag == Tag::Thought && held.key == key) {
        remember_untwinned(pen, key);
    }
}

/// Remembers what was told before its twin, which may still come.
pub(super) fn remember_untwinned(pen: &mut Pen<'_, '_>, key: String) {
    let keys = &mut pen.known.untwinned;
    keys.push(key);
    if keys.len() > 8 {
        keys.remove(0);
    }
}

/// Says whether what has that key was told before this twin of it; it counts once.
pub(super) fn was_told(pen: &mut Pen<'_, '_>, key: &str) -> bool {
    let keys = &mut pen.known.untwinned;
    keys.iter().position(|told| told == key).map(|at| keys.remove(at)).is_some()
}

/// Hears that a prompt is being told.
pub(super) fn prompt_told(pen: &mut Pen<'_, '_>, text: &str, is_complex: bool) {
    let key = text_key(text);
    if pen.known.held > 0
        && (release(pen, |held| held.tag == Tag::Prompt && held.key == key)
            || is_complex && release(pen, |held| held.tag == Tag::Prompt))
    {
        return;
    }
    let prompts = &mut pen.known.prompts;
    prompts.push(if is_complex { String::new() } else { key });
    if prompts.len() > 8 {
        prompts.remove(0);
    }
}

/// Says whether a prompt of that text was told; a told one counts once.
pub(super) fn was_prompt_told(pen: &mut Pen<'_, '_>, text: &str) -> bool {
    let key = text_key(text);
    let prompts = &mut pen.known.prompts;
    let same = prompts.iter().position(|held| *held == key);
    let found = same.or_else(|| prompts.iter().position(String::is_empty));
    found.map(|at| prompts.remove(at)).is_some()
}

/// Tells what is held back and never came, if `is_due`.
pub(super) fn flush(pen: &mut Pen<'_, '_>, is_due: impl Fn(&Held) -> bool) {
    if pen.known.held == 0 || pen.lone || !list(pen).iter().any(&is_due) {
        return;
    }
    let (due, rest): (Vec<Held>, Vec<Held>) = take(pen).into_iter().partition(is_due);
    save(pen, rest);
    for held in due {
        let Some(bytes) = pen.memory.get(&place(held.record)).map(std::borrow::Cow::into_owned) else {
            continue;
        };
        pen.memory.put(&place(held.record), None);
        let mut told = Events::new();
        tell(pen, &held, &bytes, &mut told);
        for said in told.into_said() {
            if let Said::Event(event) = said {
                pen.events.event(own(event));
            }
        }
    }
}

fn tell<'h>(pen: &mut Pen<'_, '_>, held: &Held, bytes: &'h [u8], told: &mut Events<'h>) {
    let now = (pen.known.model.take(), pen.known.script.take(), pen.known.last_text.take());
    pen.known.model.clone_from(&held.model);
    pen.known.script = held.script;
    let mut lone = Pen {
        known: &mut *pen.known,
        memory: &mut *pen.memory,
        events: told,
        bytes,
        record: held.record,
        at: held.at.and_then(|at| Timestamp::from_micros(at).ok()),
        written: None,
        origin: held.origin.as_str().into(),
        copied: held.copied,
        lone: true,
        parts: 0,
    };
    if held.tag == Tag::Summary {
        if let Ok(Line { payload: Some(payload), metadata, .. }) =
            serde_json::from_slice::<Line<'_, Item<'_>>>(bytes)
        {
            message::message(&mut lone, payload, item::notes(metadata.0), true);
        }
    } else if let Ok(Line { payload: Some(payload), .. }) =
        serde_json::from_slice::<Line<'_, Happened<'_>>>(bytes)
    {
        happened::tell_alone(&mut lone, payload);
    }
    (pen.known.model, pen.known.script) = (now.0, now.1);
    if held.tag != Tag::Summary {
        pen.known.last_text = now.2;
    }
}

/// Tells the twins whose items can no longer come: the turn they stand in is over.
pub(super) fn turn_over(pen: &mut Pen<'_, '_>, begins_another: bool) {
    let was_running = pen.known.turn.is_some();
    flush(pen, |held| !(begins_another && !was_running && held.tag == Tag::Prompt));
    if !begins_another || was_running {
        pen.known.untwinned.clear();
        pen.known.prompts.clear();
    }
}

/// Says whether a message is held that may be told with a compaction.
pub(super) fn holds_summary(pen: &mut Pen<'_, '_>) -> bool {
    pen.known.held > 0 && list(pen).iter().any(|held| held.tag == Tag::Summary)
}

/// Drops the held message that a compaction repeats at its end; says whether there was one.
pub(super) fn summary_told(pen: &mut Pen<'_, '_>, message: &str) -> bool {
    if pen.known.held == 0 {
        return false;
    }
    let tails: Vec<Held> = list(pen).iter().filter(|held| held.tag == Tag::Summary).cloned().collect();
    for held in tails {
        let Some(bytes) = pen.memory.get(&place(held.record)) else { continue };
        let Ok(line) = serde_json::from_slice::<Line<'_, Item<'_>>>(&bytes) else { continue };
        let text = line.payload.map(|item| message::whole(&item)).unwrap_or_default();
        if !text.trim().is_empty() && message.trim_end().ends_with(text.trim()) {
            drop(bytes);
            return release(pen, |other| other.record == held.record);
        }
    }
    false
}

/// How a call ended, as its twin says.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Outcome {
    pub(super) exit: Option<i64>,
    pub(super) failed: bool,
}

/// Remembers how a call ended until its output comes.
pub(super) fn put_outcome(pen: &mut Pen<'_, '_>, call_id: &str, outcome: Outcome) {
    if outcome.exit.is_none() && !outcome.failed {
        return;
    }
    let key = memory_key("outcome", &[&pen.origin, call_id]);
    let exit = outcome.exit.map_or(String::new(), |exit| exit.to_string());
    let value = format!("{exit} {}", u8::from(outcome.failed));
    pen.memory.put(key.as_bytes(), Some(value.as_bytes()));
}

/// Returns how a call ended, and forgets it.
pub(super) fn take_outcome(pen: &mut Pen<'_, '_>, call_id: &str) -> Outcome {
    let key = memory_key("outcome", &[&pen.origin, call_id]);
    let Some(value) =
        pen.memory.get(key.as_bytes()).map(|value| String::from_utf8_lossy(&value).into_owned())
    else {
        return Outcome::default();
    };
    pen.memory.put(key.as_bytes(), None);
    let (exit, failed) = value.split_once(' ').unwrap_or_default();
    Outcome { exit: exit.parse().ok(), failed: failed == "1" }
}
