//! Sub-agents: a file of their own, a sidecar, and their rows again as progress of the session that started them.

use super::super::File;
use super::super::ids::uuid4;
use super::super::json::{Json, array, object, text};
use super::steps::Outcome;
use super::{Session, block_text};

impl Session<'_> {
    pub(super) fn delegate(&mut self, id: &str) {
        let task = self.prose(900);
        let input = object(&[
            ("description", Json::Text("Explore the code")),
            ("prompt", Json::Text(&task)),
            ("subagent_type", Json::Text("Explore")),
        ]);
        let call = self.called(id, "Task", &input);
        let agent = format!("a{:016x}", self.rng.next());
        let mut inner = Session {
            rng: self.rng.part(1),
            english: self.english,
            project: &mut *self.project,
            id: self.id.clone(),
            version: self.version,
            branch: self.branch.clone(),
            slug: self.slug.clone(),
            clock: self.clock,
            parent: None,
            agent: Some(agent.clone()),
            rows: Vec::new(),
            bytes: 0,
            counts: super::Counts::default(),
            others: Vec::new(),
            backups: std::collections::BTreeMap::new(),
            context: 9_000,
            answer: String::new(),
        };
        inner.prompt(&text(&task), "");
        for _ in 0..inner.rng.range(2, 14) {
            inner.step();
        }
        let size = inner.rng.range(400, 3_500) as usize;
        let report = inner.prose(size);
        inner.request();
        inner.assistant(&block_text(&report));
        inner.counts.messages += 2;
        inner.counts.sessions += 1;
        let (rows, counts, clock) = (inner.rows, inner.counts, inner.clock);
        self.clock = clock;
        self.counts += counts;
        if !self.modern() {
            for row in &rows {
                self.echo(row, &task, &agent, id);
            }
        }
        let meta = object(&[
            ("agentType", Json::Text("Explore")),
            ("description", Json::Text("Explore the code")),
            ("toolUseId", Json::Text(id)),
        ]);
        let mut body = rows.join("\n");
        body.push('\n');
        self.bytes += body.len();
        self.others.push(File { path: format!("subagents/agent-{agent}.jsonl"), body });
        self.others.push(File { path: format!("subagents/agent-{agent}.meta.json"), body: meta });
        let used = format!(
            "agentId: {agent} (for resuming to continue this agent's work if needed)\n<usage>total_tokens: 33894\ntool_uses: 9\nduration_ms: 38799</usage>"
        );
        let content = array(&[block_text(&report), block_text(&used)]);
        let kept = object(&[
            ("status", Json::Text("completed")),
            ("prompt", Json::Text(&task)),
            ("agentId", Json::Text(&agent)),
            ("content", Json::Raw(&array(&[block_text(&report)]))),
            ("totalDurationMs", Json::Number(38_799)),
            ("totalTokens", Json::Number(33_894)),
            ("totalToolUseCount", Json::Number(9)),
        ]);
        self.result(id, &call, "Task", &Outcome { content, kept, error: false });
    }

    /// Writes a sub-agent's row again as progress: its message, without what the client keeps beside.
    fn echo(&mut self, row: &str, task: &str, agent: &str, id: &str) {
        let Some((_, rest)) = row.split_once("\"message\":") else {
            return;
        };
        let answer = rest.find(",\"requestId\":\"req_");
        let end = answer.or_else(|| rest.find(",\"uuid\":\"")).unwrap_or(rest.len() - 1);
        let kind = if answer.is_some() { "assistant" } else { "user" };
        let uuid = uuid4(&mut self.rng);
        let data = format!(
            "{{\"message\":{{\"type\":\"{kind}\",\"message\":{},\"uuid\":\"{uuid}\"}},\"normalizedMessages\":[],\"type\":\"agent_progress\",\"prompt\":{},\"agentId\":\"{agent}\"}}",
            &rest[..end],
            text(task)
        );
        self.said(
            &format!("\"type\":\"progress\",\"data\":{data},\"toolUseID\":\"agent_{agent}\",\"parentToolUseID\":\"{id}\""),
            "",
        );
    }
}
