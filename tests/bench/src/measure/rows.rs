//! Rows of a transcript, one at a time.

use crate::corpus::Client;

/// A session whose rows are written one by one.
#[derive(Clone, Debug)]
pub(crate) struct Session {
    codex: bool,
    number: u64,
}

impl Session {
    pub(crate) fn new(client: &str, number: u64) -> Self {
        Self { codex: client == Client::Codex.name(), number }
    }

    /// Returns the session's id.
    pub(crate) fn id(&self) -> String {
        format!("00000000-0000-4000-8000-{:012x}", self.number)
    }

    /// Returns what the transcript begins with.
    pub(crate) fn head(&self) -> String {
        if !self.codex {
            return String::new();
        }
        let id = self.id();
        format!(
            "{{\"timestamp\":\"2026-03-01T10:00:00.000Z\",\"type\":\"session_meta\",\"payload\":{{\"id\":\"{id}\",\
             \"timestamp\":\"2026-03-01T10:00:00.000Z\",\"cwd\":\"/home/dev/app\",\"originator\":\"codex_cli_rs\",\
             \"cli_version\":\"0.128.0\",\"source\":\"cli\"}}}}\n"
        )
    }

    /// Returns a whole line: the `n`-th message of the session, from the user.
    pub(crate) fn row(&self, n: u64, text: &str) -> String {
        let text = serde_json::Value::from(text);
        if self.codex {
            let content =
                format!("\"role\":\"user\",\"content\":[{{\"type\":\"input_text\",\"text\":{text}}}]");
            return self.line(n, &format!("\"type\":\"message\",{content}"));
        }
        self.line(n, &format!("\"type\":\"user\",\"message\":{{\"role\":\"user\",\"content\":{text}}}"))
    }

    /// Returns a whole line: the `n`-th message of the session, from the agent.
    pub(crate) fn reply(&self, n: u64, text: &str) -> String {
        let text = serde_json::Value::from(text);
        if self.codex {
            let content =
                format!("\"role\":\"assistant\",\"content\":[{{\"type\":\"output_text\",\"text\":{text}}}]");
            return self.line(n, &format!("\"type\":\"message\",{content}"));
        }
        self.line(
            n,
            &format!(
                "\"type\":\"assistant\",\"message\":{{\"role\":\"assistant\",\"id\":\"msg_{n}\",\"type\":\"message\",\
                 \"content\":[{{\"type\":\"text\",\"text\":{text}}}]}}"
            ),
        )
    }

    /// Returns a whole line: a call of a shell with that command.
    pub(crate) fn call(&self, n: u64, command: &str) -> String {
        let input = serde_json::json!({"command": command}).to_string();
        if self.codex {
            let arguments = serde_json::Value::from(input);
            return self.line(
                n,
                &format!("\"type\":\"function_call\",\"name\":\"shell\",\"arguments\":{arguments},\"call_id\":\"call_{n}\""),
            );
        }
        self.line(
            n,
            &format!(
                "\"type\":\"assistant\",\"message\":{{\"role\":\"assistant\",\"id\":\"msg_{n}\",\"type\":\"message\",\
                 \"content\":[{{\"type\":\"tool_use\",\"id\":\"toolu_{n}\",\"name\":\"Bash\",\"input\":{input}}}]}}"
            ),
        )
    }

    /// Returns a whole line of which `said` is what stands in it.
    fn line(&self, n: u64, said: &str) -> String {
        let id = self.id();
        let time = format!(
            "2026-03-01T{:02}:{:02}:{:02}.{:03}Z",
            11 + n / 3_600_000 % 12,
            n / 60_000 % 60,
            n / 1_000 % 60,
            n % 1_000
        );
        if self.codex {
            return format!(
                "{{\"timestamp\":\"{time}\",\"type\":\"response_item\",\"payload\":{{{said}}}}}\n"
            );
        }
        format!(
            "{{\"parentUuid\":null,\"isSidechain\":false,\"userType\":\"external\",\"cwd\":\"/home/dev/app\",\"sessionId\":\"{id}\",\
             \"version\":\"2.1.71\",\"gitBranch\":\"main\",{said},\
             \"uuid\":\"{:08x}-{:04x}-4000-8000-{:012x}\",\"timestamp\":\"{time}\"}}\n",
            n & 0xffff_ffff,
            n >> 32 & 0xffff,
            self.number
        )
    }
}
