//! Tool calls and what they gave back.

use super::pen::{Pen, memory_key};
use super::pieces::attachment;
use super::twins;
use crate::wire::{Item, List, Part, SpawnedAgent};
use scrollback_core::{Attachment, Body, By, Data, Event, EventId, Facts, Lineage, Text, Whose, text_digest};
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;
use std::borrow::Cow;

/// Where the arguments of the last call that delivers a message are remembered.
pub(super) const DELIVERED: &[u8] = b"delivered";

/// Returns the name a tool is shown under.
pub(super) fn full_name<'r>(
    namespace: Option<Cow<'r, str>>,
    name: Option<Cow<'r, str>>,
) -> Option<Cow<'r, str>> {
    match (namespace, name) {
        (Some(namespace), Some(name)) => Some(Cow::Owned(format!("{namespace}.{name}"))),
        (_, name) => name,
    }
}

/// Reads a call whose output is another record.
pub(super) fn call<'r>(pen: &mut Pen<'_, 'r>, item: Item<'r>) {
    let script = item.kind.is("custom_tool_call") && item.name.is("exec") && item.namespace.get().is_none();
    let input = match item.kind.get() {
        Some("custom_tool_call") => raw(item.input),
        Some("function_call") => item.arguments.map_or(Cow::Borrowed("null"), arguments),
        Some("local_shell_call") => raw(item.action),
        _ => raw(item.arguments),
    };
    let tool = match item.kind.get() {
        Some("local_shell_call") => Some(Cow::Borrowed("local_shell")),
        Some("tool_search_call") => Some(Cow::Borrowed("tool_search")),
        _ => full_name(item.namespace.take(), item.name.take()),
    };
    let tool = tool.unwrap_or(Cow::Borrowed("unknown"));
    let call_id = item.call_id.take().or_else(|| item.id.get().map(|id| Cow::Owned(id.to_owned())));
    let call_id = call_id.unwrap_or_else(|| made_up_id(&tool, &input));
    let id = pen.call_event(item.id.get(), &call_id, "call");
    if tool.contains("message") && input.len() < 16_384 {
        pen.memory.put(DELIVERED, Some(input.as_bytes()));
    }
    remember_call(pen, &call_id, id, tool.ends_with("spawn_agent"));
    twins::call_told(pen, &call_id);
    if script {
        pen.known.script = Some(id);
    }
    let event = pen.event(id, Body::call(call_id, tool, input)).model(pen.model());
    pen.put(event);
}

/// Reads a search of the web, which the provider did: there is no output.
pub(super) fn web_search<'r>(pen: &mut Pen<'_, 'r>, item: &Item<'r>) {
    let input = raw(item.action);
    let had_id = item.id.get().is_some();
    let call_id = item.id.get().or(item.call_id.get()).map(|id| Cow::Owned(id.to_owned()));
    let call_id = call_id.unwrap_or_else(|| made_up_id("web_search", &input));
    let key = pen.item_key(item.id.get(), "web_search_call", "", &input);
    let id = key.part("0");
    remember_call(pen, &call_id, id, false);
    if !(had_id && twins::release_id(pen, &call_id)) {
        twins::release_tag(pen, twins::Tag::Search);
    }
    let event = pen.event(id, Body::call(call_id, "web_search", input)).model(pen.model());
    pen.put(event);
}

/// Reads an image the provider made.
pub(super) fn image_generation<'r>(pen: &mut Pen<'_, 'r>, item: Item<'r>) {
    let data = item.result.take();
    let digest = text_digest(data.as_deref().unwrap_or_default());
    let key = pen.item_key(item.id.get(), "image_generation_call", "", &digest);
    let call_id = item.id.take().or(item.call_id.take());
    let call_id = call_id.unwrap_or_else(|| made_up_id("image_generation", &digest));
    let (call, result) = (key.part("0"), key.part("1"));
    remember_call(pen, &call_id, call, false);
    if !twins::release_id(pen, &call_id) {
        twins::release_tag(pen, twins::Tag::Image);
    }
    image(pen, [call, result], call_id, item.revised_prompt, data, item.status.is("failed"));
}

