//! User rows: the few that are the user, and the many that are results, injected text and notices.

use crate::blocks::injected;
use crate::injected::{Passage, cut, passage};
use crate::results::{Joined, Outcome, says_failed};
use crate::said::Put;
use crate::session::short;
use crate::wire::{Block, Content, Message, Named, Row, is_set, is_true};
use scrollback_core::{
    Body, By, Event, EventId, Facts, InjectedBy, Lineage, NoticeClass, Role, Timestamp, Turn, Whose,
};
use std::borrow::Cow;

/// Says what a user's row says.
pub(crate) fn user<'r>(put: &mut Put<'_, 'r>, row: &Row<'r>, message: Message<'r>) {
    let blocks = match message.content {
        Some(Content::Text(text)) => vec![text_block(text)],
        Some(Content::Blocks(blocks)) => blocks,
        Some(Content::Raw(_)) | None => return put.unknown("user without content".to_owned()),
    };
    if blocks.iter().any(is_result) {
        return results(put, row, blocks);
    }
    let prompted = put.saved.now.prompted.max(put.at.map(Timestamp::micros));
    put.saved.now.prompted = prompted;
    put.saved.now.response = None;
    let command = put.saved.now.command.take();
    // A sub-agent's task is its user's, whoever of the agents or the client wrote the row.
    let task = put.thread.agent.is_some() && !put.saved.now.opened && !is_true(row.is_meta);
    match not_said(row) {
        Some(by) if !task || by == InjectedBy::Compaction => wrapped(put, row, blocks, by, command),
        _ => said(put, row, blocks),
    }
}

/// Returns a text as a block.
pub(crate) fn text_block(text: Cow<'_, str>) -> Block<'_> {
    let kind = Some(scrollback_core::Text(Cow::Borrowed("text")));
    Block { kind, text: Some(scrollback_core::Text(text)), ..Block::default() }
}

fn is_result(block: &Block<'_>) -> bool {
    block.kind.as_deref() == Some("tool_result")
}

/// Returns the likeliest source of a row's text if the row says that nobody typed it.
fn not_said(row: &Row<'_>) -> Option<InjectedBy> {
    if is_true(row.is_compact_summary) {
        return Some(InjectedBy::Compaction);
    }
    let source = row.source.as_deref().unwrap_or_default();
    if is_set(row.hook_text) || source == "hook" {
        return Some(InjectedBy::Hook);
    }
    if is_true(row.is_meta) && is_set(row.source_tool_use_id) {
        return Some(InjectedBy::Skill);
    }
    let told = [
        row.is_meta,
        row.is_virtual,
        row.is_visible_in_transcript_only,
        row.text_not_typed,
        row.handed_off,
        row.queue_skip_attachments,
        row.turn_companion,
    ];
    let kept = [row.wakeup_source, row.scheduled_task_id, row.plan_content];
    let other = told.into_iter().any(is_true)
        || kept.into_iter().any(is_set)
        || source == "harness"
        || !is_human(row.origin);
    other.then_some(InjectedBy::Other)
}

/// Says whether an `origin` is a person, or nothing.
pub(crate) fn is_human(origin: Option<&serde_json::value::RawValue>) -> bool {
    Named::of(origin).kind.is_none_or(|kind| matches!(&*kind, "human" | ""))
}

/// Says the text of a row that nobody typed.
fn wrapped<'r>(
    put: &mut Put<'_, 'r>,
    row: &Row<'r>,
    blocks: Vec<Block<'r>>,
    by: InjectedBy,
    command: Option<EventId>,
) {
    let mut part = None;
    let mut joined = Joined::default();
    for (index, block) in blocks.into_iter().enumerate() {
        if let Some(text) = block.text {
            part.get_or_insert(index);
            joined.text(text.0);
        }
    }
    // Images and documents alone are what a tool read; their call says so.
    let Some(part) = part else { return put.events.nothing("attached file") };
    let part = part.to_string();
    let (text, _) = joined.finish();
    let (by, text) = match passage(&text) {
        Some(Passage::Interrupted) => {
            put.body(&part, Body::notice(NoticeClass::Interrupted, text));
            return;
        }
        Some(Passage::Nothing(what)) => return put.events.nothing(what),
        Some(Passage::Injected(named, inner)) if by != InjectedBy::Compaction => (named, inner),
        _ if by == InjectedBy::Other && command.is_some() && is_true(row.is_meta) => {
            (InjectedBy::Command, text)
        }
        _ => (by, text),
    };
    if text.trim().is_empty() {
        return put.events.nothing("blank");
    }
    let command = command.filter(|_| matches!(by, InjectedBy::Command | InjectedBy::Skill));
    let event = put.event(&part, Body::injected(by, text)).parent(command);
    put.push(event);
}

