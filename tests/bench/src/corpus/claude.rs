//! Sessions in the shape Claude Code writes.

mod agents;
mod steps;
mod tools;

use std::collections::BTreeMap;

use super::code::{Project, image};
use super::ids::{time, token, uuid4};
use super::json::{Json, array, object, text};
use super::rng::Rng;
use super::words::Lexicon;
use super::{Counts, File};

/// One session while it is written.
pub(crate) struct Session<'a> {
    rng: Rng,
    english: &'a Lexicon,
    project: &'a mut Project,
    id: String,
    version: &'static str,
    branch: String,
    slug: String,
    clock: u64,
    parent: Option<String>,
    /// The sub-agent whose file this is.
    agent: Option<String>,
    rows: Vec<String>,
    bytes: usize,
    counts: Counts,
    others: Vec<File>,
    backups: BTreeMap<String, u64>,
    context: u64,
    /// The id of the answer that is being given.
    answer: String,
}

/// What a later session may have copied from.
pub(crate) struct Past {
    id: String,
    rows: Vec<String>,
    ended: u64,
}

/// Writes one session of about `target` bytes, with its sub-agents, and returns its files.
pub(crate) fn session(
    mut rng: Rng,
    english: &Lexicon,
    project: &mut Project,
    target: usize,
    past: &mut Option<Past>,
    counts: &mut Counts,
) -> Vec<File> {
    let id = uuid4(&mut rng);
    let version = rng.of(&["2.1.38", "2.1.39", "2.1.56", "2.1.62", "2.1.71", "2.1.71", "2.1.332"]);
    let slug = format!("{}-{}-{}", english.word(&mut rng), english.word(&mut rng), english.word(&mut rng));
    let branch = if rng.percent(60) {
        "main".to_owned()
    } else {
        format!("feat/{}", project.names.word(&mut rng).replace('_', "-"))
    };
    let held = past.take().filter(|_| rng.percent(55));
    let began = 1_767_600_000_000 + rng.below(300 * 86_400_000);
    let clock = held.as_ref().map_or(began, |held| held.ended + rng.range(60_000, 86_400_000));
    let folder = project.root.replace(|c: char| !c.is_ascii_alphanumeric(), "-");
    let mut session = Session {
        rng,
        english,
        project,
        id: id.clone(),
        version,
        branch,
        slug,
        clock,
        parent: None,
        agent: None,
        rows: Vec::new(),
        bytes: 0,
        counts: Counts::default(),
        others: Vec::new(),
        backups: BTreeMap::new(),
        context: 18_000,
        answer: String::new(),
    };
    if let Some(held) = &held {
        session.copied(held);
    }
    session.turn();
    while session.bytes < target {
        session.turn();
    }
    let mut files = std::mem::take(&mut session.others);
    for file in &mut files {
        file.path = format!("projects/{folder}/{id}/{}", file.path);
    }
    *counts += session.counts;
    counts.sessions += 1;
    let mut body = session.rows.join("\n");
    body.push('\n');
    if session.rows.len() > 30 && body.len() < 3 << 20 {
        *past = Some(Past { id: id.clone(), rows: session.rows, ended: session.clock });
    }
    files.push(File { path: format!("projects/{folder}/{id}.jsonl"), body });
    files
}