/// Puts the call for an image and the image.
pub(super) fn image<'r>(
    pen: &mut Pen<'_, 'r>,
    [call, result]: [EventId; 2],
    call_id: Cow<'r, str>,
    prompt: Option<&'r RawValue>,
    data: Option<Cow<'r, str>>,
    failed: bool,
) {
    let input = object(&[("revised_prompt", prompt)]);
    let event = pen.event(call, Body::call(call_id.clone(), "image_generation", input)).model(pen.model());
    pen.put(event);
    let attachments = data.into_iter().map(|data| Attachment {
        media_type: Cow::Borrowed("image/png"),
        name: None,
        data: Data::Base64(data),
        place: None,
    });
    let body = Body::ToolResult {
        call_id,
        tool: None,
        output: Cow::Borrowed(""),
        error: failed,
        exit_status: None,
        attachments: attachments.collect(),
    };
    let event = pen.event(result, body).parent(Some(call));
    pen.put(event);
}

/// Puts a shell command the person ran in the client, and its output.
pub(super) fn shell(pen: &mut Pen<'_, '_>, call: EventId, result: EventId, command: &str, output: &str) {
    let input = serde_json::to_string(
        &[("command", command)].into_iter().collect::<std::collections::BTreeMap<_, _>>(),
    );
    let (exit, failed) = verdict(output);
    let call_id = call.to_string();
    let body = Body::call(call_id.clone(), "shell", input.unwrap_or_default());
    let event = pen.event(call, body).by(By::Person);
    pen.put(event);
    let event = pen.event(result, ended(call_id.into(), output.to_owned().into(), exit, failed));
    pen.put(event.by(By::Person).parent(Some(call)));
}

/// Reads what a call gave back.
pub(super) fn output<'r>(pen: &mut Pen<'_, 'r>, item: Item<'r>) {
    let call_id = item.call_id.take().or_else(|| item.id.get().map(|id| Cow::Owned(id.to_owned())));
    let call_id = call_id.unwrap_or(Cow::Borrowed("unknown"));
    let given = match item.kind.get() {
        Some("tool_search_output") => Given { text: raw(item.tools.or(item.output)), ..Given::default() },
        _ => item.output.map(given).unwrap_or_default(),
    };
    let id = pen.call_event(item.id.get(), &call_id, "result");
    let called = recall_call(pen, &call_id);
    let seen = twins::take_outcome(pen, &call_id);
    if called.is_some_and(|call| call.spawns) {
        spawned(pen, &call_id, &given.text);
    }
    let exit = given.exit.or(seen.exit);
    let failed = given.failed || seen.failed || exit.is_some_and(|exit| exit != 0);
    let body = Body::ToolResult {
        call_id,
        tool: full_name(item.namespace.take(), item.name.take()),
        output: given.text,
        error: failed,
        exit_status: exit,
        attachments: given.attachments,
    };
    let event = pen.event(id, body).parent(called.map(|call| call.event));
    pen.put(event);
}

/// Returns a result's body.
pub(super) fn ended<'r>(
    call_id: Cow<'r, str>,
    output: Cow<'r, str>,
    exit: Option<i64>,
    failed: bool,
) -> Body<'r> {
    let error = failed || exit.is_some_and(|exit| exit != 0);
    Body::ToolResult { call_id, tool: None, output, error, exit_status: exit, attachments: Vec::new() }
}

/// A call as it is remembered for what comes of it.
#[derive(Clone, Copy)]
pub(super) struct Called {
    pub(super) event: EventId,
    spawns: bool,
}

/// Remembers a call under its id.
pub(super) fn remember_call(pen: &mut Pen<'_, '_>, call_id: &str, event: EventId, spawns: bool) {
    let key = memory_key("call", &[&pen.origin, call_id]);
    if pen.memory.get(key.as_bytes()).is_some() {
        // The id starts again: what was said of the earlier call is not about this one.
        twins::take_outcome(pen, call_id);
    }
    let mut value = event.as_bytes().to_vec();
    value.push(u8::from(spawns));
    pen.memory.put(key.as_bytes(), Some(&value));
}

/// Returns the last call of that id.
pub(super) fn recall_call(pen: &Pen<'_, '_>, call_id: &str) -> Option<Called> {
    let key = memory_key("call", &[&pen.origin, call_id]);
    let value = pen.memory.get(key.as_bytes())?;
    let (event, rest) = value.split_first_chunk::<16>()?;
    Some(Called { event: EventId::from_bytes(*event), spawns: rest == [1] })
}

/// Reads the output of the call that launches a sub-agent.
fn spawned(pen: &mut Pen<'_, '_>, call_id: &str, output: &str) {
    let Ok(agent) = serde_json::from_str::<SpawnedAgent<'_>>(output) else { return };
    if let Some(thread) = agent.agent_id.get().or(agent.thread_id.get()) {
        let name = agent.nickname.get().or(agent.agent_nickname.get());
        launched(pen, thread, call_id, name);
    }
}

