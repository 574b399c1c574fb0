//! Secrets stay out of the store, wherever a transcript holds them.

use crate::support::sandbox;
use scrollback_store::{Access, Store};
use scrollback_tests::Sandbox;
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// A secret, and the text it stands in. In two pieces, so that no scanner takes them for real.
struct Secret {
    before: &'static str,
    hidden: &'static str,
    after: &'static str,
}

const fn secret(before: &'static str, hidden: &'static str, after: &'static str) -> Secret {
    Secret { before, hidden, after }
}

const SECRETS: [Secret; 19] = [
    secret("", concat!("sk-", "ant-api03-Kx9_q2Lm7Vt4Kp1Wd8Rb5Ny3Hc6Jf0Gs-uEoAiTzQ"), ""),
    secret("", concat!("sk-", "proj-7Kd8_hT2mQ9vLx7RbN3wZc6YpJ1sGf5UaEo0iT3BlbkFJq8Wn"), ""),
    secret("", concat!("hf", "_MpQzWxEcRvTbYnUmIkOlPaSdFgHjKlZxCv"), ""),
    secret("", concat!("AIza", "SyD7k2_Qx9Lm4Vn1Tp8Wd5Rc3Hj6Gf0Za-u"), ""),
    secret("", concat!("AKIA", "5QXV7MZK2WPT9RJM"), ""),
    secret("aws_secret_access_key = ", "xJ4lrXUtn3FEMI9K7MDENG2bPxRfiCYzq8Lk5Vt0", ""),
    secret(
        "AccountName=dev;AccountKey=",
        "m7Qm2Xz9Lb4Wn1Vt8Rp5Yc3Hd6Jf0Gs/uEoAiTq+K7m2Xz9Lb4Wn1Vt8Rp5Yc3Hd6Jf0Gs2uEoAiTq4Bz1Mw==",
        "",
    ),
    secret("", concat!("ghp", "_8Xk2Lm7Qv4Wz1Tp8Rb5Nc3Hd6Jf0Gs2Ue4Ao"), ""),
    secret("", concat!("glpat", "-Md8hT2mQ9vLx7RbN3wZc"), ""),
    secret("", concat!("npm", "_V8mQ2vX7bN4cR9pW1yD6hK3zL5sG0fJ8uE2a"), ""),
    secret("", concat!("xox", "b-301847365920-3857261940582-pQ2xV7mL4tW9pZ1cR6nH3jG5"), ""),
    secret("", concat!("sk", "_live_61KQ2xV7mL4tW9pZ1cR6nH3jG5fS0uEoAi"), ""),
    secret(
        concat!("-----BEGIN OPENSSH PRIVATE", " KEY-----\n"),
        "c3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQAAAAAAAAABAAAAMwAAAAtzc2gtZW",
        concat!(
            "\nQyNTUxOQAAACDk7Qm2Xz9Lb4Wn1Vt8Rp5Yc3Hd6Jf0Gs2uEoAiTq4BzA==\n-----END OPENSSH PRIVATE",
            " KEY-----"
        ),
    ),
    secret(
        "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9",
        ".eyJzdWIiOiI4MDIxIiwibmFtZSI6ImRldiJ9.r3Lm9Qx2Vt7Wp4Zd8Rb1Nc6Hj5Yf0Kas8Ue4Io1Ty2",
        "",
    ),
    secret("postgres://dev:", "k8Kq-2xVbN4cR9", "@db.internal:5432/app"),
    secret("Authorization: Bearer ", "4q8Lm9Qx2Vt7Wp4Zd8Rb", ""),
    secret("the header was Bearer ", "8fK2mQ9vLx3RbN8wZc6YpJ1s", ", it said"),
    secret("Set-Cookie: sessionid=", "9kq2xv7ml4tw9pz1cr6nh3", "; Path=/"),
    secret("export APP_SECRET='", "v3Lm9Qx2Vt7Wp4Zd", "'"),
];

impl Secret {
    fn text(&self) -> String {
        format!("{}{}{}", self.before, self.hidden, self.after)
    }

    /// Returns what must be nowhere: the secret, and the longest piece of it that an index may hold.
    fn traces(&self) -> Vec<String> {
        let pieces = self.hidden.split(|c: char| !c.is_ascii_alphanumeric());
        let piece = pieces.max_by_key(|piece| piece.len()).unwrap();
        // An index leaves out what a word has in common with the one before.
        let end = &piece[piece.len() - piece.len().min(10)..];
        vec![self.hidden.to_owned(), end.to_owned(), end.to_lowercase()]
    }
}

