//! Any transcript: the fallback, clients that a user declares, and labels.

use crate::support::{assert_same, of_type, sandbox, text, values};
use scrollback_tests::{Ran, Sandbox, fixtures, fixtures_of, page, transcripts};
use serde_json::Value;
use std::collections::BTreeSet;
use std::io::Write as _;
use std::path::Path;

const PLAIN: &str = concat!(
    "{\"role\":\"system\",\"content\":\"Be brief.\"}\n",
    "{\"role\":\"user\",\"content\":\"ok\"}\n",
    "{\"role\":\"assistant\",\"content\":\"What is ok?\"}\n",
    "{\"role\":\"user\",\"content\":\"ok\"}\n",
);
const TIMED: &str = concat!(
    "{\"role\":\"system\",\"content\":\"Be brief.\"}\n",
    "{\"role\":\"user\",\"content\":\"ok\",\"ts\":1796068800}\n",
    "{\"role\":\"assistant\",\"content\":\"What is ok?\"}\n",
);

fn ids(export: &str) -> BTreeSet<String> {
    of_type(export, "event").iter().map(|event| text(event, "id").to_owned()).collect()
}

fn sessions(export: &str) -> Vec<(String, String)> {
    let name = |session: &Value| (text(session, "client").to_owned(), text(session, "session").to_owned());
    of_type(export, "session").iter().map(name).collect()
}

fn tail_json(sandbox: &Sandbox, args: &[&str]) -> Value {
    values(&sandbox.well(&[&["tail", "--json"], args].concat())).remove(0)
}

#[test]
fn what_no_client_wrote_is_read_and_the_parser_is_named() {
    let sandbox = sandbox();
    sandbox.put_recorded();
    sandbox.write("logs/a.jsonl", TIMED);
    sandbox.write("logs/b.jsonl", PLAIN);
    let told = sandbox.well(&["tail", "--path", "~/logs", "--path", "~/.codex"]);
    assert!(
        told.contains("\n  codex  9 sources, ") && told.contains("\n  jsonl  2 sources, 7 events new\n"),
        "{told}"
    );
    let summary = tail_json(&sandbox.beside(), &["--path", "~/logs", "--path", "~/.codex"]);
    let parsers: Vec<(&str, u64)> = summary["parsers"]
        .as_array()
        .unwrap()
        .iter()
        .map(|parser| (text(parser, "parser"), parser["sources"].as_u64().unwrap()))
        .collect();
    assert_eq!(parsers, [("codex", 9), ("jsonl", 2)], "{summary}");
    assert_eq!(values(&sandbox.well(&["search", "--json", "--client", "jsonl", "what"])).len(), 2);
}

#[test]
fn what_shows_no_roles_is_refused() {
    let sandbox = sandbox();
    let path = sandbox.write("settings.jsonl", "{\"theme\":\"dark\"}\n{\"content\":\"x\"}\n");
    let Ran { code, stdout, .. } = sandbox.run(&["tail", "--path", path.to_str().unwrap()]);
    assert_eq!(code, 1, "{stdout}");
    assert!(stdout.contains("no parser knows this file") && stdout.contains("jsonl"), "{stdout}");
    assert_eq!(of_type(&sandbox.export(), "event"), [] as [Value; 0]);
    // Who insists has it read; nothing is made up of it, and coverage says what it is.
    sandbox.well(&["tail", "--path", path.to_str().unwrap(), "--parser", "jsonl"]);
    assert_eq!(of_type(&sandbox.export(), "event"), [] as [Value; 0]);
    let ran = sandbox.run(&["coverage"]);
    assert_eq!(ran.code, 3, "{ran:?}");
    assert!(ran.stdout.contains("2  jsonl    no role or content"), "{}", ran.stdout);
}

