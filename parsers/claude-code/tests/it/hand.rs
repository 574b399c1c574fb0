//! What transcripts written by hand say: shapes that no real one at hand has.

use crate::support::{Heard, Reading, brief, events, read, said};
use scrollback_core::{
    Body, Env, EventId, Events, Facts, Lineage, MapMemory, Origin, Parser, Quiet, Record, Said, Source,
    State, Timestamp, Whose,
};
use scrollback_parser_claude_code::ClaudeCode;
use std::path::{Path, PathBuf};

fn hand(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/hand").join(name)
}

fn facts(heard: &[Heard]) -> Vec<(String, &Facts<'static>)> {
    said(heard)
        .filter_map(|said| match said {
            Said::Facts(Whose::Session(session), facts) => Some((session.to_string(), facts)),
            _ => None,
        })
        .collect()
}

#[test]
fn damage_costs_only_what_it_hit() {
    let heard = read(&hand("damaged.jsonl"));
    let deep = format!("5 call by agent Deep toolu_deep: {{\"x\":{}{}}}", "[".repeat(400), "]".repeat(400));
    assert_eq!(
        brief(&heard),
        [
            "0 user by person: before the crash",
            "1 unknown: torn row",
            "1 user by person: on the same line",
            "2 user by person: after zeros",
            "3 user by person: half \u{fffd} of a pair",
            "4 result by agent toolu_h: cut \u{fffd} here",
            &deep,
            "6 unknown: not an object",
            "7 unknown: not an object",
            "8 unknown: no type",
            "9 unknown: user of another shape",
            "10 unreadable",
        ]
    );
    // A version is known from the rows before.
    assert!(
        heard[8]
            .as_ref()
            .unwrap()
            .iter()
            .any(|said| matches!(said, Said::Unknown { version: Some(version), .. } if version == "2.1.38"))
    );
}

#[test]
fn servers_tools_documents_and_kinds_never_seen() {
    let heard = read(&hand("tools.jsonl"));
    assert_eq!(
        brief(&heard),
        [
            "0 user by person: Use everything.",
            "3 call by agent web_search srvtoolu_1: {\"query\":\"rust\"}",
            "3 result by agent srvtoolu_1: Rust https://example.com/rust",
            "3 assistant by agent: I searched.",
            "4 call by agent code_execution srvtoolu_2: {\"code\":\"exit(2)\"}",
            "4 result by agent srvtoolu_2 failed=true exit 2: {\"type\":\"code_execution_result\",\"stdout\":\"\",\"stderr\":\"boom\",\"return_code\":2}",
            "5 result by agent srvtoolu_3 failed: {\"type\":\"web_search_tool_result_error\",\"error_code\":\"max_uses_exceeded\"}",
            "6 call by agent echo mcptoolu_1: {}",
            "6 result by agent mcptoolu_1 failed: no such thing",
            "7 call by agent Read toolu_doc: {\"file_path\":\"/home/dev/demo/a.pdf\"}",
            "8 result by agent toolu_doc: first\n[image/png]\nsecond\n[application/pdfa.pdf]\nplain words[https://example.com/x.png]",
            "8 injected Reminder: Mind the gap.",
            "9 nothing: stand-in",
            "10 result by agent toolu_none: ",
            "11 result by agent toolu_str failed=true exit 127: Exit code 127\nnot found",
            "12 result by agent toolu_quote: Exit code 1 is what it prints",
            "13 unknown: assistant block hologram",
            "14 unknown: attachment from_the_future",
            "15 nothing: attachment not shown",
            "16 unknown: system from_the_future",
            "17 unknown: from-the-future",
        ]
    );
}

#[test]
fn what_a_person_typed_is_told_from_the_rest() {
    let heard = read(&hand("typed.jsonl"));
    let [call, review] = [3, 5].map(|row| match &heard[row].as_ref().unwrap()[0] {
        Said::Event(event) => event,
        other => panic!("{other:?}"),
    });
    let id = call.record_id.clone().unwrap();
    assert_eq!(
        brief(&heard),
        [
            "0 user by person: Start.",
            "1 user by person Joins: also look at this[image/png]",
            "2 injected Other: <task-notification>\n<task-id>b1</task-id>\n</task-notification>",
            &format!("3 call by person shell {id}: {{\"command\":\"ls nowhere\"}}"),
            &format!("4 result by person shell {id} failed=true exit 2: some\nls: nowhere: no such file"),
            "5 user by person: /review src --all",
            "6 injected Command: # Review\n\nLook at src --all",
            "7 injected Command: /model opus",
            "8 injected Command: Set model to opus",
            "9 user by person: [image/png]\nwhat is this?",
            "10 injected Other: wake up",
            "11 injected Other: from a peer",
            "12 injected Other: Implement the following plan:\n\n# Plan",
            "13 notice Interrupted: [Request interrupted: the host is going down]",
            "14 injected Hook: PreToolUse:Bash hook feedback:\nno",
            "15 user by person: <div>my html</div>",
            "16 nothing: blank",
            "17 injected Command: /cost",
            "18 injected Other: You were away.",
            "19 user by person: Say it aloud.",
            "20 notice ApiError: API Error: 529 overloaded",
        ]
    );
    let body = events(&heard).into_iter().find(|event| event.parent.is_some()).unwrap();
    assert_eq!(body.parent, Some(review.id));
    let queued = events(&heard)[1];
    assert_eq!(queued.at, Some("2026-03-01T10:00:01.500Z".parse().unwrap()));
    let next = facts(&heard).into_iter().find(|(session, _)| session.ends_with('6')).unwrap();
    assert_eq!(next.1.lineage, Some(Lineage::Continuation));
    assert_eq!(next.1.parent_session.as_deref(), Some("40000000-0000-4000-8000-000000000005"));
}

