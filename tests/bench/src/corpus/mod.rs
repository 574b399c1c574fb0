//! The corpus: transcripts of two clients, the same bytes from the same seed on every machine.

mod claude;
mod code;
mod codex;
mod ids;
mod json;
mod rng;
mod words;

use std::fs;
use std::ops::AddAssign;
use std::path::Path;

use anyhow::{Context as _, Result};

use code::Project;
pub(crate) use ids::date;
use rng::Rng;
use words::{Lexicon, prose};

/// Whose transcripts to write.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Client {
    /// Sessions of Claude Code.
    ClaudeCode,
    /// Threads of Codex.
    Codex,
}

/// What a corpus is made of.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plan {
    pub(crate) client: Client,
    /// About how many bytes.
    pub(crate) bytes: u64,
    pub(crate) seed: u64,
    /// At least how many transcripts; sessions are shorter where that wants it.
    pub(crate) files: u64,
    /// Small files and outputs, so that many events fit in few bytes: what is indexed is the same.
    pub(crate) lean: bool,
}

impl Client {
    /// Returns the client's name.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::ClaudeCode => "claude-code",
            Self::Codex => "codex",
        }
    }
}

/// A file to be written, its path under the client's home.
#[derive(Clone, Debug)]
pub(crate) struct File {
    path: String,
    body: String,
}

/// What a reader must find.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    pub(crate) sessions: u64,
    pub(crate) messages: u64,
    pub(crate) thinking: u64,
    pub(crate) calls: u64,
    pub(crate) results: u64,
    pub(crate) injected: u64,
    pub(crate) notices: u64,
    /// Rows that stand in another session's file as well: no events of their own.
    pub(crate) copied: u64,
    /// Files with transcripts in them.
    pub(crate) files: u64,
    pub(crate) lines: u64,
    pub(crate) bytes: u64,
    /// The longest line.
    pub(crate) longest: u64,
}

impl Counts {
    /// Returns how many events a reader stores.
    pub(crate) fn events(&self) -> u64 {
        self.messages + self.thinking + self.calls + self.results + self.injected + self.notices
    }

    /// Returns the manifest.
    pub(crate) fn manifest(&self) -> serde_json::Value {
        serde_json::json!({
            "events": self.events(), "message": self.messages, "thinking": self.thinking, "tool_call": self.calls,
            "tool_result": self.results, "injected": self.injected, "notice": self.notices, "copied_rows": self.copied,
            "sessions": self.sessions, "files": self.files, "lines": self.lines, "bytes": self.bytes, "longest_line": self.longest,
        })
    }
}

impl AddAssign for Counts {
    fn add_assign(&mut self, other: Self) {
        self.sessions += other.sessions;
        self.messages += other.messages;
        self.thinking += other.thinking;
        self.calls += other.calls;
        self.results += other.results;
        self.injected += other.injected;
        self.notices += other.notices;
        self.copied += other.copied;
        self.files += other.files;
        self.lines += other.lines;
        self.bytes += other.bytes;
        self.longest = self.longest.max(other.longest);
    }
}

/// Writes a corpus under `dir`, with `manifest.json` beside it, and returns what it holds.
pub(crate) fn write(dir: &Path, plan: Plan) -> Result<Counts> {
    let english = Lexicon::english();
    let seed = Rng::new(plan.seed ^ if plan.client == Client::Codex { 0xC0DE } else { 0 });
    let mut projects: Vec<Project> = (0..6)
        .map(|number| Project::new(&mut seed.part(1_000 + number), number, &english, plan.lean))
        .collect();
    let instructions = prose(&mut seed.part(5), &english, &projects[0].names, 20_000);
    let mut claude_past = None;
    let mut codex_past = None;
    let mut counts = Counts::default();
    let mut number = 0;
    while counts.bytes < plan.bytes {
        number += 1;
        let mut rng = seed.part(10_000 + number);
        // Sessions of one project come in runs, so that some continue others.
        let at = (number / 4 % 6) as usize;
        let most = (plan.bytes - counts.bytes).min(plan.bytes / plan.files.max(1) * 2).max(2_000);
        let target = rng
            .quantile(&[4_000, 60_000, 200_000, 500_000, 900_000, 1_800_000, 3_600_000, 12_000_000])
            .min(most) as usize;
        if number % 24 == 0 {
            projects[at] =
                Project::new(&mut seed.part(2_000_000 + number), number + at as u64, &english, plan.lean);
        }
        if number % 4 == 0 {
            claude_past = None;
            codex_past = None;
        }
        let files = match plan.client {
            Client::ClaudeCode => {
                claude::session(rng, &english, &mut projects[at], target, &mut claude_past, &mut counts)
            }
            Client::Codex => codex::thread(
                rng,
                &english,
                &mut projects[at],
                &instructions,
                target,
                &mut codex_past,
                &mut counts,
            ),
        };
        for file in files {
            let path = dir.join(&file.path);
            if let Some(folder) = path.parent() {
                fs::create_dir_all(folder)?;
            }
            fs::write(&path, &file.body).with_context(|| format!("writing {}", path.display()))?;
            if Path::new(&file.path).extension().is_some_and(|end| end == "jsonl") {
                counts.files += 1;
                counts.lines += file.body.lines().count() as u64;
                counts.bytes += file.body.len() as u64;
                counts.longest = file
                    .body
                    .lines()
                    .map(|line| line.len() as u64)
                    .max()
                    .unwrap_or_default()
                    .max(counts.longest);
            }
        }
    }
    fs::write(dir.join("manifest.json"), format!("{:#}\n", counts.manifest()))?;
    Ok(counts)
}