#[test]
fn two_files_of_one_name_are_two_and_a_copy_is_none() {
    let sandbox = sandbox();
    sandbox.write("a/log.jsonl", PLAIN);
    sandbox.write("b/log.jsonl", PLAIN.replace("What is ok?", "Why?"));
    sandbox.write("a/timed.jsonl", TIMED);
    let told = sandbox.well(&["tail", "--path", "~/a", "--path", "~/b"]);
    assert!(told.contains("2 sources: no session, time or id says which session this is"), "{told}");
    let export = sandbox.export();
    assert_eq!(sessions(&export).len(), 3, "{export}");
    assert_eq!(ids(&export).len(), 4 + 4 + 3);

    // A copy of a file that says which session it is, is that session; nothing comes twice.
    sandbox.write("c/other.jsonl", TIMED);
    let summary = tail_json(&sandbox, &["--path", "~/c"]);
    assert_eq!((&summary["events"], &summary["stored"]), (&3.into(), &0.into()), "{summary}");
    assert_same(&export, &sandbox.export(), "with a copy");
    // One that only its path names is another session, and that is said, here and in coverage.
    sandbox.write("c/log.jsonl", PLAIN);
    let summary = tail_json(&sandbox, &["--path", "~/c"]);
    assert_eq!(summary["stored"], 4, "{summary}");
    assert_eq!(summary["remarks"][0]["sources"], 1, "{summary}");
    let ran = sandbox.run(&["coverage"]);
    assert!(ran.stdout.contains("3 sources: no session, time or id says"), "{ran:?}");
    assert_eq!(ran.code, 0, "that is no failure: {ran:?}");
    let by_path = values(&sandbox.well(&["coverage", "--json"]));
    let by_path =
        by_path.iter().filter(|line| line["remark"].as_str().is_some_and(|it| it.contains("its path")));
    assert_eq!(by_path.count(), 3);
}

#[test]
fn a_growing_file_keeps_its_session_and_its_ids() {
    for fixture in transcripts(&fixtures_of("jsonl")) {
        let whole = std::fs::read_to_string(&fixture).unwrap();
        let (once, growing) = (sandbox(), sandbox());
        let name = format!("logs/{}", fixture.file_name().unwrap().to_str().unwrap());
        once.write(&name, &whole);
        once.well(&["tail", "--path", "~/logs"]);
        let path = growing.write(&name, "");
        for line in whole.split_inclusive('\n') {
            let mut file = std::fs::File::options().append(true).open(&path).unwrap();
            file.write_all(line.as_bytes()).unwrap();
            growing.run(&["tail", "--path", "~/logs", "--parser", "jsonl"]);
        }
        let found = growing.export();
        assert_same(&once.export(), &found, &name);
        assert!(ids(&found).len() > 2, "{name}: {found}");
        growing.well(&["tail", "--again", "--path", "~/logs"]);
        assert_same(&found, &growing.export(), "read again from its start");
    }
}

#[test]
fn ids_are_taken_before_secrets_are() {
    let secret = concat!("ghp_", "16C7e42F292c6912E7710c838347Ae178B4a");
    let lines = |secret: &str| {
        format!(
            "{{\"role\":\"system\",\"content\":\"The token is {secret}.\"}}\n\
             {{\"role\":\"user\",\"content\":\"Use {secret}.\",\"ts\":1796068800}}\n"
        )
    };
    let sandbox = sandbox();
    let path = sandbox.write("a.jsonl", lines(secret));
    sandbox.well(&["tail", "--path", path.to_str().unwrap()]);
    let export = sandbox.export();
    assert!(!export.contains(secret) && export.contains("[redacted:"), "{export}");
    assert_eq!(
        ids(&export),
        ids(&sandbox.well(&["parse", path.to_str().unwrap()])),
        "as they are without a store"
    );
    // What was waiting held no secret either.
    let store = std::fs::read(sandbox.store()).unwrap();
    assert!(!store.windows(secret.len()).any(|window| window == secret.as_bytes()));
}

#[test]
fn a_label_is_kept_with_the_transcript() {
    let sandbox = sandbox();
    let path = sandbox.write("logs/a.jsonl", PLAIN);
    let path = path.to_str().unwrap();
    sandbox.well(&["tail", "--path", path, "--client", "acme", "--session", "monday"]);
    assert_eq!(sessions(&sandbox.export()), [("acme".to_owned(), "monday".to_owned())]);
    let mut file = std::fs::File::options().append(true).open(path).unwrap();
    file.write_all(b"{\"role\":\"user\",\"content\":\"more\"}\n").unwrap();
    let summary = tail_json(&sandbox, &["--path", path]);
    assert_eq!(summary["stored"], 1, "{summary}");
    let export = sandbox.export();
    assert_eq!(sessions(&export), [("acme".to_owned(), "monday".to_owned())]);
    let actors: BTreeSet<String> =
        of_type(&export, "event").iter().map(|event| text(event, "actor").to_owned()).collect();
    assert!(actors.contains("agent:acme"), "{actors:?}");
    let again = tail_json(&sandbox, &["--again", "--path", path]);
    assert_eq!((&again["stored"], &again["replaced"]), (&0.into(), &0.into()), "{again}");
    let labelled = ["parse", path, "--client", "acme", "--session", "monday"];
    assert_eq!(ids(&sandbox.well(&labelled)), ids(&export));
    let coverage = values(&sandbox.well(&["coverage", "--json"]));
    assert_eq!(text(&coverage[0], "client"), "acme", "{coverage:?}");
    // The same flags again change nothing; others are refused.
    sandbox.well(&["tail", "--path", path, "--client", "acme"]);
    let ran = sandbox.run(&["tail", "--path", path, "--client", "other"]);
    assert_eq!(ran.code, 64, "{ran:?}");
    assert!(ran.stderr.contains("read before as acme/monday") && ran.stderr.contains("--again"), "{ran:?}");
    assert_same(&export, &sandbox.export(), "after a refusal");
}

