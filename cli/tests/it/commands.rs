//! What the commands print, whole. The expected outputs are files; `SCROLLBACK_BLESS=1` writes them.

use crate::home::{FORK, Home, MAIN};
use std::fs;
use std::path::Path;

/// Compares an output with the file of that name.
fn expect(name: &str, output: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/expected").join(name);
    if crate::reference::blessing() {
        crate::reference::write(&path, output);
        return;
    }
    let expected = fs::read_to_string(&path).unwrap_or_default();
    assert!(output == expected, "{} says\n{expected}\nbut this was printed\n{output}", path.display());
}

fn widest(output: &str) -> usize {
    output.lines().map(|line| line.chars().count()).max().unwrap_or(0)
}

#[test]
fn sessions() {
    let home = Home::filled();
    let output = home.run(&["sessions"]).well();
    assert!(widest(&output) <= 80, "{output}");
    expect("sessions.txt", &output);
    expect("sessions.jsonl", &home.run(&["sessions", "--json"]).well());
    expect("sessions-codex.txt", &home.run(&["sessions", "--client", "codex"]).well());
    expect("sessions-limit.txt", &home.run(&["sessions", "--limit", "1"]).well());
    expect("sessions-none.txt", &home.run(&["sessions", "--since", "1h"]).well());
    let listed = home.run(&["sessions", "--json", "--project", "app", "--until", "2025-03-04T10:10"]).well();
    assert_eq!(listed.lines().count(), 2, "{listed}");
}

#[test]
fn search() {
    let home = Home::filled();
    let output = home.run(&["search", "flaky", "test"]).well();
    assert!(widest(&output) <= 80, "{output}");
    expect("search.txt", &output);
    expect("search.jsonl", &home.run(&["search", "--json", "flaky", "OR", "header"]).well());
    expect("search-newest.txt", &home.run(&["search", "--sort", "newest", "clock"]).well());
    expect(
        "search-scan.txt",
        &home.run(&["search", "--kind", "thinking,tool_result", "fixed OR FAILED"]).well(),
    );
    assert_eq!(home.run(&["search", "nowhere"]).well(), "Nothing found.\n");
    assert_eq!(home.run(&["search", "--json", "nowhere"]).well(), "");
    let by_person = home.run(&["search", "--json", "--actor", "user:dev", "flaky"]).well();
    assert_eq!(by_person.lines().count(), 1, "{by_person}");
}

#[test]
fn what_was_taken_back_is_not_found() {
    let home = Home::filled();
    assert_eq!(home.run(&["search", "never mind"]).well(), "Nothing found.\n");
}

#[test]
fn show() {
    let home = Home::filled();
    let output = home.run(&["show", MAIN]).well();
    assert!(widest(&output) <= 80, "{output}");
    expect("show.txt", &output);
    expect("show-full.txt", &home.run(&["show", "--full", "--withdrawn", MAIN]).well());
    expect("show.jsonl", &home.run(&["show", "--json", "--withdrawn", MAIN]).well());
    expect("show-turn.txt", &home.run(&["show", "3b6a1e11:2"]).well());
    expect("show-kind.txt", &home.run(&["show", "--kind", "thinking,tool_result", MAIN]).well());
    expect("show-subagent.txt", &home.run(&["show", "a1b2c3d4"]).well());
    expect("show-fork.txt", &home.run(&["show", FORK]).well());
    expect("show-fork-inherited.txt", &home.run(&["show", "--inherited", "claude-code/9a7d"]).well());
    expect("show-codex.txt", &home.run(&["show", "codex/0197"]).well());
}

