//! Event messages: what the client showed. Most show what a response item says.

use super::known::{digest, short};
use super::pen::Pen;
use super::twins::{self, Outcome, Tag};
use super::{alone, thread, tools, usage};
use crate::names;
use crate::wire::{
    self, Attribution, Failure, Happened, List, McpOutcome, Part, ReviewOutput, Settings, SpawnedAgent, Word,
};
use scrollback_core::{Body, Facts, NoticeClass, Text, Timestamp, TitleRank, Whose, Withdraw};
use serde_json::value::RawValue;
use std::borrow::Cow;

/// Reads an event message.
pub(super) fn event_msg<'r>(pen: &mut Pen<'_, 'r>, mut event: Happened<'r>) {
    let kind = event.kind.get().unwrap_or_default().to_owned();
    if kind != "token_count" && twins::holds_summary(pen) {
        twins::flush(pen, |held| held.tag == Tag::Summary);
    }
    match kind.as_str() {
        "item_completed" => match event.item.0.take() {
            Some(item) => {
                let kind = item.kind.get().unwrap_or_default().to_owned();
                if pen.known.importing {
                    return pen.nothing("imported");
                }
                if !shown(pen, *item, &kind) {
                    pen.unknown(format!("item_completed/{kind}"));
                }
            }
            None => pen.unknown("item_completed without an item"),
        },
        "task_started" | "turn_started" => task_started(pen, &event),
        "task_complete" | "turn_complete" => task_complete(pen, &event),
        "turn_aborted" => turn_aborted(pen, &event),
        "token_count" => usage::token_count(pen, wire::inner(event.info)),
        "thread_settings_applied" => {
            thread::about(pen, event.thread_id.get());
            let settings: Option<Settings<'r>> = wire::inner(event.thread_settings);
            let model = settings.map(|settings| settings.model).unwrap_or_default();
            if !thread::model(pen, model) {
                pen.nothing("thread_settings_applied");
            }
        }
        _ if pen.known.importing => pen.nothing("imported"),
        "thread_rolled_back" => rolled_back(pen, &event),
        "thread_name_updated" => renamed(pen, event),
        "error" => {
            let text = event.message.and_then(tools::text).unwrap_or(Cow::Borrowed("error"));
            failure(pen, text);
        }
        "stream_error" => {
            let turn = pen.known.turn.clone().unwrap_or_default();
            let text = event.message.and_then(tools::text).unwrap_or(Cow::Borrowed("stream error"));
            notice(pen, &turn, NoticeClass::Retry, text);
        }
        kind => {
            if !shown(pen, event, kind) {
                quiet_kind(pen, kind);
            }
        }
    }
}

fn quiet_kind(pen: &mut Pen<'_, '_>, kind: &str) {
    const KNOWN: [&str; 26] = [
        "thread_goal_updated",
        "guardian_assessment",
        "item_started",
        "collab_agent_interaction_end",
        "collab_waiting_end",
        "collab_close_end",
        "collab_resume_end",
        "collab_agent_spawn_begin",
        "dynamic_tool_call_request",
        "exec_command_begin",
        "exec_command_output_delta",
        "mcp_tool_call_begin",
        "patch_apply_begin",
        "web_search_begin",
        "image_generation_begin",
        "agent_message_delta",
        "agent_reasoning_delta",
        "agent_reasoning_section_break",
        "background_event",
        "turn_diff",
        "plan_update",
        "hook_started",
        "hook_completed",
        "session_configured",
        "warning",
        "shutdown_complete",
    ];
    match KNOWN.iter().find(|known| **known == kind) {
        Some(known) => pen.nothing(known),
        None => pen.unknown(format!("event_msg/{kind}")),
    }
}