/// Says that a call launched a sub-agent.
pub(super) fn launched(pen: &mut Pen<'_, '_>, thread: &str, call_id: &str, agent: Option<&str>) {
    let key = memory_key("child", &[thread]);
    if pen.copied || pen.memory.get(key.as_bytes()).is_some() {
        return;
    }
    pen.memory.put(key.as_bytes(), Some(b"1"));
    let facts = Facts {
        parent_session: Some(Cow::Owned(pen.known.thread().to_owned())),
        lineage: Some(Lineage::Subagent),
        launched_by: Some(Cow::Owned(call_id.to_owned())),
        agent: agent.map(|agent| Cow::Owned(agent.to_owned())),
        ..Facts::default()
    };
    pen.events.facts(Whose::Session(Cow::Owned(thread.to_owned())), facts);
}

/// Returns a raw value's text as it was written, `null` where there is none.
pub(super) fn raw(value: Option<&RawValue>) -> Cow<'_, str> {
    Cow::Borrowed(value.map_or("null", RawValue::get))
}

/// Returns arguments as one JSON value: what the string holds, if that is one, else the string.
pub(super) fn arguments(value: &RawValue) -> Cow<'_, str> {
    let Some(text) = text(value) else { return Cow::Borrowed(value.get()) };
    match serde_json::from_str::<IgnoredAny>(&text) {
        Ok(_) => match text {
            Cow::Borrowed(text) => Cow::Borrowed(text.trim()),
            Cow::Owned(text) => Cow::Owned(text.trim().to_owned()),
        },
        Err(_) => Cow::Borrowed(value.get()),
    }
}

/// Returns the string a raw value is.
pub(super) fn text(value: &RawValue) -> Option<Cow<'_, str>> {
    if !value.get().starts_with('"') {
        return None;
    }
    serde_json::from_str::<Text<'_>>(value.get()).ok().map(Text::into_inner)
}

/// Returns a JSON object of those keys that have a value.
pub(super) fn object(pairs: &[(&str, Option<&RawValue>)]) -> String {
    let mut json = String::from("{");
    for (key, value) in pairs {
        let Some(value) = value.filter(|value| value.get() != "null") else { continue };
        if json.len() > 1 {
            json.push(',');
        }
        json.push('"');
        json.push_str(key);
        json.push_str("\":");
        json.push_str(value.get());
    }
    json.push('}');
    json
}

fn made_up_id<'r>(tool: &str, input: &str) -> Cow<'r, str> {
    let mut digest = text_digest(input);
    digest.truncate(16);
    Cow::Owned(format!("{tool}-{digest}"))
}

/// What a tool gave the model.
#[derive(Default)]
pub(super) struct Given<'r> {
    pub(super) text: Cow<'r, str>,
    pub(super) attachments: Vec<Attachment<'r>>,
    pub(super) exit: Option<i64>,
    pub(super) failed: bool,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Wrapped<'r> {
    #[serde(borrow)]
    output: Option<Text<'r>>,
    metadata: Option<WrappedMetadata>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct WrappedMetadata {
    exit_code: Option<i64>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct OutputObject<'r> {
    #[serde(borrow)]
    content: Option<&'r RawValue>,
    success: Option<bool>,
}

/// Reads an output: a string, a list of parts, or an object.
pub(super) fn given(value: &RawValue) -> Given<'_> {
    match value.get().as_bytes().first() {
        Some(b'"') => text(value).map(plain).unwrap_or_default(),
        Some(b'[') => {
            serde_json::from_str::<List<Part<'_>>>(value.get()).map(|list| parts(list.0)).unwrap_or_default()
        }
        Some(b'{') => {
            let wrapper: OutputObject<'_> = serde_json::from_str(value.get()).unwrap_or_default();
            if let Some(content) = wrapper.content {
                let mut inner = given(content);
                inner.failed |= wrapper.success == Some(false);
                return inner;
            }
            match serde_json::from_str::<Part<'_>>(value.get()) {
                Ok(part) if part.text.is_some() || part.image_url.get().is_some() => parts(vec![part]),
                _ => Given { text: Cow::Borrowed(value.get()), ..Given::default() },
            }
        }
        Some(b'n') | None => Given::default(),
        _ => Given { text: Cow::Borrowed(value.get()), ..Given::default() },
    }
}

