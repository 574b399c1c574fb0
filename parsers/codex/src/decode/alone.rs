//! Events that stand alone: what code mode called, what the person ran, what only the event says.

use super::happened::{mcp, said, thought};
use super::message;
use super::pen::Pen;
use super::tools::{self, Given, full_name, object, raw};
use crate::wire::{self, Failure, Happened, Invocation, ReviewOutput};
use scrollback_core::{Body, By, EventId, InjectedBy, Role};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::fmt::Write as _;

/// Tells what an event says, as nothing else does.
pub(super) fn tell<'r>(pen: &mut Pen<'_, 'r>, event: Happened<'r>, kind: &str) {
    match kind {
        "UserMessage" | "user_message" => message_of(pen, &event, Role::User),
        "AgentMessage" | "agent_message" => message_of(pen, &event, Role::Assistant),
        "Reasoning" | "agent_reasoning" | "agent_reasoning_raw_content" => {
            let text = thought(&event);
            message::thought(pen, event.id.get(), text);
        }
        "Plan" => {
            let text = event.text.and_then(tools::text).unwrap_or_default();
            answer(pen, event.id.get(), "plan", text);
        }
        "ExitedReviewMode" | "exited_review_mode" => {
            let text = wire::inner(event.review_output).map(review).unwrap_or_default();
            answer(pen, event.id.get().or(event.item_id.get()), "exited_review", text.into());
        }
        "EnteredReviewMode" | "entered_review_mode" => {
            let prompt = event.prompt.and_then(tools::text);
            let text = event.user_facing_hint.and_then(tools::text).or(prompt);
            let id = event.id.get().or(event.item_id.get());
            command(pen, id, "entered_review", text.unwrap_or(Cow::Borrowed("review")));
        }
        "undo_completed" => {
            let text = event.message.and_then(tools::text);
            command(pen, None, "undo_completed", text.unwrap_or(Cow::Borrowed("undo")));
        }
        _ => called(pen, event, kind),
    }
}

fn message_of<'r>(pen: &mut Pen<'_, 'r>, event: &Happened<'r>, role: Role) {
    let text = said(event);
    let name = if role == Role::User { "user" } else { "assistant" };
    // The id of a shown prompt is not the message's.
    let id = event.id.get().filter(|_| role == Role::Assistant);
    let key = pen.item_key(id, "message", name, &text);
    if text.trim().is_empty() {
        return pen.nothing("empty message");
    }
    if role == Role::User {
        message::prompt(pen, &key, 0, text, Vec::new(), event.turn_id.get());
    } else {
        let event = pen.event(key.part("0"), Body::message(role, text)).model(pen.model());
        pen.put(event);
    }
}

fn answer<'r>(pen: &mut Pen<'_, 'r>, id: Option<&str>, kind: &str, text: Cow<'r, str>) {
    if text.trim().is_empty() {
        return pen.nothing("empty message");
    }
    let event_id = lone_id(pen, id, "message", kind, "assistant", &text);
    let event = pen.event(event_id, Body::message(Role::Assistant, text)).model(pen.model());
    pen.put(event);
}

fn command<'r>(pen: &mut Pen<'_, 'r>, id: Option<&str>, kind: &str, text: Cow<'r, str>) {
    let event_id = lone_id(pen, id, "command", kind, "user", &text);
    let event = pen.event(event_id, Body::injected(InjectedBy::Command, text)).by(By::Person);
    pen.put(event);
}

fn lone_id(
    pen: &mut Pen<'_, '_>,
    id: Option<&str>,
    which: &str,
    kind: &str,
    role: &str,
    text: &str,
) -> EventId {
    match id.filter(|id| !crate::names::is_made_up(id)) {
        Some(id) => pen.nested_event(id, which, text),
        None => pen.item_key(None, kind, role, text).part("0"),
    }
}

/// Returns a review's outcome as text.
fn review(output: ReviewOutput<'_>) -> String {
    let mut text = output.overall_explanation.map(|text| text.trim().to_owned()).unwrap_or_default();
    for finding in output.findings.0 {
        if !text.is_empty() {
            text.push_str("\n\n");
        }
        let _ = write!(text, "- {}", finding.title.as_deref().unwrap_or_default());
        if let Some(place) = finding.code_location.0 {
            let _ = write!(text, " ({}", place.absolute_file_path.get().unwrap_or_default());
            if let Some(lines) = place.line_range.0
                && let (Some(start), Some(end)) = (lines.start.0, lines.end.0)
            {
                let _ = write!(text, ":{start}-{end}");
            }
            text.push(')');
        }
        if let Some(body) = finding.body {
            let _ = write!(text, "\n{}", body.trim());
        }
    }
    text
}

