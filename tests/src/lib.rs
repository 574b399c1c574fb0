//! What the tests of this crate stand on: a machine of their own, the program run on it, and the transcripts
//! that are recorded in the repository or lie elsewhere.

#![expect(clippy::print_stdout, reason = "a test that is not run says so")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::rc::Rc;
use std::time::{Duration, SystemTime};
use tempfile::TempDir;

/// Every file put into a sandbox was last changed then, a while ago: 2025-01-01.
const CHANGED: Duration = Duration::from_secs(1_735_689_600);

/// A machine in a temporary directory: a home, a store, and the program, run with no environment but its own.
pub struct Sandbox {
    program: PathBuf,
    home: Rc<TempDir>,
    data: TempDir,
    variables: Vec<(String, String)>,
}

/// What a run of the program gave.
#[derive(Debug)]
pub struct Ran {
    /// The exit status.
    pub code: i32,
    /// Standard output.
    pub stdout: String,
    /// Standard error.
    pub stderr: String,
}

impl Ran {
    /// Returns what a run gave.
    ///
    /// # Panics
    ///
    /// If a signal ended it, or what it printed is not UTF-8.
    pub fn of(output: Output) -> Self {
        let Output { status, stdout, stderr } = output;
        let code = status.code().unwrap_or_else(|| panic!("ended by a signal: {status}"));
        let text = |bytes| String::from_utf8(bytes).unwrap_or_else(|error| panic!("{error}"));
        Self { code, stdout: text(stdout), stderr: text(stderr) }
    }

    /// Returns standard output of a run that went well and complained of nothing.
    ///
    /// # Panics
    ///
    /// If it did not.
    pub fn well(self) -> String {
        assert_eq!((self.code, self.stderr.as_str()), (0, ""), "{}", self.stdout);
        self.stdout
    }
}

impl Sandbox {
    /// Returns a machine with an empty home, on which `program` is run.
    pub fn new(program: impl Into<PathBuf>) -> Self {
        Self { program: program.into(), home: Rc::new(directory()), data: directory(), variables: Vec::new() }
    }

    /// Returns a machine with the same home, and a store of its own.
    #[must_use]
    pub fn beside(&self) -> Self {
        Self {
            program: self.program.clone(),
            home: Rc::clone(&self.home),
            data: directory(),
            variables: self.variables.clone(),
        }
    }

    /// Sets an environment variable; an empty value takes it away.
    #[must_use]
    pub fn var(mut self, name: &str, value: impl Into<String>) -> Self {
        self.variables.push((name.to_owned(), value.into()));
        self
    }

    /// Returns the home directory.
    pub fn home(&self) -> &Path {
        self.home.path()
    }

    /// Returns the directory of the store; it is made by the program.
    pub fn data(&self) -> PathBuf {
        self.data.path().join("data")
    }

    /// Returns where the store is.
    pub fn store(&self) -> PathBuf {
        self.data().join("store.db")
    }

    /// Puts a file or a directory into the home, at a path below it. Goldens stay behind.
    ///
    /// # Panics
    ///
    /// If it cannot be copied.
    pub fn put(&self, from: &Path, at: impl AsRef<Path>) -> PathBuf {
        let to = self.home().join(at);
        copy(from, &to);
        to
    }

    /// Writes a file into the home, at a path below it.
    ///
    /// # Panics
    ///
    /// If it cannot be written.
    pub fn write(&self, at: impl AsRef<Path>, text: impl AsRef<[u8]>) -> PathBuf {
        let to = self.home().join(at);
        parent(&to);
        #[expect(clippy::disallowed_methods, reason = "a file of the sandbox")]
        fs::write(&to, text).unwrap_or_else(|error| panic!("{}: {error}", to.display()));
        long_ago(&to);
        to
    }

    /// Puts what the real clients recorded to where they keep it.
    pub fn put_recorded(&self) {
        self.put(&recorded("claude-code").join("projects"), ".claude/projects");
        for file in transcripts(&recorded("codex")) {
            self.put(&file, Path::new(".codex").join(codex_place(&file)));
        }
    }

    /// Returns the program, about to be run.
    #[expect(clippy::disallowed_methods, reason = "the program under test")]
    pub fn command<S: AsRef<std::ffi::OsStr>>(&self, args: &[S]) -> Command {
        let mut command = Command::new(&self.program);
        command
            .args(args)
            .env_clear()
            .env("HOME", self.home())
            .env("USER", "dev")
            .env("PATH", "/usr/bin:/bin")
            .env("TZ", "UTC")
            .env("NO_COLOR", "1")
            .env("SCROLLBACK_HOME", self.data())
            .current_dir(self.home())
            .stdin(Stdio::null());
        for (name, value) in &self.variables {
            if value.is_empty() {
                command.env_remove(name);
            } else {
                command.env(name, value);
            }
        }
        command
    }

    /// Runs the program.
    ///
    /// # Panics
    ///
    /// If it cannot be run.
    pub fn run<S: AsRef<std::ffi::OsStr>>(&self, args: &[S]) -> Ran {
        Ran::of(self.command(args).output().unwrap_or_else(|error| panic!("{error}")))
    }

    /// Runs the program, which must go well and complain of nothing, and returns what it printed.
    pub fn well<S: AsRef<std::ffi::OsStr>>(&self, args: &[S]) -> String {
        self.run(args).well()
    }

    /// Reads files into the store, in the order given.
    pub fn read(&self, files: &[PathBuf]) {
        let mut args = vec![std::ffi::OsString::from("tail")];
        for file in files {
            args.push("--path".into());
            args.push(file.into());
        }
        self.well(&args);
    }

    /// Returns everything the store holds, as lines of JSON.
    pub fn export(&self) -> String {
        self.well(&["export"])
    }
}