/// Returns about `bytes` of prose.
pub(crate) fn text(bytes: usize) -> String {
    let mut rng = Rng::new(1);
    let names = Lexicon::identifiers(&mut rng, 400, false);
    prose(&mut rng, &Lexicon::english(), &names, bytes)
}

/// Returns about `bytes` of text without a space or a mark.
pub(crate) fn unbroken(bytes: usize) -> String {
    let letters: Vec<char> = "这个问题也要一起修复再看看测试是否通过".chars().collect();
    let mut rng = Rng::new(2);
    (0..bytes / 3).map(|_| rng.of(&letters)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use scrollback_core::{Env, Registry, Timestamp};
    use scrollback_engine::{TailOptions, tail};
    use scrollback_parser_claude_code as _;
    use scrollback_parser_codex as _;
    use scrollback_store::Store;
    use std::collections::BTreeMap;
    use std::io;
    use std::path::PathBuf;

    /// A machine on which a corpus is the home of its client.
    struct Machine(PathBuf);

    impl Env for Machine {
        fn var(&self, _: &str) -> Option<String> {
            None
        }

        fn home(&self) -> Option<PathBuf> {
            Some(self.0.clone())
        }

        fn current_dir(&self) -> Option<PathBuf> {
            self.home()
        }

        fn login(&self) -> Option<String> {
            None
        }

        fn now(&self) -> Timestamp {
            Timestamp::from_micros(0).unwrap()
        }

        fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
            fs::read(path)
        }

        fn list(&self, path: &Path) -> io::Result<Vec<PathBuf>> {
            fs::read_dir(path)?.map(|entry| Ok(entry?.path())).collect()
        }
    }

    #[test]
    fn a_reader_understands_every_record_and_finds_what_the_manifest_says() {
        for (client, lean) in [Client::ClaudeCode, Client::Codex]
            .into_iter()
            .flat_map(|client| [(client, true), (client, false)])
        {
            let dir = tempfile::tempdir().unwrap();
            let bytes = if lean { 3_000_000 } else { 6_000_000 };
            let counts = write(dir.path(), Plan { client, bytes, seed: 5, files: 12, lean }).unwrap();
            let mut store = Store::open_in_memory().unwrap();
            let options =
                TailOptions { paths: vec![dir.path().display().to_string()], ..TailOptions::default() };
            let machine = Machine(dir.path().to_owned());
            let report =
                tail(&machine, &Registry::linked().unwrap(), &mut store, &options, &mut |_| ()).unwrap();
            assert_eq!(report.problems, []);
            assert_eq!((report.unreadable, report.not_understood, report.skipped), (0, 0, 0), "{client:?}");
            assert_eq!(report.records, counts.lines, "{client:?}");
            assert_eq!(report.bytes, counts.bytes, "{client:?}");
            assert_eq!(report.stored, counts.events(), "{client:?}, lean: {lean}");
            assert_eq!(report.sources, counts.files, "{client:?}");
            assert!(report.by_parser.iter().all(|(parser, ..)| parser == client.name()), "{report:?}");
        }
    }

    fn made(client: Client, seed: u64) -> (Counts, BTreeMap<String, Vec<u8>>) {
        let dir = tempfile::tempdir().unwrap();
        let dir = dir.path();
        let counts = write(dir, Plan { client, bytes: 300_000, seed, files: 3, lean: true }).unwrap();
        let mut files = BTreeMap::new();
        let mut folders = vec![dir.to_owned()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                } else {
                    let name = path.strip_prefix(dir).unwrap().display().to_string();
                    files.insert(name, fs::read(&path).unwrap());
                }
            }
        }
        (counts, files)
    }

    #[test]
    fn a_seed_gives_the_same_bytes_and_another_gives_others() {
        for client in [Client::ClaudeCode, Client::Codex] {
            let (counts, one) = made(client, 11);
            std::thread::sleep(std::time::Duration::from_millis(5));
            let (again, other) = (made(client, 11).1, made(client, 12).1);
            assert!(one == again, "{client:?}: two runs of one seed differ");
            assert!(one != other, "{client:?}: two seeds give the same");
            assert!(counts.events() > 20 && counts.bytes >= 300_000, "{counts:?}");
        }
    }
}
