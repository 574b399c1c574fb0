//! What transcripts are made of: the figures a corpus is calibrated by, of generated and of real ones alike.

use std::collections::{BTreeMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use serde_json::Value;

/// The figures of some transcripts.
#[derive(Debug, Default)]
pub(crate) struct Shape {
    bytes: u64,
    lines: Vec<u64>,
    escapes: u64,
    kept_beside: u64,
    base64: u64,
    rows: BTreeMap<String, (u64, u64)>,
    texts: BTreeMap<&'static str, (u64, u64)>,
    seen: HashSet<u64>,
    repeated: u64,
    words: HashSet<String>,
    word_count: u64,
    /// Bytes and compressed bytes of texts between 2 and 8 KiB.
    packed: (u64, u64),
}

/// Returns the figures of every `.jsonl` under `paths`; of other files, read as plain text, only how text packs.
pub(crate) fn measure(paths: &[PathBuf]) -> Result<Shape> {
    let mut shape = Shape::default();
    let mut files = Vec::new();
    for path in paths {
        collect(path, &mut files)?;
    }
    files.sort();
    for file in files {
        let bytes = fs::read(&file).with_context(|| format!("reading {}", file.display()))?;
        if file.extension().is_some_and(|end| end == "jsonl") {
            for line in bytes.split_inclusive(|&byte| byte == b'\n') {
                shape.line(line);
            }
        } else if let Ok(text) = String::from_utf8(bytes) {
            shape.plain(&text);
        }
    }
    shape.lines.sort_unstable();
    Ok(shape)
}

fn collect(path: &Path, files: &mut Vec<PathBuf>) -> Result<()> {
    if path.is_dir() {
        for entry in fs::read_dir(path)? {
            collect(&entry?.path(), files)?;
        }
    } else if path.extension().is_some_and(|end| end == "jsonl" || end == "rs" || end == "md") {
        files.push(path.to_owned());
    }
    Ok(())
}

impl Shape {
    fn line(&mut self, line: &[u8]) {
        let Ok(Value::Object(row)) = serde_json::from_slice::<Value>(line) else {
            return;
        };
        let row = Value::Object(row);
        let size = line.len() as u64;
        self.bytes += size;
        self.lines.push(size);
        self.escapes += line.split(|byte| *byte == b'\\').count() as u64 - 1;
        self.kept_beside += row.get("toolUseResult").map_or(0, |kept| kept.to_string().len() as u64);
        self.base64(&row);
        let kind = kind(&row);
        let entry = self.rows.entry(kind).or_default();
        *entry = (entry.0 + 1, entry.1 + size);
        if row.get("message").is_some() {
            self.claude(&row);
        } else if row["type"] == "response_item" {
            self.codex(&row["payload"]);
        }
    }

    fn claude(&mut self, row: &Value) {
        let who =
            if row["type"] == "assistant" { "assistant messages" } else { "user messages and injected" };
        match &row["message"]["content"] {
            Value::String(text) => self.text(who, text),
            Value::Array(blocks) => {
                for block in blocks {
                    match block["type"].as_str().unwrap_or_default() {
                        "text" => self.text(who, block["text"].as_str().unwrap_or_default()),
                        "thinking" => self.text("thinking", block["thinking"].as_str().unwrap_or_default()),
                        "tool_use" => self.text("tool inputs", &block["input"].to_string()),
                        "tool_result" => self.text("tool results", &joined(&block["content"])),
                        _ => {}
                    }
                }
            }
            _ => {}
        }
    }

    fn codex(&mut self, item: &Value) {
        match item["type"].as_str().unwrap_or_default() {
            "message" if item["role"] == "assistant" => {
                self.text("assistant messages", &joined(&item["content"]));
            }
            "message" => self.text("user messages and injected", &joined(&item["content"])),
            "reasoning" => self.text("thinking", &joined(&item["summary"])),
            "function_call" => self.text("tool inputs", item["arguments"].as_str().unwrap_or_default()),
            "custom_tool_call" => self.text("tool inputs", item["input"].as_str().unwrap_or_default()),
            "function_call_output" | "custom_tool_call_output" => {
                self.text("tool results", &joined(&item["output"]));
            }
            _ => {}
        }
    }

    fn base64(&mut self, value: &Value) {
        match value {
            Value::String(text) => {
                let long = text.len() > 4_096 && !text.bytes().any(|byte| byte == b' ' || byte == b'\n');
                self.base64 += if long { text.len() as u64 } else { 0 };
            }
            Value::Array(items) => items.iter().for_each(|item| self.base64(item)),
            Value::Object(fields) => fields.values().for_each(|field| self.base64(field)),
            _ => {}
        }
    }

    fn text(&mut self, what: &'static str, text: &str) {
        let entry = self.texts.entry(what).or_default();
        *entry = (entry.0 + 1, entry.1 + text.len() as u64);
        if text.len() > 200 {
            let digest = text.bytes().fold(0xCBF2_9CE4_8422_2325, |hash: u64, byte| {
                (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3)
            });
            if !self.seen.insert(digest) {
                self.repeated += text.len() as u64;
            }
        }
        if (2_048..8_192).contains(&text.len()) {
            self.pack(text);
        }
    }

    fn plain(&mut self, text: &str) {
        let mut rest = text;
        while rest.len() > 2_048 {
            let mut end = rest.len().min(4_096);
            while !rest.is_char_boundary(end) {
                end -= 1;
            }
            self.pack(&rest[..end]);
            rest = &rest[end..];
        }
    }

    fn pack(&mut self, text: &str) {
        let packed = zstd::bulk::compress(text.as_bytes(), 1).map_or(text.len(), |packed| packed.len());
        self.packed = (self.packed.0 + text.len() as u64, self.packed.1 + packed as u64);
        if self.word_count < 500_000 {
            for word in text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()) {
                self.word_count += 1;
                self.words.insert(word.to_lowercase());
            }
        }
    }

    fn quantile(&self, percent: usize) -> u64 {
        self.lines.get((self.lines.len().saturating_sub(1)) * percent / 100).copied().unwrap_or_default()
    }

    /// Prints the figures as a table of Markdown.
    pub(crate) fn print(&self) {
        let share = |part: u64| format!("{:.1} %", 100.0 * part as f64 / self.bytes.max(1) as f64);
        println!("| figure | value |\n|---|---|");
        if !self.lines.is_empty() {
            println!("| bytes; lines | {}; {} |", self.bytes, self.lines.len());
            println!("| line, mean | {} |", self.bytes / self.lines.len() as u64);
            println!(
                "| line, median; 90 %; 99 %; longest | {}; {}; {}; {} |",
                self.quantile(50),
                self.quantile(90),
                self.quantile(99),
                self.quantile(100)
            );
            println!("| an escape every | {:.0} bytes |", self.bytes as f64 / self.escapes.max(1) as f64);
            println!("| event text | {} |", share(self.texts.values().map(|text| text.1).sum()));
            for (what, (count, bytes)) in &self.texts {
                println!("| – {what}: share; mean | {}; {} |", share(*bytes), bytes / count);
            }
            println!(
                "| text over 200 bytes that was there before | {} % of the text |",
                100 * self.repeated / self.texts.values().map(|text| text.1).sum::<u64>().max(1)
            );
            println!("| `toolUseResult` | {} |", share(self.kept_beside));
            println!("| base64 and sealed | {} |", share(self.base64));
        }
        println!(
            "| 2 to 8 KiB of text, packed by zstd -1 to | {:.1} % |",
            100.0 * self.packed.1 as f64 / self.packed.0.max(1) as f64
        );
        println!("| different words in {} words | {} |", self.word_count, self.words.len());
        let mut rows: Vec<_> = self.rows.iter().collect();
        rows.sort_by_key(|row| std::cmp::Reverse(row.1.1));
        for (kind, (count, bytes)) in rows.into_iter().take(24) {
            println!(
                "| row `{kind}`: lines; bytes; mean | {:.1} %; {}; {} |",
                100.0 * *count as f64 / self.lines.len() as f64,
                share(*bytes),
                bytes / count
            );
        }
    }
}

fn joined(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => {
            parts.iter().filter_map(|part| part["text"].as_str()).collect::<Vec<_>>().join("\n")
        }
        _ => String::new(),
    }
}

fn kind(row: &Value) -> String {
    let name = row["type"].as_str().unwrap_or("none");
    let inner = match name {
        "progress" => row["data"]["type"].as_str().map(str::to_owned),
        "system" => row["subtype"].as_str().map(str::to_owned),
        "attachment" => row["attachment"]["type"].as_str().map(str::to_owned),
        "event_msg" => match row["payload"]["item"]["type"].as_str() {
            Some(item) => Some(format!("item_completed/{item}")),
            None => row["payload"]["type"].as_str().map(str::to_owned),
        },
        "response_item" => row["payload"]["type"]
            .as_str()
            .map(|kind| format!("{kind}/{}", row["payload"]["role"].as_str().unwrap_or("-"))),
        "user" | "assistant" => row["message"]["content"][0]["type"].as_str().map(str::to_owned),
        _ => None,
    };
    inner.map_or_else(|| name.to_owned(), |inner| format!("{name}/{inner}"))
}
