//! How much is covered, and reading again what was not understood.

use crate::home::{Home, Ran};
use crate::tail::{SESSION, prompt};
use scrollback_store::{Access, Counts, Store, Why};
use std::fs;
use std::path::{Path, PathBuf};

/// Writes a transcript where Claude Code keeps its own.
#[expect(clippy::disallowed_methods, reason = "a transcript of the test's own")]
fn transcript(home: &Home, name: &str, lines: &[&str]) -> PathBuf {
    let path = at(home, name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, lines.join("\n") + "\n").unwrap();
    path
}

fn at(home: &Home, name: &str) -> PathBuf {
    let home = fs::canonicalize(home.data().parent().unwrap()).unwrap();
    home.join(format!(".claude/projects/-home-dev-app/{name}.jsonl"))
}

/// Runs `coverage`; the home directory is `~` in what it prints.
fn coverage(home: &Home, args: &[&str]) -> (i32, String) {
    let Ran { code, stdout, stderr } = home.run(&[&["coverage"], args].concat());
    assert_eq!(stderr, "");
    let root = fs::canonicalize(home.data().parent().unwrap()).unwrap();
    (code, stdout.replace(root.to_str().unwrap(), "~"))
}

const NEW: &str = r#"{"type":"brand-new","sessionId":"5f0c8f0e-6f0a-4f6e-9d2c-0c9d3b6a1e11","version":"9.9.9","timestamp":"2025-03-04T10:05:00.000Z"}"#;

#[test]
fn what_is_missing_behind_or_not_understood_is_said() {
    let home = Home::empty();
    let (line, more) = (prompt(1, "Open the door."), prompt(2, "Close it."));
    transcript(&home, "a", &[&line]);
    let (code, said) = coverage(&home, &[]);
    assert_eq!(code, 3);
    let expected = "\
claude-code
  1 source: 263 B on disk, 0 B captured
  0 records: 0 with content (0 events), 0 nothing, 0 not understood, 0 unreadable

Missing, behind, refused or gone:
  missing  ~/.claude/projects/-home-dev-app/a.jsonl, 263 B

`scrollback tail` reads what is missing or behind.
";
    assert_eq!(said, expected);
    assert!(!home.data().exists());

    home.run(&["tail"]).well();
    let (code, said) = coverage(&home, &[]);
    assert_eq!(code, 0);
    let expected = "\
claude-code
  1 source: 263 B on disk, 263 B captured
  1 record: 1 with content (1 event), 0 nothing, 0 not understood, 0 unreadable

Everything is captured and understood.
";
    assert_eq!(said, expected);

    transcript(&home, "b", &[NEW, NEW, "not JSON"]);
    transcript(&home, "c", &[&more]);
    home.run(&["tail"]).well();
    transcript(&home, "a", &[&line, &more]);
    fs::remove_file(at(&home, "c")).unwrap();
    let (code, said) = coverage(&home, &[]);
    assert_eq!(code, 3);
    let expected = "\
claude-code
  3 sources (1 gone): 788 B on disk, 788 B captured
  5 records: 2 with content (2 events), 0 nothing, 2 not understood, 1 unreadable

Not understood, kept raw:
  2  claude-code  9.9.9  brand-new

Unreadable, kept raw:
  ~/.claude/projects/-home-dev-app/b.jsonl:3: expected ident at line 1 column 2

Missing, behind, refused or gone:
  behind   ~/.claude/projects/-home-dev-app/a.jsonl, 258 B to read
  gone     ~/.claude/projects/-home-dev-app/c.jsonl, 258 B, 1 record

`scrollback tail` reads what is missing or behind. Please report the kinds that
are not understood; once a version of this program knows them, `scrollback
reparse` reads them. Unreadable records stay as they are; `scrollback reparse`
tries them again.
";
    assert_eq!(said, expected);
    assert_eq!(coverage(&home, &["--allow-unknown"]).0, 3);

    home.run(&["tail"]).well();
    assert_eq!(coverage(&home, &[]).0, 3);
    let (code, said) = coverage(&home, &["--allow-unknown", "-v"]);
    assert_eq!(code, 0);
    let listed = "\
Every transcript:
  gone     ~/.claude/projects/-home-dev-app/c.jsonl, 258 B, 1 record
  read     ~/.claude/projects/-home-dev-app/a.jsonl, 521 B, 2 records
  read     ~/.claude/projects/-home-dev-app/b.jsonl, 267 B, 3 records
";
    assert!(said.contains(listed), "{said}");
    let (code, said) = coverage(&home, &["--json"]);
    assert_eq!(code, 3);
    let expected = r#"{"type":"client","client":"claude-code","sources":3,"gone":1,"bytes":788,"captured":1046,"records":6,"events":3,"nothing":0,"not_understood":2,"unreadable":1,"skipped":0}
{"type":"not_understood","client":"claude-code","kind":"brand-new","client_version":"9.9.9","n":2}
{"type":"source","path":"~/.claude/projects/-home-dev-app/a.jsonl","client":"claude-code","parser":"claude-code","standing":"read","bytes":521,"captured":521,"records":2,"events":2,"nothing":0,"not_understood":0,"unreadable":0,"skipped":0}
{"type":"source","path":"~/.claude/projects/-home-dev-app/b.jsonl","client":"claude-code","parser":"claude-code","standing":"read","bytes":267,"captured":267,"records":3,"events":0,"nothing":0,"not_understood":2,"unreadable":1,"skipped":0}
{"type":"source","path":"~/.claude/projects/-home-dev-app/c.jsonl","client":"claude-code","parser":"claude-code","standing":"gone","bytes":0,"captured":258,"records":1,"events":1,"nothing":0,"not_understood":0,"unreadable":0,"skipped":0}
"#;
    assert_eq!(said, expected);
}