/// Reads what shows a response item, or stands alone; says whether the kind is known.
fn shown<'r>(pen: &mut Pen<'_, 'r>, event: Happened<'r>, kind: &str) -> bool {
    match kind {
        "UserMessage" | "user_message" => user_message(pen, &event),
        "AgentMessage" | "agent_message" => {
            pen.known.has_twins = true;
            hold_words(pen, Tag::Answer, &event, said);
        }
        "Reasoning" | "agent_reasoning" | "agent_reasoning_raw_content" => {
            hold_words(pen, Tag::Thought, &event, thought);
        }
        "CommandExecution"
        | "exec_command_end"
        | "FileChange"
        | "patch_apply_end"
        | "McpToolCall"
        | "mcp_tool_call_end"
        | "DynamicToolCall"
        | "dynamic_tool_call_response"
        | "FunctionCallOutput"
        | "ImageView"
        | "view_image_tool_call"
        | "Extension"
        | "Sleep" => call(pen, event, Tag::Call),
        "WebSearch" | "web_search_end" => call(pen, event, Tag::Search),
        "ImageGeneration" | "image_generation_end" => call(pen, event, Tag::Image),
        "CollabAgentToolCall" | "collab_agent_spawn_end" | "SubAgentActivity" | "sub_agent_activity" => {
            agents(pen, event, kind);
        }
        "Plan" => {
            let text = event.text.and_then(tools::text).unwrap_or_default();
            if pen.known.last_plan == Some(digest(text.trim())) {
                pen.nothing("twin");
            } else {
                let key = twins::text_key(&text);
                hold(pen, Tag::Plan, key);
            }
        }
        "ExitedReviewMode" | "exited_review_mode" => {
            match wire::inner::<ReviewOutput<'_>>(event.review_output) {
                Some(output) => {
                    let explanation = output.overall_explanation.as_deref().unwrap_or_default();
                    let key = twins::text_key(explanation);
                    hold(pen, Tag::Review, key);
                }
                None => pen.nothing("review without an outcome"),
            }
        }
        "EnteredReviewMode" | "entered_review_mode" | "undo_completed" => alone::tell(pen, event, kind),
        "HookPrompt" | "ContextCompaction" | "context_compacted" => pen.nothing("twin"),
        _ => return false,
    }
    true
}

/// Tells an event whose item never came.
pub(super) fn tell_alone<'r>(pen: &mut Pen<'_, 'r>, mut event: Happened<'r>) {
    let event = match event.item.0.take() {
        Some(item) => *item,
        None => event,
    };
    let kind = event.kind.get().unwrap_or_default().to_owned();
    alone::tell(pen, event, &kind);
}

fn hold(pen: &mut Pen<'_, '_>, tag: Tag, key: String) {
    twins::hold(pen, tag, key);
    pen.nothing("held back");
}

/// Holds words back under the id of their item, else under themselves.
fn hold_words<'r>(
    pen: &mut Pen<'_, '_>,
    tag: Tag,
    event: &Happened<'r>,
    words: fn(&Happened<'r>) -> Cow<'r, str>,
) {
    let words_in = [event.message, event.text, event.content, event.summary_text, event.raw_content];
    if words_in.iter().flatten().all(|raw| matches!(raw.get(), "[]" | "null" | "\"\"")) {
        return pen.nothing("twin");
    }
    let id = event.id.get().filter(|id| !names::is_made_up(id));
    let key = id.map_or_else(|| twins::text_key(&words(event)), twins::id_key);
    if twins::was_told(pen, &key) {
        return pen.nothing("twin");
    }
    hold(pen, tag, key);
}

/// Returns the words of a shown message.
pub(super) fn said<'r>(event: &Happened<'r>) -> Cow<'r, str> {
    if let Some(message) = event.message.and_then(tools::text) {
        return message;
    }
    let content: List<Part<'_>> = wire::inner(event.content).unwrap_or_default();
    let texts: Vec<&str> = content.0.iter().filter_map(|part| part.text.as_deref()).collect();
    Cow::Owned(texts.join("\n\n"))
}

/// Returns the words of a shown thought.
pub(super) fn thought<'r>(event: &Happened<'r>) -> Cow<'r, str> {
    if let Some(text) = event.text.and_then(tools::text) {
        return text;
    }
    let list = |raw| wire::inner::<List<Text<'_>>>(raw).unwrap_or_default().0;
    let parts = [list(event.summary_text), list(event.raw_content)].concat();
    let texts: Vec<&str> = parts.iter().map(|text| &**text).collect();
    Cow::Owned(texts.join("\n\n"))
}

