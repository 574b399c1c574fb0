//! Threads in the shapes Codex writes: legacy files of three ages, paginated files, code mode.

mod steps;
mod tools;

use super::code::{Project, image};
use super::ids::{date, time, token, uuid7};
use super::json::{Json, array, object, text};
use super::rng::Rng;
use super::words::{Lexicon, prose};
use super::{Counts, File};

/// How a client of some age writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Age {
    /// 0.98: a turn context before every request, outputs as JSON in a string.
    Early,
    /// 0.144: turn ids, world state.
    Late,
    /// 0.171: ordinals, items completed instead of twins.
    Paginated,
    /// 0.171 with the models that call one tool, whose input is a script.
    Script,
}

/// One thread while it is written.
struct Thread<'a> {
    rng: Rng,
    english: &'a Lexicon,
    project: &'a mut Project,
    instructions: &'a str,
    age: Age,
    id: String,
    root: String,
    turn: String,
    began: u64,
    clock: u64,
    lines: Vec<String>,
    bytes: usize,
    counts: Counts,
    others: Vec<File>,
    items: Vec<String>,
    context: u64,
    total: [u64; 4],
}

/// A legacy thread that a later one may fork.
pub(crate) struct Past {
    id: String,
    lines: Vec<String>,
    ended: u64,
}

/// Writes one thread of about `target` bytes and returns its file, and those of its sub-agents.
pub(crate) fn thread(
    mut rng: Rng,
    english: &Lexicon,
    project: &mut Project,
    instructions: &str,
    target: usize,
    past: &mut Option<Past>,
    counts: &mut Counts,
) -> Vec<File> {
    let age = [
        Age::Early,
        Age::Early,
        Age::Late,
        Age::Late,
        Age::Late,
        Age::Paginated,
        Age::Paginated,
        Age::Script,
    ][rng.index(8)];
    let fork = (age == Age::Late).then(|| past.take()).flatten();
    let began = 1_767_600_000_000 + rng.below(300 * 86_400_000);
    let clock = fork.as_ref().map_or(began, |fork| fork.ended + rng.range(60_000, 86_400_000));
    let id = uuid7(&mut rng, clock);
    let mut thread = Thread {
        rng,
        english,
        project,
        instructions,
        age,
        id: id.clone(),
        root: id.clone(),
        turn: String::new(),
        began: clock,
        clock,
        lines: Vec::new(),
        bytes: 0,
        counts: Counts::default(),
        others: Vec::new(),
        items: Vec::new(),
        context: 12_000,
        total: [0; 4],
    };
    thread.begin(fork.as_ref().map(|fork| fork.id.as_str()), None);
    if let Some(fork) = &fork {
        thread.copied(fork);
    }
    thread.turn(fork.is_none());
    while thread.bytes < target {
        thread.turn(false);
    }
    *counts += thread.counts;
    counts.sessions += 1;
    let mut files = std::mem::take(&mut thread.others);
    files.push(thread.file());
    if age == Age::Late && fork.is_none() && thread.bytes < 3 << 20 {
        *past = Some(Past { id, lines: thread.lines, ended: thread.clock });
    }
    files
}