/// A message being put together from the blocks of its row.
#[derive(Default)]
struct Words<'r> {
    joined: Joined<'r>,
    /// The first block, and how many events stand before it.
    first: Option<(usize, usize)>,
    command: bool,
}

impl<'r> Words<'r> {
    fn add(&mut self, index: usize, before: usize) -> &mut Joined<'r> {
        self.first.get_or_insert((index, before));
        &mut self.joined
    }
}

/// Says what a person typed, and what the client put beside it.
fn said<'r>(put: &mut Put<'_, 'r>, row: &Row<'r>, blocks: Vec<Block<'r>>) {
    let mut words = Words::default();
    let mut beside: Vec<Event<'r>> = Vec::new();
    let mut blank = None;
    for (index, block) in blocks.into_iter().enumerate() {
        match block.kind.as_deref().unwrap_or_default() {
            "text" => {
                let text = block.text.unwrap_or_default().0;
                blank = text_of(put, row, index, text, &mut words, &mut beside).or(blank);
            }
            "image" | "document" => words.add(index, beside.len()).media(block),
            "search_result" | "container_upload" => {}
            "" => put.unknown("user block without type".to_owned()),
            kind => {
                let kind = format!("user block {kind}");
                put.unknown(kind);
            }
        }
    }
    let Some((index, before)) = words.first else {
        if beside.is_empty() && put.events.is_silent() {
            put.events.nothing(blank.unwrap_or("blank"));
        }
        return push_all(put, beside);
    };
    let (text, attachments) = words.joined.finish();
    let mut event = put.event(&index.to_string(), Body::Message { role: Role::User, text, attachments });
    if put.thread.agent.is_some() {
        event = event.by(By::Agent(None));
        if !std::mem::replace(&mut put.saved.now.opened, true) {
            event = event.turn(Turn::Opens);
        }
    }
    if words.command {
        put.saved.now.command = Some(event.id);
    }
    beside.insert(before.min(beside.len()), event);
    push_all(put, beside);
}

fn push_all<'r>(put: &mut Put<'_, 'r>, events: Vec<Event<'r>>) {
    for event in events {
        put.push(event);
    }
}

/// Sorts one text of a person's row; returns what it was if it is nothing.
fn text_of<'r>(
    put: &mut Put<'_, 'r>,
    row: &Row<'r>,
    index: usize,
    text: Cow<'r, str>,
    words: &mut Words<'r>,
    beside: &mut Vec<Event<'r>>,
) -> Option<&'static str> {
    let part = index.to_string();
    let mut found = passage(&text);
    let mut rest = text;
    if matches!(found, None | Some(Passage::Injected(InjectedBy::Reminder, _)))
        || rest.trim_start().starts_with("<fork-boilerplate>")
    {
        let (left, pieces) = cut(&rest);
        if left.len() < rest.len() {
            for (n, (by, piece)) in pieces.into_iter().enumerate() {
                beside.push(put.event(&format!("{part}.{n}"), Body::injected(by, piece)));
            }
            found = passage(&left);
            rest = left;
        }
    }
    match found {
        None if rest.trim().is_empty() => return Some("blank"),
        None => words.add(index, beside.len()).text(rest),
        Some(Passage::Said(text)) => words.add(index, beside.len()).text(text),
        Some(Passage::Command(typed)) => {
            words.command = true;
            words.add(index, beside.len()).text(Cow::Owned(typed));
        }
        Some(Passage::Injected(by, text)) => beside.push(put.event(&part, Body::injected(by, text))),
        Some(Passage::Interrupted) => {
            beside.push(put.event(&part, Body::notice(NoticeClass::Interrupted, rest)));
        }
        Some(Passage::Shell(command)) => beside.push(shell(put, row, &part, &command)),
        Some(Passage::ShellOutput { output, exit_status }) => {
            beside.push(shell_output(put, row, &part, output, exit_status));
        }
        Some(Passage::Nothing(what)) => return Some(what),
    }
    None
}

