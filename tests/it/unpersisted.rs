//! Sessions of which the client keeps no transcript, recorded from what it tells its hooks.

use crate::support::{of_type, sandbox, text, values};
use scrollback_engine::drain;
use scrollback_engine::spool::Spool;
use scrollback_tests::Sandbox;
use serde_json::{Value, json};
use std::fs;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::{Duration, Instant};

const CLAUDE: &str = "e6bda5b8-fcb9-471c-8658-29d6f105a490";
const CODEX: &str = "01a23186-cd9b-76a3-8334-2bc523814d09";
/// A password, as somebody tells it.
const SECRET: &str = "Tr0ub4dor&3x9Q";

/// Lets a client run a hook.
fn hook(machine: &Sandbox, client: &str, event: &str, payload: &Value) {
    let mut command = machine.command(&["hook", client, event]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(payload.to_string().as_bytes()).unwrap();
    assert!(child.wait_with_output().unwrap().status.success());
}

/// Tells a hook of Codex as `exec --ephemeral` of 0.171.0 does: no transcript is named.
fn codex(machine: &Sandbox, event: &str, more: &[(&str, &str)]) {
    let mut payload = json!({"session_id": CODEX, "transcript_path": null, "cwd": machine.home(),
        "hook_event_name": event, "model": "m", "permission_mode": "bypassPermissions"});
    for (key, value) in more {
        payload[*key] = json!(value);
    }
    hook(machine, "codex", event, &payload);
}

fn transcript(machine: &Sandbox) -> PathBuf {
    machine.home().join(format!(".claude/projects/p/{CLAUDE}.jsonl"))
}

/// Tells a hook of Claude Code as `--no-session-persistence` of 2.1.332 does: the transcript that is named never comes.
fn claude(machine: &Sandbox, event: &str, more: &[(&str, &str)]) {
    let mut payload = json!({"session_id": CLAUDE, "transcript_path": transcript(machine), "cwd": machine.home(),
        "hook_event_name": event});
    for (key, value) in more {
        payload[*key] = json!(value);
    }
    hook(machine, "claude-code", event, &payload);
}

/// Waits until the drain has left and the spool is empty.
fn drained(machine: &Sandbox) {
    let until = Instant::now() + Duration::from_secs(60);
    while Spool::of(&machine.data()).has_some() || drain::runs(&machine.data()) {
        assert!(Instant::now() < until, "the drain does not come to an end");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Puts records of hooks into the spool.
fn leave(machine: &Sandbox, records: &[u8]) {
    let mut spool = fs::File::create(machine.data().join("spool/current")).unwrap();
    spool.write_all(records).unwrap();
}

/// Returns role, text and evidence of every event.
fn events(machine: &Sandbox) -> Vec<String> {
    let events = of_type(&machine.export(), "event");
    let shown = |event: &Value| {
        let evidence = event["evidence"].as_array().map_or(0, Vec::len);
        format!("{}: {} ({evidence})", text(event, "role"), text(event, "text"))
    };
    events.iter().map(shown).collect()
}

#[test]
fn a_session_without_a_transcript_is_what_its_hooks_were_told() {
    let machine = sandbox();
    codex(&machine, "SessionStart", &[("source", "startup")]);
    codex(&machine, "UserPromptSubmit", &[("prompt", "Where do pangolins live?")]);
    codex(&machine, "Stop", &[("last_assistant_message", "In trees.")]);
    codex(&machine, "UserPromptSubmit", &[("prompt", &format!("The password is password={SECRET}"))]);
    codex(&machine, "Stop", &[("last_assistant_message", "Noted.")]);
    codex(&machine, "SessionEnd", &[("reason", "other")]);
    drained(&machine);
    let expected = [
        "user: Where do pangolins live? (1)",
        "assistant: In trees. (1)",
        "user: The password is password=[redacted:assigned-secret] (1)",
        "assistant: Noted. (1)",
    ];
    let found = events(&machine);
    assert_eq!(found.len(), expected.len(), "{found:?}");
    for (found, expected) in found.iter().zip(expected) {
        let same = found == expected || found.contains("[redacted:") && expected.contains("[redacted:");
        assert!(same && !found.contains(SECRET), "{found}");
    }
    let sessions = values(&machine.well(&["sessions", "--json"]));
    assert_eq!((sessions.len(), &sessions[0]["turns"]), (1, &json!(2)));
    assert!(text(&sessions[0], "project").is_empty(), "the home directory is no project");
    let hits = values(&machine.well(&["search", "--json", "pangolins"]));
    assert_eq!((hits.len(), text(&hits[0], "session")), (1, CODEX));
    machine.well(&["expand", text(&hits[0], "event")]);
    machine.well(&["show", CODEX]);
    machine.well(&["coverage"]);
}

#[test]
fn no_secret_is_in_the_spool() {
    let machine = sandbox();
    // As long as it is held, no drain runs.
    let _lock = drain::lock(&machine.data()).unwrap().unwrap();
    let prompt = format!("export API_TOKEN=\"{SECRET}\" and go on");
    codex(&machine, "UserPromptSubmit", &[("prompt", &prompt)]);
    claude(&machine, "UserPromptSubmit", &[("prompt", &prompt)]);
    claude(&machine, "Stop", &[("last_assistant_message", &prompt)]);
    let spool = fs::read_to_string(machine.data().join("spool/current")).unwrap();
    assert_eq!(spool.matches("and go on").count(), 3, "{spool}");
    assert!(!spool.contains(SECRET), "{spool}");
}

#[test]
fn what_is_drained_twice_is_stored_once() {
    let machine = sandbox();
    let lock = drain::lock(&machine.data()).unwrap().unwrap();
    codex(&machine, "UserPromptSubmit", &[("prompt", "Once.")]);
    let record = fs::read(machine.data().join("spool/current")).unwrap();
    drop(lock);
    machine.well(&["tail"]);
    for _ in 0..2 {
        // A search does what no drain did.
        assert_eq!(machine.well(&["search", "--json", "once"]).lines().count(), 1);
        assert_eq!(events(&machine), ["user: Once. (1)"]);
        // The drain died before it took the record off the disk.
        leave(&machine, &record);
    }
    // The same words a while later are said once more.
    let mut later: Value = serde_json::from_slice(&record).unwrap();
    later["at"] = json!(later["at"].as_i64().unwrap() + 120_000_000);
    leave(&machine, format!("\n{later}\n").as_bytes());
    machine.well(&["tail"]);
    assert_eq!(events(&machine), ["user: Once. (1)", "user: Once. (1)"]);
}

#[test]
fn a_transcript_that_comes_late_takes_the_place_of_what_was_told() {
    let machine = sandbox();
    let lock = drain::lock(&machine.data()).unwrap().unwrap();
    claude(&machine, "UserPromptSubmit", &[("prompt", "Late?")]);
    claude(&machine, "Stop", &[("last_assistant_message", "Yes.")]);
    let spool = fs::read_to_string(machine.data().join("spool/current")).unwrap();
    drop(lock);
    machine.well(&["tail"]);
    assert_eq!(events(&machine), ["user: Late? (1)", "assistant: Yes. (1)"]);
    let told = of_type(&machine.export(), "event");
    let at: Vec<i64> =
        values(spool.replace("\n\n", "\n").trim()).iter().map(|it| it["at"].as_i64().unwrap()).collect();
    let stamp = |micros: i64| scrollback_core::Timestamp::from_micros(micros).unwrap().to_string();
    let prompt = json!({"type": "user", "uuid": "00000000-0000-4000-8000-000000000001", "sessionId": CLAUDE,
        "cwd": machine.home(), "timestamp": stamp(at[0]), "message": {"role": "user", "content": "Late?"},
        "parentUuid": null, "isSidechain": false, "version": "2.1.332"});
    let reply = json!({"type": "assistant", "uuid": "00000000-0000-4000-8000-000000000002", "sessionId": CLAUDE,
        "cwd": machine.home(), "timestamp": stamp(at[1] - 1_000_000), "message": {"id": "m", "role": "assistant",
        "content": [{"type": "text", "text": "Yes."}]}, "parentUuid": "00000000-0000-4000-8000-000000000001",
        "isSidechain": false, "version": "2.1.332"});
    machine.write(format!(".claude/projects/p/{CLAUDE}.jsonl"), format!("{prompt}\n{reply}\n"));
    machine.well(&["tail"]);
    assert_eq!(events(&machine), ["user: Late? (0)", "assistant: Yes. (0)"]);
    assert_eq!(machine.well(&["search", "--json", "late"]).lines().count(), 1);
    for event in &told {
        assert!(machine.well(&["expand", text(event, "id")]).contains(text(event, "text")));
    }
    // Read again, or told again, it stays one.
    machine.well(&["tail", "--again"]);
    leave(&machine, spool.as_bytes());
    machine.well(&["tail"]);
    assert_eq!(events(&machine), ["user: Late? (0)", "assistant: Yes. (0)"]);
    // It is what it would be, had no hook told anything.
    let beside = machine.beside();
    beside.well(&["tail"]);
    assert_eq!(of_type(&machine.export(), "event"), of_type(&beside.export(), "event"));
}

#[test]
fn it_can_be_switched_off_by_the_client_or_for_good() {
    let machine = sandbox().var("SCROLLBACK_CAPTURE_UNPERSISTED", "false");
    codex(&machine, "UserPromptSubmit", &[("prompt", "zebrafish")]);
    claude(&machine, "UserPromptSubmit", &[("prompt", "zebrafish")]);
    let machine = machine.var("SCROLLBACK_CAPTURE_UNPERSISTED", "");
    machine.write("config/scrollback/config.toml", "capture.unpersisted = false\n");
    let config = machine.home().join("config").to_str().unwrap().to_owned();
    let data = machine.data();
    let machine = machine.var("SCROLLBACK_HOME", "").var("XDG_CONFIG_HOME", config);
    let machine = machine.var("XDG_DATA_HOME", data.to_str().unwrap());
    codex(&machine, "UserPromptSubmit", &[("prompt", "zebrafish")]);
    machine.well(&["tail"]);
    assert_eq!(machine.well(&["export"]).lines().count(), 1);
}

#[test]
fn a_paused_session_without_a_transcript_is_left_out_too() {
    let machine = sandbox();
    machine.well(&["pause", "--everywhere"]);
    codex(&machine, "UserPromptSubmit", &[("prompt", "zebrafish")]);
    drained(&machine);
    machine.well(&["resume", "--everywhere"]);
    codex(&machine, "Stop", &[("last_assistant_message", "Heard.")]);
    drained(&machine);
    assert_eq!(events(&machine), ["assistant: Heard. (1)"]);
    // A sub-agent whose transcript never comes, as at a compaction, is no session.
    claude(
        &machine,
        "SubagentStop",
        &[
            ("agent_id", "a1"),
            ("last_assistant_message", "zebrafish"),
            ("agent_transcript_path", "/nowhere/agent-a1.jsonl"),
        ],
    );
    drained(&machine);
    assert_eq!(events(&machine).len(), 1);
}