impl Thread<'_> {
    fn file(&self) -> File {
        let start = time(self.began).replace(':', "-");
        let (year, month, day) = date(self.began);
        let mut body = self.lines.join("\n");
        body.push('\n');
        File {
            path: format!(
                "sessions/{year:04}/{month:02}/{day:02}/rollout-{}-{}.jsonl",
                &start[..19],
                self.id
            ),
            body,
        }
    }

    fn paged(&self) -> bool {
        matches!(self.age, Age::Paginated | Age::Script)
    }

    fn prose(&mut self, bytes: usize) -> String {
        prose(&mut self.rng, self.english, &self.project.names, bytes)
    }

    /// Writes one line of the thread.
    fn line(&mut self, kind: &str, payload: &str, beside: &str) {
        self.clock += self.rng.quantile(&[0, 1, 4, 30, 400, 2_000, 9_000]);
        let ordinal = if self.paged() { format!("\"ordinal\":{},", self.lines.len()) } else { String::new() };
        let line = format!(
            "{{\"timestamp\":\"{}\",{ordinal}\"type\":\"{kind}\",\"payload\":{payload}{beside}}}",
            time(self.clock)
        );
        self.bytes += line.len() + 1;
        self.lines.push(line);
    }

    fn event(&mut self, payload: &str) {
        self.line("event_msg", payload, "");
    }

    /// Writes a response item; `fields` is its object without the closing brace.
    fn item(&mut self, mut fields: String, kinds: &str) {
        if self.age != Age::Early {
            let more = if self.paged() {
                format!(",\"create_time\":{}.{:03}{kinds}", self.clock / 1_000, self.clock % 1_000)
            } else {
                String::new()
            };
            fields.push_str(&format!(
                ",\"internal_chat_message_metadata_passthrough\":{{\"turn_id\":\"{}\"{more}}}",
                self.turn
            ));
        }
        fields.push('}');
        let beside = if self.paged() {
            format!(
                ",\"metadata\":{{\"history_sequence\":{},\"sampled_through_sequence\":0,\"client_authored\":false,\"model_search_state\":\"unused\"}}",
                self.items.len()
            )
        } else {
            String::new()
        };
        self.line("response_item", &fields, &beside);
        self.items.push(fields);
    }

    /// Writes the twin of an item that paginated files have instead of the older events.
    fn completed(&mut self, item: &str) {
        let payload = format!(
            "{{\"type\":\"item_completed\",\"thread_id\":\"{}\",\"turn_id\":\"{}\",\"item\":{item},\"started_at_ms\":{},\"completed_at_ms\":{}}}",
            self.id,
            self.turn,
            self.clock,
            self.clock + 7
        );
        self.event(&payload);
    }

    /// Returns the key of an item's own id, where the client of this age writes one.
    fn own(&mut self, prefix: &str) -> (String, String) {
        if self.paged() {
            let id = format!("{prefix}_{}", uuid7(&mut self.rng, self.clock));
            (format!(",\"id\":\"{id}\""), id)
        } else {
            (String::new(), String::new())
        }
    }

    fn begin(&mut self, fork: Option<&str>, parent: Option<&str>) {
        let version = match self.age {
            Age::Early => "0.98.0",
            Age::Late => "0.144.6",
            Age::Paginated | Age::Script => "0.171.0",
        };
        let mut meta = format!("{{\"id\":\"{}\"", self.id);
        if self.age != Age::Early {
            meta.push_str(&format!(",\"session_id\":\"{}\"", self.root));
        }
        if let Some(fork) = fork {
            meta.push_str(&format!(",\"forked_from_id\":\"{fork}\""));
        }
        let source = parent.map_or_else(
            || "\"cli\"".to_owned(),
            |parent| {
                meta.push_str(&format!(",\"parent_thread_id\":\"{parent}\""));
                format!("{{\"subagent\":{{\"thread_spawn\":{{\"parent_thread_id\":\"{parent}\",\"depth\":1,\"agent_nickname\":\"Cicero\",\"agent_role\":\"explorer\"}}}}}}")
            },
        );
        let mode = if self.paged() { "paginated" } else { "legacy" };
        meta.push_str(&format!(
            ",\"timestamp\":\"{}\",\"cwd\":{},\"originator\":\"codex-tui\",\"cli_version\":\"{version}\",\"source\":{source},\"model_provider\":\"openai\",\"base_instructions\":{{\"text\":{}}},\"history_mode\":\"{mode}\",\"git\":{{\"commit_hash\":\"{:040x}\",\"branch\":\"main\"}}}}",
            time(self.clock),
            text(&self.project.root),
            text(self.instructions),
            self.rng.next()
        ));
        self.line("session_meta", &meta, "");
    }

    fn copied(&mut self, past: &Past) {
        let now = time(self.clock);
        for line in &past.lines {
            let copy = format!(
                "{{\"timestamp\":\"{now}\"{}",
                &line["{\"timestamp\":\"2026-01-01T00:00:00.000Z\"".len()..]
            );
            self.bytes += copy.len() + 1;
            self.lines.push(copy);
            self.counts.copied += 1;
        }
    }

    fn turn(&mut self, first: bool) {
        self.clock += self.rng.range(5_000, 900_000);
        self.turn = uuid7(&mut self.rng, self.clock);
        let (turn, started) = (self.turn.clone(), self.clock / 1_000);
        if self.age != Age::Early {
            self.event(&format!("{{\"type\":\"task_started\",\"turn_id\":\"{turn}\",\"started_at\":{started},\"model_context_window\":258400,\"collaboration_mode_kind\":\"default\"}}"));
        }
        if first {
            self.surroundings();
        }
        self.turn_context();
        let size = self.rng.quantile(&[4, 20, 45, 80, 130, 220, 400, 900, 4_000]) as usize;
        let said = self.prose(size);
        self.asked(&said);
        let steps = self.rng.quantile(&[0, 1, 3, 6, 9, 14, 20, 32, 80]);
        for _ in 0..steps {
            self.step();
        }
        let size = self.rng.quantile(&[30, 120, 300, 600, 1_000, 1_600, 4_500]) as usize;
        let answer = self.prose(size);
        self.answered(&answer, "final_answer");
        self.usage();
        if self.age != Age::Early {
            self.event(&format!(
                "{{\"type\":\"task_complete\",\"turn_id\":\"{turn}\",\"last_agent_message\":{},\"completed_at\":{},\"duration_ms\":{},\"time_to_first_token_ms\":488}}",
                text(&answer),
                self.clock / 1_000,
                self.clock.saturating_sub(started * 1_000)
            ));
        }
        if self.context > 200_000 {
            self.compact();
        }
    }

    /// What the client tells the model before the first prompt.
    fn surroundings(&mut self) {
        let (own, _) = self.own("msg");
        let permissions = "<permissions instructions>\nFilesystem sandboxing defines which files can be read or written. `sandbox_mode` is `workspace-write`. Network access is restricted.\n</permissions instructions>";
        let part = object(&[("type", Json::Text("input_text")), ("text", Json::Text(permissions))]);
        self.item(
            format!("{{\"type\":\"message\"{own},\"role\":\"developer\",\"content\":[{part}]"),
            ",\"content_item_kinds\":[\"permissions.instructions\"],\"content_item_metadata\":[{\"provenance\":{\"type\":\"harness\",\"hook\":false}}]",
        );
        let rules = self.prose(2_600);
        let agents = format!(
            "# AGENTS.md instructions for {}\n\n<INSTRUCTIONS>\n{rules}\n\n</INSTRUCTIONS>",
            self.project.root
        );
        let environment = format!(
            "<environment_context>\n  <cwd>{}</cwd>\n  <shell>bash</shell>\n  <timezone>Etc/UTC</timezone>\n</environment_context>",
            self.project.root
        );
        let parts = [&agents, &environment]
            .map(|part| object(&[("type", Json::Text("input_text")), ("text", Json::Text(part))]));
        let (own, _) = self.own("msg");
        self.item(
            format!("{{\"type\":\"message\"{own},\"role\":\"user\",\"content\":{}", array(&parts)),
            ",\"content_item_kinds\":[\"agents_md.instructions\",\"environments.environment_context\"],\"content_item_metadata\":[{\"provenance\":{\"type\":\"agents_md\"}},{\"provenance\":{\"type\":\"harness\",\"hook\":false}}]",
        );
        self.counts.injected += 3;
        if self.age != Age::Early {
            let state =
                object(&[("directory", Json::Text(&self.project.root)), ("text", Json::Text(&rules))]);
            self.line(
                "world_state",
                &format!("{{\"full\":true,\"state\":{{\"agents_md\":{state},\"apps_instructions\":false}}}}"),
                "",
            );
        }
    }

    fn turn_context(&mut self) {
        let turn =
            if self.age == Age::Early { String::new() } else { format!("\"turn_id\":\"{}\",", self.turn) };
        let more = if self.age == Age::Early {
            format!(",\"user_instructions\":{}", text(&self.instructions[..1_200]))
        } else {
            String::new()
        };
        let payload = format!(
            "{{{turn}\"cwd\":{},\"approval_policy\":\"on-request\",\"sandbox_policy\":{{\"type\":\"workspace-write\",\"network_access\":false}},\"model\":\"gpt-5.5\",\"personality\":\"pragmatic\",\"collaboration_mode\":{{\"mode\":\"default\",\"settings\":{{\"model\":\"gpt-5.5\",\"reasoning_effort\":null,\"developer_instructions\":null}}}},\"effort\":\"medium\",\"summary\":\"auto\"{more}}}",
            text(&self.project.root)
        );
        self.line("turn_context", &payload, "");
    }

    fn asked(&mut self, said: &str) {
        let (own, _) = self.own("msg");
        let mut parts = vec![object(&[("type", Json::Text("input_text")), ("text", Json::Text(said))])];
        let mut kinds = String::from(
            ",\"content_item_kinds\":[\"user.text\"],\"content_item_metadata\":[{\"provenance\":{\"type\":\"user\"}}]",
        );
        let mut images = String::from("[]");
        if self.rng.once_in(45) {
            let size = self.rng.quantile(&[10_000, 60_000, 120_000, 250_000, 2_200_000]) as usize;
            let data = format!("\"data:image/png;base64,{}\"", image(&mut self.rng, size));
            parts.push(object(&[("type", Json::Text("input_image")), ("image_url", Json::Raw(&data))]));
            kinds = String::from(
                ",\"content_item_kinds\":[\"user.text\",\"user.image\"],\"content_item_metadata\":[{\"provenance\":{\"type\":\"user\"}},{\"provenance\":{\"type\":\"user\"}}]",
            );
            images = format!("[{data}]");
        }
        self.item(
            format!("{{\"type\":\"message\"{own},\"role\":\"user\",\"content\":{}", array(&parts)),
            &kinds,
        );
        if self.paged() {
            let id = uuid7(&mut self.rng, self.clock);
            self.completed(&format!("{{\"type\":\"UserMessage\",\"id\":\"{id}\",\"content\":[{{\"type\":\"text\",\"text\":{},\"text_elements\":[]}}]}}", text(said)));
        } else {
            self.event(&format!("{{\"type\":\"user_message\",\"message\":{},\"images\":{images},\"local_images\":[],\"text_elements\":[]}}", text(said)));
        }
        self.counts.messages += 1;
    }

    fn compact(&mut self) {
        self.context = 40_000;
        let size = self.rng.range(2_500, 9_000) as usize;
        let summary = format!(
            "Another language model started to solve this problem and produced a summary of its thinking process. You also have access to the state of the tools that were used by that language model. Use this to build on the work that has already been done and avoid duplicating work. Here is the summary produced by the other language model, use the information in this summary to assist with your own analysis:\n{}",
            self.prose(size)
        );
        // The context it goes on with: mostly what the user said, now and then everything: a line of megabytes.
        let most =
            self.rng.quantile(&[8_000, 20_000, 40_000, 60_000, 90_000, 140_000, 240_000, 2_400_000]) as usize;
        let mut held = 0;
        let kept: Vec<&String> = self
            .items
            .iter()
            .rev()
            .take_while(|item| {
                held += item.len();
                held < most
            })
            .collect();
        let payload = format!("{{\"message\":{},\"replacement_history\":{}}}", text(&summary), array(&kept));
        self.line("compacted", &payload, "");
        self.counts.injected += 1;
        if self.paged() {
            let id = token(&mut self.rng, "", 20);
            self.completed(&format!("{{\"type\":\"ContextCompaction\",\"id\":\"{id}\"}}"));
        } else {
            self.event("{\"type\":\"context_compacted\"}");
        }
    }
}