fn plain(text: Cow<'_, str>) -> Given<'_> {
    if text.starts_with("{\"output\":")
        && let Ok(Wrapped { output: Some(output), metadata: Some(metadata) }) = serde_json::from_str(&text)
    {
        let exit = metadata.exit_code;
        return Given { text: Cow::Owned(output.into_inner().into_owned()), exit, ..Given::default() };
    }
    let (exit, failed) = verdict(&text);
    Given { text, exit, failed, ..Given::default() }
}

/// Joins the parts of an output, its images standing where they stood.
pub(super) fn parts(parts: Vec<Part<'_>>) -> Given<'_> {
    let mut given = Given::default();
    let mut begun = false;
    for mut part in parts {
        if let Some(text) = part.text.take() {
            if begun {
                let held = given.text.to_mut();
                held.push('\n');
                held.push_str(&text);
            } else {
                given.text = text.into_inner();
                begun = true;
            }
        } else if let Some(mut picture) = attachment(part) {
            picture.place = Some(given.text.len());
            given.attachments.push(picture);
        }
    }
    (given.exit, given.failed) = verdict(&given.text);
    given
}

/// Returns what an output says of itself: a command's exit status, and whether the call failed or was refused.
pub(super) fn verdict(output: &str) -> (Option<i64>, bool) {
    const REFUSALS: [&str; 14] = [
        "unsupported call:",
        "unsupported custom tool call:",
        "aborted by user",
        "aborted before dispatch",
        "Script failed\nWall time",
        "failed to parse function arguments",
        "execution error:",
        "exec command rejected by user",
        "exec_command failed",
        "write_stdin failed",
        "apply_patch verification failed",
        "patch rejected",
        "tool call error:",
        "tool call failed",
    ];
    let mut exit = None;
    for (at, line) in output.lines().take(6).enumerate() {
        let code = match at {
            0 => line.strip_prefix("Exit code: ").or_else(|| line.strip_prefix("Process exited with code ")),
            _ => line.strip_prefix("Process exited with code "),
        };
        if let Some(code) = code.and_then(|code| code.trim().parse().ok()) {
            exit = Some(code);
            break;
        }
        if line == "Output:" {
            break;
        }
    }
    let aborted = output.starts_with("Wall time:") && output.lines().nth(1) == Some("aborted by user");
    let failed = aborted
        || exit.is_some_and(|exit| exit != 0)
        || REFUSALS.iter().any(|refusal| output.starts_with(refusal));
    (exit, failed)
}

/// Puts a nested or lone call and, where it has one, its result.
pub(super) fn pair<'r>(pen: &mut Pen<'_, 'r>, call: Event<'r>, result: Option<Event<'r>>) {
    let call_id = call.id;
    let (by, parent) = (call.by.clone(), call.parent);
    pen.put(call);
    if let Some(mut result) = result {
        result.by = by;
        result.parent = Some(call_id).or(parent);
        pen.put(result);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_output_tells_how_a_command_ended() {
        for (output, exit, failed) in [
            ("Exit code: 0\nWall time: 0 seconds\nOutput:\nhi2\n", Some(0), false),
            ("Exit code: 2\nWall time: 0 seconds\nOutput:\n", Some(2), true),
            (
                "Chunk ID: fb9e80\nWall time: 0.0000 seconds\nProcess exited with code 3\nOriginal token count: 5\nOutput:\nx\n",
                Some(3),
                true,
            ),
            ("Wall time: 0.013 seconds\nProcess exited with code 0\nOutput:\nhi3\r\n", Some(0), false),
            ("Wall time: 0.1 seconds\nOutput:\nProcess exited with code 3", None, false),
            ("Wall time: 5.2 seconds\naborted by user", None, true),
            ("aborted before dispatch", None, true),
            ("unsupported call: shell_command", None, true),
            ("Script failed\nWall time 0.2 seconds\nOutput:\n", None, true),
            ("Script completed\nWall time 0.2 seconds\nOutput:\n", None, false),
            ("a line\nExit code: 4", None, false),
        ] {
            assert_eq!(verdict(output), (exit, failed), "{output}");
        }
    }

    #[test]
    fn arguments_are_what_the_string_holds_if_that_is_json() {
        let arguments = |json: &str| {
            let raw: &RawValue = serde_json::from_str(json).unwrap();
            arguments(raw).into_owned()
        };
        assert_eq!(arguments(r#""{\"cmd\":\"ls\"}""#), r#"{"cmd":"ls"}"#);
        assert_eq!(arguments(r#""{\"cmd\":""#), r#""{\"cmd\":""#);
        assert_eq!(arguments(r#"{"query":"a"}"#), r#"{"query":"a"}"#);
        assert_eq!(arguments("\"\""), "\"\"");
    }
}
