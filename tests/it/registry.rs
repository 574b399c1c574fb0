//! What is linked, and which crate may depend on which.

use crate::support::{sandbox, text, values};
use scrollback_core::{Probe, Registry};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

/// What the crate of traits may use: nothing that reads, writes or waits.
const CORE: [&str; 7] = ["inventory", "jiff", "serde", "serde_json", "sha2", "thiserror", "uuid"];
/// What edits of settings may use.
const EDIT: [&str; 6] = ["scrollback-core", "serde", "serde_json", "thiserror", "toml", "toml_parser"];
/// What a parser may use.
const PARSER: [&str; 3] = ["scrollback-core", "serde", "serde_json"];
/// What an adapter may use; digests where a client keeps digests of hooks.
const ADAPTER: [&str; 5] = ["scrollback-core", "scrollback-edit", "serde", "serde_json", "sha2"];
/// What the parser of field maps may use beside that: its maps are TOML, given to it as text; their errors are typed.
const MAPS: [&str; 2] = ["thiserror", "toml"];

/// Returns the folders of parsers.
fn folders() -> BTreeSet<String> {
    folders_of("parsers")
}

/// Returns the folders of one kind of plugin.
fn folders_of(kind: &str) -> BTreeSet<String> {
    let entries = std::fs::read_dir(scrollback_tests::root().join(kind)).unwrap();
    let mut folders: BTreeSet<String> = entries
        .map(Result::unwrap)
        .filter(|entry| entry.path().is_dir())
        .map(|entry| entry.file_name().into_string().unwrap())
        .collect();
    folders.retain(|name| !name.starts_with('.'));
    folders
}

/// What the packages of the workspace depend on, apart from what their tests do.
fn dependencies() -> BTreeMap<String, BTreeSet<String>> {
    #[expect(clippy::disallowed_methods, reason = "what cargo knows of the workspace")]
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--offline", "--no-deps", "--format-version", "1"])
        .current_dir(scrollback_tests::root())
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: Value = serde_json::from_slice(&output.stdout).unwrap();
    let packages = metadata["packages"].as_array().unwrap();
    packages
        .iter()
        .map(|package| {
            let all = package["dependencies"].as_array().unwrap();
            let normal = all.iter().filter(|dependency| dependency["kind"] != "dev");
            let names = normal.map(|dependency| text(dependency, "name").to_owned()).collect();
            (text(package, "name").to_owned(), names)
        })
        .collect()
}

#[test]
fn every_parser_is_linked() {
    let plugins = values(&sandbox().well(&["plugins", "--json"]));
    let linked: BTreeSet<String> = plugins
        .iter()
        .filter(|plugin| plugin["plugin"] == "parser")
        .map(|plugin| text(plugin, "id").to_owned())
        .collect();
    assert_eq!(linked, folders(), "cli/src/builtin.rs names a crate for each folder of parsers/");
}

#[test]
fn every_adapter_is_linked_and_keeps_the_laws() {
    let registry = Registry::linked().unwrap();
    let linked: BTreeSet<String> = registry.adapters().map(|it| it.spec().client.to_string()).collect();
    assert_eq!(
        linked,
        folders_of("adapters"),
        "cli/src/builtin.rs names a crate for each folder of adapters/"
    );
    for folder in linked {
        let path = scrollback_tests::root().join("adapters").join(&folder);
        let manifest = std::fs::read_to_string(path.join("Cargo.toml")).unwrap();
        assert!(manifest.contains(&format!("name = \"scrollback-adapter-{folder}\"")), "{manifest}");
        let laws = std::fs::read_to_string(path.join("tests/laws.rs")).unwrap();
        assert!(laws.contains("scrollback_testkit::adapter_laws!("), "{laws}");
        let adapter = registry.adapter(&folder).unwrap();
        if let Some(parser) = &adapter.spec().parser {
            assert!(registry.parser(parser).is_ok(), "{folder} names the parser {parser}");
        }
    }
}

#[test]
fn every_parser_is_a_crate_with_fixtures() {
    for folder in folders() {
        let path = scrollback_tests::root().join("parsers").join(&folder);
        let manifest = std::fs::read_to_string(path.join("Cargo.toml")).unwrap();
        assert!(manifest.contains(&format!("name = \"scrollback-parser-{folder}\"")), "{manifest}");
        assert!(!scrollback_tests::transcripts(&path.join("fixtures")).is_empty());
    }
}

#[test]
fn each_transcript_goes_to_the_parser_of_its_client() {
    let registry = Registry::linked().unwrap();
    let mut probed = 0;
    for folder in folders() {
        for path in scrollback_tests::transcripts(&scrollback_tests::fixtures_of(&folder)) {
            let bytes = std::fs::read(&path).unwrap();
            let head = &bytes[..bytes.len().min(64 << 10)];
            // Where it lies says nothing: only its content may.
            let path = std::path::Path::new("/elsewhere").join(path.file_name().unwrap());
            let found = registry.probe(&Probe { path: &path, head, schema: None });
            let found = found.map(|parser| parser.spec().id.to_string());
            assert_eq!(found.as_ref(), Some(&folder), "{}", path.display());
            probed += 1;
        }
    }
    assert!(probed >= 40, "{probed} transcripts");
}

#[test]
fn crates_depend_downwards() {
    let all = dependencies();
    assert!(all.len() >= 8, "{:?}", all.keys());
    let none_but = |name: &str, allowed: &[&str]| {
        let extra: Vec<&String> = all[name].iter().filter(|it| !allowed.contains(&it.as_str())).collect();
        assert!(extra.is_empty(), "{name} depends on {extra:?}");
    };
    none_but("scrollback-core", &CORE);
    none_but("scrollback-edit", &EDIT);
    for folder in folders() {
        let more: &[&str] = if folder == "jsonl" { &MAPS } else { &[] };
        none_but(&format!("scrollback-parser-{folder}"), &[&PARSER[..], more].concat());
    }
    for folder in folders_of("adapters") {
        none_but(&format!("scrollback-adapter-{folder}"), &ADAPTER);
    }
    let ours = |name: &str| -> BTreeSet<&str> {
        all[name].iter().map(String::as_str).filter(|it| it.starts_with("scrollback-")).collect()
    };
    assert_eq!(ours("scrollback-store"), ["scrollback-core"].into());
    assert_eq!(ours("scrollback-engine"), ["scrollback-core", "scrollback-store"].into());
    assert_eq!(ours("scrollback-testkit"), ["scrollback-core", "scrollback-engine"].into());
}

#[test]
fn what_prints_and_what_tests_stays_apart() {
    let apart: [(&str, &[&str]); 7] = [
        ("clap", &["scrollback-cli", "scrollback-bench", "scrollback-walkthrough"]),
        ("clap_complete", &["scrollback-cli"]),
        ("indicatif", &["scrollback-cli"]),
        ("anyhow", &["scrollback-cli", "scrollback-bench", "scrollback-walkthrough"]),
        ("rusqlite", &["scrollback-store", "scrollback-bench"]),
        ("regex", &["scrollback-engine"]),
        ("proptest", &["scrollback-testkit"]),
    ];
    let all = dependencies();
    for (dependency, allowed) in apart {
        let users: Vec<&String> =
            all.iter().filter(|(_, used)| used.contains(dependency)).map(|(name, _)| name).collect();
        assert!(!users.is_empty(), "nobody depends on {dependency}: the test is about another name");
        for user in users {
            assert!(allowed.contains(&user.as_str()), "{user} depends on {dependency}");
        }
    }
}
