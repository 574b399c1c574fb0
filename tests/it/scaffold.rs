//! A client added by somebody else: a crate begun with `new parser`, outside the workspace, built and run by
//! what its README and the guide say, word for word.

use crate::docs::{blocks, excerpt};
use crate::support::{of_type, text, values};
use scrollback_tests::{Ran, Sandbox, page, root};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use tempfile::TempDir;

/// Where the workspace is built; what is built for it is not built again.
fn target() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap().to_owned()
}

/// A directory that a person works in: a checkout of scrollback in it, `scrollback` and cargo on the path.
struct Workshop {
    directory: TempDir,
}

impl Workshop {
    fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let at = directory.path();
        let root = root().canonicalize().unwrap();
        let link = |from: &Path, to: &str| std::os::unix::fs::symlink(from, at.join(to)).unwrap();
        for folder in ["bin", ".cargo"] {
            fs::create_dir(at.join(folder)).unwrap();
        }
        link(&root, "scrollback");
        link(Path::new(env!("CARGO_BIN_EXE_scrollback-under-test")), "bin/scrollback");
        link(Path::new(env!("CARGO")), "bin/cargo");
        fs::copy(root.join("rust-toolchain.toml"), at.join("rust-toolchain.toml")).unwrap();
        put(&at.join(".cargo/config.toml"), &settings());
        Self { directory }
    }

    fn path(&self) -> &Path {
        self.directory.path()
    }

    /// Runs a line of a shell.
    fn run(&self, within: &Path, line: &str) -> Ran {
        // The versions that the workspace was tested with, so that nothing is fetched.
        if within.join("Cargo.toml").exists() && !within.join("Cargo.lock").exists() {
            fs::copy(root().join("Cargo.lock"), within.join("Cargo.lock")).unwrap();
        }
        #[expect(clippy::disallowed_methods, reason = "what a document says is done as its reader would")]
        let (mut command, path) = (Command::new("sh"), std::env::var_os("PATH").unwrap());
        let mut folders = vec![self.path().join("bin")];
        folders.extend(std::env::split_paths(&path));
        command
            .args(["-c", line])
            .current_dir(within)
            .env("PATH", std::env::join_paths(folders).unwrap())
            .env("SCROLLBACK_HOME", self.path().join("data"))
            .env("CARGO_TERM_COLOR", "never")
            .env("TZ", "UTC")
            .env_remove("SCROLLBACK_BLESS")
            .env_remove("CARGO_TARGET_DIR")
            .stdin(Stdio::null());
        Ran::of(command.output().unwrap())
    }

    /// Does what the blocks of a document say, and sees what they say is printed. Returns where that ends.
    fn follow(&self, document: &str, within: &Path) -> PathBuf {
        let mut within = within.to_owned();
        let consoles = blocks(document).0.into_iter().filter(|(language, _)| language == "console");
        let mut followed = 0;
        for (_, block) in consoles {
            for (line, expected) in steps(&block) {
                followed += 1;
                if let Some(folder) = line.strip_prefix("cd ") {
                    within = within.join(folder);
                    continue;
                }
                let ran = self.run(&within, line);
                assert_eq!(ran.code, 0, "$ {line}\n{}\n{}", ran.stdout, ran.stderr);
                if let Err(missing) = excerpt(&expected, &ran.stdout) {
                    panic!("$ {line}\ndoes not print {missing:?}, in that order:\n{}", ran.stdout);
                }
            }
        }
        assert!(followed > 0, "nothing to do");
        within
    }
}

/// Has cargo build with what is here, and each crate as it is built for the workspace.
fn settings() -> String {
    use std::fmt::Write as _;
    let mut settings = format!(
        "[build]\ntarget-dir = '{}'\n[net]\noffline = true\n[profile.dev]\ndebug = \"line-tables-only\"\n\
         [profile.dev.package.\"*\"]\nopt-level = 1\n",
        target().display()
    );
    for name in ["core", "store", "engine", "testkit", "cli"] {
        writeln!(settings, "[profile.dev.package.scrollback-{name}]\nopt-level = 0").unwrap();
    }
    settings
}