#[test]
fn a_label_that_does_not_fit_is_refused() {
    let sandbox = sandbox();
    sandbox.put_recorded();
    sandbox.write("logs/a.jsonl", PLAIN);
    sandbox.write("logs/b.jsonl", TIMED);
    let cases: [(&[&str], &str); 8] = [
        (&["tail", "--client", "acme"], "want --path"),
        (&["tail", "--path", "~/.codex", "--client", "acme"], "is read with codex"),
        (&["tail", "--path", "~/logs", "--path", "~/.codex", "--session", "s"], "is read with codex"),
        (&["tail", "--path", "~/logs", "--parser", "codex", "--client", "acme"], "is read with codex"),
        (&["tail", "--path", "~/logs", "--session", "s"], "--session names one transcript, and there are 2"),
        (&["tail", "--path", "~/logs", "--client", "Acme Inc."], "lower-case letters"),
        (&["tail", "--path", "~/logs", "--session", " "], "named by 1 to 200 bytes"),
        (&["parse", "logs/a.jsonl", "--parser", "codex", "--client", "acme"], "is read with codex"),
    ];
    for (args, why) in cases {
        let ran = sandbox.run(args);
        assert_eq!((ran.code, ran.stdout.as_str()), (64, ""), "{args:?}: {ran:?}");
        assert!(ran.stderr.contains(why), "{args:?}: {ran:?}");
    }
    assert_eq!(sandbox.export().lines().count(), 1, "nothing was read");
}

/// Returns the blocks of that language in `docs/field-maps.md`.
fn blocks(language: &str) -> Vec<String> {
    let page = page("docs/field-maps.md");
    let fence = format!("```{language}\n");
    page.split(&fence).skip(1).map(|after| after.split("```").next().unwrap().to_owned()).collect()
}

/// Writes a field map into the configuration directory.
fn declare(sandbox: &Sandbox, name: &str, map: &str) {
    sandbox.write(sandbox.data().join("parsers").join(name), map);
}

#[test]
fn the_worked_example_is_so() {
    let sandbox = sandbox();
    let (maps, lines) = (blocks("toml"), blocks("jsonl").remove(0));
    declare(&sandbox, "droid.toml", &maps[0]);
    let path = sandbox.write("elsewhere/droid.jsonl", &lines);
    let parsed = sandbox.well(&["parse", path.to_str().unwrap()]);
    assert_same(&blocks("json")[0], &parsed, "docs/field-maps.md, what `parse` says");
    assert_eq!(maps[1], page("parsers/jsonl/src/default.toml"), "docs/field-maps.md, the default map");
    // In its home it is found, and everything of it is understood.
    sandbox.write(".factory/sessions/-home-dev-forge/052cb8d0.jsonl", &lines);
    assert_eq!(tail_json(&sandbox, &[])["parsers"][0]["parser"], "factory-droid");
    assert_eq!(sandbox.run(&["coverage"]).code, 0);
    let plugins = values(&sandbox.well(&["plugins", "--json"]));
    let droid = plugins.iter().find(|plugin| plugin["id"] == "factory-droid").unwrap();
    assert!(text(droid, "file").ends_with("parsers/droid.toml"), "{droid}");
    assert!(sandbox.well(&["plugins"]).contains("declared in "));
}

