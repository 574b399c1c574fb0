//! What the model does in a turn: thoughts, words, calls.

use super::super::ids::token;
use super::super::json::{Json, array, object, text};
use super::super::rng::Rng;
use super::super::words::prose;
use super::{Session, block_text};

/// A result as the model gets it, and as the client keeps it beside.
pub(super) struct Outcome {
    /// Ready JSON: a string or a list of blocks.
    pub(super) content: String,
    /// Ready JSON.
    pub(super) kept: String,
    pub(super) error: bool,
}

impl Session<'_> {
    pub(super) fn prose(&mut self, bytes: usize) -> String {
        prose(&mut self.rng, self.english, &self.project.names, bytes)
    }

    /// Begins an answer: the rows that follow share its id.
    pub(super) fn request(&mut self) {
        self.answer = token(&mut self.rng, "msg_01", 22);
        self.context += self.rng.range(200, 1_800);
    }

    /// Writes one row of the answer that is being given: one block, the answer's id and usage repeated.
    pub(super) fn assistant(&mut self, block: &str) -> String {
        let mut own =
            Rng::new(self.answer.bytes().fold(11, |sum: u64, byte| sum.wrapping_mul(131) + u64::from(byte)));
        let written = own.range(100, 9_000);
        let usage = format!(
            "{{\"input_tokens\":{},\"cache_creation_input_tokens\":{written},\"cache_read_input_tokens\":{},\"cache_creation\":{{\"ephemeral_5m_input_tokens\":0,\"ephemeral_1h_input_tokens\":{written}}},\"output_tokens\":{},\"service_tier\":\"standard\",\"inference_geo\":\"not_available\"}}",
            own.range(1, 12),
            self.context,
            self.rng.range(1, 900)
        );
        let message = format!(
            "{{\"model\":\"claude-opus-4-6\",\"id\":\"{}\",\"type\":\"message\",\"role\":\"assistant\",\"content\":[{block}],\"stop_reason\":null,\"stop_sequence\":null,\"usage\":{usage}}}",
            self.answer
        );
        let request = token(&mut own, "req_011C", 20);
        self.said(&format!("\"message\":{message},\"requestId\":\"{request}\",\"type\":\"assistant\""), "")
    }

    pub(super) fn step(&mut self) {
        self.request();
        if self.rng.percent(28) {
            let size = self.rng.quantile(&[40, 120, 220, 400, 700, 1_200, 4_000]) as usize;
            let thought = self.prose(size);
            let signature = token(&mut self.rng, "", 340);
            let block = object(&[
                ("type", Json::Text("thinking")),
                ("thinking", Json::Text(&thought)),
                ("signature", Json::Text(&signature)),
            ]);
            self.assistant(&block);
            self.counts.thinking += 1;
        }
        if self.rng.percent(45) {
            let size = self.rng.quantile(&[20, 60, 100, 160, 260, 500, 1_600]) as usize;
            let said = self.prose(size);
            self.assistant(&block_text(&said));
            self.counts.messages += 1;
        }
        for _ in 0..self.rng.of(&[1, 1, 1, 1, 1, 1, 2, 3]) {
            self.call();
        }
    }

    fn call(&mut self) {
        let id = token(&mut self.rng, "toolu_01", 22);
        match self.rng.weighted(&[36, 26, 18, 8, 3, 3, 4, 1, 1]) {
            0 => self.bash(&id),
            1 => self.read(&id),
            2 => self.edit(&id),
            3 => self.grep(&id),
            4 => self.write(&id),
            6 => self.todo(&id),
            7 => self.fetch(&id),
            8 if self.agent.is_none() => self.delegate(&id),
            _ => self.glob(&id),
        }
    }

    /// Writes the row of a call and returns the row's id.
    pub(super) fn called(&mut self, id: &str, tool: &str, input: &str) -> String {
        let block = object(&[
            ("type", Json::Text("tool_use")),
            ("id", Json::Text(id)),
            ("name", Json::Text(tool)),
            ("input", Json::Raw(input)),
            ("caller", Json::Raw("{\"type\":\"direct\"}")),
        ]);
        let uuid = self.assistant(&block);
        self.hooks("PreToolUse", tool);
        self.counts.calls += 1;
        uuid
    }

    /// Writes the row of a call's result.
    pub(super) fn result(&mut self, id: &str, call: &str, tool: &str, outcome: &Outcome) {
        let error = if outcome.error { ",\"is_error\":true" } else { "" };
        let block = format!(
            "{{\"tool_use_id\":\"{id}\",\"type\":\"tool_result\",\"content\":{}{error}}}",
            outcome.content
        );
        let message = object(&[("role", Json::Text("user")), ("content", Json::Raw(&array(&[block])))]);
        self.said(
            &format!("\"type\":\"user\",\"message\":{message}"),
            &format!(",\"toolUseResult\":{},\"sourceToolAssistantUUID\":\"{call}\"", outcome.kept),
        );
        self.context += (outcome.content.len() as u64 / 4).min(9_000);
        self.counts.results += 1;
        self.hooks("PostToolUse", tool);
    }

    /// Calls a tool whose result is plain text and returns nothing more to do.
    pub(super) fn plain(&mut self, id: &str, tool: &str, input: &str, shown: &str, kept: String) {
        let call = self.called(id, tool, input);
        self.result(id, &call, tool, &Outcome { content: text(shown), kept, error: false });
    }
}