#[test]
fn old_sub_agents_in_the_main_file_are_sessions_of_their_own() {
    let heard = read(&hand("inline.jsonl"));
    let main = "50000000-0000-4000-8000-000000000007";
    let says = |session: &str| -> Vec<String> {
        let of = events(&heard).into_iter().filter(|event| event.session == session);
        of.map(|event| format!("{} {:?} {:?}", event.body.kind(), event.by, event.turn)).collect()
    };
    let linked: Vec<_> =
        facts(&heard).into_iter().filter(|(_, facts)| facts.lineage == Some(Lineage::Subagent)).collect();
    let [(first, of_first), (second, of_second)] = &linked[..] else { panic!("{linked:?}") };
    assert_eq!(of_first.parent_session.as_deref(), Some(main));
    assert_eq!(of_first.launched_by.as_deref(), Some("toolu_t1"));
    assert_eq!(of_first.agent.as_deref(), Some("Explore"));
    assert_eq!(of_second.launched_by.as_deref(), Some("toolu_t2"));
    assert_eq!(says(first), ["message Agent(None) Opens", "message Agent(Some(\"Explore\")) ByKind"]);
    assert_eq!(
        says(second),
        [
            "message Agent(None) Opens",
            "tool_call Agent(None) ByKind",
            "tool_result Agent(None) ByKind",
            "message Agent(None) ByKind"
        ]
    );
    let brief = brief(&heard);
    assert!(
        brief.contains(&"5 nothing: warm-up".to_owned()) && brief.contains(&"8 nothing: warm-up".to_owned())
    );
    assert_eq!(
        brief[brief.len() - 5..],
        [
            "14 injected Reminder: The date is set.",
            "14 injected Reminder: quietly",
            "14 user by person: Thanks a lot",
            "14 injected Reminder: The user opened a.rs",
            "15 injected Reminder: Only this.",
        ]
    );
}

#[test]
fn pieces_cut_out_of_a_message_have_ids_of_their_own() {
    let heard = read(&hand("inline.jsonl"));
    let row = heard[14].as_ref().unwrap();
    let ids: Vec<_> = row
        .iter()
        .filter_map(|said| match said {
            Said::Event(event) => Some((event.id, event.record_id.clone().unwrap())),
            _ => None,
        })
        .collect();
    let expected = ["0.0", "1.0", "1", "2.0"].map(|part| EventId::part_of(&ids[0].1, part).unwrap());
    assert_eq!(ids.iter().map(|(id, _)| *id).collect::<Vec<_>>(), expected);
}

#[test]
fn ids_of_responses_that_begin_anew_do_not_run_together() {
    let heard = read(&hand("restarted.jsonl"));
    let said: Vec<_> = said(&heard)
        .filter_map(|said| match said {
            Said::Usage { response, usage, .. } => Some((&**response, usage.output.unwrap())),
            _ => None,
        })
        .collect();
    assert_eq!(
        said,
        [
            ("msg_1", 11),
            ("msg_1", 12),
            ("msg_2", 21),
            ("msg_1~1772359207000000", 31),
            ("msg_2~1772359208000000", 41),
            ("msg_2~1772359208000000", 42),
            // The first row, appended again by a compaction.
            ("msg_1", 11),
            ("msg_1~req_9", 51),
            ("req_10", 61),
            (events(&heard).last().unwrap().record_id.as_deref().unwrap(), 71),
        ]
    );
}

#[test]
fn rows_without_a_uuid_are_told_apart_by_what_they_say_and_when() {
    let heard = read(&hand("nameless.jsonl"));
    let ids: std::collections::BTreeSet<_> = events(&heard).into_iter().map(|event| event.id).collect();
    assert_eq!(ids.len(), 4);
    let again: std::collections::BTreeSet<_> =
        events(&read(&hand("nameless.jsonl"))).into_iter().map(|event| event.id).collect();
    assert_eq!(ids, again);
}

