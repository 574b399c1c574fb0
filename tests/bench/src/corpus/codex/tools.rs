//! The tools of Codex: commands, patches, scripts, sub-agents.

use super::super::ids::{token, uuid4};
use super::super::json::{Json, array, object, text};
use super::{Age, Thread};

impl Thread<'_> {
    pub(super) fn call(&mut self) {
        let call = token(&mut self.rng, "call_", 24);
        match self.rng.weighted(&[76, 21, 3]) {
            1 => self.patch(&call),
            2 if self.root == self.id => self.delegate(&call),
            _ if self.age == Age::Script => self.script(&call),
            _ => self.command(&call),
        }
    }

    /// Writes a function call.
    pub(super) fn function(&mut self, name: &str, arguments: &str, call: &str) {
        let own = if self.age == Age::Early {
            String::new()
        } else {
            format!("\"id\":\"{}\",", token(&mut self.rng, "fc_0", 48))
        };
        self.item(format!("{{\"type\":\"function_call\",{own}\"name\":\"{name}\",\"arguments\":{},\"call_id\":\"{call}\"", text(arguments)), "");
        self.counts.calls += 1;
    }

    /// Writes a function call's output.
    pub(super) fn output(&mut self, call: &str, said: &str) {
        let (own, _) = self.own("fco");
        self.item(
            format!(
                "{{\"type\":\"function_call_output\"{own},\"call_id\":\"{call}\",\"output\":{}",
                text(said)
            ),
            "",
        );
        self.context += (said.len() as u64 / 4).min(9_000);
        self.counts.results += 1;
    }

    /// Returns a command and what it prints.
    fn ran(&mut self) -> (String, String) {
        let source = self.project.files[self.project.pick(&mut self.rng)].clone();
        let short = source
            .path
            .strip_prefix(&self.project.root)
            .unwrap_or(&source.path)
            .trim_start_matches('/')
            .to_owned();
        if self.rng.percent(42) {
            let first = self.rng.index(source.lines.len());
            let count = self.rng.range(40, 260) as usize;
            let printed: String = if self.rng.percent(30) {
                source.numbered(first, count, "\t")
            } else {
                source
                    .lines
                    .iter()
                    .skip(first)
                    .take(count)
                    .fold(String::new(), |text, line| text + line + "\n")
            };
            return (format!("sed -n '{},{}p' {short}", first + 1, first + count), printed);
        }
        let name = self.project.names.word(&mut self.rng).to_owned();
        let command = match self.rng.below(5) {
            0 => format!("rg -n \"{name}\" {short}"),
            1 => format!("cargo test -p {name} -- --nocapture 2>&1 | tail -n 60"),
            2 => String::from("git status --short && git diff --stat"),
            3 => format!(
                "python3 - <<'PY'\n{}\nPY",
                self.project.code(&mut self.rng, self.english, 10).join("\n")
            ),
            _ => format!("ls -la && cat {short} | head -n 80"),
        };
        let size = self.rng.quantile(&[0, 30, 140, 380, 800, 1_500, 2_600, 4_400, 9_000, 40_000]) as usize;
        let printed = self.project.output(&mut self.rng, self.english, size);
        (command, printed)
    }

    fn command(&mut self, call: &str) {
        let (command, printed) = self.ran();
        let code = u64::from(self.rng.percent(9));
        let (name, arguments) = match self.age {
            Age::Early => (
                "shell",
                format!(
                    "{{\"command\":[\"bash\",\"-lc\",{}],\"workdir\":{},\"timeout_ms\":120000}}",
                    text(&command),
                    text(&self.project.root)
                ),
            ),
            Age::Late => (
                "shell_command",
                format!("{{\"command\":{},\"workdir\":{}}}", text(&command), text(&self.project.root)),
            ),
            Age::Paginated | Age::Script => (
                "exec_command",
                format!(
                    "{{\"cmd\":{},\"workdir\":{},\"yield_time_ms\":10000}}",
                    text(&command),
                    text(&self.project.root)
                ),
            ),
        };
        self.function(name, &arguments, call);
        let shown = match self.age {
            Age::Early => object(&[
                ("output", Json::Text(&printed)),
                ("metadata", Json::Raw(&format!("{{\"exit_code\":{code},\"duration_seconds\":0.4}}"))),
            ]),
            Age::Late => format!("Exit code: {code}\nWall time: 0.4 seconds\nOutput:\n{printed}"),
            Age::Paginated | Age::Script => format!(
                "Chunk ID: {:06x}\nWall time: 0.0502 seconds\nProcess exited with code {code}\nOriginal token count: {}\nOutput:\n{printed}",
                self.rng.below(1 << 24),
                printed.len() / 4
            ),
        };
        if self.paged() {
            self.executed(call, &command, &printed, code);
        }
        self.output(call, &shown);
    }

    fn executed(&mut self, id: &str, command: &str, printed: &str, code: u64) {
        let status = if code == 0 { "completed" } else { "failed" };
        let process = self.rng.range(1_000, 99_999);
        self.completed(&format!(
            "{{\"type\":\"CommandExecution\",\"id\":\"{id}\",\"process_id\":\"{process}\",\"command\":[\"/bin/bash\",\"-lc\",{}],\"cwd\":\"file://{}\",\"parsed_cmd\":[{{\"type\":\"unknown\",\"cmd\":{}}}],\"source\":\"unified_exec_startup\",\"status\":\"{status}\",\"aggregated_output\":{},\"exit_code\":{code},\"duration\":{{\"secs\":0,\"nanos\":8386}}}}",
            text(command),
            self.project.root,
            text(command),
            text(printed)
        ));
    }

    /// Writes a script that runs commands: they stand in items of their own, with ids that no call has.
    fn script(&mut self, call: &str) {
        let mut runs = Vec::new();
        for _ in 0..self.rng.of(&[1, 1, 1, 2, 3]) {
            runs.push(self.ran());
        }
        let input: String = runs.iter().fold(String::new(), |input, (command, _)| {
            input
                + &format!("const r = await tools.exec_command({{cmd:{}}}); text(r.output);\n", text(command))
        });
        let (own, _) = self.own("ctc");
        self.item(format!("{{\"type\":\"custom_tool_call\"{own},\"status\":\"completed\",\"call_id\":\"{call}\",\"name\":\"exec\",\"input\":{}", text(&input)), "");
        self.counts.calls += 1 + runs.len() as u64;
        self.counts.results += 1 + runs.len() as u64;
        let mut parts = vec![object(&[
            ("type", Json::Text("input_text")),
            ("text", Json::Text("Script completed\nWall time 0.7 seconds\nOutput:\n")),
        ])];
        for (command, printed) in &runs {
            let id = format!("exec-{}", uuid4(&mut self.rng));
            self.executed(&id, command, printed, 0);
            parts.push(object(&[("type", Json::Text("input_text")), ("text", Json::Text(printed))]));
        }
        let (own, _) = self.own("ctco");
        self.item(
            format!(
                "{{\"type\":\"custom_tool_call_output\"{own},\"call_id\":\"{call}\",\"output\":{}",
                array(&parts)
            ),
            "",
        );
    }

    fn patch(&mut self, call: &str) {
        let file = self.project.pick(&mut self.rng);
        let edit = self.project.edit(&mut self.rng, self.english, file);
        let path = self.project.files[file].path.clone();
        let short = path.strip_prefix(&self.project.root).unwrap_or(&path).trim_start_matches('/').to_owned();
        let mut body = String::new();
        for (mark, lines) in [('-', &edit.old), ('+', &edit.new)] {
            for line in lines {
                body.push(mark);
                body.push_str(line);
                body.push('\n');
            }
        }
        let input = format!("*** Begin Patch\n*** Update File: {short}\n@@\n{body}*** End Patch\n");
        let own = if self.age == Age::Early {
            String::new()
        } else {
            format!("\"id\":\"{}\",", token(&mut self.rng, "ctc_0", 48))
        };
        self.item(format!("{{\"type\":\"custom_tool_call\",{own}\"status\":\"completed\",\"call_id\":\"{call}\",\"name\":\"apply_patch\",\"input\":{}", text(&input)), "");
        let printed = format!("Success. Updated the following files:\nM {short}\n");
        let diff = format!("@@ -{0},{1} +{0},{2} @@\n{body}", edit.first + 1, edit.old.len(), edit.new.len());
        let changes = format!(
            "{{{}:{{\"type\":\"update\",\"unified_diff\":{},\"move_path\":null}}}}",
            text(&path),
            text(&diff)
        );
        if self.paged() {
            self.completed(&format!("{{\"type\":\"FileChange\",\"id\":\"{call}\",\"changes\":{changes},\"status\":\"completed\",\"stdout\":{},\"stderr\":\"\"}}", text(&printed)));
        } else if self.age == Age::Late {
            self.event(&format!("{{\"type\":\"patch_apply_end\",\"call_id\":\"{call}\",\"turn_id\":\"{}\",\"stdout\":{},\"stderr\":\"\",\"success\":true,\"changes\":{changes},\"status\":\"completed\"}}", self.turn, text(&printed)));
        }
        let shown = if self.age == Age::Early {
            object(&[
                ("output", Json::Text(&printed)),
                ("metadata", Json::Raw("{\"exit_code\":0,\"duration_seconds\":0.0}")),
            ])
        } else {
            format!("Exit code: 0\nWall time: 0 seconds\nOutput:\n{printed}")
        };
        let (own, _) = self.own("ctco");
        self.item(
            format!(
                "{{\"type\":\"custom_tool_call_output\"{own},\"call_id\":\"{call}\",\"output\":{}",
                text(&shown)
            ),
            "",
        );
        self.counts.calls += 1;
        self.counts.results += 1;
    }
}
