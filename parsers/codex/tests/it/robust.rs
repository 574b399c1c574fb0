//! Every field of every record missing, empty or of another type: nothing panics, and something is said.

use crate::support::{Transcript, examples};
use serde_json::{Value, json};

/// Returns the value with what stands at each place of an object or list in it replaced, one at a time.
fn variants(value: &Value, depth: usize) -> Vec<Value> {
    let replacements =
        [Value::Null, json!(7), json!("x"), json!({"a": [1]}), json!([{"b": null}]), json!(true)];
    let mut variants = Vec::new();
    match value {
        Value::Object(object) => {
            for (key, inner) in object {
                let mut missing = object.clone();
                missing.remove(key);
                variants.push(Value::Object(missing));
                for replacement in &replacements {
                    let mut other = object.clone();
                    other.insert(key.clone(), replacement.clone());
                    variants.push(Value::Object(other));
                }
                if depth > 0 {
                    for inner in self::variants(inner, depth - 1) {
                        let mut other = object.clone();
                        other.insert(key.clone(), inner);
                        variants.push(Value::Object(other));
                    }
                }
            }
        }
        Value::Array(list) if depth > 0 && !list.is_empty() => {
            for inner in self::variants(&list[0], depth - 1) {
                let mut other = list.clone();
                other[0] = inner;
                variants.push(Value::Array(other));
            }
        }
        _ => {}
    }
    variants
}

#[test]
fn a_record_of_another_shape_says_something_or_is_unreadable() {
    let mut tried = 0;
    for path in examples() {
        let file = Transcript::read(&path);
        if path.to_string_lossy().contains("0.171.0-walk") {
            continue;
        }
        let first = file.lines[0].clone();
        for line in &file.lines {
            let Ok(value) = serde_json::from_slice::<Value>(line) else { continue };
            let mut lines = vec![first.clone()];
            lines.extend(variants(&value, 2).iter().map(|value| serde_json::to_vec(value).unwrap()));
            let odd = Transcript { path: path.clone(), lines };
            let told = odd.told();
            tried += told.records.len();
            for (record, bytes) in told.records.iter().zip(&odd.lines) {
                if let Ok(said) = record {
                    assert!(!said.is_empty(), "{}", String::from_utf8_lossy(bytes));
                }
            }
        }
    }
    assert!(tried > 10_000, "{tried}");
}

#[test]
fn a_field_nobody_needs_does_not_cost_the_record() {
    let line = r#"{"timestamp":7,"ordinal":"x","type":"response_item","metadata":null,"payload":{"type":"message","id":{"a":1},"role":"user","phase":[1],"internal_chat_message_metadata_passthrough":null,"content":"a plain string"}}"#;
    let file = Transcript::of("x.jsonl", line.as_bytes());
    assert!(file.told().lines().contains("message User \"a plain string\""), "{}", file.told().lines());
}

#[test]
fn long_ids_do_not_make_the_state_too_long() {
    let mut lines = Vec::new();
    let long = |c: char, n: usize| format!("{}{n:02}", c.to_string().repeat(98));
    for n in 0..20 {
        let meta = json!({"id": long('t', n), "timestamp": "2026-10-01T10:00:00.000Z", "parent_thread_id": long('p', n),
            "cli_version": "v".repeat(5000), "source": "cli"});
        lines.push(json!({"timestamp": "2026-10-01T10:00:00.000Z", "type": "session_meta", "payload": meta}));
    }
    lines.push(
        json!({"type": "turn_context", "payload": {"turn_id": "u".repeat(5000), "model": "m".repeat(5000)}}),
    );
    lines.push(json!({"type": "turn_context", "payload": {"model": "m".repeat(100)}}));
    lines
        .push(json!({"type": "event_msg", "payload": {"type": "task_started", "turn_id": "u".repeat(5000)}}));
    for n in 0..20 {
        for role in ["user", "assistant"] {
            let content =
                json!([{"type": "input_text", "text": format!("<proposed_plan>{n}</proposed_plan>")}]);
            let item = json!({"type": "message", "role": role, "id": long('i', n), "content": content});
            lines.push(json!({"type": "response_item", "payload": item}));
        }
    }
    let too_long = json!({"type": "session_meta", "payload": {"id": "x".repeat(101)}});
    lines.push(too_long);
    let bytes: Vec<String> = lines.iter().map(Value::to_string).collect();
    let file = Transcript::of("x.jsonl", bytes.join("\n").as_bytes());
    let told = file.told();
    assert_eq!(told.records.iter().filter(|record| record.is_err()).count(), 1);
    assert_eq!(told.events().len(), 40);
}