#[test]
fn the_worked_example_reads_what_the_client_wrote() {
    let Some(folder) = fixtures("the_worked_example_reads_what_the_client_wrote") else { return };
    let sandbox = sandbox();
    declare(&sandbox, "droid.toml", &blocks("toml")[0]);
    sandbox.put(&folder.join("factory-droid/session.jsonl"), ".factory/sessions/-x/s.jsonl");
    let summary = tail_json(&sandbox, &[]);
    assert_eq!((&summary["not_understood"], &summary["unreadable"]), (&0.into(), &0.into()), "{summary}");
    assert!(summary["stored"].as_u64().unwrap() >= 12, "{summary}");
}

#[test]
fn a_file_in_a_declared_home_is_its_clients_whatever_way_it_is_named() {
    let sandbox = sandbox();
    let map = "id = \"anvil\"\nname = \"Anvil\"\nhomes = [\"~/.anvil/*.jsonl\"]\n[record]\nrole = \"role\"\ncontent = \"content\"\n";
    declare(&sandbox, "anvil.toml", map);
    sandbox.write(".anvil/s.jsonl", TIMED);
    let named = tail_json(&sandbox, &["--path", ".anvil/s.jsonl"]);
    assert_eq!(named["parsers"][0]["parser"], "anvil", "{named}");
    assert_eq!(tail_json(&sandbox, &[])["stored"], 0);
    let parsed = sandbox.well(&["parse", ".anvil/s.jsonl"]);
    assert_eq!(ids(&parsed), ids(&sandbox.export()), "named by its path or not, under a relative path too");
    assert!(parsed.contains("\"client\":\"anvil\""), "{parsed}");
    // A map does not take another client's transcripts, wherever it says its own are.
    sandbox.put_recorded();
    declare(&sandbox, "anvil.toml", &map.replace(".anvil/*", "**/*"));
    for args in [&["--dry-run"][..], &["--dry-run", "--path", "~/.codex", "--path", "~/.claude"]] {
        let summary = tail_json(&sandbox, args);
        let parsers = summary["parsers"].as_array().unwrap().iter();
        let parsers: Vec<&str> =
            parsers.map(|parser| text(parser, "parser")).filter(|it| *it != "anvil").collect();
        assert_eq!(parsers, ["claude-code", "codex"], "{summary}");
    }
    // A sample is for the linked clients alone.
    assert!(!sandbox.well(&["demo"]).contains("anvil"));
}

#[test]
fn a_map_that_is_wrong_costs_itself_and_is_told() {
    let sandbox = sandbox();
    sandbox.put_recorded();
    let good = "id = \"anvil\"\nname = \"Anvil\"\n[record]\nrole = \"role\"\ncontent = \"content\"\n";
    declare(&sandbox, "a.toml", good);
    declare(&sandbox, "b.toml", &good.replace("content =", "contents ="));
    declare(&sandbox, "c.toml", good);
    declare(&sandbox, "d.toml", &good.replace("anvil", "codex"));
    declare(&sandbox, "notes.txt", "no map");
    let path = |name: &str| sandbox.data().join("parsers").join(name).display().to_string();
    let expected = [
        format!(
            "{}:5:1: unknown field `contents`, expected one of `kind`, `role`, `content`",
            path("b.toml")
        ),
        format!("{}: the id \"anvil\" is that of {}", path("c.toml"), path("a.toml")),
        format!("{}: the id \"codex\" is that of a parser of this program", path("d.toml")),
    ];
    let ran = sandbox.run(&["tail", "--json"]);
    assert_eq!(ran.code, 1, "{ran:?}");
    for what in &expected {
        assert!(
            ran.stderr.contains(what.as_str()) && ran.stderr.contains("docs/field-maps.md"),
            "{what}\n{}",
            ran.stderr
        );
    }
    let summary = values(&ran.stdout).remove(0);
    assert_eq!(summary["sources"], 17, "every other parser works: {summary}");
    assert_eq!(summary["problems"].as_array().map(Vec::len), Some(3), "{summary}");
    let codex = transcripts(&sandbox.home().join(".codex")).remove(0);
    for (args, code) in [
        (&["plugins"][..], 1),
        (&["plugins", "--json"], 1),
        (&["parse", codex.to_str().unwrap()], 1),
        (&["coverage", "--allow-unknown"], 3),
        (&["reparse"], 1),
        (&["sessions"], 0),
    ] {
        let ran = sandbox.run(args);
        assert_eq!(ran.code, code, "{args:?}: {ran:?}");
        let told = format!("{}{}", ran.stdout, ran.stderr).contains("unknown field `contents`");
        assert_eq!(told, code != 0, "{args:?}: {ran:?}");
    }
}

