//! Anthropic's Messages API, `POST /v1/messages` (<https://docs.anthropic.com/en/api/messages-streaming>).

use super::script::{Asked, Piece, TOKENS, marker, words};
use serde_json::{Value, json};

/// How a request to sum the conversation up begins its task.
const COMPACTION: &str = "create a detailed summary of";

/// Reads a request.
pub(super) fn asked(body: &Value) -> Asked {
    let mut asked = Asked { side: body["tools"].as_array().is_none_or(Vec::is_empty), ..Asked::default() };
    for message in body["messages"].as_array().into_iter().flatten() {
        if message["role"] != "user" {
            continue;
        }
        asked.compaction = false;
        for block in blocks(&message["content"]) {
            match block["type"].as_str() {
                Some("tool_result") => asked.results.push(plain(&block["content"])),
                Some("text") => {
                    let text = block["text"].as_str().unwrap_or_default();
                    asked.compaction |= text.contains(COMPACTION);
                    if let Some(found) = marker(text) {
                        asked.marker = Some(found);
                        asked.results.clear();
                    }
                }
                _ => {}
            }
        }
    }
    asked
}

fn blocks(content: &Value) -> Vec<Value> {
    match content {
        Value::String(text) => vec![json!({"type": "text", "text": text})],
        Value::Array(blocks) => blocks.clone(),
        _ => Vec::new(),
    }
}

fn plain(content: &Value) -> String {
    let texts = blocks(content);
    let texts: Vec<&str> = texts.iter().filter_map(|block| block["text"].as_str()).collect();
    texts.join("\n")
}

/// How an answer goes out.
pub(super) struct Wire {
    number: u64,
    model: Value,
}

impl Wire {
    /// Returns the form of the answer to a request.
    pub(super) fn new(number: u64, body: &Value) -> Self {
        Self { number, model: body["model"].clone() }
    }

    fn block(&self, at: usize, piece: &Piece) -> Value {
        let id = format!("toolu_01walk{:08}{at:02}", self.number);
        match piece {
            Piece::Thinking(thinking) => {
                json!({"type": "thinking", "thinking": thinking, "signature": format!("c2lnbmVk{:04}", self.number)})
            }
            Piece::Text(text) => json!({"type": "text", "text": text}),
            Piece::Shell(command) => json!({
                "type": "tool_use", "id": id, "name": "Bash",
                "input": {"command": command, "description": "Part of the script"},
            }),
            Piece::Agent(prompt) => json!({
                "type": "tool_use", "id": id, "name": "Agent",
                "input": {"description": "Greet from below", "prompt": prompt,
                          "subagent_type": "general-purpose", "run_in_background": false},
            }),
            Piece::Wait(_) => json!({"type": "text", "text": "There is nothing to wait for."}),
        }
    }

    fn message(&self, content: &[Value], stop: &Value) -> Value {
        json!({
            "id": format!("msg_01walk{:08}", self.number), "type": "message", "role": "assistant",
            "model": self.model, "content": content, "stop_reason": stop, "stop_sequence": null,
            "usage": {"input_tokens": TOKENS.0, "output_tokens": TOKENS.1,
                      "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0},
        })
    }
}

fn stop(pieces: &[Piece]) -> &'static str {
    let calls = pieces.iter().any(|piece| matches!(piece, Piece::Shell(_) | Piece::Agent(_)));
    if calls { "tool_use" } else { "end_turn" }
}

impl super::Wire for Wire {
    fn error(&self, status: u16, message: &str) -> Value {
        let kind = if status == 529 { "overloaded_error" } else { "invalid_request_error" };
        json!({"type": "error", "error": {"type": kind, "message": message}})
    }

    fn whole(&self, pieces: &[Piece]) -> Value {
        let content: Vec<Value> =
            pieces.iter().enumerate().map(|(at, piece)| self.block(at, piece)).collect();
        self.message(&content, &stop(pieces).into())
    }

    fn stream(&self, pieces: &[Piece]) -> Vec<(&'static str, Value)> {
        let mut events = Vec::new();
        let mut event = |name: &'static str, mut data: Value| {
            data["type"] = name.into();
            events.push((name, data));
        };
        event("message_start", json!({"message": self.message(&[], &Value::Null)}));
        for (at, piece) in pieces.iter().enumerate() {
            let block = self.block(at, piece);
            let (start, deltas) = parts(&block);
            event("content_block_start", json!({"index": at, "content_block": start}));
            for delta in deltas {
                event("content_block_delta", json!({"index": at, "delta": delta}));
            }
            event("content_block_stop", json!({"index": at}));
        }
        let delta = json!({"stop_reason": stop(pieces), "stop_sequence": null});
        event("message_delta", json!({"delta": delta, "usage": {"output_tokens": TOKENS.1}}));
        event("message_stop", json!({}));
        events
    }

    fn is_word(&self, event: &str) -> bool {
        event == "content_block_delta"
    }
}

/// Returns a block as it begins, and what is then added to it.
fn parts(block: &Value) -> (Value, Vec<Value>) {
    let mut start = block.clone();
    let deltas = match block["type"].as_str() {
        Some("thinking") => {
            start["thinking"] = "".into();
            start["signature"] = "".into();
            vec![
                json!({"type": "thinking_delta", "thinking": block["thinking"]}),
                json!({"type": "signature_delta", "signature": block["signature"]}),
            ]
        }
        Some("tool_use") => {
            start["input"] = json!({});
            let input = block["input"].to_string();
            let half = (0..=input.len() / 2).rev().find(|at| input.is_char_boundary(*at)).unwrap_or(0);
            let (first, second) = input.split_at(half);
            [first, second].map(|part| json!({"type": "input_json_delta", "partial_json": part})).to_vec()
        }
        _ => {
            start["text"] = "".into();
            let text = block["text"].as_str().unwrap_or_default();
            words(text).map(|word| json!({"type": "text_delta", "text": word})).collect()
        }
    };
    (start, deltas)
}