impl Session<'_> {
    fn row(&mut self, row: String) {
        self.bytes += row.len() + 1;
        self.rows.push(row);
    }

    fn now(&mut self) -> String {
        self.clock += self.rng.quantile(&[2, 40, 400, 1_500, 3_000, 8_000, 40_000]);
        time(self.clock)
    }

    /// Starts a row: the keys every conversation row has, in the order the client writes them.
    fn envelope(&self) -> String {
        let parent = self.parent.as_ref().map_or_else(|| "null".to_owned(), |parent| text(parent));
        let mut out = object(&[
            ("parentUuid", Json::Raw(&parent)),
            ("isSidechain", Json::Bool(self.agent.is_some())),
            ("userType", Json::Text("external")),
            ("cwd", Json::Text(&self.project.root)),
            ("sessionId", Json::Text(&self.id)),
            ("version", Json::Text(self.version)),
            ("gitBranch", Json::Text(&self.branch)),
        ]);
        out.pop();
        if let Some(agent) = &self.agent {
            out.push_str(&format!(",\"agentId\":\"{agent}\""));
        }
        out.push_str(&format!(",\"slug\":{}", text(&self.slug)));
        out
    }

    /// Writes a conversation row; `middle` is what stands between the envelope and the row's id, `end` what follows the time.
    fn said(&mut self, middle: &str, end: &str) -> String {
        let uuid = uuid4(&mut self.rng);
        let now = self.now();
        let row = format!("{},{middle},\"uuid\":\"{uuid}\",\"timestamp\":\"{now}\"{end}}}", self.envelope());
        self.row(row);
        self.parent = Some(uuid.clone());
        uuid
    }

    /// Writes a user row of a prompt.
    fn prompt(&mut self, content: &str, end: &str) {
        let message = object(&[("role", Json::Text("user")), ("content", Json::Raw(content))]);
        self.said(&format!("\"type\":\"user\",\"message\":{message}"), end);
    }

    /// Writes what the hooks of an event leave behind while they run.
    fn hooks(&mut self, event: &str, tool: &str) {
        if self.modern() || self.agent.is_some() {
            return;
        }
        let uuid = uuid4(&mut self.rng);
        let data = object(&[
            ("type", Json::Text("hook_progress")),
            ("hookEvent", Json::Text(event)),
            ("hookName", Json::Text(&format!("{event}:{tool}"))),
            ("command", Json::Text("cd ${CLAUDE_PLUGIN_ROOT}/hooks && node ./dist/on-event.js")),
        ]);
        self.said(&format!("\"type\":\"progress\",\"data\":{data},\"parentToolUseID\":\"{uuid}\",\"toolUseID\":\"{uuid}\""), "");
    }

    /// Says whether this version writes attachments instead of progress.
    fn modern(&self) -> bool {
        self.version == "2.1.332"
    }

    fn turn(&mut self) {
        let uuid = uuid4(&mut self.rng);
        self.snapshot(&uuid);
        let size = self.rng.quantile(&[4, 20, 45, 80, 130, 220, 400, 900, 4_000]) as usize;
        let said = self.prose(size);
        match self.rng.below(60) {
            0 => {
                let name = self.project.names.word(&mut self.rng).to_owned();
                let command = format!(
                    "<command-message>{name}</command-message>\n<command-name>/{name}</command-name>\n<command-args>{said}</command-args>"
                );
                self.prompt(&text(&command), "");
                let body = self.prose(3_000);
                let message = object(&[
                    ("role", Json::Text("user")),
                    ("content", Json::Raw(&array(&[block_text(&body)]))),
                ]);
                self.said(&format!("\"type\":\"user\",\"message\":{message},\"isMeta\":true"), "");
                self.counts.messages += 1;
                self.counts.injected += 1;
            }
            1 => {
                let size = self.rng.quantile(&[8_000, 30_000, 70_000, 120_000, 300_000]) as usize;
                let data = image(&mut self.rng, size);
                let content = array(&[block_text(&said), image_block(&data)]);
                self.prompt(&content, ",\"imagePasteIds\":[1],\"permissionMode\":\"acceptEdits\"");
                self.counts.messages += 1;
            }
            _ => {
                self.prompt(&text(&said), ",\"permissionMode\":\"acceptEdits\",\"todos\":[]");
                self.counts.messages += 1;
            }
        }
        if self.modern() {
            self.attachments();
        } else {
            self.hooks("UserPromptSubmit", "prompt");
        }
        let steps = self.rng.quantile(&[0, 1, 2, 4, 6, 9, 14, 22, 60]);
        for _ in 0..steps {
            self.step();
        }
        if self.rng.once_in(40) {
            let message = object(&[
                ("role", Json::Text("user")),
                ("content", Json::Raw(&array(&[block_text("[Request interrupted by user]")]))),
            ]);
            self.said(&format!("\"type\":\"user\",\"message\":{message}"), "");
            self.counts.notices += 1;
            return;
        }
        let size = self.rng.quantile(&[60, 300, 700, 1_100, 1_600, 2_400, 6_000]) as usize;
        let answer = self.prose(size);
        self.request();
        self.assistant(&block_text(&answer));
        self.counts.messages += 1;
        self.hooks("Stop", "stop");
        self.said("\"type\":\"system\",\"subtype\":\"stop_hook_summary\",\"hookCount\":1,\"hookInfos\":[{\"command\":\"cd ${CLAUDE_PLUGIN_ROOT}/hooks && node ./dist/on-event.js\"}],\"hookErrors\":[],\"preventedContinuation\":false,\"stopReason\":\"\",\"hasOutput\":false,\"level\":\"suggestion\"", "");
        let took = self.rng.range(800, 900_000);
        self.said(
            &format!(
                "\"type\":\"system\",\"subtype\":\"turn_duration\",\"durationMs\":{took},\"isMeta\":false"
            ),
            "",
        );
        if self.context > 150_000 {
            self.compact();
        }
    }

    fn snapshot(&mut self, message: &str) {
        let now = self.now();
        let mut files = String::from("{");
        for (path, version) in self.backups.iter().rev().take(40) {
            if files.len() > 1 {
                files.push(',');
            }
            files.push_str(&format!("{}:{{\"backupFileName\":\"{:016x}@v{version}\",\"version\":{version},\"backupTime\":\"{now}\"}}", text(path), version * 0x9E37_79B9_7F4A));
        }
        files.push('}');
        let row = format!(
            "{{\"type\":\"file-history-snapshot\",\"messageId\":\"{message}\",\"snapshot\":{{\"messageId\":\"{message}\",\"trackedFileBackups\":{files},\"timestamp\":\"{now}\"}},\"isSnapshotUpdate\":false}}"
        );
        self.row(row);
    }

    fn compact(&mut self) {
        self.context = 30_000;
        self.parent = None;
        self.said("\"type\":\"system\",\"subtype\":\"compact_boundary\",\"content\":\"Conversation compacted\",\"isMeta\":false,\"level\":\"info\",\"compactMetadata\":{\"trigger\":\"auto\",\"preTokens\":155412}", "");
        let size = self.rng.range(5_000, 14_000) as usize;
        let summary = format!(
            "This session is being continued from a previous conversation that ran out of context. The summary below covers the earlier portion of the conversation.\n\n{}",
            self.prose(size)
        );
        self.prompt(&text(&summary), ",\"isVisibleInTranscriptOnly\":true,\"isCompactSummary\":true");
        self.counts.injected += 1;
    }

    /// What newer versions write beside a prompt: reminders the model got, listings it did not need.
    fn attachments(&mut self) {
        let context = self.prose(300);
        let content = array(&[text(&context)]);
        let rendered = object(&[(
            "content",
            Json::Text(&format!("<system-reminder>\n{context}\n</system-reminder>\n")),
        )]);
        let attachment = format!(
            "{{\"type\":\"hook_additional_context\",\"content\":{content},\"hookName\":\"UserPromptSubmit\",\"toolUseID\":\"hook-1\",\"hookEvent\":\"UserPromptSubmit\"}}"
        );
        self.said(
            &format!("\"type\":\"attachment\",\"attachment\":{attachment}"),
            &format!(",\"rendered\":[{rendered}]"),
        );
        self.counts.injected += 1;
        let listing = self.prose(2_500);
        let attachment = object(&[
            ("type", Json::Text("skill_listing")),
            ("content", Json::Text(&listing)),
            ("skillCount", Json::Number(14)),
        ]);
        self.said(&format!("\"type\":\"attachment\",\"attachment\":{attachment}"), "");
        let body = self.prose(9_000);
        let row = object(&[
            ("type", Json::Text("api-request-blob")),
            ("sessionId", Json::Text(&self.id)),
            ("hash", Json::Text(&token(&mut self.rng, "", 40))),
            ("blob", Json::Text(&body)),
        ]);
        self.row(row);
    }

    /// Copies what another session of the project said, as a branch of it does.
    fn copied(&mut self, past: &Past) {
        let count = self.rng.index(past.rows.len());
        let (from, to) = (format!("\"sessionId\":\"{}\"", past.id), format!("\"sessionId\":\"{}\"", self.id));
        for row in &past.rows[..count] {
            let Some(at) = row.find("\"uuid\":\"") else {
                continue;
            };
            if !row.starts_with("{\"parentUuid\"") || row.contains("\"forkedFrom\":{") {
                continue;
            }
            // The row's own id is the one its time follows.
            let own = row.rfind("\",\"timestamp\":\"").map_or(at + 8, |end| end - 36);
            let uuid = row.get(own..own + 36).unwrap_or_default().to_owned();
            let mut copy = row.replacen(&from, &to, 1);
            copy.pop();
            copy.push_str(&format!(
                ",\"forkedFrom\":{{\"sessionId\":\"{}\",\"messageUuid\":\"{uuid}\"}}}}",
                past.id
            ));
            self.row(copy);
            self.parent = Some(uuid);
            self.counts.copied += 1;
        }
    }
}

fn block_text(said: &str) -> String {
    object(&[("type", Json::Text("text")), ("text", Json::Text(said))])
}

fn image_block(data: &str) -> String {
    let source = object(&[
        ("type", Json::Text("base64")),
        ("media_type", Json::Text("image/png")),
        ("data", Json::Raw(&format!("\"{data}\""))),
    ]);
    object(&[("type", Json::Text("image")), ("source", Json::Raw(&source))])
}