#[test]
fn no_transcript_at_all_is_no_failure() {
    let (code, said) = coverage(&Home::empty(), &[]);
    let expected = "No transcript was found, and none was read. `scrollback tail` says where it looks, \
                    `scrollback tail --path` reads others.\n";
    assert_eq!((code, said.as_str()), (0, expected));
    assert_eq!(coverage(&Home::empty(), &["--json"]), (0, String::new()));
}

#[test]
fn what_is_still_not_understood_stays_raw() {
    let home = Home::empty();
    transcript(&home, "a", &[&prompt(1, "Open the door."), NEW]);
    home.run(&["tail"]).well();
    let before = coverage(&home, &["--json"]);
    let expected = "\
1 record kept raw: 0 understood now, 0 events new.
  1 source read again
1 record stays raw (`scrollback coverage` names its kind).
";
    assert_eq!(home.run(&["reparse"]).well(), expected);
    assert_eq!(coverage(&home, &["--json"]), before);
    assert_eq!(
        home.run(&["reparse", "--json"]).well(),
        "{\"raw\":1,\"understood\":0,\"left\":1,\"sources\":1,\"gone\":0,\"records\":2,\"events\":1,\
         \"stored\":0,\"replaced\":0,\"withdrawn\":0,\"problems\":[]}\n"
    );
}

#[test]
fn what_is_understood_now_is_there() {
    let home = Home::empty();
    let mut store = Store::open(&home.data().join("store.db"), Access::Write).unwrap();
    let mut writer = store.writer().unwrap();
    // An older version did not know what a prompt is, and its transcript is gone since.
    let source = writer.source(Path::new("/home/dev/gone.jsonl"), None, "claude-code").unwrap();
    let line = prompt(1, "Open the door.");
    let place = (0, 0, line.len() as u64 + 1);
    writer
        .raw("claude-code", source, place, Why::Unknown, "user", Some("2.1.0"), &[1; 16], line.as_bytes())
        .unwrap();
    let counts = Counts { records: 1, unknown: 1, ..Counts::default() };
    writer.recount(source, &counts, &[("user".to_owned(), "2.1.0".to_owned(), 1)]).unwrap();
    writer.commit().unwrap();
    drop(store);

    assert_eq!(coverage(&home, &[]).0, 3);
    let expected = "\
1 record kept raw: 1 understood now, 1 event new.
  1 source gone: read as its records were kept
";
    assert_eq!(home.run(&["reparse"]).well(), expected);
    assert!(home.run(&["search", "door"]).well().contains("Open the door."));
    assert!(home.run(&["sessions", "--json"]).well().contains(SESSION));
    let (code, said) = coverage(&home, &[]);
    let expected = "\
claude-code
  1 source (1 gone): 0 B on disk, 0 B captured
  1 record: 1 with content (1 event), 0 nothing, 0 not understood, 0 unreadable

Missing, behind, refused or gone:
  gone     /home/dev/gone.jsonl, 0 B, 1 record

Everything is captured and understood.
";
    assert_eq!((code, said.as_str()), (0, expected));
    assert_eq!(
        home.run(&["reparse"]).well(),
        "Nothing was kept raw: everything read so far is understood.\n"
    );
}
