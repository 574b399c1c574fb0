//! Reading transcripts, with the parsers of this build.

use crate::home::{Home, Ran};
use std::fs;
use std::path::PathBuf;

pub(crate) const SESSION: &str = "5f0c8f0e-6f0a-4f6e-9d2c-0c9d3b6a1e11";

/// Returns a line of a Claude Code transcript: a prompt.
pub(crate) fn prompt(n: u32, text: &str) -> String {
    format!(
        r#"{{"type":"user","uuid":"1b1f6a52-0d4c-4b6e-8a8e-2f1f5b7c9a{n:02}","parentUuid":null,"sessionId":"{SESSION}","cwd":"/home/dev/app","version":"2.1.0","timestamp":"2025-03-04T10:{n:02}:00.000Z","message":{{"role":"user","content":"{text}"}}}}"#
    )
}

#[expect(clippy::disallowed_methods, reason = "a transcript of the test's own")]
fn transcript(home: &Home, lines: &[String]) -> PathBuf {
    let directory = home.data().with_file_name("transcripts");
    fs::create_dir_all(&directory).unwrap();
    let path = directory.join(format!("{SESSION}.jsonl"));
    fs::write(&path, lines.concat()).unwrap();
    path
}

#[test]
fn what_is_read_is_summed_up_and_found() {
    let home = Home::empty();
    let path = transcript(
        &home,
        &[prompt(1, "Open the door."), "\n".to_owned(), prompt(2, "Close it."), "\n".to_owned()],
    );
    let path = path.to_str().unwrap();
    let dry = home.run(&["tail", "--dry-run", "--path", path]).well();
    assert!(dry.ends_with("Nothing was stored: this was a dry run.\n"), "{dry}");
    assert!(!home.data().join("store.db").exists());
    assert_eq!(
        home.run(&["tail", "--path", path]).well(),
        "Read 1 source (1 changed): 2 records, 2 events, 2 new.\n  claude-code  1 source, 2 events new\n"
    );
    assert_eq!(home.run(&["tail", "--path", path]).well(), "Nothing new in 1 source.\n");
    let json = home.run(&["tail", "--json", "--path", path]).well();
    let expected = r#"{"sources":1,"sources_changed":0,"records":0,"events":0,"stored":0,"replaced":0,"withdrawn":0,"skipped":0,"unreadable":0,"not_understood":0,"bytes":0,"seconds":"#;
    assert!(json.starts_with(expected) && json.ends_with(",\"problems\":[]}\n"), "{json}");
    assert!(home.run(&["search", "door"]).well().contains(":1  2025-03-04 10:01  claude-code  app  user\n"));
}

#[test]
fn a_path_that_matches_nothing_keeps_no_other_from_being_read() {
    let home = Home::empty();
    let path = transcript(&home, &[prompt(1, "Open the door."), "\n".to_owned()]);
    let Ran { code, stdout, stderr } =
        home.run(&["tail", "--path", "nowhere/*.jsonl", "--path", path.to_str().unwrap()]);
    assert_eq!((code, stderr.as_str()), (1, "scrollback: nowhere/*.jsonl: matches no file\n"));
    assert!(stdout.starts_with("Read 1 source (1 changed): 1 record, 1 event, 1 new.\n"), "{stdout}");
}

#[test]
fn a_record_that_is_none_is_named() {
    let home = Home::empty();
    let path = transcript(
        &home,
        &[prompt(1, "Open the door."), "\nnot JSON\n".to_owned(), prompt(2, "Close it."), "\n".to_owned()],
    );
    let output = home.run(&["tail", "--path", path.to_str().unwrap()]).well();
    assert!(output.contains("1 record unreadable: kept raw.\n"), "{output}");
    assert!(output.contains(&format!("{}:2: ", path.display())), "{output}");
    assert!(output.starts_with("Read 1 source (1 changed): 3 records, 2 events, 2 new.\n"), "{output}");
}

#[test]
fn no_transcript_anywhere_says_where_was_looked() {
    let output = Home::empty().run(&["tail"]).well();
    assert!(output.starts_with("No transcript was found. Looked for:\n  claude-code"), "{output}");
    assert!(output.contains("--path") && output.contains("demo"), "{output}");
}

#[test]
fn raw_records_come_back_if_all_are_kept() {
    let home = Home::empty();
    let line = prompt(1, "Open the door.");
    let path = transcript(&home, &[line.clone(), "\n".to_owned()]);
    let read = home
        .program(&["tail", "--path", path.to_str().unwrap()])
        .env("SCROLLBACK_RAW", "all")
        .output()
        .unwrap();
    assert!(read.status.success());
    assert_eq!(home.run(&["show", "--raw", SESSION]).well(), format!("{line}\n"));
}

#[test]
fn a_file_is_parsed_without_a_store() {
    let home = Home::empty();
    let path = transcript(&home, &[prompt(1, "Open the door."), "\n".to_owned()]);
    let Ran { code, stdout, stderr } = home.run(&["parse", "no-such-file", path.to_str().unwrap()]);
    assert_eq!(code, 1);
    assert!(stderr.contains("no-such-file"), "{stderr}");
    assert!(
        stdout.contains("\"kind\":\"message\",\"role\":\"user\",\"text\":\"Open the door.\""),
        "{stdout}"
    );
    assert!(!home.data().exists());
}

#[test]
fn the_demo_shows_everything_and_leaves_nothing() {
    let home = Home::empty();
    let scratch = home.data().with_file_name("scratch");
    fs::create_dir(&scratch).unwrap();
    let ran = home.program(&["demo"]).env("TMPDIR", &scratch).output().unwrap();
    let output = String::from_utf8(ran.stdout).unwrap();
    assert_eq!((ran.status.code(), ran.stderr.as_slice()), (Some(0), &b""[..]), "{output}");
    for command in ["tail", "sessions", "search ", "show "] {
        assert!(output.contains(&format!("$ scrollback {command}")), "{output}");
    }
    assert!(!output.contains("Nothing found") && output.contains("❯ "), "{output}");
    assert_eq!(fs::read_dir(&scratch).unwrap().count(), 0);
    assert!(!home.data().exists());
}