/// The name of the tool a person's own shell command is a call of.
const SHELL: &str = "shell";

fn shell<'r>(put: &mut Put<'_, 'r>, row: &Row<'r>, part: &str, command: &str) -> Event<'r> {
    let call_id = match &row.uuid {
        Some(uuid) => uuid.0.clone(),
        None => Cow::Owned(put.id.part(part).to_string()),
    };
    put.saved.now.shell = Some(short(&call_id).to_owned());
    let command = serde_json::to_string(command).unwrap_or_default();
    put.event(part, Body::call(call_id, SHELL, format!("{{\"command\":{command}}}"))).by(By::Person)
}

fn shell_output<'r>(
    put: &mut Put<'_, 'r>,
    row: &Row<'r>,
    part: &str,
    output: String,
    exit_status: Option<i64>,
) -> Event<'r> {
    let asked = put.saved.now.shell.take().map(Cow::Owned);
    let call_id =
        asked.or_else(|| row.parent_uuid.as_ref().map(|parent| parent.0.clone())).unwrap_or_default();
    let body = Body::ToolResult {
        call_id,
        tool: Some(Cow::Borrowed(SHELL)),
        output: Cow::Owned(output),
        error: exit_status.is_some_and(|status| status != 0),
        exit_status,
        attachments: Vec::new(),
    };
    put.event(part, body).by(By::Person)
}

/// Says what tools gave back; text beside it is nobody's.
fn results<'r>(put: &mut Put<'_, 'r>, row: &Row<'r>, blocks: Vec<Block<'r>>) {
    let failed = says_failed(row.tool_use_result);
    let mut last: Option<(String, Outcome<'r>)> = None;
    for (index, block) in blocks.into_iter().enumerate() {
        let part = index.to_string();
        match block.kind.as_deref().unwrap_or_default() {
            "tool_result" => {
                result(put, row, last.replace((part, Outcome::of(block, failed))));
            }
            "image" | "document" => match &mut last {
                Some((_, outcome)) => outcome.output.media(block),
                None => put.events.nothing("attached file"),
            },
            "text" => {
                result(put, row, last.take());
                let text = block.text.unwrap_or_default().0;
                match passage(&text) {
                    Some(Passage::Interrupted) => {
                        put.body(&part, Body::notice(NoticeClass::Interrupted, text));
                    }
                    Some(Passage::Injected(by, text)) => injected(put, &part, by, text),
                    Some(Passage::Nothing(what)) => put.events.nothing(what),
                    _ => injected(put, &part, InjectedBy::Other, text),
                }
            }
            "" => put.unknown("user block without type".to_owned()),
            kind => {
                let kind = format!("user block {kind}");
                put.unknown(kind);
            }
        }
    }
    result(put, row, last);
}

fn result<'r>(put: &mut Put<'_, 'r>, row: &Row<'r>, held: Option<(String, Outcome<'r>)>) {
    let Some((part, mut outcome)) = held else { return };
    for kind in std::mem::take(&mut outcome.unknown) {
        put.unknown(kind);
    }
    if put.saved.returned(&outcome.call_id) {
        child(put, row, &outcome.call_id);
    }
    if outcome.is_stand_in() {
        put.events.nothing("stand-in");
    } else {
        let event = put.event(&part, outcome.body()).by(put.agent());
        put.push(event);
    }
}

/// Ties the session of a sub-agent to the call that launched it, as the parent's row tells.
fn child<'r>(put: &mut Put<'_, 'r>, row: &Row<'r>, call: &str) {
    let named = Named::of(row.tool_use_result);
    // In a sub-agent's own file, the row's agent is the sub-agent.
    let beside = row.agent_id.clone().filter(|_| put.thread.agent.is_none());
    let Some(agent) = named.agent_id.or(beside).filter(|agent| !agent.is_empty()) else { return };
    let facts = Facts {
        parent_session: Some(put.thread.session.clone()),
        lineage: Some(Lineage::Subagent),
        launched_by: Some(Cow::Owned(call.to_owned())),
        agent: named.agent_type.map(|agent| agent.0),
        ..Facts::default()
    };
    put.events.facts(Whose::Session(Cow::Owned(format!("{}/{}", put.thread.top, &*agent))), facts);
}