fn directory() -> TempDir {
    tempfile::tempdir().unwrap_or_else(|error| panic!("no temporary directory: {error}"))
}

/// Returns the root of the repository.
pub fn root() -> PathBuf {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR"));
    manifest.parent().unwrap_or(manifest).to_owned()
}

/// Returns the file at a path below the root.
///
/// # Panics
///
/// If it cannot be read.
pub fn page(path: impl AsRef<Path>) -> String {
    let path = root().join(path);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Returns the directory of fixtures outside the repository, which the environment variable
/// `SCROLLBACK_FIXTURES` names: a folder a client. Without it says which test is not run.
pub fn fixtures(test: &str) -> Option<PathBuf> {
    #[expect(clippy::disallowed_methods, reason = "a test asks where its input is")]
    let root = std::env::var_os("SCROLLBACK_FIXTURES").map(PathBuf::from);
    if root.is_none() {
        println!("NOT RUN: {test}: SCROLLBACK_FIXTURES names no directory of fixtures");
    }
    root
}

/// Says whether a person asked for expected outputs to be written anew.
pub fn blessing() -> bool {
    #[expect(clippy::disallowed_methods, reason = "how a person asks for it")]
    let asked = std::env::var_os("SCROLLBACK_BLESS");
    asked.is_some_and(|value| value == "1")
}

/// Compares a text with a file below the root; with `SCROLLBACK_BLESS=1` writes the file.
///
/// # Panics
///
/// If it is another.
pub fn expect(path: impl AsRef<Path>, found: &str) {
    let path = root().join(path);
    if blessing() {
        #[expect(clippy::disallowed_methods, reason = "an expected output that a person asked for")]
        fs::write(&path, found).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        return;
    }
    let expected = fs::read_to_string(&path).unwrap_or_default();
    let at = expected.lines().zip(found.lines()).take_while(|(a, b)| a == b).count();
    let show = |text: &str| text.lines().nth(at).unwrap_or("(nothing)").to_owned();
    assert!(
        expected == found,
        "{}, line {}: SCROLLBACK_BLESS=1 writes it anew, to be read as a diff\n  expected: {}\n  found:    {}",
        path.display(),
        at + 1,
        show(&expected),
        show(found)
    );
}

/// Returns the folder of what the real client recorded, in the repository.
///
/// # Panics
///
/// If there is none.
pub fn recorded(client: &str) -> PathBuf {
    let fixtures = fixtures_of(client);
    let mut folders = list(&fixtures);
    folders.retain(|path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.starts_with("real-") || name.ends_with("-walk")
    });
    folders.pop().unwrap_or_else(|| panic!("{}: nothing recorded", fixtures.display()))
}

/// Returns the folder of a client's fixtures in the repository.
pub fn fixtures_of(client: &str) -> PathBuf {
    root().join("parsers").join(client).join("fixtures")
}

/// Returns the transcript of a client whose path below its fixtures holds `part`.
///
/// # Panics
///
/// If it is not exactly one.
pub fn fixture(client: &str, part: &str) -> PathBuf {
    let folder = fixtures_of(client);
    let mut found = transcripts(&folder);
    found.retain(|path| path.strip_prefix(&folder).unwrap_or(path).to_string_lossy().contains(part));
    match <[PathBuf; 1]>::try_from(found) {
        Ok([one]) => one,
        Err(found) => panic!("{part} names {found:?}"),
    }
}

/// Files beside transcripts that are none.
const OTHERS: [&str; 8] = [
    "hook-payloads.jsonl",
    "mcp-messages.jsonl",
    "requests-summary.jsonl",
    "steps.jsonl",
    "history.jsonl",
    "session_index.jsonl",
    "journal.jsonl",
    "hook_payloads.jsonl",
];

/// Returns the transcripts below a folder, sorted.
///
/// # Panics
///
/// If there is none.
pub fn transcripts(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut ahead = vec![folder.to_owned()];
    while let Some(folder) = ahead.pop() {
        for path in list(&folder) {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            if path.is_dir() {
                ahead.push(path);
            } else if path.extension().is_some_and(|extension| extension == "jsonl")
                && !is_golden(&path)
                && !OTHERS.contains(&name.as_str())
            {
                found.push(path);
            }
        }
    }
    found.sort();
    assert!(!found.is_empty(), "{} holds no transcript", folder.display());
    found
}

fn list(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut paths: Vec<PathBuf> = entries.filter_map(Result::ok).map(|entry| entry.path()).collect();
    paths.sort();
    paths
}

fn is_golden(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    name.ends_with(".events.jsonl") || name.ends_with(".told")
}

/// Returns where Codex keeps a file of that name: in a folder a day.
fn codex_place(file: &Path) -> PathBuf {
    let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let date = name.strip_prefix("rollout-").and_then(|rest| rest.get(..10)).unwrap_or_default();
    Path::new("sessions").join(date.replace('-', "/")).join(name)
}

fn copy(from: &Path, to: &Path) {
    if from.is_dir() {
        for path in list(from) {
            copy(&path, &to.join(path.file_name().unwrap_or_default()));
        }
    } else if !is_golden(from) {
        parent(to);
        fs::copy(from, to).unwrap_or_else(|error| panic!("{}: {error}", from.display()));
        long_ago(to);
    }
}

fn parent(path: &Path) {
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent).unwrap_or_else(|error| panic!("{}: {error}", parent.display()));
    }
}

/// Sets when a file was last changed: a source that just changed is not idle.
fn long_ago(path: &Path) {
    let file = fs::File::options().append(true).open(path);
    let set = file.and_then(|file| file.set_modified(SystemTime::UNIX_EPOCH + CHANGED));
    set.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
}