fn user_message(pen: &mut Pen<'_, '_>, event: &Happened<'_>) {
    if event.sort.get().is_some_and(|sort| sort != "plain") && event.kind.is("user_message") {
        return pen.nothing("injected user_message");
    }
    let text = said(event);
    if twins::was_prompt_told(pen, &text) {
        return pen.nothing("twin");
    }
    if pen.known.turn.is_none() {
        // Without turns of the client's own, a prompt ends what was before.
        twins::flush(pen, |held| held.tag != Tag::Prompt || !held.in_turn());
    }
    let key = twins::text_key(&text);
    hold(pen, Tag::Prompt, key);
}

/// Reads what shows a call: its twin's outcome, or a call nobody else tells of.
fn call<'r>(pen: &mut Pen<'_, 'r>, event: Happened<'r>, tag: Tag) {
    let Some(id) = event.ident().map(str::to_owned) else {
        return if tag == Tag::Call { alone_now(pen, event) } else { hold(pen, tag, String::new()) };
    };
    if tools::recall_call(pen, &id).is_some() {
        twins::put_outcome(pen, &id, outcome(&event));
        return pen.nothing("twin");
    }
    if id.starts_with("exec-") || event.source.is("user_shell") {
        return alone_now(pen, event);
    }
    let key = twins::id_key(&id);
    hold(pen, tag, key);
}

fn alone_now<'r>(pen: &mut Pen<'_, 'r>, event: Happened<'r>) {
    let kind = event.kind.get().unwrap_or_default().to_owned();
    alone::tell(pen, event, &kind);
}

/// Returns how a shown call ended.
pub(super) fn outcome(event: &Happened<'_>) -> Outcome {
    let failed = matches!(event.status.get(), Some("failed" | "declined" | "error"))
        || event.success.0 == Some(false)
        || mcp(event.result).is_some_and(|outcome| outcome.is_error.is_set() || outcome.err.is_some());
    Outcome { exit: event.exit_code.0, failed }
}

/// Returns what an MCP server gave back.
pub(super) fn mcp(result: Option<&RawValue>) -> Option<McpOutcome<'_>> {
    let outcome: McpOutcome<'_> = serde_json::from_str(result?.get()).ok()?;
    Some(match outcome.ok.0 {
        Some(ok) => *ok,
        None => outcome,
    })
}

fn agents<'r>(pen: &mut Pen<'_, 'r>, event: Happened<'r>, kind: &str) {
    let before = pen.events.said().len();
    let call_id = event.ident().unwrap_or_default().to_owned();
    let known = tools::recall_call(pen, &call_id).is_some();
    match kind {
        "collab_agent_spawn_end" => {
            if let Some(thread) = event.new_thread_id.get() {
                let name = event.new_agent_nickname.get().or(event.new_agent_role.get());
                tools::launched(pen, thread, &call_id, name);
            }
        }
        "CollabAgentToolCall" => {
            if event.tool.is("spawn_agent") {
                let agents: List<SpawnedAgent<'_>> = wire::inner(event.receiver_agents).unwrap_or_default();
                for agent in &agents.0 {
                    if let Some(thread) = agent.thread_id.get() {
                        tools::launched(
                            pen,
                            thread,
                            &call_id,
                            agent.agent_nickname.get().or(agent.agent_role.get()),
                        );
                    }
                }
                let threads: List<Word<'_>> = wire::inner(event.receiver_thread_ids).unwrap_or_default();
                for thread in threads.0.iter().filter_map(|thread| thread.get()) {
                    tools::launched(pen, thread, &call_id, None);
                }
            }
            if known {
                twins::put_outcome(pen, &call_id, outcome(&event));
            } else if call_id.starts_with("exec-") {
                return alone_now(pen, event);
            }
        }
        _ => {
            if event.sort.is("started")
                && let Some(thread) = event.agent_thread_id.get()
            {
                tools::launched(pen, thread, &call_id, None);
            }
        }
    }
    if pen.events.said().len() == before {
        pen.nothing("agent activity");
    }
}

