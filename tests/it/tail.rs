//! The main job, on what the real clients recorded: every event once, and found again.

use crate::support::{assert_same, of_type, sandbox, text, values};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

/// The keys of the summary in JSON, in order.
const SUMMARY: [&str; 12] = [
    "sources",
    "sources_changed",
    "records",
    "events",
    "stored",
    "replaced",
    "withdrawn",
    "skipped",
    "unreadable",
    "not_understood",
    "bytes",
    "seconds",
];

#[test]
fn everything_recorded_is_stored_once_and_found_again() {
    let sandbox = sandbox();
    sandbox.put_recorded();
    let told = sandbox.well(&["tail"]);
    assert!(told.starts_with("Read 17 sources (17 changed): "), "{told}");
    let export = sandbox.export();
    let events = of_type(&export, "event");
    let ids: BTreeSet<&str> = events.iter().map(|event| text(event, "id")).collect();
    assert_eq!(ids.len(), events.len(), "an id stands for one event");
    assert!(events.len() > 250, "{} events", events.len());

    let again = sandbox.well(&["tail"]);
    assert_eq!(again, "Nothing new in 17 sources.\n");
    let again = values(&sandbox.well(&["tail", "--again", "--json"])).remove(0);
    assert_eq!(
        (&again["stored"], &again["replaced"], &again["withdrawn"]),
        (&0.into(), &0.into(), &0.into())
    );
    assert_same(&export, &sandbox.export(), "read again");

    let mut shown = BTreeSet::new();
    for session in of_type(&export, "session") {
        let name = format!("{}/{}", text(&session, "client"), text(&session, "session"));
        for event in of_type(&sandbox.well(&["show", "--json", &name]), "event") {
            shown.insert(text(&event, "id").to_owned());
        }
    }
    assert_eq!(shown, ids.iter().map(|id| (*id).to_owned()).collect(), "what `show` gives");

    let mut asked: BTreeMap<(String, String), BTreeSet<String>> = BTreeMap::new();
    let mut found = 0;
    for event in &events {
        let words = match text(event, "kind") {
            "message" => text(event, "text"),
            "tool_call" => text(event, "tool"),
            _ => continue,
        };
        let Some(word) = words.split(|c: char| !c.is_ascii_alphanumeric()).find(|word| word.len() > 2) else {
            continue;
        };
        let session = text(event, "session").to_owned();
        let hits = asked.entry((session.clone(), word.to_owned())).or_insert_with(|| {
            let args =
                ["search", "--json", "--sort", "newest", "--limit", "1000", "--session", &session, word];
            values(&sandbox.well(&args)).iter().map(|hit| text(hit, "event").to_owned()).collect()
        });
        assert!(hits.contains(text(event, "id")), "{word:?} does not find {event}");
        found += 1;
    }
    assert!(found > 100, "{found} events were looked for");
}

#[test]
fn the_clients_own_variables_say_where_their_transcripts_are() {
    let sandbox = sandbox().var("CLAUDE_CONFIG_DIR", "").var("CODEX_HOME", "");
    sandbox.put_recorded();
    fs::rename(sandbox.home().join(".claude"), sandbox.home().join("config of claude")).unwrap();
    fs::rename(sandbox.home().join(".codex"), sandbox.home().join("config of codex")).unwrap();
    assert!(sandbox.well(&["tail"]).starts_with("No transcript was found."));
    let claude = sandbox.home().join("config of claude").to_string_lossy().into_owned();
    let told = sandbox.beside().var("CLAUDE_CONFIG_DIR", claude).well(&["tail"]);
    assert!(told.starts_with("Read 8 sources (8 changed)"), "{told}");
    let codex = sandbox.home().join("config of codex").to_string_lossy().into_owned();
    let told = sandbox.beside().var("CODEX_HOME", codex).well(&["tail"]);
    assert!(told.starts_with("Read 9 sources (9 changed)"), "{told}");
}

#[test]
fn a_path_is_a_file_a_directory_or_a_pattern() {
    let sandbox = sandbox();
    sandbox.put_recorded();
    let cases: [(&[&str], u64); 6] = [
        (&["~/.codex/sessions/**/*.jsonl"], 9),
        (&["~/.claude/**/subagents/**/*.jsonl"], 1),
        (&[".claude"], 8),
        (&["$HOME/.claude/projects/*/fd652871-*.jsonl", "~/.codex/sessions/2026/11/{29,30}/*"], 10),
        (
            &[
                ".codex/sessions/2026/11/30/rollout-2026-11-30T20-46-39-01a22e35-adc4-7e23-a02d-3ce26c009c8c.jsonl",
            ],
            1,
        ),
        (&[".codex", "~/.codex/**/*.jsonl", "."], 17),
    ];
    for (patterns, sources) in cases {
        let sandbox = sandbox.beside();
        let mut args = vec!["tail", "--json"];
        for pattern in patterns {
            args.extend(["--path", *pattern]);
        }
        let summary = values(&sandbox.well(&args)).remove(0);
        assert_eq!(summary["sources"], sources, "{patterns:?}: {summary}");
        assert_eq!(summary["sources_changed"], sources, "{patterns:?}: {summary}");
    }
}