/// What a lone call asked for, and what it gave.
struct Call<'r> {
    tool: Cow<'r, str>,
    input: Cow<'r, str>,
    /// `None` for a call whose outcome nobody says.
    given: Option<Given<'r>>,
}

/// Tells a call that has no items: the call, and its result.
fn called<'r>(pen: &mut Pen<'_, 'r>, event: Happened<'r>, kind: &str) {
    let by_person = event.source.is("user_shell");
    let id = event.ident().map(str::to_owned);
    let nested = id.as_deref().is_some_and(|id| id.starts_with("exec-"));
    let outcome = super::happened::outcome(&event);
    let call = match kind {
        "CommandExecution" | "exec_command_end" => execution(&event, by_person),
        "FileChange" | "patch_apply_end" => change(&event),
        "McpToolCall" => mcp_call(&event, "."),
        "mcp_tool_call_end" => mcp_call(&event, "__"),
        "DynamicToolCall" | "dynamic_tool_call_response" => Call {
            tool: full_name(event.namespace.take(), event.tool.take()).unwrap_or(Cow::Borrowed("unknown")),
            input: raw(event.arguments),
            given: Some(event.content_items.map(tools::given).unwrap_or_default()),
        },
        "ImageView" | "view_image_tool_call" => {
            lone_call("view_image", object(&[("path", event.path)]), Some(Given::default()))
        }
        "WebSearch" | "web_search_end" => lone_call("web_search", search_input(&event), results(&event)),
        "Sleep" => lone_call("sleep", object(&[("duration_ms", event.duration_ms)]), Some(Given::default())),
        "Extension" => {
            let input = search_input(&event).into();
            let given = results(&event).or(Some(Given::default()));
            Call { tool: event.sort.take().unwrap_or(Cow::Borrowed("extension")), input, given }
        }
        "CollabAgentToolCall" => {
            let given = event
                .agents_states
                .map(|states| Given { text: Cow::Borrowed(states.get()), ..Given::default() });
            let tool = event.tool.take().unwrap_or(Cow::Borrowed("unknown"));
            Call { tool, input: object(&[("message", event.prompt)]).into(), given }
        }
        "ImageGeneration" | "image_generation_end" => return image(pen, &event, id, outcome.failed),
        "FunctionCallOutput" => return lone_output(pen, event, id),
        _ => return pen.unknown(format!("alone/{kind}")),
    };
    let call_id = id.unwrap_or_else(|| call.tool.clone().into_owned());
    let call_event = pen.nested_event(&call_id, "call", &call.input);
    let call_id: Cow<'r, str> = Cow::Owned(call_id);
    let parent = pen.known.script.filter(|_| nested);
    let by = if by_person { By::Person } else { By::Agent(None) };
    if by_person {
        pen.known.shells = pen.known.shells.saturating_add(1);
    }
    let model = if by_person { None } else { pen.model() };
    let told = pen.event(call_event, Body::call(call_id.clone(), call.tool, call.input));
    let told = told.by(by).parent(parent).model(model);
    let result = call.given.map(|given| {
        let result = pen.nested_event(&call_id, "result", &given.text);
        let exit = outcome.exit.or(given.exit);
        let error = outcome.failed || given.failed || exit.is_some_and(|exit| exit != 0);
        let body = Body::ToolResult {
            call_id: call_id.clone(),
            tool: None,
            output: given.text,
            error,
            exit_status: exit,
            attachments: given.attachments,
        };
        pen.event(result, body)
    });
    tools::pair(pen, told, result);
}

fn lone_call<'r>(tool: &'static str, input: String, given: Option<Given<'r>>) -> Call<'r> {
    Call { tool: Cow::Borrowed(tool), input: input.into(), given }
}

fn execution<'r>(event: &Happened<'r>, by_person: bool) -> Call<'r> {
    let tool = match event.source.get() {
        _ if by_person => "shell",
        Some("unified_exec_interaction") => "write_stdin",
        _ => "exec_command",
    };
    let whole = event.aggregated_output.and_then(tools::text).filter(|text| !text.is_empty());
    let text = whole.unwrap_or_else(|| both(event));
    let input = object(&[("command", event.command), ("cwd", event.cwd)]);
    lone_call(tool, input, Some(Given { text, ..Given::default() }))
}

