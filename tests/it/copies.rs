//! Forks and sub-agents: whichever file is read first, the same store.

use crate::support::{assert_same, of_type, sandbox, text};
use scrollback_tests::{Ran, Sandbox, fixture, fixtures};
use serde_json::Value;
use std::path::PathBuf;
use std::process::Stdio;

/// Reads files in every way there is, and returns what all of them give.
fn every_way(sandbox: &Sandbox, files: &[PathBuf], what: &str) -> String {
    let each = |order: &mut dyn Iterator<Item = &PathBuf>| {
        let sandbox = sandbox.beside();
        for file in order {
            sandbox.read(std::slice::from_ref(file));
        }
        sandbox.export()
    };
    let forward = each(&mut files.iter());
    assert_same(&forward, &each(&mut files.iter().rev()), &format!("{what}: the copy first"));
    let at_once = sandbox.beside();
    at_once.read(files);
    assert_same(&forward, &at_once.export(), &format!("{what}: in one run"));

    let racing = sandbox.beside();
    let runs: Vec<_> = files
        .iter()
        .map(|file| {
            let mut command = racing.command(&["tail", "--path"]);
            command.arg(file).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
        })
        .collect();
    for run in runs {
        Ran::of(run.wait_with_output().unwrap()).well();
    }
    assert_same(&forward, &racing.export(), &format!("{what}: two processes at once"));
    racing.read(files);
    assert_same(&forward, &racing.export(), &format!("{what}: once more"));
    forward
}

/// Returns a session's line, and its events.
fn session(export: &str, id: &str) -> (Value, Vec<Value>) {
    let found = of_type(export, "session").into_iter().find(|line| text(line, "session") == id);
    let line = found.unwrap_or_else(|| panic!("no session {id}"));
    let events = of_type(export, "event").into_iter().filter(|event| text(event, "session") == id).collect();
    (line, events)
}

fn prompts(events: &[Value]) -> Vec<(u64, &str)> {
    let by_user = events.iter().filter(|event| event["kind"] == "message" && event["role"] == "user");
    by_user.map(|event| (event["turn"].as_u64().unwrap(), text(event, "text"))).collect()
}

/// Says what must hold of a fork: it is one, its own prompts are counted from 1, and nothing is copied into it.
fn assert_fork(export: &str, of: &str, fork: &str, first: &str) {
    let (line, events) = session(export, fork);
    assert_eq!((text(&line, "parent_session"), text(&line, "lineage")), (of, "fork"), "{line}");
    let prompts = prompts(&events);
    assert!(prompts.iter().map(|(turn, _)| *turn).eq(1..=prompts.len() as u64), "{prompts:?}");
    assert!(prompts.first().is_some_and(|(_, text)| text.contains(first)), "{prompts:?}");
    assert_eq!(line["turns"], prompts.len(), "{line}");
    let copied: Vec<&Value> = events.iter().filter(|event| !event["copied_from"].is_null()).collect();
    assert!(copied.is_empty(), "{copied:?}");
}

#[test]
fn a_fork_of_claude_code() {
    let sandbox = sandbox();
    let origin = sandbox.put(
        &fixture("claude-code", "9f8ea63d-16ca-413c-a289-7019a50ed6a9.jsonl"),
        "a/9f8ea63d-16ca-413c-a289-7019a50ed6a9.jsonl",
    );
    let fork =
        sandbox.put(&fixture("claude-code", "fd652871"), "a/fd652871-ecae-4c92-b8b9-67bcf75a67a8.jsonl");
    let export = every_way(&sandbox, &[origin, fork], "a fork after a compaction");
    let (of, fork) = ("9f8ea63d-16ca-413c-a289-7019a50ed6a9", "fd652871-ecae-4c92-b8b9-67bcf75a67a8");
    assert_fork(&export, of, fork, "Greet me in a fork");
    assert_eq!(session(&export, of).0["turns"], 7);
}

