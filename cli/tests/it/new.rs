//! `new`: what is made, and what is refused. `tests/it/scaffold.rs` builds what is made.

use crate::home::Home;
use std::fs;
use std::path::{Path, PathBuf};

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut ahead = vec![folder.to_owned()];
    while let Some(at) = ahead.pop() {
        for entry in fs::read_dir(&at).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                ahead.push(path);
            } else {
                found.push(path.strip_prefix(folder).unwrap().to_owned());
            }
        }
    }
    found.sort();
    found
}

/// Returns the root of the repository, which is a checkout.
fn root() -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize().unwrap().to_str().unwrap().to_owned()
}

#[test]
fn everything_that_is_made_is_listed() {
    let home = Home::empty();
    let at = home.data().join("deep/acme");
    let told = home.run(&["new", "parser", "acme-code", "--path", at.to_str().unwrap()]).well();
    let made = files(&at);
    let listed: Vec<PathBuf> =
        told.lines().skip(1).take_while(|line| !line.is_empty()).map(|line| line.trim().into()).collect();
    assert_eq!(made.len(), listed.len(), "{told}");
    assert!(listed.iter().all(|file| made.contains(file)), "{told}");
    assert!(told.contains(&format!("cd {}", at.display())), "{told}");
    let manifest = fs::read_to_string(at.join("Cargo.toml")).unwrap();
    assert!(manifest.contains("name = \"scrollback-parser-acme-code\""), "{manifest}");
    assert!(!manifest.contains("path = \"/"), "{manifest}");
    // An empty directory is as good as none.
    let empty = home.data().join("empty");
    fs::create_dir(&empty).unwrap();
    let args = ["new", "parser", "acme", "--path", empty.to_str().unwrap(), "--scrollback", &root()];
    home.run(&args).well();
    let manifest = fs::read_to_string(empty.join("Cargo.toml")).unwrap();
    assert!(manifest.contains(&format!("scrollback-core = {{ path = \"{}/core\" }}", root())), "{manifest}");
}

#[test]
fn a_name_that_no_client_may_have_is_64() {
    let home = Home::empty();
    let at = home.data().join("acme");
    let long = "a".repeat(41);
    for name in ["", "Acme", "acme_code", "acme-", "1acme", "a--b", "a/b", "acmé", "acme code", &long] {
        let ran = home.run(&["new", "parser", name, "--path", at.to_str().unwrap()]);
        assert_eq!((ran.code, ran.stdout.as_str()), (64, ""), "{name}");
        assert!(ran.stderr.contains("is no name for a client"), "{name}: {}", ran.stderr);
    }
    #[cfg(feature = "parser-codex")]
    {
        let ran = home.run(&["new", "parser", "codex", "--path", at.to_str().unwrap()]);
        assert_eq!(ran.code, 64);
        assert!(ran.stderr.contains("has a parser called codex already"), "{}", ran.stderr);
    }
    assert_eq!(home.run(&["new", "sink", "acme", "--path", at.to_str().unwrap()]).code, 64);
    assert_eq!(home.run(&["new", "parser", "acme"]).code, 64);
    assert!(!at.exists());
}

#[test]
fn nothing_is_overwritten() {
    let home = Home::empty();
    let at = home.data().join("acme");
    let refused = |more: &[&str], why: &str| {
        let mut args = vec!["new", "parser", "acme", "--path", at.to_str().unwrap()];
        args.extend(more);
        let ran = home.run(&args);
        assert_eq!((ran.code, ran.stdout.as_str()), (1, ""), "{}", ran.stderr);
        assert!(ran.stderr.contains(why), "{}", ran.stderr);
    };
    refused(&["--scrollback", home.data().to_str().unwrap()], "is no checkout of scrollback");
    assert!(!at.exists(), "what is checked first is checked before anything is written");
    fs::create_dir_all(&at).unwrap();
    fs::copy(Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml"), at.join(".hidden")).unwrap();
    refused(&[], "is not empty; nothing was written");
    assert_eq!(files(&at), [Path::new(".hidden")]);
    fs::remove_dir_all(&at).unwrap();
    fs::copy(Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml"), &at).unwrap();
    refused(&[], "is a file; nothing was written");
    assert!(at.is_file());
}
