//! Single rules, on files made for them.

use crate::support::{Transcript, World, example};
use scrollback_core::{
    Body, By, Facts, InjectedBy, NoticeClass, Order, Role, Said, TitleRank, Turn, Withdraw,
};

const LEGACY: &str =
    "handmade/legacy-odds/rollout-2026-10-01T10-00-00-01a0f6e8-1500-7000-8000-00000000000f.jsonl";
const PAGINATED: &str =
    "handmade/paginated-odds/rollout-2026-10-01T10-00-00-01a0f6e8-1500-7000-8000-000000000013.jsonl";

fn texts(file: &Transcript) -> Vec<(usize, String)> {
    let told = file.told();
    let mut texts = Vec::new();
    for (index, record) in told.records.iter().enumerate() {
        for said in record.iter().flatten() {
            if let Said::Event(event) = said
                && let Body::Message { text, .. } | Body::Thinking { text } = &event.body
            {
                texts.push((index, text.to_string()));
            }
        }
    }
    texts
}

#[test]
fn a_rollback_withdraws_and_a_failure_is_told_once() {
    let file = example(LEGACY);
    let told = file.told();
    let withdrawn: Vec<u32> = told
        .all()
        .filter_map(|said| match said {
            Said::Withdraw(Withdraw::LastTurns { n, .. }) => Some(*n),
            _ => None,
        })
        .collect();
    assert_eq!(withdrawn, [1]);
    let notices: Vec<(NoticeClass, &str)> = told
        .events()
        .iter()
        .filter_map(|event| match &event.body {
            Body::Notice { class, text } => Some((*class, &**text)),
            _ => None,
        })
        .collect();
    assert_eq!(notices, [(NoticeClass::ApiError, "stream disconnected"), (NoticeClass::Aborted, "replaced")]);
    let title = told.facts().iter().find_map(|(_, facts)| facts.title.clone());
    assert_eq!(title, Some((TitleRank::Given, "Two prompts".into())));
}

#[test]
fn what_only_events_say_is_told_in_its_own_place() {
    let file = example(
        "handmade/only-events/rollout-2026-10-01T10-00-00-01a0f6e8-1500-7000-8000-000000000011.jsonl",
    );
    let told = file.told();
    let events = told.events();
    let places: Vec<_> = events.iter().map(|event| event.order.place.unwrap()).collect();
    assert_eq!(places, [(2, 0), (3, 0), (4, 0), (5, 0), (5, 1), (6, 0), (7, 0)]);
    let kinds: Vec<_> = events.iter().map(|event| event.body.kind()).collect();
    assert_eq!(kinds, ["message", "thinking", "message", "tool_call", "tool_result", "message", "message"]);
}

#[test]
fn an_answer_whose_item_never_came_is_told_when_its_turn_ends() {
    let file = example(LEGACY);
    let told = file.told();
    let cut = told.events().into_iter().find(|event| event.body == Body::message(Role::Assistant, "cut off"));
    assert_eq!(cut.unwrap().order, Order { rank: 0, place: Some((34, 0)) });
}

#[test]
fn a_summary_is_told_once_by_the_compaction_or_as_the_message_it_was_shown_as() {
    let file = example(
        "handmade/old-compaction/rollout-2026-10-01T10-00-00-01a0f6e8-1500-7000-8000-000000000010.jsonl",
    );
    let told = file.told();
    let injected: Vec<&str> = told
        .events()
        .iter()
        .filter_map(|event| match &event.body {
            Body::Injected { by: InjectedBy::Compaction, text } => Some(&**text),
            _ => None,
        })
        .collect();
    assert_eq!(injected, ["SUMMARY: long work was done"]);
    let said: Vec<String> = texts(&file).into_iter().map(|(_, text)| text).collect();
    assert_eq!(said, ["long work", "working", "more", "SUMMARY: shown", "an answer nobody showed"]);
}