#[test]
fn forks_of_forks_made_by_hand() {
    let sandbox = sandbox();
    let branch = ["30000000-0000-4000-8000-000000000003", "30000000-0000-4000-8000-000000000004"];
    let files = branch
        .map(|id| sandbox.put(&fixture("claude-code", &format!("{id}.jsonl")), format!("a/{id}.jsonl")));
    every_way(&sandbox, &files, "a branch");
    for folder in ["handmade/fork/", "handmade/old-fork/"] {
        let mut files = scrollback_tests::transcripts(&scrollback_tests::fixtures_of("codex").join(folder));
        for file in &mut files {
            *file = sandbox.put(file, std::path::Path::new(folder).join(file.file_name().unwrap()));
        }
        assert!(files.len() > 1, "{files:?}");
        every_way(&sandbox, &files, folder);
    }
}

#[test]
fn a_fork_of_codex_that_copies_its_origin() {
    let sandbox = sandbox();
    let (of, fork) = ("01a0f6e8-1500-7000-8000-0000000000aa", "01a0f6e8-ff60-7000-8000-0000000000ab");
    let files = [of, fork].map(|id| {
        let file = fixture("codex", id);
        sandbox.put(&file, std::path::Path::new("codex").join(file.file_name().unwrap()))
    });
    let export = every_way(&sandbox, &files, "a legacy fork");
    assert_fork(&export, of, fork, "");
    let alone = sandbox.beside();
    alone.read(&files[1..]);
    let (_, copied) = session(&alone.export(), fork);
    assert!(copied.iter().any(|event| text(event, "copied_from") == of), "a fork alone keeps what it copied");
}

#[test]
fn everything_recorded_in_any_order() {
    let sandbox = sandbox();
    sandbox.put_recorded();
    let files: Vec<PathBuf> = scrollback_tests::transcripts(sandbox.home());
    assert_eq!(files.len(), 17);
    let forward = sandbox.beside();
    forward.read(&files);
    let backward = sandbox.beside();
    for file in files.iter().rev() {
        backward.read(std::slice::from_ref(file));
    }
    assert_same(&forward.export(), &backward.export(), "the last first, one by one");
    let at_home = sandbox.beside();
    at_home.well(&["tail"]);
    assert_same(&forward.export(), &at_home.export(), "found where the clients keep them");
}

#[test]
fn forks_and_branches_of_the_real_client() {
    let Some(fixtures) = fixtures("forks_and_branches_of_the_real_client") else { return };
    let projects = fixtures.join("claude-code/v2.1.332/projects");
    let pairs = [
        ("-home-dev-demo", "62e78605-b693-49fa-81fe-b86effbe5d33", "dcf9d770-e29f-440f-aedf-d24cadb331ee"),
        ("-home-dev-tui", "f678ed55-e8da-4a14-8647-036f18474c9c", "77635635-c5b8-4a88-acf8-13e5eb70c23f"),
    ];
    for (folder, of, fork) in pairs {
        let sandbox = sandbox();
        let files = [of, fork].map(|id| {
            let name = format!("{id}.jsonl");
            sandbox.put(&projects.join(folder).join(&name), std::path::Path::new("a").join(name))
        });
        let export = every_way(&sandbox, &files, fork);
        assert_fork(&export, of, fork, "");
    }
}

#[test]
fn a_sub_agent_is_a_session_of_its_own() {
    let sandbox = sandbox();
    sandbox.put_recorded();
    sandbox.well(&["tail"]);
    let export = sandbox.export();
    let cases = [
        (
            "9f8ea63d-16ca-413c-a289-7019a50ed6a9",
            "9f8ea63d-16ca-413c-a289-7019a50ed6a9/acb9467d70f3509c5",
            "agent:claude-code",
        ),
        ("01a22e35-adc4-7e23-a02d-3ce26c009c8c", "01a22e35-bb8c-7870-aa04-28011e614c45", "agent:codex"),
    ];
    for (of, id, actor) in cases {
        let (line, events) = session(&export, id);
        assert_eq!((text(&line, "parent_session"), text(&line, "lineage")), (of, "subagent"), "{line}");
        assert_eq!(line["turns"], 1, "{line}");
        let (_, of_parent) = session(&export, of);
        let launching = of_parent.iter().find(|event| event["id"] == events[0]["parent"]);
        let launching = launching.unwrap_or_else(|| panic!("the first event names no call: {}", events[0]));
        assert_eq!(text(launching, "kind"), "tool_call", "{launching}");
        let task = events.iter().find(|event| event["kind"] == "message").unwrap();
        assert_eq!((text(task, "role"), text(task, "actor")), ("user", actor), "{task}");
        assert_eq!(task["turn"], 1, "{task}");
    }
}
