//! What responses cost. The rows of one response repeat its tokens; the key brings them together.

use crate::said::Put;
use crate::session::{RowId, key, short};
use crate::wire::{Row, Tokens};
use scrollback_core::{Origin, Timestamp, Usage, Whose};
use std::borrow::Cow;

/// One response under a message id that was used more than once: what tells it from the others, and when its
/// first row was written.
type Sighting = (String, i64);

/// How many of them are remembered under one id: the first, and the last ones.
const SIGHTINGS: usize = 64;

/// Puts the tokens an assistant's row reports, if any.
pub(crate) fn say<'r>(
    put: &mut Put<'_, 'r>,
    row: &Row<'r>,
    id: Option<&str>,
    model: Option<Cow<'r, str>>,
    tokens: Tokens,
) {
    let usage = usage(tokens);
    let response = response(put, row, id);
    if usage.is_zero() {
        return;
    }
    let whose = match (put.first.or(put.saved.now.anchor), &put.origin) {
        (Some(event), _) => Whose::HolderOf(event),
        (None, Origin::Copied { from: Some(from) }) => Whose::Session(from.clone()),
        (None, _) => Whose::Session(put.thread.session.clone()),
    };
    put.events.usage(response, whose, model, put.at, usage);
}

fn usage(tokens: Tokens) -> Usage {
    Usage {
        input: count(tokens.input),
        output: count(tokens.output),
        cache_read: count(tokens.cache_read),
        cache_write: count(tokens.cache_write),
        reasoning: count(tokens.details.and_then(|details| details.thinking)),
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the cast saturates, and no count is near 2^53"
)]
fn count(tokens: Option<f64>) -> Option<u64> {
    tokens.map(|tokens| tokens.round() as u64)
}

/// Returns the key of the response a row belongs to: its message's id, else the request's, else the row's. Some
/// providers begin their ids anew in every session, or within one; then the request or the time is added.
fn response(put: &mut Put<'_, '_>, row: &Row<'_>, id: Option<&str>) -> String {
    let request = row.request_id.as_deref().filter(|request| !request.is_empty());
    let Some(id) = id.filter(|id| !id.is_empty()) else {
        return match (&put.id, request) {
            (_, Some(request)) => request.to_owned(),
            (RowId::Own(uuid), None) => uuid.to_string(),
            (RowId::Made(parts), None) => parts.join("/"),
        };
    };
    let at = put.at.map_or(0, Timestamp::micros);
    let now = &put.saved.now;
    if let Some((held, by, response)) = &now.response
        && held == id
        && request.is_none_or(|request| by.is_empty() || by == request)
    {
        return response.clone();
    }
    let seen_under = key(b'm', &format!("{}\u{1f}{id}", put.thread.session));
    let held = put.memory.get(&seen_under);
    let mut seen: Vec<Sighting> =
        held.and_then(|held| serde_json::from_slice(&held).ok()).unwrap_or_default();
    let known = match request {
        Some(request) => seen.iter().position(|(known, _)| known == request),
        None => same_by_time(&seen, at, now.prompted),
    };
    let place = known.unwrap_or_else(|| {
        let mark = request.map_or_else(|| at.to_string(), str::to_owned);
        if seen.len() == SIGHTINGS {
            seen.remove(1);
        }
        seen.push((mark, at));
        seen.len() - 1
    });
    let response = match seen.get(place) {
        Some((mark, _)) if place > 0 => format!("{id}~{mark}"),
        _ => id.to_owned(),
    };
    if known.is_none() {
        put.memory.put(&seen_under, serde_json::to_vec(&seen).ok().as_deref());
    }
    let request = request.unwrap_or_default();
    let fits = [id, request, &response].iter().all(|name| short(name) == *name);
    put.saved.now.response = fits.then(|| (id.to_owned(), request.to_owned(), response.clone()));
    response
}

/// Returns which of the responses under one id a row of that time belongs to: the last that began before it,
/// unless a prompt came between.
fn same_by_time(seen: &[Sighting], at: i64, prompted: Option<i64>) -> Option<usize> {
    let place =
        seen.iter().rposition(|(_, began)| *began <= at).or(if seen.is_empty() { None } else { Some(0) })?;
    let (_, began) = seen.get(place)?;
    let prompt_between = prompted.is_some_and(|prompted| *began < prompted && prompted <= at);
    (!prompt_between).then_some(place)
}
