//! Whose a record is: forks that copy, sub-agents that inherit, files begun by a revert.

use super::known::{self, Known, Level, short};
use super::pen::Pen;
use super::twins;
use crate::names::{self, Name};
use crate::wire::{Meta, Word};
use scrollback_core::{Facts, Lineage, Order, Timestamp, Unreadable, Whose, Withdraw};
use std::borrow::Cow;

/// A copied section is written in one burst; what comes so many milliseconds later is the copy's own.
const PAUSE_MS: i64 = 1000;

/// The first version (its middle number) whose turns have ids from their start.
const TURN_IDS: u32 = 128;

/// The last millisecond an order's rank may hold.
const RANK_LIMIT: u64 = (1 << 42) - 1;

/// Takes in when and where the record was written, and so whose it is.
pub(super) fn enter(pen: &mut Pen<'_, '_>, timestamp: &Word<'_>, ordinal: Option<u64>) {
    pen.at = timestamp.get().and_then(|text| text.parse().ok());
    pen.written = pen.at;
    let ms = pen.at.map(|at| at.micros() / 1000);
    if pen.record == 1 {
        pen.known.second_line = ms;
    }
    if let (Some(start), Some(ordinal)) = (pen.known.inherited_before, ordinal)
        && ordinal >= start
    {
        pen.known.inherited_before = None;
        leave_to(pen, 0);
    }
    if pen.known.copies() && pen.known.ends_with_pause && pen.known.inherited_before.is_none() {
        let target = level_before(&pen.known.levels, ms, |level, ms| {
            ms > level.at.max(pen.known.second_line.unwrap_or(i64::MAX)).saturating_add(PAUSE_MS)
        });
        leave_to(pen, target);
    }
    settle(pen);
    if pen.copied && ms >= pen.known.levels.first().map(|own| own.at) {
        // It is the time of copying.
        pen.at = None;
    }
}

/// Takes in a turn's id: a turn begun after a copy was made is the copy's own.
pub(super) fn turn(pen: &mut Pen<'_, '_>, turn_id: Option<&str>) {
    if !pen.known.copies() || pen.known.inherited_before.is_some() {
        return;
    }
    let ms = turn_id.and_then(names::uuid7_ms);
    let target = level_before(&pen.known.levels, ms, |level, ms| ms >= level.at);
    leave_to(pen, target);
}

/// Takes in a thread's id in a record about that very thread.
pub(super) fn about(pen: &mut Pen<'_, '_>, thread_id: Option<&str>) {
    if pen.known.inherited_before.is_some() {
        return;
    }
    if let Some(level) = pen.known.levels.iter().position(|level| Some(level.id.as_str()) == thread_id) {
        leave_to(pen, level);
    }
}

/// Returns the lowest level that has begun at `ms`, the top if none has.
fn level_before(levels: &[Level], ms: Option<i64>, begun: impl Fn(&Level, i64) -> bool) -> usize {
    let top = levels.len().saturating_sub(1);
    let Some(ms) = ms else { return top };
    levels.iter().take(top).position(|level| begun(level, ms)).unwrap_or(top)
}

fn leave_to(pen: &mut Pen<'_, '_>, level: usize) {
    if pen.known.levels.len() <= level + 1 {
        return;
    }
    twins::flush(pen, |_| true);
    let known = &mut *pen.known;
    known.levels.truncate(level + 1);
    known.turn = None;
    known.turn_by_agent = None;
    known.prompted = None;
    known.script = None;
    known.triggers = false;
    known.prompts.clear();
    known.untwinned.clear();
    known.last_text = None;
    settle(pen);
}

fn settle(pen: &mut Pen<'_, '_>) {
    pen.origin = pen.known.origin_now();
    pen.copied = pen.known.copies();
}

/// Gives a record to the thread it was inherited from, where it says so itself.
pub(super) fn inherited(pen: &mut Pen<'_, '_>) {
    if !pen.copied
        && let Some(parent) = pen.known.levels.first().and_then(|own| own.parent.clone())
    {
        pen.origin = parent.into();
        pen.copied = true;
        pen.at = None;
    }
}

