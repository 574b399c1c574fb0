//! The tools: what they are given, what they answer, what the client keeps beside.

use super::super::code::image;
use super::super::json::{Json, array, object, text};
use super::steps::Outcome;
use super::{Session, image_block};

impl Session<'_> {
    pub(super) fn bash(&mut self, id: &str) {
        let name = self.project.names.word(&mut self.rng).to_owned();
        let path = self.project.files[self.project.pick(&mut self.rng)].path.clone();
        let command = match self.rng.below(6) {
            0 => format!("cd {} && cargo test -p {name} 2>&1 | tail -40", self.project.root),
            1 => format!("git diff --stat HEAD~1 -- {path} && git log --oneline -5"),
            2 => format!("rg -n \"{name}\" --type-add 'src:*.rs' {} | head -50", self.project.root),
            3 => format!("npm run test -- --filter='{name}' 2>&1 | grep -E \"(FAIL|PASS|Error)\""),
            4 => format!(
                "python3 - <<'EOF'\n{}\nEOF",
                self.project.code(&mut self.rng, self.english, 14).join("\n")
            ),
            _ => format!("ls -la {} && sed -n '1,80p' {path}", self.project.root),
        };
        let what = self.prose(30);
        let input = object(&[("command", Json::Text(&command)), ("description", Json::Text(&what))]);
        let call = self.called(id, "Bash", &input);
        let size =
            self.rng.quantile(&[0, 20, 90, 200, 380, 700, 1_200, 2_000, 3_400, 6_000, 29_000]) as usize;
        let output = self.project.output(&mut self.rng, self.english, size);
        let polls = if self.modern() { 0 } else { self.rng.quantile(&[0, 0, 0, 0, 1, 2, 6]) };
        for waited in 0..polls {
            let tail: String = output.chars().take(400).collect();
            let data = object(&[
                ("type", Json::Text("bash_progress")),
                ("output", Json::Text(&tail)),
                ("fullOutput", Json::Text(&tail)),
                ("elapsedTimeSeconds", Json::Number(waited + 2)),
                ("totalLines", Json::Number(8)),
                ("totalBytes", Json::Number(tail.len() as u64)),
                ("timeoutMs", Json::Number(120_000)),
            ]);
            self.said(
                &format!("\"type\":\"progress\",\"data\":{data},\"toolUseID\":\"bash-progress-{waited}\",\"parentToolUseID\":\"{id}\""),
                "",
            );
        }
        let error = self.rng.percent(8);
        let (content, kept) = if error {
            let shown = format!("Exit code 1\n{output}");
            (text(&shown), text(&format!("Error: {shown}")))
        } else {
            let kept = object(&[
                ("stdout", Json::Text(&output)),
                ("stderr", Json::Text("")),
                ("interrupted", Json::Bool(false)),
                ("isImage", Json::Bool(false)),
                ("noOutputExpected", Json::Bool(false)),
            ]);
            (text(&output), kept)
        };
        self.result(id, &call, "Bash", &Outcome { content, kept, error });
    }

    pub(super) fn read(&mut self, id: &str) {
        if self.rng.once_in(300) {
            return self.screenshot(id);
        }
        let source = self.project.files[self.project.pick(&mut self.rng)].clone();
        let all = source.lines.len();
        let (first, count) = if self.rng.percent(45) {
            (0, all.min(2_000))
        } else {
            (self.rng.index(all), self.rng.range(20, 140) as usize)
        };
        let mut input = format!("{{\"file_path\":{}", text(&source.path));
        if first > 0 {
            input.push_str(&format!(",\"offset\":{},\"limit\":{count}", first + 1));
        }
        input.push('}');
        let lines = &source.lines[first..(first + count).min(all)];
        let file = object(&[
            ("filePath", Json::Text(&source.path)),
            ("content", Json::Text(&lines.join("\n"))),
            ("numLines", Json::Number(lines.len() as u64)),
            ("startLine", Json::Number(first as u64 + 1)),
            ("totalLines", Json::Number(all as u64)),
        ]);
        let kept = object(&[("type", Json::Text("text")), ("file", Json::Raw(&file))]);
        self.plain(id, "Read", &input, &source.numbered(first, count, "→"), kept);
    }

    fn screenshot(&mut self, id: &str) {
        let path = format!("{}/shots/{}.png", self.project.root, self.project.names.word(&mut self.rng));
        let call = self.called(id, "Read", &object(&[("file_path", Json::Text(&path))]));
        // Now and then a picture of a whole page: a line of megabytes.
        let size = self.rng.quantile(&[12_000, 40_000, 70_000, 120_000, 200_000, 1_600_000]) as usize;
        let data = image(&mut self.rng, size);
        let file = object(&[
            ("base64", Json::Raw(&format!("\"{data}\""))),
            ("type", Json::Text("image/png")),
            ("originalSize", Json::Number(size as u64 * 3 / 4)),
        ]);
        let kept = object(&[("type", Json::Text("image")), ("file", Json::Raw(&file))]);
        let content = array(&[image_block(&data)]);
        self.result(id, &call, "Read", &Outcome { content, kept, error: false });
    }

    pub(super) fn edit(&mut self, id: &str) {
        let file = self.project.pick(&mut self.rng);
        let before = self.project.files[file].text();
        let edit = self.project.edit(&mut self.rng, self.english, file);
        let path = self.project.files[file].path.clone();
        let (old, new) = (edit.old.join("\n"), edit.new.join("\n"));
        let input = object(&[
            ("replace_all", Json::Bool(false)),
            ("file_path", Json::Text(&path)),
            ("old_string", Json::Text(&old)),
            ("new_string", Json::Text(&new)),
        ]);
        let call = self.called(id, "Edit", &input);
        if self.rng.percent(6) {
            let content = text("<tool_use_error>String to replace not found in file.</tool_use_error>");
            let kept = text("Error: String to replace not found in file.");
            return self.result(id, &call, "Edit", &Outcome { content, kept, error: true });
        }
        *self.backups.entry(path.clone()).or_insert(0) += 1;
        let shown = if self.rng.percent(50) {
            let around =
                self.project.files[file].numbered(edit.first.saturating_sub(4), edit.new.len() + 8, "→");
            format!(
                "The file {path} has been updated. Here's the result of running `cat -n` on a snippet of the edited file:\n{around}"
            )
        } else {
            format!("The file {path} has been updated successfully.")
        };
        let removed = edit.old.iter().map(|line| text(&format!("-{line}")));
        let lines: Vec<String> =
            removed.chain(edit.new.iter().map(|line| text(&format!("+{line}")))).collect();
        let patch = format!(
            "[{{\"oldStart\":{0},\"oldLines\":{1},\"newStart\":{0},\"newLines\":{2},\"lines\":{3}}}]",
            edit.first + 1,
            edit.old.len(),
            edit.new.len(),
            array(&lines)
        );
        let kept = object(&[
            ("filePath", Json::Text(&path)),
            ("oldString", Json::Text(&old)),
            ("newString", Json::Text(&new)),
            ("originalFile", Json::Text(&before)),
            ("structuredPatch", Json::Raw(&patch)),
            ("userModified", Json::Bool(false)),
            ("replaceAll", Json::Bool(false)),
        ]);
        self.result(id, &call, "Edit", &Outcome { content: text(&shown), kept, error: false });
    }

    pub(super) fn grep(&mut self, id: &str) {
        let name = self.project.names.word(&mut self.rng).to_owned();
        let input = object(&[
            ("pattern", Json::Text(&name)),
            ("path", Json::Text(&self.project.root)),
            ("output_mode", Json::Text("content")),
            ("-n", Json::Bool(true)),
        ]);
        let size = self.rng.quantile(&[15, 120, 400, 900, 2_000, 12_000]) as usize;
        let found = self.project.output(&mut self.rng, self.english, size);
        let kept = object(&[
            ("mode", Json::Text("content")),
            ("numFiles", Json::Number(0)),
            ("filenames", Json::Raw("[]")),
            ("content", Json::Text(&found)),
            ("numLines", Json::Number(found.lines().count() as u64)),
        ]);
        self.plain(id, "Grep", &input, &found, kept);
    }

    pub(super) fn write(&mut self, id: &str) {
        let lines = self.rng.quantile(&[6, 20, 50, 90, 160, 260, 600]) as usize;
        let source = self.project.source(&mut self.rng, self.english, lines);
        let content = source.text();
        let input = object(&[("file_path", Json::Text(&source.path)), ("content", Json::Text(&content))]);
        let kept = object(&[
            ("type", Json::Text("create")),
            ("filePath", Json::Text(&source.path)),
            ("content", Json::Text(&content)),
            ("structuredPatch", Json::Raw("[]")),
            ("originalFile", Json::Null),
        ]);
        let shown = format!("File created successfully at: {}", source.path);
        self.project.files.push(source);
        self.plain(id, "Write", &input, &shown, kept);
    }

    pub(super) fn glob(&mut self, id: &str) {
        let count = self.rng.range(1, 60) as usize;
        let names: Vec<&str> = self.project.files.iter().map(|file| file.path.as_str()).take(count).collect();
        let quoted: Vec<String> = names.iter().map(|name| text(name)).collect();
        let shown = names.join("\n");
        let kept = format!(
            "{{\"filenames\":{},\"durationMs\":14,\"numFiles\":{},\"truncated\":false}}",
            array(&quoted),
            quoted.len()
        );
        self.plain(id, "Glob", "{\"pattern\":\"**/*\"}", &shown, kept);
    }

    pub(super) fn todo(&mut self, id: &str) {
        let todos: Vec<String> = (0..self.rng.range(3, 9))
            .map(|_| {
                let what = self.prose(50);
                let status = self.rng.of(&["pending", "in_progress", "completed"]);
                object(&[
                    ("content", Json::Text(&what)),
                    ("status", Json::Text(status)),
                    ("activeForm", Json::Text(&what)),
                ])
            })
            .collect();
        let todos = array(&todos);
        let input = object(&[("todos", Json::Raw(&todos))]);
        let kept = object(&[("oldTodos", Json::Raw(&todos)), ("newTodos", Json::Raw(&todos))]);
        let shown = "Todos have been modified successfully. Ensure that you continue to use the todo list to track your progress.";
        self.plain(id, "TodoWrite", &input, shown, kept);
    }

    pub(super) fn fetch(&mut self, id: &str) {
        let url = format!("https://docs.example.com/{}", self.project.names.word(&mut self.rng));
        let question = self.prose(90);
        let input = object(&[("url", Json::Text(&url)), ("prompt", Json::Text(&question))]);
        let size = self.rng.range(600, 6_000) as usize;
        let page = self.prose(size);
        let kept = object(&[
            ("bytes", Json::Number(275_108)),
            ("code", Json::Number(200)),
            ("codeText", Json::Text("OK")),
            ("result", Json::Text(&page)),
            ("durationMs", Json::Number(4_993)),
            ("url", Json::Text(&url)),
        ]);
        self.plain(id, "WebFetch", &input, &page, kept);
    }
}
