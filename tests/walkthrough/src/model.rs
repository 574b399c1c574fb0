//! A model that says what a script tells it: an HTTP server on loopback that speaks Anthropic's Messages API and
//! `OpenAI`'s Responses API as far as the clients ask.

mod http;
mod messages;
mod responses;
mod script;

pub(crate) use script::{COMPACTED, HIDDEN, SLOW, SLOW_BEGIN, TOKENS};

use anyhow::{Context as _, Result};
use http::{Connection, Request};
use script::{Asked, Step};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs::OpenOptions;
use std::io::Write as _;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

/// How long the model waits between two words of a slow answer.
const BETWEEN_WORDS: Duration = Duration::from_millis(200);

/// A running model. It ends with the process.
pub(crate) struct Model {
    address: SocketAddr,
    shared: Arc<Shared>,
}

/// What every connection sees.
struct Shared {
    /// How many requests came, for ids that are never used twice.
    count: Mutex<u64>,
    /// How many of them belonged to no conversation.
    sides: Mutex<u64>,
    /// How often a session asked for the part that succeeds at the second try: all that is remembered.
    tried: Mutex<BTreeMap<String, u32>>,
    /// Where requests are written to, if somebody wants to read them.
    log: Mutex<Option<PathBuf>>,
}

impl Model {
    /// Starts a model on a free port of loopback.
    pub(crate) fn start() -> Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0)).context("no port on loopback")?;
        let address = listener.local_addr()?;
        let shared = Arc::new(Shared {
            count: Mutex::new(0),
            sides: Mutex::new(0),
            tried: Mutex::default(),
            log: Mutex::new(None),
        });
        let serving = Arc::clone(&shared);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let shared = Arc::clone(&serving);
                thread::spawn(move || serve(stream, &shared));
            }
        });
        Ok(Self { address, shared })
    }

    /// Returns the address to give a client, without a path.
    pub(crate) fn base(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Writes what is asked from now on to a file, a line of JSON each.
    pub(crate) fn log_to(&self, file: &Path) {
        *locked(&self.shared.log) = Some(file.to_owned());
    }

    /// Returns how many requests came so far that belong to no conversation.
    pub(crate) fn sides(&self) -> u64 {
        *locked(&self.shared.sides)
    }

    /// Returns how many requests came so far.
    pub(crate) fn requests(&self) -> u64 {
        *locked(&self.shared.count)
    }
}

impl Shared {
    /// Returns how often a session asked this before, and counts it; other parts are not counted.
    fn tried(&self, asked: &Asked, session: Option<&str>) -> u32 {
        if asked.marker.as_deref() != Some("retry") {
            return 0;
        }
        let mut tried = locked(&self.tried);
        let count = tried.entry(session.unwrap_or_default().to_owned()).or_default();
        *count += 1;
        *count - 1
    }
}

fn locked<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Answers one connection until the client leaves it. A client that leaves in the middle of an answer is no
/// error: that is what an interrupt looks like.
fn serve(stream: TcpStream, shared: &Shared) {
    let Ok(mut connection) = Connection::new(stream) else { return };
    while let Ok(Some(request)) = connection.read() {
        if answer(&mut connection, &request, shared).is_err() {
            return;
        }
    }
}

fn answer(connection: &mut Connection, request: &Request, shared: &Shared) -> Result<()> {
    let number = {
        let mut count = locked(&shared.count);
        *count += 1;
        *count
    };
    let path = request.path.split('?').next().unwrap_or_default();
    let body: Value = serde_json::from_slice(&request.body).unwrap_or(Value::Null);
    match (request.method.as_str(), path) {
        ("POST", "/v1/messages/count_tokens") => connection.json(200, &json!({"input_tokens": 100})),
        ("POST", "/v1/messages") => {
            let mut asked = messages::asked(&body);
            asked.tried = shared.tried(&asked, request.header("x-claude-code-session-id"));
            respond(connection, shared, number, request, &body, &asked, &messages::Wire::new(number, &body))
        }
        ("POST", "/v1/responses") => {
            let mut asked = responses::asked(&body);
            asked.tried = shared.tried(&asked, request.header("session-id"));
            respond(connection, shared, number, request, &body, &asked, &responses::Wire::new(number))
        }
        ("GET", "/v1/models") => connection.json(200, &json!({"object": "list", "data": [], "models": []})),
        _ => {
            note(shared, request, &body, "not served");
            connection.json(404, &json!({"error": {"type": "not_found_error", "message": path}}))
        }
    }
}