#[test]
fn what_a_better_map_understands_of_a_lost_transcript_goes_where_it_belongs() {
    let sandbox = sandbox();
    let map =
        "id = \"anvil\"\nname = \"Anvil\"\n[record]\nkind = \"is\"\nrole = \"role\"\ncontent = \"content\"\n";
    declare(&sandbox, "anvil.toml", map);
    let lines = format!("{TIMED}{{\"is\":\"aside\",\"content\":\"Hm.\"}}\n");
    let path = sandbox.write("s.jsonl", lines);
    sandbox.well(&["tail", "--parser", "anvil", "--path", path.to_str().unwrap()]);
    std::fs::remove_file(path).unwrap();
    declare(&sandbox, "anvil.toml", &format!("{map}[kinds]\nassistant = [\"aside\"]\n"));
    let told = sandbox.well(&["reparse"]);
    assert!(told.starts_with("1 record kept raw: 1 understood now, 1 event new."), "{told}");
    let export = sandbox.export();
    assert_eq!((sessions(&export).len(), ids(&export).len()), (1, 4), "{export}");
}

#[test]
fn other_clients_transcripts_give_nothing_that_is_not_in_them() {
    let Some(folder) = fixtures("other_clients_transcripts_give_nothing_that_is_not_in_them") else { return };
    let (mut files, mut events) = (0, 0);
    for client in ["cursor", "factory-droid", "kimi-code", "gemini-cli", "pi", "qwen-code", "copilot-cli"] {
        for path in transcripts(&folder.join(client)) {
            let lines = std::fs::read(&path).unwrap();
            let written = String::from_utf8_lossy(&lines);
            let sandbox = sandbox();
            let ran = sandbox.run(&["parse", "--parser", "jsonl", path.to_str().unwrap()]);
            assert_eq!(ran.code, 0, "{ran:?}");
            files += 1;
            for event in of_type(&ran.stdout, "event") {
                events += 1;
                let Some(said) = event["text"].as_str().filter(|said| !said.contains("[redacted:")) else {
                    continue;
                };
                for line in said.lines() {
                    let escaped = Value::from(line).to_string();
                    let escaped = escaped.trim_matches('"');
                    assert!(
                        written.contains(line) || written.contains(escaped),
                        "{}: {line:?}",
                        path.display()
                    );
                }
                if !written.contains("\"timestamp\"") && !written.contains("\"time\"") {
                    assert!(event["at"].is_null(), "{}: {event}", path.display());
                }
            }
        }
    }
    assert!(files > 20 && events > 80, "{files} files, {events} events");
}

#[test]
fn the_clients_own_parsers_go_first() {
    let sandbox = sandbox();
    for client in ["claude-code", "codex"] {
        for (n, path) in transcripts(&fixtures_of(client)).into_iter().enumerate() {
            let at = Path::new("all").join(client).join(n.to_string());
            sandbox.put(&path, at.join(path.file_name().unwrap()));
        }
    }
    let summary = values(&sandbox.run(&["tail", "--json", "--path", "~/all"]).stdout).remove(0);
    let parsers: Vec<&str> =
        summary["parsers"].as_array().unwrap().iter().map(|parser| text(parser, "parser")).collect();
    assert_eq!(parsers, ["claude-code", "codex"], "{summary}");
}

#[test]
#[expect(clippy::disallowed_methods, reason = "a FIFO is made by a program")]
fn what_is_no_file_among_the_maps_is_refused_and_waited_for_by_nobody() {
    let sandbox = sandbox();
    sandbox.write("logs/a.jsonl", TIMED);
    declare(&sandbox, "good.toml", "id='good'\nname='Good'\nrecord={role='who',content='said'}\n");
    let fifo = sandbox.data().join("parsers/pipe.toml");
    assert!(std::process::Command::new("mkfifo").arg(&fifo).status().unwrap().success());
    let ran = sandbox.run(&["tail", "--path", "~/logs"]);
    assert_eq!(ran.code, 1, "{}", ran.stderr);
    assert!(ran.stderr.contains("pipe.toml") && ran.stderr.contains("not a regular file"), "{}", ran.stderr);
    assert!(ran.stdout.contains("3 events, 3 new"), "{}", ran.stdout);
}