/// Gives a record to the file's own thread, though it stands among inherited ones.
pub(super) fn not_inherited(pen: &mut Pen<'_, '_>, at: Option<Timestamp>) {
    pen.origin = pen.known.thread().into();
    pen.copied = false;
    pen.at = at;
}

/// Makes sure that the file has a thread, where no record said so.
pub(super) fn named(known: &mut Known, name: Option<&Name>, stem: &str) {
    if known.levels.is_empty() {
        let id = name.map_or(stem, |name| name.thread.as_str());
        known.levels.push(Level { id: short(id), at: i64::MAX, ..Level::default() });
    }
}

/// Reads the beginning of a thread: the file's own, or one whose records it copied.
pub(super) fn session_meta<'r>(
    pen: &mut Pen<'_, 'r>,
    meta: Meta<'r>,
    name: Option<&Name>,
    ordinal: Option<u64>,
) -> Result<(), Unreadable> {
    let Some(id) = meta.id.get().map(str::to_owned) else {
        pen.unknown("session_meta without an id");
        return Ok(());
    };
    if id.len() > known::SHORT {
        return Err(Unreadable::new(format!("a thread id of {} bytes", id.len())));
    }
    let written = pen.at.map(|at| at.micros() / 1000);
    if pen.record == 1 {
        pen.known.second_line = written;
    }
    let begun: Option<Timestamp> = meta.timestamp.get().and_then(|text| text.parse().ok());
    let begun = begun.map(|at| at.micros() / 1000).or(written);
    // The thread's id is made a little before.
    let begun = [begun, names::uuid7_ms(&id)].into_iter().flatten().min().unwrap_or(i64::MAX);
    let launch = meta.origin();
    let level = Level { id: id.clone(), at: begun, subagent: launch.subagent, parent: None };
    let guessed = pen.known.levels.first().is_some_and(Level::guessed);
    if pen.known.levels.is_empty()
        || (guessed && !pen.known.copies() && (id == pen.known.thread() || name.is_none()))
    {
        if let Some(name) = name.filter(|name| name.thread != id) {
            let at = names::uuid7_ms(&name.thread).unwrap_or(i64::MAX);
            pen.known.levels = vec![Level { id: name.thread.clone(), at, ..Level::default() }];
            copied_from(pen, level);
            return Ok(());
        }
        pen.known.levels = vec![level];
        own(pen, meta, name, ordinal);
    } else if id == pen.known.thread() {
        if pen.known.copies() {
            if let Some(own) = pen.known.levels.first_mut() {
                *own = level;
            }
            if pen.record > 1 {
                leave_to(pen, 0);
            }
            own(pen, meta, name, None);
        } else {
            pen.nothing("session_meta again");
        }
    } else if let Some(held) = pen.known.levels.iter_mut().find(|held| held.id == id) {
        *held = level;
        pen.nothing("copied session_meta");
    } else {
        copied_from(pen, level);
    }
    Ok(())
}

fn copied_from(pen: &mut Pen<'_, '_>, level: Level) {
    let from = level.id.clone();
    if pen.known.levels.len() >= Known::DEPTH {
        pen.known.levels.pop();
    }
    pen.known.levels.push(level);
    settle(pen);
    let own = Whose::Session(pen.known.thread().to_owned().into());
    pen.events.facts(own, Facts { copied_from: Some(from.into()), ..Facts::default() });
}

