//! What the model does in a turn of Codex: reasoning, words, usage.

use super::super::ids::{token, uuid7};
use super::super::json::{Json, array, object, text};
use super::{Age, Thread};

impl Thread<'_> {
    pub(super) fn step(&mut self) {
        if self.age == Age::Early {
            self.turn_context();
        }
        if self.rng.percent(70) {
            self.reasoned();
        }
        if self.rng.percent(28) {
            let size = self.rng.quantile(&[20, 60, 110, 170, 260, 600]) as usize;
            let said = self.prose(size);
            self.answered(&said, "commentary");
        }
        for _ in 0..self.rng.of(&[1, 1, 1, 1, 2]) {
            self.call();
        }
        self.usage();
    }

    fn reasoned(&mut self) {
        let summary = if self.rng.percent(60) {
            let size = self.rng.quantile(&[40, 120, 260, 420, 900]) as usize;
            format!("**{}**\n\n{}", self.project.names.word(&mut self.rng).to_owned(), self.prose(size))
        } else {
            String::new()
        };
        let id = token(&mut self.rng, "rs_0", 48);
        if !summary.is_empty() {
            if self.paged() {
                self.completed(&format!(
                    "{{\"type\":\"Reasoning\",\"id\":\"{id}\",\"summary_text\":[{}],\"raw_content\":[]}}",
                    text(&summary)
                ));
            } else {
                self.event(&object(&[
                    ("type", Json::Text("agent_reasoning")),
                    ("text", Json::Text(&summary)),
                ]));
            }
            self.counts.thinking += 1;
        }
        let parts = if summary.is_empty() {
            String::from("[]")
        } else {
            array(&[object(&[("type", Json::Text("summary_text")), ("text", Json::Text(&summary))])])
        };
        let size = self.rng.quantile(&[400, 700, 1_000, 1_400, 2_000, 3_200, 9_000]) as usize;
        let sealed = token(&mut self.rng, "gAAAAAB", size);
        let own = if self.age == Age::Early { String::new() } else { format!("\"id\":\"{id}\",") };
        self.item(format!("{{\"type\":\"reasoning\",{own}\"summary\":{parts},\"content\":null,\"encrypted_content\":\"{sealed}\""), "");
    }

    pub(super) fn answered(&mut self, said: &str, phase: &str) {
        let id = format!("msg_{}", token(&mut self.rng, "0", 48));
        if self.paged() {
            self.completed(&format!("{{\"type\":\"AgentMessage\",\"id\":\"{id}\",\"content\":[{{\"type\":\"Text\",\"text\":{}}}],\"phase\":\"{phase}\"}}", text(said)));
        } else {
            self.event(&format!("{{\"type\":\"agent_message\",\"message\":{},\"phase\":\"{phase}\",\"memory_citation\":null}}", text(said)));
        }
        let own = if self.age == Age::Early { String::new() } else { format!("\"id\":\"{id}\",") };
        let part = object(&[("type", Json::Text("output_text")), ("text", Json::Text(said))]);
        self.item(format!("{{\"type\":\"message\",{own}\"role\":\"assistant\",\"content\":[{part}],\"phase\":\"{phase}\""), "");
        self.counts.messages += 1;
    }

    pub(super) fn usage(&mut self) {
        let out = self.rng.range(20, 1_400);
        let last = [self.context, self.context * 9 / 10, out, out / 3];
        for (total, last) in self.total.iter_mut().zip(last) {
            *total += last;
        }
        self.context += self.rng.range(200, 2_400);
        let [last, total] = [last, self.total].map(|[input, cached, output, reasoning]| {
            let write = if self.paged() { "\"cache_write_input_tokens\":0," } else { "" };
            format!("{{\"input_tokens\":{input},\"cached_input_tokens\":{cached},{write}\"output_tokens\":{output},\"reasoning_output_tokens\":{reasoning},\"total_tokens\":{}}}", input + output)
        });
        if self.paged() {
            let response = token(&mut self.rng, "resp_0", 48);
            self.line(
                "token_usage_record",
                &format!(
                    "{{\"thread_id\":\"{}\",\"turn_id\":\"{}\",\"session_id\":\"{}\",\"root_turn_id\":\"{}\",\"response_id\":\"{response}\",\"usage\":{last},\"turn_token_usage\":{last},\"thread_token_usage\":{total}}}",
                    self.id, self.turn, self.root, self.turn
                ),
                "",
            );
        }
        self.event(&format!(
            "{{\"type\":\"token_count\",\"info\":{{\"total_token_usage\":{total},\"last_token_usage\":{last},\"model_context_window\":258400}},\"rate_limits\":{{\"limit_id\":\"codex\",\"limit_name\":null,\"primary\":{{\"used_percent\":4.0,\"window_minutes\":300,\"resets_at\":{}}},\"secondary\":{{\"used_percent\":17.0,\"window_minutes\":10080,\"resets_at\":{}}},\"credits\":null,\"plan_type\":\"pro\"}}}}",
            self.clock / 1_000 + 9_000,
            self.clock / 1_000 + 400_000
        ));
    }

    /// Writes a sub-agent's thread and the call that started it.
    pub(super) fn delegate(&mut self, call: &str) {
        let task = self.prose(500);
        let arguments = object(&[("agent_type", Json::Text("explorer")), ("message", Json::Text(&task))]);
        let mut rng = self.rng.part(1);
        let clock = self.clock + 40;
        let id = uuid7(&mut rng, clock);
        self.function("spawn_agent", &arguments, call);
        let mut inner = Thread {
            rng,
            english: self.english,
            project: &mut *self.project,
            instructions: self.instructions,
            age: self.age,
            id: id.clone(),
            root: self.root.clone(),
            turn: String::new(),
            began: clock,
            clock,
            lines: Vec::new(),
            bytes: 0,
            counts: super::Counts::default(),
            others: Vec::new(),
            items: Vec::new(),
            context: 12_000,
            total: [0; 4],
        };
        inner.begin(None, Some(&self.id));
        inner.turn = uuid7(&mut inner.rng, clock);
        inner.turn_context();
        inner.asked(&task);
        for _ in 0..inner.rng.range(2, 12) {
            inner.step();
        }
        let report = inner.prose(900);
        inner.answered(&report, "final_answer");
        inner.usage();
        inner.counts.sessions += 1;
        let (file, counts, bytes) = (inner.file(), inner.counts, inner.bytes);
        let deeper = std::mem::take(&mut inner.others);
        self.counts += counts;
        self.bytes += bytes;
        self.others.extend(deeper);
        self.others.push(file);
        self.output(call, &format!("{{\"agent_id\":\"{id}\",\"nickname\":\"Cicero\"}}"));
    }
}