#[test]
fn a_pattern_that_matches_nothing_is_told_and_costs_nothing_else() {
    let sandbox = sandbox();
    sandbox.put_recorded();
    let ran = sandbox.run(&["tail", "--path", "~/.nowhere/**/*.jsonl"]);
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(
        ran.stderr.contains("~/.nowhere/**/*.jsonl") && ran.stderr.contains("matches no file"),
        "{ran:?}"
    );
    let ran = sandbox.run(&["tail", "--path", "~/.nowhere/**/*.jsonl", "--path", ".codex"]);
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(ran.stdout.starts_with("Read 9 sources"), "{ran:?}");
}

#[test]
fn nothing_found_is_no_failure_and_says_where_it_looked() {
    let ran = sandbox().run(&["tail"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    for place in ["No transcript was found", "~/.claude/projects/*/*.jsonl", "~/.codex/sessions/**/*.jsonl"] {
        assert!(ran.stdout.contains(place), "{}", ran.stdout);
    }
}

#[test]
fn the_summary_has_its_keys() {
    let sandbox = sandbox();
    sandbox.put_recorded();
    for args in [&["tail", "--json"][..], &["tail", "--json"], &["tail", "--json", "--dry-run"]] {
        let summary = sandbox.well(args);
        let mut rest = summary.trim_start_matches('{');
        for key in SUMMARY {
            let (before, after) = rest.split_once(':').unwrap();
            assert_eq!(before, format!("{key:?}"), "{summary}");
            rest = after.split_once([',', '}']).unwrap().1;
        }
        // Beside the figures stand the parsers, and a list of what was wrong.
        let (parsers, rest) = rest.split_once("],").unwrap();
        assert!(parsers.starts_with("\"parsers\":[{\"parser\":\"claude-code\",\"sources\":8,"), "{summary}");
        assert!(rest.starts_with("\"problems\":[]}"), "{summary}");
    }
}

#[test]
fn a_dry_run_stores_nothing() {
    let sandbox = sandbox();
    sandbox.put_recorded();
    let told = sandbox.well(&["tail", "--dry-run"]);
    assert!(told.contains("Nothing was stored"), "{told}");
    assert!(!sandbox.store().exists());
    sandbox.well(&["tail", "--path", ".codex"]);
    let before = sandbox.export();
    sandbox.well(&["tail", "--dry-run"]);
    assert_same(&before, &sandbox.export(), "after a dry run");
}

#[test]
fn a_second_tail_leaves_with_75() {
    let sandbox = sandbox();
    sandbox.put_recorded();
    fs::create_dir_all(sandbox.data()).unwrap();
    let lock = fs::File::create(sandbox.data().join("tail.lock")).unwrap();
    lock.lock().unwrap();
    let ran = sandbox.run(&["tail"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (75, ""), "{ran:?}");
    assert!(ran.stderr.contains("another `tail`"), "{ran:?}");
    drop(lock);
    sandbox.well(&["tail"]);
}

#[test]
fn the_store_is_where_it_is_said_and_its_owners_alone() {
    let sandbox = sandbox().var("SCROLLBACK_HOME", "");
    sandbox.put_recorded();
    sandbox.well(&["tail"]);
    let data = sandbox.home().join(".local/share/scrollback");
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&data), 0o700);
    assert!(data.join("store.db").exists());
    for entry in fs::read_dir(&data).unwrap() {
        let path = entry.unwrap().path();
        assert_eq!(mode(&path), 0o600, "{}", path.display());
    }
    let xdg = sandbox.home().join("xdg");
    let sandbox = sandbox.var("XDG_DATA_HOME", xdg.to_string_lossy());
    sandbox.well(&["tail"]);
    assert!(xdg.join("scrollback/store.db").exists());
}

#[test]
fn a_store_of_a_newer_version_is_left_as_it_is() {
    let sandbox = sandbox();
    sandbox.put_recorded();
    sandbox.well(&["tail"]);
    // SQLite keeps the version at byte 60, big-endian.
    let mut bytes = fs::read(sandbox.store()).unwrap();
    assert_eq!(bytes[60..64], [0, 0, 0, 1], "the store's version");
    bytes[60..64].copy_from_slice(&[0, 0, 0, 9]);
    for entry in fs::read_dir(sandbox.data()).unwrap() {
        fs::remove_file(entry.unwrap().path()).unwrap();
    }
    let path = sandbox.store();
    #[expect(clippy::disallowed_methods, reason = "a store as another version leaves it")]
    fs::write(&path, &bytes).unwrap();
    for args in [&["tail"][..], &["sessions"], &["export"]] {
        let ran = sandbox.run(args);
        assert_eq!(ran.code, 1, "{ran:?}");
        assert!(ran.stderr.contains("format 9") && ran.stderr.contains("knows up to 1"), "{ran:?}");
    }
    assert!(fs::read(&path).unwrap() == bytes, "the store was changed");
}

#[test]
fn several_records_on_a_line_are_several_records() {
    let sandbox = sandbox();
    let row = |n: u32| {
        format!(
            r#"{{"type":"user","uuid":"00000000-0000-4000-8000-00000000000{n}","sessionId":"s","timestamp":"2026-11-30T20:00:0{n}.000Z","version":"2.1.332","message":{{"role":"user","content":"word{n}"}}}}"#
        )
    };
    let torn = &row(3)[..60];
    let claude = [row(1), format!("{}{} {}", row(2), row(4), row(5)), format!("{}{torn}{}", row(6), row(7))];
    sandbox.write(".claude/projects/-x/s.jsonl", claude.join("\n") + "\n");
    let line = |n: u32| {
        format!(
            r#"{{"timestamp":"2026-11-30T20:00:0{n}.000Z","type":"response_item","payload":{{"type":"message","role":"user","id":"msg_01a22e1e-eb02-7371-bc03-f023a41c39b{n}","content":[{{"type":"input_text","text":"term{n}"}}]}}}}"#
        )
    };
    let meta = r#"{"timestamp":"2026-11-30T20:00:00.000Z","type":"session_meta","payload":{"id":"01a22e1e-ea09-7f70-8b54-4db0ef7cce6b","timestamp":"2026-11-30T20:00:00.000Z","cwd":"/home/dev/x","cli_version":"0.171.0"}}"#;
    let codex = [meta.to_owned(), format!("{}{}", line(1), line(2))];
    sandbox.write(
        ".codex/sessions/2026/11/30/rollout-2026-11-30T20-00-00-01a22e1e-ea09-7f70-8b54-4db0ef7cce6b.jsonl",
        codex.join("\n") + "\n",
    );
    sandbox.run(&["tail"]);
    for word in ["word1", "word2", "word4", "word5", "word6", "word7", "term1", "term2"] {
        let hits = sandbox.well(&["search", "--role", "user", "--json", word]);
        assert_eq!(hits.lines().count(), 1, "{word}: {hits}");
    }
    assert!(!sandbox.export().contains("word3"), "what is torn is no event");
}

#[test]
fn a_pull_request_is_known_of_its_session() {
    let sandbox = sandbox();
    let rows = [
        r#"{"type":"user","uuid":"00000000-0000-4000-8000-000000000001","sessionId":"s","timestamp":"2026-11-30T20:00:00.000Z","version":"2.1.332","message":{"role":"user","content":"open it"}}"#,
        r#"{"type":"pr-link","sessionId":"s","prNumber":7,"prUrl":"https://git.example/app/pull/7","prRepository":"app","timestamp":"2026-11-30T20:01:00.000Z"}"#,
    ];
    sandbox.write(".claude/projects/-x/s.jsonl", rows.join("\n") + "\n");
    sandbox.well(&["tail"]);
    let sessions = sandbox.well(&["sessions", "--json"]);
    assert!(sessions.contains(r#""pull_request":"https://git.example/app/pull/7""#), "{sessions}");
}

#[test]
fn a_copy_of_a_store_that_cannot_be_written_can_be_read() {
    let sandbox = sandbox();
    sandbox.put_recorded();
    sandbox.well(&["tail"]);
    let before = sandbox.export();
    let set = |path: &Path, mode: u32| {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    };
    for beside in ["store.db-wal", "store.db-shm"] {
        let _gone = fs::remove_file(sandbox.data().join(beside));
    }
    set(&sandbox.store(), 0o400);
    set(&sandbox.data(), 0o500);
    let after = sandbox.export();
    set(&sandbox.data(), 0o700);
    assert_eq!(after, before);
    assert!(!sandbox.data().join("store.db-shm").exists(), "nothing was made beside it");
}

#[test]
fn the_project_of_a_directory_that_is_gone_does_not_depend_on_what_was_met_first() {
    let exports: Vec<String> = [["a", "b"], ["b", "a"]]
        .into_iter()
        .map(|order| {
            let sandbox = sandbox();
            for (name, cwd) in [("a", "/gone/app"), ("b", "/gone/app/part")] {
                let row = format!(
                    r#"{{"type":"user","uuid":"00000000-0000-4000-8000-00000000000{name}","sessionId":"{name}","timestamp":"2026-11-30T20:00:00.000Z","cwd":"{cwd}","version":"2.1.332","message":{{"role":"user","content":"hello"}}}}"#
                );
                sandbox.write(format!("{name}.jsonl"), row + "\n");
            }
            for name in order {
                sandbox.well(&["tail", "--path", &format!("{name}.jsonl")]);
            }
            sandbox.export()
        })
        .collect();
    assert_eq!(exports[0], exports[1]);
    assert!(exports[0].contains(r#""project":"/gone/app/part""#), "{}", exports[0]);
}