#[expect(clippy::disallowed_methods, reason = "a file in a temporary directory")]
fn put(path: &Path, text: &str) {
    fs::write(path, text).unwrap();
}

/// Returns the commands of a block, each with what it prints.
fn steps(block: &str) -> Vec<(&str, Vec<&str>)> {
    let mut steps: Vec<(&str, Vec<&str>)> = Vec::new();
    for line in block.lines() {
        match (line.strip_prefix("$ "), steps.last_mut()) {
            (Some(command), _) => steps.push((command, Vec::new())),
            (None, Some((_, printed))) => printed.push(line),
            (None, None) => panic!("{line:?} is printed by nothing"),
        }
    }
    steps
}

#[test]
fn a_new_parser_passes_by_its_own_readme() {
    let workshop = Workshop::new();
    let at = workshop.follow(&page("docs/adding-a-parser.md"), workshop.path());
    assert_eq!(at, workshop.path().join("acme"), "the guide makes a crate and goes into it");
    // Nothing was blessed: the golden it came with is the one its name gives.
    workshop.follow(&fs::read_to_string(at.join("README.md")).unwrap(), &at);

    let sandbox = Sandbox::new(target().join("debug/acme-scrollback"));
    let plugins = values(&sandbox.well(&["plugins", "--json"]));
    assert!(plugins.iter().any(|plugin| text(plugin, "id") == "acme"), "{plugins:?}");
    let file = sandbox.put(&at.join("fixtures/1.0/hello.jsonl"), "elsewhere/hello.jsonl");
    let told = sandbox.well(&["tail", "--path", file.to_str().unwrap()]);
    assert!(told.starts_with("Read 1 source (1 changed): 6 records, 4 events, 4 new."), "{told}");
    let hits = values(&sandbox.well(&["search", "--json", "--role", "user", "anvil"]));
    assert_eq!(hits.len(), 1, "{hits:?}");
    assert_eq!((text(&hits[0], "client"), text(&hits[0], "session")), ("acme", "hello"));
    assert_eq!(of_type(&sandbox.export(), "event").len(), 4);
    // Where its author says transcripts are, they are found.
    sandbox.put(&at.join("fixtures/1.0/hello.jsonl"), ".acme/sessions/2026/hello.jsonl");
    let told = sandbox.beside().well(&["tail"]);
    assert!(told.starts_with("Read 1 source (1 changed)"), "{told}");
    // A name that nobody sets is that of the program.
    let complaint = sandbox.beside().run(&["sessions"]).stderr;
    assert!(complaint.starts_with("acme-scrollback: "), "{complaint}");
}

#[test]
fn a_new_parser_is_built_with_released_crates_unless_a_checkout_is_named() {
    let workshop = Workshop::new();
    let told = workshop.run(workshop.path(), "scrollback new parser road-runner --path there").well();
    assert!(told.contains("from the registry; `--scrollback DIR`"), "{told}");
    let manifest: serde_json::Value = serde_json::from_str(
        &workshop.run(&workshop.path().join("there"), "cargo metadata --no-deps --format-version 1").well(),
    )
    .unwrap();
    let package = &manifest["packages"][0];
    assert_eq!(package["name"], "scrollback-parser-road-runner");
    let ours: Vec<(&str, &str)> = package["dependencies"]
        .as_array()
        .unwrap()
        .iter()
        .map(|dependency| (text(dependency, "name"), text(dependency, "req")))
        .filter(|(name, _)| name.starts_with("scrollback-"))
        .collect();
    let version = concat!("^", env!("CARGO_PKG_VERSION"));
    let names = ["scrollback-cli", "scrollback-core", "scrollback-testkit"];
    assert_eq!(ours, names.map(|name| (name, version)));
}