/// What one of the two interfaces makes of an answer.
trait Wire {
    /// Returns the body of an error.
    fn error(&self, status: u16, message: &str) -> Value;
    /// Returns the whole answer, for a client that did not ask for a stream.
    fn whole(&self, pieces: &[script::Piece]) -> Value;
    /// Returns the events of a stream, a name and a datum each.
    fn stream(&self, pieces: &[script::Piece]) -> Vec<(&'static str, Value)>;
    /// Says whether an event is one to wait after in a slow answer.
    fn is_word(&self, event: &str) -> bool;
}

fn respond(
    connection: &mut Connection,
    shared: &Shared,
    number: u64,
    request: &Request,
    body: &Value,
    asked: &Asked,
    wire: &dyn Wire,
) -> Result<()> {
    let step = script::step(asked);
    if asked.side && !asked.compaction {
        *locked(&shared.sides) += 1;
    }
    note(shared, request, body, &format!("{number}: {step:?}"));
    let (pieces, slow) = match step {
        Step::Refuse { status, message } => return connection.json(status, &wire.error(status, message)),
        Step::Say(pieces) => (pieces, false),
        Step::SaySlowly(pieces) => (pieces, true),
    };
    if body["stream"] != true {
        return connection.json(200, &wire.whole(&pieces));
    }
    let mut events = connection.events()?;
    for (name, data) in wire.stream(&pieces) {
        events.send(name, &data)?;
        if slow && wire.is_word(name) {
            thread::sleep(BETWEEN_WORDS);
        }
    }
    events.end()
}

/// Writes a request down, for a person. That it could not be written is not the client's concern.
fn note(shared: &Shared, request: &Request, body: &Value, decided: &str) {
    let log = locked(&shared.log);
    let Some(path) = log.as_deref() else { return };
    let line = json!({"path": request.path, "decided": decided, "headers": request.headers, "body": body});
    if let Ok(mut file) = OpenOptions::new().create(true).append(true).open(path) {
        drop(writeln!(file, "{line}"));
    }
}

#[cfg(test)]
mod tests {
    use super::{Model, script};
    use serde_json::{Value, json};
    use std::io::{Read as _, Write as _};
    use std::net::TcpStream;

    /// Sends requests down one connection, the last of which asks to close it, and returns everything that came.
    fn exchange(requests: &[String]) -> String {
        let model = Model::start().unwrap();
        let mut stream = TcpStream::connect(model.address).unwrap();
        for request in requests {
            stream.write_all(request.as_bytes()).unwrap();
        }
        stream.shutdown(std::net::Shutdown::Write).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        assert_eq!(model.requests(), requests.len() as u64);
        answer
    }

    fn with_length(path: &str, body: &Value) -> String {
        let body = body.to_string();
        format!("POST {path} HTTP/1.1\r\nContent-Length: {}\r\n\r\n{body}", body.len())
    }

    fn in_chunks(path: &str, body: &Value) -> String {
        let body = body.to_string();
        let (first, second) = body.split_at(7);
        let chunk = |part: &str| format!("{:X}\r\n{part}\r\n", part.len());
        let chunks = format!("{}{}0\r\n\r\n", chunk(first), chunk(second));
        format!("POST {path} HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n{chunks}")
    }

    /// Returns the data of the events in an answer, undone from its chunks.
    fn data(answer: &str) -> Vec<Value> {
        let lines = answer.lines().filter_map(|line| line.strip_prefix("data: "));
        lines.map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    fn messages(prompt: &str) -> Value {
        json!({"model": "m", "stream": true, "tools": [{"name": "Bash"}],
               "messages": [{"role": "user", "content": prompt}]})
    }

    #[test]
    fn one_connection_is_kept_for_requests_of_both_forms() {
        let answer = exchange(&[
            in_chunks("/v1/messages?beta=true", &messages("Say something. [[plain]]")),
            with_length("/v1/messages/count_tokens", &json!({})),
        ]);
        let text: String = data(&answer).iter().filter_map(|event| event["delta"]["text"].as_str()).collect();
        assert_eq!(text, "A plain answer.");
        assert!(answer.ends_with(r#"{"input_tokens":100}"#), "{answer}");
    }

    #[test]
    fn the_input_of_a_call_comes_in_parts() {
        let events = data(&exchange(&[with_length("/v1/messages", &messages("Fail. [[fail]]"))]));
        let input: String =
            events.iter().filter_map(|event| event["delta"]["partial_json"].as_str()).collect();
        let input: Value = serde_json::from_str(&input).unwrap();
        assert_eq!(input["command"], "echo this-is-an-error >&2; exit 3");
        assert_eq!(events.iter().filter(|event| event["delta"]["stop_reason"] == "tool_use").count(), 1);
    }

    #[test]
    fn a_response_ends_with_all_its_items() {
        let body = json!({"stream": true, "tools": [{"name": "exec_command"}], "input": [
            {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Greet me. [[shell]]"}]},
        ]});
        let events = data(&exchange(&[with_length("/v1/responses", &body)]));
        let last = events.last().unwrap();
        assert_eq!(last["type"], "response.completed");
        assert_eq!(last["response"]["output"][0]["content"][0]["text"], "I greet.");
        assert_eq!(last["response"]["output"][1]["name"], "exec_command");
    }

    #[test]
    fn a_request_without_tools_is_a_side_request() {
        let mut body = messages("Name this: Greet me. [[shell]]");
        body["tools"] = json!([]);
        let text: String = data(&exchange(&[with_length("/v1/messages", &body)]))
            .iter()
            .filter_map(|event| event["delta"]["text"].as_str().map(str::to_owned))
            .collect();
        assert!(text.contains(script::HIDDEN), "{text}");
    }
}
