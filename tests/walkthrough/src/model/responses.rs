//! `OpenAI`'s Responses API, `POST /v1/responses`
//! (<https://platform.openai.com/docs/api-reference/responses-streaming>), with the tools of Codex.

use super::script::{Asked, Piece, TOKENS, marker, words};
use serde_json::{Value, json};

/// How Codex names the task of summing a conversation up.
const COMPACTION: &str = "CONTEXT CHECKPOINT COMPACTION";

/// Reads a request.
pub(super) fn asked(body: &Value) -> Asked {
    let mut asked = Asked { side: body["tools"].as_array().is_none_or(Vec::is_empty), ..Asked::default() };
    asked.compaction = body["instructions"].as_str().is_some_and(|text| text.contains(COMPACTION));
    for item in body["input"].as_array().into_iter().flatten() {
        match item["type"].as_str() {
            Some("function_call_output" | "custom_tool_call_output") => {
                asked.results.push(plain(&item["output"]));
            }
            _ if item["role"] == "user" => {
                let text = plain(&item["content"]);
                asked.compaction = text.contains(COMPACTION);
                if let Some(found) = marker(&text) {
                    asked.marker = Some(found);
                    asked.results.clear();
                }
            }
            _ => {}
        }
    }
    asked
}

fn plain(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => {
            let texts: Vec<&str> = parts.iter().filter_map(|part| part["text"].as_str()).collect();
            texts.join("\n")
        }
        _ => String::new(),
    }
}

/// How an answer goes out.
pub(super) struct Wire {
    number: u64,
}

impl Wire {
    /// Returns the form of the answer to a request.
    pub(super) fn new(number: u64) -> Self {
        Self { number }
    }

    fn item(&self, at: usize, piece: &Piece) -> Value {
        let id = format!("{:06}{at:02}", self.number);
        let call = |name: &str, namespace: Option<&str>, arguments: &Value| {
            let mut item = json!({
                "type": "function_call", "id": format!("fc_walk{id}"), "call_id": format!("call_walk{id}"),
                "name": name, "arguments": arguments.to_string(), "status": "completed",
            });
            if let Some(namespace) = namespace {
                item["namespace"] = namespace.into();
            }
            item
        };
        match piece {
            Piece::Thinking(text) => json!({
                "type": "reasoning", "id": format!("rs_walk{id}"), "encrypted_content": "c2VhbGVk",
                "summary": [{"type": "summary_text", "text": text}],
            }),
            Piece::Text(text) => json!({
                "type": "message", "id": format!("msg_walk{id}"), "role": "assistant", "status": "completed",
                "content": [{"type": "output_text", "text": text, "annotations": []}],
            }),
            Piece::Shell(command) => call("exec_command", None, &json!({"cmd": command})),
            Piece::Agent(task) => call("spawn_agent", Some("multi_agent_v1"), &json!({"message": task})),
            Piece::Wait(agent) => {
                call("wait_agent", Some("multi_agent_v1"), &json!({"targets": [agent], "timeout_ms": 20000}))
            }
        }
    }

    fn response(&self, status: &str, output: &[Value]) -> Value {
        json!({
            "id": format!("resp_walk{:06}", self.number), "object": "response", "status": status, "output": output,
            "usage": {
                "input_tokens": TOKENS.0, "input_tokens_details": {"cached_tokens": 0},
                "output_tokens": TOKENS.1, "output_tokens_details": {"reasoning_tokens": 5}, "total_tokens": TOKENS.0 + TOKENS.1,
            },
        })
    }
}

impl super::Wire for Wire {
    fn error(&self, _status: u16, message: &str) -> Value {
        json!({"error": {"type": "invalid_request_error", "code": "refused", "message": message}})
    }

    fn whole(&self, pieces: &[Piece]) -> Value {
        let items: Vec<Value> = pieces.iter().enumerate().map(|(at, piece)| self.item(at, piece)).collect();
        self.response("completed", &items)
    }

    fn stream(&self, pieces: &[Piece]) -> Vec<(&'static str, Value)> {
        let mut events = Vec::new();
        let mut event = |name: &'static str, mut data: Value| {
            data["type"] = name.into();
            data["sequence_number"] = events.len().into();
            events.push((name, data));
        };
        event("response.created", json!({"response": self.response("in_progress", &[])}));
        let mut output = Vec::new();
        for (at, piece) in pieces.iter().enumerate() {
            let item = self.item(at, piece);
            let id = item["id"].clone();
            let (start, deltas) = parts(&item);
            event("response.output_item.added", json!({"output_index": at, "item": start}));
            for (name, delta) in deltas {
                let mut data = json!({"output_index": at, "item_id": id, "delta": delta});
                let index = if name.contains("summary") { "summary_index" } else { "content_index" };
                data[index] = 0.into();
                event(name, data);
            }
            event("response.output_item.done", json!({"output_index": at, "item": item}));
            output.push(item);
        }
        event("response.completed", json!({"response": self.response("completed", &output)}));
        events
    }

    fn is_word(&self, event: &str) -> bool {
        event == "response.output_text.delta"
    }
}

/// Returns an item as it begins, and what is then added to it: the names of events and their deltas.
fn parts(item: &Value) -> (Value, Vec<(&'static str, Value)>) {
    let mut start = item.clone();
    let deltas = match item["type"].as_str() {
        Some("reasoning") => {
            start["summary"] = json!([]);
            vec![("response.reasoning_summary_text.delta", item["summary"][0]["text"].clone())]
        }
        Some("function_call") => {
            start["arguments"] = "".into();
            start["status"] = "in_progress".into();
            vec![("response.function_call_arguments.delta", item["arguments"].clone())]
        }
        _ => {
            start["content"] = json!([]);
            start["status"] = "in_progress".into();
            let text = item["content"][0]["text"].as_str().unwrap_or_default();
            words(text).map(|word| ("response.output_text.delta", word.into())).collect()
        }
    };
    (start, deltas)
}