fn change<'r>(event: &Happened<'r>) -> Call<'r> {
    let input = object(&[("changes", event.changes)]);
    lone_call("apply_patch", input, Some(Given { text: both(event), ..Given::default() }))
}

/// Returns standard output, then standard error.
fn both<'r>(event: &Happened<'r>) -> Cow<'r, str> {
    let out = event.stdout.and_then(tools::text).unwrap_or_default();
    let err = event.stderr.and_then(tools::text).unwrap_or_default();
    match (out.is_empty(), err.is_empty()) {
        (_, true) => out,
        (true, false) => err,
        (false, false) if out.ends_with('\n') => Cow::Owned(format!("{out}{err}")),
        (false, false) => Cow::Owned(format!("{out}\n{err}")),
    }
}

fn mcp_call<'r>(event: &Happened<'r>, between: &str) -> Call<'r> {
    let asked: Option<Invocation<'r>> = wire::inner(event.invocation);
    let asked = asked.as_ref();
    let server =
        event.server.get().or_else(|| asked.and_then(|asked| asked.server.get())).unwrap_or("unknown");
    let tool = event.tool.get().or_else(|| asked.and_then(|asked| asked.tool.get())).unwrap_or("unknown");
    let input = raw(event.arguments.or(asked.and_then(|asked| asked.arguments)));
    let given = mcp(event.result).map(|outcome| {
        let mut given = match outcome.err {
            Some(text) => Given { text: text.into_inner(), failed: true, ..Given::default() },
            None => tools::parts(outcome.content.0),
        };
        if let Some(structured) =
            outcome.structured.filter(|_| given.text.is_empty() && given.attachments.is_empty())
        {
            given.text = Cow::Borrowed(structured.get());
        }
        // What the server wrote is no report of a command.
        given.exit = None;
        given.failed = outcome.is_error.is_set() || given.failed && given.text.is_empty();
        given
    });
    let failure = event.error.filter(|error| error.get() != "null").map(|error| failure(error));
    let given = given.or(failure).unwrap_or_default();
    Call { tool: Cow::Owned(format!("mcp__{server}{between}{tool}")), input, given: Some(given) }
}

fn failure(error: &RawValue) -> Given<'_> {
    let message: Failure<'_> = wire::inner(Some(error)).unwrap_or_default();
    let text = message.message.map(scrollback_core::Text::into_inner).or_else(|| tools::text(error));
    Given { text: text.unwrap_or(Cow::Borrowed(error.get())), failed: true, ..Given::default() }
}

fn search_input(event: &Happened<'_>) -> String {
    match event.action.filter(|action| action.get() != "null") {
        Some(action) => action.get().to_owned(),
        None => object(&[("query", event.query)]),
    }
}

fn results<'r>(event: &Happened<'r>) -> Option<Given<'r>> {
    let results = event.results.filter(|results| !matches!(results.get(), "null" | "[]"))?;
    Some(Given { text: Cow::Borrowed(results.get()), ..Given::default() })
}

fn image<'r>(pen: &mut Pen<'_, 'r>, event: &Happened<'r>, id: Option<String>, failed: bool) {
    let call_id = id.unwrap_or_else(|| "image_generation".to_owned());
    let call = pen.nested_event(&call_id, "call", "");
    let result = pen.nested_event(&call_id, "result", "");
    let data = event.result.and_then(tools::text).filter(|data| !data.is_empty());
    tools::image(pen, [call, result], call_id.into(), event.revised_prompt, data, failed);
}

fn lone_output<'r>(pen: &mut Pen<'_, 'r>, event: Happened<'r>, id: Option<String>) {
    let call_id = id.unwrap_or_else(|| "unknown".to_owned());
    let given = event.output.map(tools::given).unwrap_or_default();
    let result = pen.nested_event(&call_id, "result", &given.text);
    let body = Body::ToolResult {
        call_id: call_id.into(),
        tool: full_name(event.namespace.take(), event.name.take()),
        output: given.text,
        error: given.failed,
        exit_status: given.exit,
        attachments: given.attachments,
    };
    let event = pen.event(result, body);
    pen.put(event);
}