fn task_started(pen: &mut Pen<'_, '_>, event: &Happened<'_>) {
    let turn_id = event.turn_id.get();
    thread::turn(pen, turn_id);
    import(pen, turn_id);
    twins::turn_over(pen, true);
    pen.known.turn = turn_id.map(short);
    pen.known.turn_by_agent = wire::inner::<Attribution<'_>>(event.turn_attribution)
        .map(|by| by.parent_turn_id.get().is_some() || by.initiating_agent_path.get().is_some());
    pen.known.last_failure = None;
    pen.nothing("task_started");
}

/// Takes in whether a turn is another client's, copied by an import.
pub(super) fn import(pen: &mut Pen<'_, '_>, turn_id: Option<&str>) {
    if let Some(turn) = turn_id {
        pen.known.importing = turn.starts_with("external-import-turn-");
    }
}

/// Returns the turn that ends.
fn end_turn(pen: &mut Pen<'_, '_>, event: &Happened<'_>) -> String {
    if pen.at.is_none() {
        let ended = event.completed_at.0.and_then(|seconds| seconds.checked_mul(1000));
        pen.at = ended.and_then(|ms| Timestamp::from_millis(ms).ok());
    }
    let running = pen.known.turn.take();
    event.turn_id.get().map(short).or(running).unwrap_or_default()
}

fn task_complete<'r>(pen: &mut Pen<'_, 'r>, event: &Happened<'r>) {
    twins::turn_over(pen, false);
    let turn = end_turn(pen, event);
    let error = event.error.filter(|error| error.get() != "null" && !pen.known.importing);
    match error {
        Some(error) => {
            let failure: Failure<'r> = serde_json::from_str(error.get()).unwrap_or_default();
            let text = failure
                .message
                .map(Into::into)
                .or_else(|| tools::text(error))
                .unwrap_or(Cow::Borrowed(error.get()));
            failure_in(pen, &turn, text);
        }
        None => pen.nothing("task_complete"),
    }
    pen.known.last_failure = None;
}

fn turn_aborted<'r>(pen: &mut Pen<'_, 'r>, event: &Happened<'r>) {
    if pen.known.inherited_before.is_some() {
        // Made for the copy: in the parent the turn goes on.
        return pen.nothing("copied turn_aborted");
    }
    twins::turn_over(pen, false);
    let turn = end_turn(pen, event);
    if pen.known.importing {
        return pen.nothing("imported");
    }
    let reason = event.reason.get().unwrap_or("interrupted").to_owned();
    let class = if reason == "interrupted" { NoticeClass::Interrupted } else { NoticeClass::Aborted };
    notice(pen, &turn, class, Cow::Owned(reason));
}

fn failure<'r>(pen: &mut Pen<'_, 'r>, text: Cow<'r, str>) {
    let turn = pen.known.turn.clone().unwrap_or_default();
    failure_in(pen, &turn, text);
}

/// Puts a failure, once for each turn and text.
fn failure_in<'r>(pen: &mut Pen<'_, 'r>, turn: &str, text: Cow<'r, str>) {
    let same = Some(digest(&text));
    if pen.known.last_failure == same {
        return pen.nothing("twin");
    }
    pen.known.last_failure = same;
    notice(pen, turn, NoticeClass::ApiError, text);
}

fn notice<'r>(pen: &mut Pen<'_, 'r>, turn: &str, class: NoticeClass, text: Cow<'r, str>) {
    let id = pen.notice_event(turn);
    let event = pen.event(id, Body::notice(class, text));
    pen.put(event);
}

fn rolled_back(pen: &mut Pen<'_, '_>, event: &Happened<'_>) {
    if pen.copied {
        return pen.nothing("copied thread_rolled_back");
    }
    twins::turn_over(pen, false);
    let n = event.num_turns.count().and_then(|n| u32::try_from(n).ok()).unwrap_or(0);
    let session = Cow::Owned(pen.known.thread().to_owned());
    pen.events.withdraw(Withdraw::LastTurns { session, n });
}

fn renamed<'r>(pen: &mut Pen<'_, 'r>, event: Happened<'r>) {
    match event.thread_name.take() {
        Some(name) if !pen.copied => {
            let facts = Facts { title: Some((TitleRank::Given, name)), ..Facts::default() };
            pen.events.facts(Whose::Session(Cow::Owned(pen.known.thread().to_owned())), facts);
        }
        _ => pen.nothing("thread_name_updated"),
    }
}