/// Writes a text as a JSON string in which every third character is an escape.
fn escaped(text: &str) -> String {
    let mut json = String::from("\"");
    for (at, character) in text.chars().enumerate() {
        if at % 3 == 0 || u32::from(character) < 32 || matches!(character, '"' | '\\') {
            write!(json, "\\u{:04x}", u32::from(character)).unwrap();
        } else {
            json.push(character);
        }
    }
    json + "\""
}

const SESSION: &str = "5ec2e700-0000-4000-8000-000000000001";

#[expect(clippy::needless_pass_by_value, reason = "a value made for it")]
fn row(n: usize, kind: &str, message: Value) -> Value {
    json!({"parentUuid": null, "isSidechain": false, "userType": "external", "cwd": "/home/dev/demo",
        "sessionId": SESSION, "version": "2.1.332", "type": kind, "message": message,
        "uuid": format!("5ec2e700-0000-4000-8000-{n:012}"), "timestamp": "2025-01-01T00:00:00.000Z"})
}

/// Returns a transcript of Claude Code with that text in every place a text may have, and how many there are.
fn claude_code(text: &str) -> (Vec<u8>, usize) {
    let call = |input: Value| {
        json!({"role": "assistant", "id": "msg_1", "model": "claude-test", "content": [
        {"type": "tool_use", "id": "toolu_1", "name": "Bash", "input": input}]})
    };
    let mut lines = vec![
        row(1, "user", json!({"role": "user", "content": format!("please use {text} for it")})).to_string(),
        row(2, "assistant", json!({"role": "assistant", "id": "msg_0", "content": [
            {"type": "thinking", "thinking": format!("they gave me {text}")}]}))
        .to_string(),
        row(3, "assistant", call(json!({"command": format!("run {text}"), "deep": [{"er": {"still": text}}]}))).to_string(),
        row(4, "assistant", call(json!({"body": json!({"nested": json!({"more": text}).to_string()}).to_string()})))
            .to_string()
            .replace("toolu_1", "toolu_2"),
        row(5, "assistant", call(json!("PUT HERE")))
            .to_string()
            .replace("\"PUT HERE\"", &format!("{{\"escaped\":{}}}", escaped(text)))
            .replace("toolu_1", "toolu_3"),
        row(6, "user", json!({"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": "toolu_1", "content": [{"type": "text", "text": format!("it printed\n{text}\n")}]}]}))
        .to_string(),
        row(7, "user", json!({"role": "user", "content": format!("<system-reminder>know {text}</system-reminder>")})).to_string(),
        json!({"type": "custom-title", "customTitle": format!("About {text}"), "sessionId": SESSION}).to_string(),
        json!({"type": "never-seen-before", "sessionId": SESSION, "payload": {"deep": [text]}}).to_string(),
        format!("{{\"type\":\"never-seen-either\",\"sessionId\":\"{SESSION}\",\"payload\":{}}}", escaped(text)),
    ];
    lines.push(
        row(9, "assistant", json!({"role": "assistant", "id": text, "model": text, "usage": {"input_tokens": 5, "output_tokens": 7},
            "content": [{"type": "tool_use", "id": text, "name": text, "input": {}}]}))
        .to_string(),
    );
    let places = lines.len();
    lines.push(json!({"type": text, "sessionId": SESSION}).to_string());
    // Half a row, of which nothing can be read.
    let torn = row(8, "user", json!({"role": "user", "content": format!("torn {text} here")})).to_string();
    lines.push(torn.split_once(" here").unwrap().0.to_owned() + " ");
    lines.push("{\"type\":\"summary\"} {\"half\":".to_owned() + &serde_json::to_string(text).unwrap());
    ((lines.join("\n") + "\n").into_bytes(), places)
}

const THREAD: &str = "01940000-0000-7000-8000-0000000005ec";

/// The same for Codex.
fn codex(text: &str) -> (Vec<u8>, usize) {
    let record = |kind: &str, payload: Value| {
        json!({"timestamp": "2025-01-01T00:00:01.000Z", "type": kind, "payload": payload}).to_string()
    };
    let item = |payload: Value| record("response_item", payload);
    let lines = [
        record("session_meta", json!({"id": THREAD, "timestamp": "2025-01-01T00:00:00.000Z", "cwd": "/home/dev/demo",
            "originator": "codex_cli_rs", "cli_version": "0.47.0", "source": "cli"})),
        item(json!({"type": "message", "role": "user", "content": [{"type": "input_text", "text": format!("use {text}")}]})),
        item(json!({"type": "reasoning", "summary": [{"type": "summary_text", "text": format!("thinking of {text}")}]})),
        item(json!({"type": "function_call", "name": "shell", "call_id": "call_1",
            "arguments": json!({"command": ["bash", "-lc", format!("curl {text}")]}).to_string()})),
        item(json!({"type": "function_call_output", "call_id": "call_1",
            "output": json!({"output": format!("got {text}\n"), "metadata": {"exit_code": 0}}).to_string()})),
        item(json!({"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": format!("I used {text}")}]})),
        item(json!({"type": "never_seen", "deep": {"er": [text]}})),
        // Held back: its twin may still come.
        record("event_msg", json!({"type": "agent_message", "message": format!("last, {text}")})),
        "{\"timestamp\":\"2025-01-01T00:00:01.000Z\",\"type\":\"response_item\",\"payload\":{\"type\":\"message\",\"x\":"
            .to_owned()
            + &serde_json::to_string(text).unwrap(),
    ];
    ((lines.join("\n") + "\n").into_bytes(), 6)
}

