//! A client added by somebody else: a crate outside the workspace, its laws, and a program of its own.

use crate::support::{of_type, text, values};
use scrollback_tests::{Sandbox, root};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Copies the template of the crate to where it is built, outside the workspace.
fn lay_out(template: &Path, at: &Path) {
    fs::create_dir_all(at).unwrap();
    for entry in fs::read_dir(template).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        if path.is_dir() {
            lay_out(&path, &at.join(name));
        } else if let Some(name) = name.strip_suffix(".template") {
            let root = root().canonicalize().unwrap();
            let filled = fs::read_to_string(&path).unwrap().replace("{ROOT}", root.to_str().unwrap());
            #[expect(clippy::disallowed_methods, reason = "a crate in a temporary directory")]
            fs::write(at.join(name), filled).unwrap();
        } else {
            fs::copy(&path, at.join(name)).unwrap();
        }
    }
}

/// Runs cargo on the crate; what is built stays beside what is built of the workspace.
fn cargo(at: &Path, args: &[&str], blessing: bool) {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap();
    #[expect(clippy::disallowed_methods, reason = "a crate is built as its author would")]
    let output = Command::new(env!("CARGO"))
        .args(args)
        .arg("--offline")
        .current_dir(at)
        .env("CARGO_TARGET_DIR", target)
        .env("SCROLLBACK_BLESS", if blessing { "1" } else { "0" })
        .output()
        .unwrap();
    let (stdout, stderr) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "cargo {args:?}\n{stdout}\n{stderr}");
}

fn program() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap().join("debug/acme-scrollback")
}

#[test]
fn a_parser_from_elsewhere_is_linked_into_a_program_of_its_own() {
    let directory = tempfile::tempdir().unwrap();
    let at = directory.path().join("acme-parser");
    lay_out(&root().join("tests/fixtures/acme-parser"), &at);
    fs::copy(root().join("Cargo.lock"), at.join("Cargo.lock")).unwrap();
    fs::copy(root().join("rust-toolchain.toml"), at.join("rust-toolchain.toml")).unwrap();
    // Its goldens are written once, as its author does; then its laws hold.
    cargo(&at, &["test", "--test", "laws", "goldens_are_true"], true);
    assert!(at.join("fixtures/greeting.events.jsonl").exists());
    cargo(&at, &["test"], false);
    cargo(&at, &["build"], false);

    let sandbox = Sandbox::new(program());
    let plugins = values(&sandbox.well(&["plugins", "--json"]));
    let ids: Vec<&str> = plugins.iter().map(|plugin| text(plugin, "id")).collect();
    assert_eq!(ids, ["acme"], "what its author linked, and nothing else");
    let file = sandbox.put(&at.join("fixtures/greeting.jsonl"), "elsewhere/greeting.jsonl");
    let told = sandbox.well(&["tail", "--path", file.to_str().unwrap()]);
    assert!(told.starts_with("Read 1 source (1 changed): 2 records, 2 events, 2 new."), "{told}");
    let hits = values(&sandbox.well(&["search", "--json", "--role", "user", "anvil"]));
    assert_eq!(hits.len(), 1, "{hits:?}");
    assert_eq!((text(&hits[0], "client"), text(&hits[0], "session")), ("acme", "greeting"));
    assert_eq!(of_type(&sandbox.export(), "event").len(), 2);
    // Where its author says transcripts are, they are found.
    sandbox.put(&at.join("fixtures/greeting.jsonl"), ".acme/sessions/second.jsonl");
    let told = sandbox.beside().well(&["tail"]);
    assert!(told.starts_with("Read 1 source (1 changed)"), "{told}");
}