#[test]
fn a_branch_says_of_each_row_whose_it_is() {
    let heard = read(&hand("branch/30000000-0000-4000-8000-000000000004.jsonl"));
    let origin = "30000000-0000-4000-8000-000000000003";
    let copied = Origin::Copied { from: Some(origin.into()) };
    let origins: Vec<bool> = events(&heard).into_iter().map(|event| event.origin == copied).collect();
    assert_eq!(origins, [true, true, true, true, true, false, false]);
    let (_, link) = facts(&heard).into_iter().next().unwrap();
    assert_eq!(
        *link,
        Facts {
            copied_from: Some(origin.into()),
            parent_session: Some(origin.into()),
            lineage: Some(Lineage::Fork),
            ..Facts::default()
        }
    );
    let began = facts(&heard).into_iter().find_map(|(_, facts)| facts.started_at);
    assert_eq!(began, Some("2026-03-01T10:00:51.000Z".parse().unwrap()));
}

#[test]
fn a_fork_of_a_fork_is_its_parents_and_holds_copies_of_both() {
    let heard = read(&hand("fork-of-fork.jsonl"));
    let facts = facts(&heard);
    let copies: Vec<_> = facts.iter().filter_map(|(_, facts)| facts.copied_from.as_deref()).collect();
    let [grandparent, parent] =
        ["90000000-0000-4000-8000-00000000000c", "90000000-0000-4000-8000-00000000000d"];
    assert_eq!(copies, [grandparent, parent]);
    let parents: Vec<_> = facts.iter().filter_map(|(_, facts)| facts.parent_session.as_deref()).collect();
    assert_eq!(parents, [parent]);
}

#[test]
fn a_copy_that_does_not_go_on_is_tied_to_its_parent_when_it_is_quiet() {
    let path = hand("fork-of-fork.jsonl");
    let text = std::fs::read_to_string(&path).unwrap();
    let mut decoder =
        ClaudeCode.decoder(&Source::at(&path), &crate::support::Disk, &State::default()).unwrap();
    let mut memory = MapMemory::default();
    for (index, line) in text.lines().take(4).enumerate() {
        let record = Record::new(index as u64, line.as_bytes());
        decoder.decode(record, &mut memory, &mut Events::new()).unwrap();
    }
    let mut events = Events::new();
    decoder.quiet(Quiet::Idle, &mut memory, &mut events);
    let heard = [Ok(events.into_said())];
    let facts = facts(&heard);
    assert_eq!(facts[0].1.parent_session.as_deref(), Some("90000000-0000-4000-8000-00000000000d"));
}

#[test]
fn a_sub_agent_of_a_sub_agent_is_tied_by_its_sidecar() {
    let heard =
        read(&hand("nested/80000000-0000-4000-8000-00000000000a/subagents/agent-a0123456789abcdef.jsonl"));
    let top = "80000000-0000-4000-8000-00000000000a";
    let (session, link) = facts(&heard).into_iter().next().unwrap();
    assert_eq!(session, format!("{top}/a0123456789abcdef"));
    assert_eq!(link.parent_session.as_deref(), Some(&*format!("{top}/afedcba9876543210")));
    assert_eq!(link.launched_by.as_deref(), Some("toolu_dig"));
    assert_eq!(
        brief(&heard),
        [
            "0 user by agent Opens: Dig deeper.",
            "1 assistant by agent: Dug.",
            "2 user by agent: And once more."
        ]
    );
}