/// Asserts that nothing of a secret is in what was printed.
#[track_caller]
fn assert_gone(secret: &Secret, text: &str, place: &str) {
    for trace in secret.traces() {
        assert!(!text.contains(&trace), "{trace:?} of {:?} is in {place}", secret.text());
    }
}

fn files(folder: &Path) -> Vec<PathBuf> {
    std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect()
}

fn tail(sandbox: &Sandbox, file: &Path) -> String {
    let ran = sandbox.run(&["tail".as_ref(), "--path".as_ref(), file.as_os_str()]);
    assert_eq!(ran.code, 0, "{ran:?}");
    ran.stdout + &ran.stderr
}

#[test]
fn no_secret_comes_into_the_store_or_out_of_the_program() {
    let sandbox = sandbox().var("SCROLLBACK_RAW", "all");
    for secret in &SECRETS {
        let transcripts = [
            (claude_code(&secret.text()), format!("{SESSION}.jsonl")),
            (codex(&secret.text()), format!("rollout-2025-01-01T00-00-00-{THREAD}.jsonl")),
        ];
        for ((bytes, places), name) in transcripts {
            let sandbox = sandbox.beside();
            let file = sandbox.write(&name, bytes);
            assert_gone(secret, &tail(&sandbox, &file), "what `tail` prints");
            let export = sandbox.export();
            assert_gone(secret, &export, "the export");
            let marks = export.matches("[redacted:").count();
            assert!(
                marks + 2 >= places,
                "{name}: {marks} marks for {places} places of {:?}: {export}",
                secret.text()
            );
            let parsed = sandbox.run(&["parse".as_ref(), file.as_os_str()]);
            assert_gone(secret, &(parsed.stdout + &parsed.stderr), "what `parse` prints");
            let session = if name.starts_with("rollout") { THREAD } else { SESSION };
            for args in [&["sessions"][..], &["show", "--full", session], &["show", "--raw", session]] {
                let ran = sandbox.run(args);
                let shown = args[0] == "sessions" || ran.stdout.contains("[redacted:");
                assert!(shown, "{args:?}: {ran:?}");
                assert_gone(secret, &(ran.stdout + &ran.stderr), "what people read");
            }
            let store = Store::open(&sandbox.store(), Access::Read).unwrap();
            let raw = store.raw_records().unwrap();
            assert!(raw.len() >= 3, "{name}: {raw:?}");
            for record in raw {
                let bytes = store.raw_bytes(record.row).unwrap();
                assert_gone(secret, &String::from_utf8_lossy(&bytes), "a record kept raw");
                assert_gone(secret, &unescaped(&bytes), "a record kept raw, its escapes undone");
                assert_gone(secret, &record.kind, "the name of a kind");
            }
            for path in files(&sandbox.data()) {
                let bytes = std::fs::read(&path).unwrap();
                for trace in secret.traces() {
                    let found = bytes.windows(trace.len()).any(|window| window == trace.as_bytes());
                    assert!(!found, "{trace:?} of {:?} is in {}", secret.text(), path.display());
                }
            }
        }
    }
}

/// Returns a JSON text with its `\u` escapes of ASCII undone.
fn unescaped(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let mut pieces = text.split("\\u");
    let mut out = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let character =
            piece.get(..4).and_then(|hex| u32::from_str_radix(hex, 16).ok()).and_then(char::from_u32);
        out.extend(character);
        out.push_str(piece.get(4..).unwrap_or_default());
    }
    out
}

#[test]
fn the_test_would_see_a_secret() {
    let secret = &SECRETS[0];
    let found = std::panic::catch_unwind(|| assert_gone(secret, &format!("x {} y", secret.text()), "here"));
    assert!(found.is_err());
    assert_eq!(unescaped(escaped("a b").as_bytes()), "\"a b\"");
}