#[test]
fn expand() {
    let home = Home::filled();
    let ids: Vec<String> = home
        .run(&["show", "--json", MAIN])
        .well()
        .lines()
        .filter_map(|line| line.strip_prefix(r#"{"type":"event","id":""#)?.get(..36).map(str::to_owned))
        .collect();
    let mut all = String::new();
    for id in &ids {
        all.push_str(&home.run(&["expand", &id[..8]]).well());
        all.push_str("----\n");
    }
    expect("expand.txt", &all);
    let line = home.run(&["expand", "--json", &ids[0]]).well();
    assert!(home.run(&["show", "--json", MAIN]).well().contains(&line), "{line}");
}

#[test]
fn stats() {
    let home = Home::filled();
    let output = home.run(&["stats"]).well();
    assert!(widest(&output) <= 80, "{output}");
    expect("stats.txt", &output);
    expect("stats.jsonl", &home.run(&["stats", "--json", "--by", "day,client,project,model"]).well());
    expect("stats-project.txt", &home.run(&["stats", "--by", "project,client,project"]).well());
    let session = home.run(&["stats", "--json", "--session", MAIN]).well();
    expect("stats-session.jsonl", &session);
    let none = home.run(&["stats", "--since", "1h"]).well();
    assert_eq!(none, "Nothing is to be counted.\n");
    let none = home.run(&["stats", "--json", "--client", "nobody"]).well();
    assert_eq!(none, "{\"type\":\"total\",\"sessions\":0,\"turns\":0,\"tool_calls\":0,\"responses\":0}\n");
}

#[test]
fn a_day_is_the_one_where_the_reader_is() {
    let home = Home::filled();
    let days = |zone: &str| {
        let ran = home.program(&["stats", "--by", "day", "--json"]).env("TZ", zone).output().unwrap();
        let lines = String::from_utf8(ran.stdout).unwrap();
        lines
            .lines()
            .filter_map(|line| line.split("\"day\":\"").nth(1)?.get(..10).map(str::to_owned))
            .collect::<Vec<_>>()
    };
    assert_eq!(days("UTC"), ["2025-03-04"]);
    // It is ten in the morning in Greenwich, and past eleven at night or midnight there.
    assert_eq!(days("<+14>-14"), ["2025-03-05"]);
    assert_eq!(days("<+1330>-13:30"), ["2025-03-04", "2025-03-05"]);
}

#[test]
fn export() {
    let home = Home::filled();
    let output = home.run(&["export"]).well();
    expect("export.jsonl", &output);
    assert_eq!(home.run(&["export"]).well(), output);
    let other = Home::filled();
    assert_eq!(other.run(&["export"]).well(), output);

    let file = home.data().join("out.jsonl");
    let told = home.run(&["export", "--out", file.to_str().unwrap()]).well();
    assert!(told.starts_with("4 sessions and 26 events written to "), "{told}");
    assert_eq!(fs::read_to_string(&file).unwrap(), output);
    let codex = home.run(&["export", "--session", "codex/0197"]).well();
    assert!(codex.lines().all(|line| line.contains("codex") || line.contains("format")), "{codex}");
}

#[cfg(unix)]
#[test]
fn an_exported_file_is_its_owners() {
    use std::os::unix::fs::PermissionsExt as _;
    let home = Home::filled();
    let file = home.data().join("out.jsonl");
    home.run(&["export", "--out", file.to_str().unwrap()]).well();
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
}

#[cfg(unix)]
#[test]
fn what_is_no_file_is_never_replaced_by_an_export() {
    use std::os::unix::fs::FileTypeExt as _;
    let home = Home::filled();
    let (file, link) = (home.data().join("out.jsonl"), home.data().join("link.jsonl"));
    fs::File::create(&file).unwrap();
    std::os::unix::fs::symlink(&file, &link).unwrap();
    home.run(&["export", "--out", link.to_str().unwrap()]).well();
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert_eq!(fs::read_to_string(&file).unwrap(), home.run(&["export"]).well());
    let socket = home.data().join("socket");
    let _listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
    let ran = home.run(&["export", "--out", socket.to_str().unwrap()]);
    assert_eq!(ran.code, 1, "{}", ran.stderr);
    assert!(fs::symlink_metadata(&socket).unwrap().file_type().is_socket());
}

#[test]
fn raw_records_are_printed_only_if_they_were_kept() {
    let home = Home::filled();
    let ran = home.run(&["show", "--raw", MAIN]);
    assert_eq!((ran.code, ran.stdout.as_str()), (1, ""));
    assert!(ran.stderr.contains("15 of 15 records were not kept raw"), "{}", ran.stderr);
    assert!(ran.stderr.contains("SCROLLBACK_RAW=all"), "{}", ran.stderr);
}

#[test]
fn a_pipe_has_no_colour_and_no_escape() {
    let home = Home::filled();
    for args in [
        &["show", "--full", MAIN][..],
        &["search", "door"],
        &["sessions"],
        &["show", "codex/0197"],
        &["help"],
    ] {
        let output = home.run(args).well();
        assert!(!output.contains('\u{1b}'), "{args:?}: {output:?}");
    }
}

#[test]
fn completions_know_the_commands() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = Home::empty().run(&["completions", shell]).well();
        assert!(script.contains("sessions") && script.contains("scrollback"), "{shell}");
    }
}
