//! Tokens, counted once a response.

use super::known::short;
use super::pen::{Pen, memory_key};
use crate::wire::{TokenInfo, Tokens, UsageRecord};
use scrollback_core::{Usage, Whose};
use std::borrow::Cow;

/// Reads the exact count of one response.
pub(super) fn record<'r>(pen: &mut Pen<'_, 'r>, record: UsageRecord<'r>) {
    let Some(tokens) = record.usage.0 else { return pen.nothing("token_usage_record without usage") };
    pen.known.recorded = Some(key(tokens));
    if let Some(thread) = record.thread_token_usage.0 {
        pen.known.counted = Some(key(thread));
    }
    let turn = record.turn_id.get().unwrap_or_default();
    let total = record.thread_token_usage.0.and_then(|thread| thread.total.0).unwrap_or_default();
    let Some(response) = record.response_id.take() else {
        return count(pen, Cow::Owned(format!("turn:{}:{total}", short(turn))), None, tokens);
    };
    let response = distinct(pen, response, &format!("{} {total}", short(turn)));
    count(pen, response, None, tokens);
}

/// Returns a response's id, marked where the thread has used it for another response before: providers of one
/// machine begin with `resp_1` each time.
fn distinct<'r>(pen: &mut Pen<'_, '_>, response: Cow<'r, str>, which: &str) -> Cow<'r, str> {
    let key = memory_key("response", &[&pen.origin, &response]);
    let held = pen.memory.get(key.as_bytes()).map(|held| String::from_utf8_lossy(&held).into_owned());
    let n = match held.as_deref().and_then(|held| held.split_once(' ')) {
        Some((n, same)) if same == which => n.parse().unwrap_or(0),
        Some((n, _)) => n.parse::<u64>().unwrap_or(0) + 1,
        None => 0,
    };
    pen.memory.put(key.as_bytes(), Some(format!("{n} {which}").as_bytes()));
    if n == 0 { response } else { Cow::Owned(format!("{response}~{n}")) }
}

/// Reads the older count, which repeats and may be a record's twin: a response is counted when the total moved.
pub(super) fn token_count<'r>(pen: &mut Pen<'_, 'r>, info: Option<TokenInfo<'r>>) {
    let Some(info) = info else { return pen.nothing("token_count") };
    let Some(last) = info.last_token_usage.0 else { return pen.nothing("token_count") };
    let total_key = key(info.total_token_usage.0.unwrap_or(last));
    if pen.known.counted == Some(total_key) {
        pen.known.recorded = None;
        return pen.nothing("token_count");
    }
    pen.known.counted = Some(total_key);
    if pen.known.recorded.take() == Some(key(last)) {
        return pen.nothing("token_count");
    }
    let n = pen.memory.count(memory_key("total", &[&pen.origin]).as_bytes());
    let rank = pen.known.rank;
    let response = if rank > 0 { format!("token_count:{rank}.{n}") } else { format!("token_count:{n}") };
    count(pen, Cow::Owned(response), info.model.take(), last);
}

fn count<'r>(pen: &mut Pen<'_, 'r>, response: Cow<'r, str>, model: Option<Cow<'r, str>>, tokens: Tokens) {
    let usage = usage(tokens);
    if pen.known.importing {
        return pen.nothing("imported");
    }
    if usage.is_zero() {
        return pen.nothing("no tokens");
    }
    let model = model.or_else(|| pen.model());
    let whose = Whose::Session(Cow::Owned(pen.origin.to_string()));
    let at = pen.at;
    pen.events.usage(response, whose, model, at, usage);
}

fn key(tokens: Tokens) -> [i64; 3] {
    [tokens.input, tokens.output, tokens.total].map(|number| number.0.unwrap_or_default())
}

fn usage(tokens: Tokens) -> Usage {
    let cached = tokens.cached_input.count();
    let written = tokens.cache_write_input.count();
    let input = tokens.input.count();
    Usage {
        input: input
            .map(|input| input.saturating_sub(cached.unwrap_or(0)).saturating_sub(written.unwrap_or(0))),
        output: tokens.output.count(),
        cache_read: cached,
        cache_write: written,
        reasoning: tokens.reasoning_output.count(),
    }
}