#[test]
fn another_clients_conversation_is_passed_over() {
    let name = "handmade/import/rollout-2026-10-01T10-00-00-01a0f6e8-1500-7000-8000-000000000012.jsonl";
    let file = example(name);
    assert_eq!(texts(&file), [(9, "go on here".to_owned())]);

    // Without ids that say so, the client's ledger does.
    let plain = |line: &Vec<u8>| {
        let text = String::from_utf8(line.clone()).unwrap();
        text.replace(r#""turn_id":"external-import-turn-1""#, r#""no":1"#).into_bytes()
    };
    let file = Transcript { path: file.path.clone(), lines: file.lines.iter().map(plain).collect() };
    let ledger = br#"{"records":[{"imported_thread_id":"01a0f6e8-1500-7000-8000-000000000012"}]}"#;
    let world = World {
        file: Some(("/home/dev/.codex/external_agent_session_imports.json".into(), ledger.to_vec())),
        codex_home: None,
    };
    let prompts = |world: &World| {
        let told = file.told_on(world, |index| index == 3);
        told.events().iter().filter(|event| matches!(event.body, Body::Message { .. })).count()
    };
    assert_eq!((prompts(&world), prompts(&World::default())), (1, 4));
}

#[test]
fn the_clients_own_threads_are_passed_over() {
    let file =
        example("handmade/internal/rollout-2026-10-01T10-00-00-01a0f6e8-1500-7000-8000-000000000014.jsonl");
    assert!(file.told().all().all(|said| *said == Said::Nothing("internal session".into())));
}

#[test]
fn an_editors_context_is_not_the_persons() {
    let file = example(PAGINATED);
    let told = file.told();
    let said = told.records[2].as_ref().unwrap();
    let [Said::Event(context), Said::Event(prompt)] = said.as_slice() else { panic!("{said:?}") };
    let expected = "# Context from my IDE setup:\n\n## Active file: a.rs";
    assert_eq!(context.body, Body::injected(InjectedBy::Environment, expected));
    let Body::Message { role: Role::User, text, attachments } = &prompt.body else { panic!("{prompt:?}") };
    assert_eq!((&**text, attachments.len()), ("fix this picture", 2));
    assert_eq!(
        (attachments[0].name.as_deref(), &*attachments[0].media_type),
        (Some("shot 1.png"), "image/png")
    );
}

#[test]
fn what_code_mode_called_hangs_on_its_call() {
    let file = example(PAGINATED);
    let told = file.told();
    let script = told
        .events()
        .into_iter()
        .find(|event| matches!(&event.body, Body::ToolCall { tool, .. } if tool == "exec"));
    let script = script.unwrap().id;
    let nested: Vec<(&str, bool)> = told
        .events()
        .into_iter()
        .filter_map(|event| match &event.body {
            Body::ToolCall { call_id, tool, .. } if call_id.starts_with("exec-") => {
                Some((&**tool, event.parent == Some(script)))
            }
            _ => None,
        })
        .collect();
    assert_eq!(nested, [("mcp__files.read", true), ("web_search", true), ("apply_patch", true)]);
}

#[test]
fn a_shell_command_of_the_person_is_a_call_of_theirs_told_once() {
    let file = example(PAGINATED);
    let told = file.told();
    let shells: Vec<(&str, &By<'_>)> = told
        .events()
        .into_iter()
        .filter_map(|event| match &event.body {
            Body::ToolCall { tool, input, .. } if tool == "shell" => Some((&**input, &event.by)),
            _ => None,
        })
        .collect();
    assert_eq!(
        shells,
        [
            (r#"{"command":["/bin/bash","-lc","git status"],"cwd":"file:///home/dev/app"}"#, &By::Person),
            (r#"{"command":"ls"}"#, &By::Person),
        ]
    );
    let statuses: Vec<Option<i64>> = told
        .events()
        .iter()
        .filter_map(|event| match (&event.by, &event.body) {
            (By::Person, Body::ToolResult { exit_status, .. }) => Some(*exit_status),
            _ => None,
        })
        .collect();
    assert_eq!(statuses, [Some(128), Some(0)]);
}

#[test]
fn ids_that_start_again_are_counted() {
    let file = example(PAGINATED);
    let told = file.told();
    let answers: Vec<_> = told.events().into_iter().filter(|event| {
        matches!(&event.body, Body::Message { role: Role::Assistant, text, .. } if text.starts_with("Here it is") || text == "Same id.")
    }).collect();
    assert_eq!(answers.len(), 2);
    assert_ne!(answers[0].id, answers[1].id);
    let responses: Vec<&str> = told.usage().iter().map(|(_, response, _)| *response).collect();
    assert_eq!(responses, ["resp_1", "resp_1", "resp_1~1", "resp_1~2"]);
}

#[test]
fn a_prompt_taken_into_the_running_turn_joins_it() {
    let file = example(LEGACY);
    let told = file.told();
    let turn = |text: &str| {
        let body = Body::message(Role::User, text);
        told.events().into_iter().find(|event| event.body == body).unwrap().turn
    };
    assert_eq!((turn("also do this"), turn("and that")), (Turn::ByKind, Turn::Joins));
}

#[test]
fn a_task_for_a_sub_agent_is_the_parents_and_opens_a_turn() {
    let v1 = example("0.171.0-walk/rollout-2026-11-30T20-46-43-01a22e35-bb8c-7870-aa04-28011e614c45.jsonl");
    let told = v1.told();
    let prompt =
        told.events().into_iter().find(|event| matches!(event.body, Body::Message { role: Role::User, .. }));
    let prompt = prompt.unwrap();
    assert_eq!((&prompt.by, prompt.turn), (&By::Agent(None), Turn::Opens));

    let v2 = example("0.171.0/subagent-v2-child-inherits.jsonl");
    let told = v2.told();
    let opening: Vec<_> = told.events().into_iter().filter(|event| event.turn == Turn::Opens).collect();
    assert_eq!(opening.len(), 1);
    assert_eq!(opening[0].by, By::Agent(Some("root".into())));
}

#[test]
fn what_a_client_repeats_is_told_when_first_seen() {
    let context = r#"{"timestamp":"2026-10-01T10:00:00.000Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"<environment_context>\n<cwd>/a</cwd>\n</environment_context>"}]}}"#;
    let other = context.replace("/a<", "/b<");
    let lines = [context, context, &other, context].join("\n");
    let file = Transcript::of("x.jsonl", lines.as_bytes());
    let told = file.told();
    let repeated =
        |index: usize| *told.records[index].as_ref().unwrap() == [Said::Nothing("repeated".into())];
    assert_eq!([0, 1, 2, 3].map(repeated), [false, true, false, true]);
    assert_eq!(told.facts()[0], ("x", &Facts { cwd: Some("/a".into()), ..Facts::default() }));
}

#[test]
fn a_count_without_a_session_is_of_the_file() {
    let lines = r#"{"timestamp":"2026-05-13T09:00:00.000Z","type":"turn_context","payload":{"model":"gpt-5.2-codex"}}
{"timestamp":"2026-05-13T09:01:00.000Z","type":"event_msg","payload":{"type":"token_count","info":{"model":"other","last_token_usage":{"input_tokens":1000,"cached_input_tokens":250,"output_tokens":125,"total_tokens":1125}}}}"#;
    let file = Transcript::of("session-alpha.jsonl", lines.as_bytes());
    let told = file.told();
    let (session, response, usage) = told.usage()[0];
    assert_eq!((session, response), ("session-alpha", "token_count:0"));
    assert_eq!((usage.input, usage.cache_read, usage.output), (Some(750), Some(250), Some(125)));
}