/// A machine with one file on it.
struct One(PathBuf, &'static str);

impl Env for One {
    fn var(&self, _name: &str) -> Option<String> {
        None
    }

    fn home(&self) -> Option<PathBuf> {
        None
    }

    fn current_dir(&self) -> Option<PathBuf> {
        None
    }

    fn login(&self) -> Option<String> {
        None
    }

    fn now(&self) -> Timestamp {
        Timestamp::from_micros(0).unwrap()
    }

    fn read(&self, path: &Path) -> std::io::Result<Vec<u8>> {
        if path == self.0 { Ok(self.1.into()) } else { Err(std::io::ErrorKind::NotFound.into()) }
    }

    fn list(&self, _path: &Path) -> std::io::Result<Vec<PathBuf>> {
        Ok(Vec::new())
    }
}

#[test]
fn a_sub_agents_sidecar_may_come_late() {
    let row = r#"{"type":"user","isSidechain":true,"agentId":"a1","sessionId":"s","uuid":"u","message":{"role":"user","content":"a"}}"#;
    let path = Path::new("/p/s/subagents/agent-a1.jsonl");
    let [none, late] = ["/p/other.json", "/p/s/subagents/agent-a1.meta.json"]
        .map(|file| One(file.into(), r#"{"agentType":"Plan","toolUseId":"toolu_9"}"#));
    let mut memory = MapMemory::default();
    let mut state = State::default();
    let mut calls = Vec::new();
    for env in [&none, &none, &late, &late] {
        let mut decoder = ClaudeCode.decoder(&Source::at(path), env, &state).unwrap();
        let mut events = Events::new();
        let record = Record::new(0, row.as_bytes());
        decoder.decode(record, &mut memory, &mut events).unwrap();
        state = decoder.state();
        let said = events.into_said();
        calls.push(said.iter().find_map(|said| match said {
            Said::Facts(_, facts) => Some(facts.launched_by.as_deref().unwrap_or("unknown").to_owned()),
            _ => None,
        }));
    }
    assert_eq!(calls, [Some("unknown".to_owned()), None, Some("toolu_9".to_owned()), None]);
}

#[test]
fn a_sub_agents_own_calls_tie_its_sub_agents_to_it() {
    let text = [
        r#"{"type":"user","isSidechain":true,"agentId":"a1","sessionId":"s","uuid":"u1","origin":{"kind":"coordinator"},"message":{"role":"user","content":"Go on."}}"#,
        r#"{"type":"assistant","isSidechain":true,"agentId":"a1","sessionId":"s","uuid":"u2","message":{"content":[{"type":"tool_use","id":"toolu_1","name":"Agent","input":{"prompt":"Dig."}}]}}"#,
        r#"{"type":"user","isSidechain":true,"agentId":"a1","sessionId":"s","uuid":"u3","toolUseResult":{"agentId":"a2"},"message":{"content":[{"type":"tool_result","tool_use_id":"toolu_1","content":"Dug."}]}}"#,
        r#"{"type":"assistant","isSidechain":true,"agentId":"a1","sessionId":"s","uuid":"u4","message":{"content":[{"type":"tool_use","id":"toolu_2","name":"Agent","input":{"prompt":"Dig."}}]}}"#,
        r#"{"type":"user","isSidechain":true,"agentId":"a1","sessionId":"s","uuid":"u5","message":{"content":[{"type":"tool_result","tool_use_id":"toolu_2","content":"Nobody says who dug."}]}}"#,
    ];
    let mut reading = Reading::of(Path::new("/p/s/subagents/agent-a1.jsonl"));
    let heard: Vec<Heard> =
        crate::support::lines(text.join("\n")).into_iter().map(|line| reading.line(line)).collect();
    assert_eq!(brief(&heard)[0], "0 user by agent Opens: Go on.");
    let children: Vec<_> = facts(&heard).into_iter().filter(|(session, _)| session != "s/a1").collect();
    let [(child, link)] = &children[..] else { panic!("{children:?}") };
    assert_eq!(child, "s/a2");
    assert_eq!(link.parent_session.as_deref(), Some("s/a1"));
    assert_eq!(link.launched_by.as_deref(), Some("toolu_1"));
}

#[test]
fn no_row_makes_the_state_too_large() {
    let long = "\\u0001\u{e9}".repeat(4000);
    let rows = (0..40).flat_map(|n| {
        let call = format!("toolu_{n}{}", "x".repeat(50));
        let hostile = format!(
            r#"{{"type":"assistant","isSidechain":false,"sessionId":"{long}","uuid":"u{n}","version":"{long}","cwd":"{long}","requestId":"{long}","requestSessionId":"{long}{n}","message":{{"id":"{long}","model":"{long}","content":[{{"type":"tool_use","id":"{call}","name":"Task","input":{{"prompt":"{long}","subagent_type":"{long}"}}}}],"usage":{{"output_tokens":1.0}}}}}}"#
        );
        let plain = format!(
            r#"{{"type":"assistant","isSidechain":false,"sessionId":"{n}","uuid":"v{n}","message":{{"id":"m","content":[{{"type":"tool_use","id":"{call}","name":"Task","input":{{"prompt":"p","subagent_type":"Explore"}}}}]}}}}"#
        );
        [hostile, plain]
    });
    let text = rows.collect::<Vec<_>>().join("\n");
    let mut reading = Reading::of(Path::new("x.jsonl"));
    for line in crate::support::lines(text) {
        assert!(
            reading.line(line).unwrap().iter().any(
                |said| matches!(said, Said::Event(event) if matches!(event.body, Body::ToolCall { .. }))
            )
        );
        // Refuses a state over the limit.
        reading.resume();
    }
}

#[test]
fn a_state_of_another_version_is_refused() {
    let state = State { version: 99, json: "{}".to_owned() };
    let source = Source::at(Path::new("x.jsonl"));
    assert!(ClaudeCode.decoder(&source, &crate::support::Disk, &state).is_err());
}