fn own<'r>(pen: &mut Pen<'_, 'r>, meta: Meta<'r>, name: Option<&Name>, ordinal: Option<u64>) {
    let thread: Cow<'r, str> = Cow::Owned(pen.known.thread().to_owned());
    let launch = meta.origin();
    pen.known.version = meta.cli_version.get().map(short);
    if launch.internal {
        pen.known.internal = true;
        pen.nothing("internal session");
        return;
    }
    pen.known.ends_with_pause = meta.cli_version.get().and_then(minor).is_some_and(|minor| minor < TURN_IDS);
    let root = meta.session_id.get().filter(|root| *root != thread);
    let forked = meta.forked_from_id.get().filter(|from| *from != thread);
    let parent = if launch.subagent { launch.parent.as_deref().or(forked).or(root) } else { forked };
    let parent = parent.map(str::to_owned);
    if let Some(own) = pen.known.levels.first_mut() {
        own.parent = parent.as_deref().map(short);
    }
    let lineage = match (launch.subagent, &parent) {
        (true, _) => Some(Lineage::Subagent),
        (false, Some(_)) => Some(Lineage::Fork),
        (false, None) => None,
    };
    later_file(pen, &meta, name);
    let starts = meta.subagent_history_start_ordinal.count();
    pen.known.cwd_said = meta.cwd.get().is_some();
    let facts = Facts {
        parent_session: parent.clone().map(Cow::Owned),
        lineage,
        agent: launch.agent.map(Cow::Owned),
        cwd: meta.cwd.take(),
        branch: meta.git.0.and_then(|git| git.branch.take()),
        client_version: meta.cli_version.take(),
        started_at: meta.timestamp.get().and_then(|text| text.parse().ok()),
        ..Facts::default()
    };
    pen.events.facts(Whose::Session(thread), facts);
    if let (Some(start), Some(ordinal), Some(parent)) = (starts, ordinal, parent)
        && start > ordinal + 1
    {
        pen.known.inherited_before = Some(start);
        copied_from(pen, Level { id: parent, at: 0, ..Level::default() });
    }
}

/// Reads that a file goes on with its own thread from an earlier place: what stood behind it is withdrawn.
fn later_file(pen: &mut Pen<'_, '_>, meta: &Meta<'_>, name: Option<&Name>) {
    let thread = pen.known.thread().to_owned();
    let base = meta.history_base.0.as_ref().filter(|base| base.thread_id.is(&thread));
    if base.is_none() && !name.is_some_and(|name| name.later) {
        return;
    }
    let written = pen.at.map_or(1, |at| at.micros() / 1000);
    pen.known.rank = u64::try_from(written).unwrap_or(1).clamp(1, RANK_LIMIT);
    let Some(end) = base.and_then(|base| base.end_ordinal_exclusive.count()) else { return };
    // A fork's first file begins where its parent was left.
    let first = meta.forked_from_ordinal_exclusive.count().unwrap_or(0);
    let order = Order { rank: 0, place: Some((end.saturating_sub(first), 0)) };
    pen.events.withdraw(Withdraw::FromOrder { session: thread.into(), order });
}

/// Returns the middle number of a version `0.x.y`.
fn minor(version: &str) -> Option<u32> {
    let mut numbers = version.split('.');
    if numbers.next()? != "0" {
        return None;
    }
    numbers.next()?.parse().ok()
}

/// Takes in the model at work, and says it of the session when it changes.
pub(super) fn model<'r>(pen: &mut Pen<'_, 'r>, model: Word<'r>) -> bool {
    let Some(model) = model.take().filter(|model| model.len() <= known::SHORT) else { return false };
    if pen.known.model.as_deref() != Some(&*model) {
        pen.known.model = Some(model.clone().into_owned());
    }
    if pen.copied || pen.known.model_said.as_deref() == Some(&*model) {
        return false;
    }
    pen.known.model_said = Some(model.clone().into_owned());
    let thread = Whose::Session(pen.known.thread().to_owned().into());
    pen.events.facts(thread, Facts { model: Some(model), ..Facts::default() });
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_turn_belongs_to_the_first_thread_begun_before_it() {
        let level = |at| Level { at, ..Level::default() };
        let levels = [level(300), level(200), level(100)];
        let target = |ms| level_before(&levels, Some(ms), |level, ms| ms >= level.at);
        assert_eq!((target(350), target(250), target(150), target(50)), (0, 1, 2, 2));
    }

    #[test]
    fn versions_are_compared_by_their_middle_number() {
        assert_eq!(
            (minor("0.47.0"), minor("0.99.0-alpha.24"), minor("1.2"), minor("x")),
            (Some(47), Some(99), None, None)
        );
    }
}
