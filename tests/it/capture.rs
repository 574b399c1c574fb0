//! What is captured and for which project, as a user says it: by `use`, `pause` and their like, by the environment,
//! by `config.toml`.

use crate::support::{now, of_type, sandbox, text, values};
use scrollback_engine::drain;
use scrollback_tests::Sandbox;
use serde_json::{Value, json};
use std::fs;
use std::io::Write as _;
use std::process::Stdio;
use std::time::Duration;

/// Returns the time, with a moment before it and after.
fn later() -> String {
    std::thread::sleep(Duration::from_millis(5));
    let now = now();
    std::thread::sleep(Duration::from_millis(5));
    now
}

/// A session of Claude Code's in one directory, written as it goes.
struct Session<'m> {
    machine: &'m Sandbox,
    id: &'static str,
    directory: String,
    said: usize,
}

impl<'m> Session<'m> {
    /// Begins a session in a directory below the home.
    fn new(machine: &'m Sandbox, id: &'static str, directory: &str) -> Self {
        let directory = machine.home().canonicalize().unwrap().join(directory);
        fs::create_dir_all(&directory).unwrap();
        Self { machine, id, directory: directory.to_str().unwrap().to_owned(), said: 0 }
    }

    fn file(&self) -> String {
        format!(".claude/projects/p/{}.jsonl", self.id)
    }

    fn append(&self, row: &str) {
        let path = self.machine.home().join(self.file());
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let mut file = fs::File::options().create(true).append(true).open(path).unwrap();
        file.write_all(format!("{row}\n").as_bytes()).unwrap();
    }

    /// Says something now.
    fn says(&mut self, what: &str) {
        self.said += 1;
        let uuid = format!("{}-{:04}-4000-8000-000000000000", &self.id[..8], self.said);
        self.append(
            &json!({"type": "user", "uuid": uuid, "sessionId": self.id, "cwd": self.directory, "timestamp": later(),
                "message": {"role": "user", "content": what}, "parentUuid": null, "isSidechain": false,
                "version": "2.1.332"})
            .to_string(),
        );
    }

    /// Lets its client run a hook, with more in its environment.
    fn hooks(&self, variables: &[(&str, &str)]) {
        let payload = json!({"session_id": self.id, "transcript_path": self.machine.home().join(self.file()),
            "hook_event_name": "SessionStart", "cwd": self.directory, "source": "startup"});
        let mut command = self.machine.command(&["hook", "claude-code", "SessionStart"]);
        command.envs(variables.iter().copied()).stdin(Stdio::piped());
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(payload.to_string().as_bytes()).unwrap();
        assert!(child.wait_with_output().unwrap().status.success());
    }

    /// Runs a command in its directory.
    fn run(&self, args: &[&str]) -> String {
        let output = self.machine.command(args).current_dir(&self.directory).output().unwrap();
        scrollback_tests::Ran::of(output).well()
    }
}

fn repository(machine: &Sandbox, name: &str) {
    fs::create_dir_all(machine.home().join(name).join(".git")).unwrap();
}

/// Returns the texts in the store, each with its project's last name, in the order of sessions.
fn stored(machine: &Sandbox) -> Vec<String> {
    let events = of_type(&machine.export(), "event");
    let last = |event: &Value| text(event, "project").rsplit('/').next().unwrap_or_default().to_owned();
    events.iter().map(|event| format!("{}: {}", last(event), text(event, "text"))).collect()
}

/// Says that a word is nowhere in what is kept.
#[track_caller]
fn nowhere(machine: &Sandbox, word: &str) {
    let mut folders = vec![machine.data()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let bytes = fs::read(&path).unwrap();
                let found = bytes.windows(word.len()).any(|window| window == word.as_bytes());
                assert!(!found, "{word} is in {}", path.display());
            }
        }
    }
}

/// Returns how many records `coverage` says were skipped and why; its figures must add up.
fn skipped(machine: &Sandbox) -> (u64, String) {
    let clients = values(&machine.well(&["coverage", "--json"]));
    let client = clients.iter().find(|line| line["type"] == "client").unwrap();
    let n = |key: &str| client[key].as_u64().unwrap();
    assert!(n("nothing") + n("not_understood") + n("unreadable") + n("skipped") <= n("records"), "{client}");
    (n("skipped"), machine.well(&["coverage"]))
}

#[test]
fn what_is_said_in_a_pause_is_not_stored_now_or_later() {
    let machine = sandbox();
    repository(&machine, "one");
    repository(&machine, "other");
    let mut here = Session::new(&machine, "aaaaaaaa-0000-4000-8000-000000000000", "one/deep");
    let mut there = Session::new(&machine, "bbbbbbbb-0000-4000-8000-000000000000", "other");
    here.says("before");
    let told = here.run(&["pause"]);
    assert!(told.contains("/one. What is said until `scrollback resume` is not stored"), "{told}");
    assert!(here.run(&["pause"]).contains("paused in"));
    assert!(here.run(&["status"]).contains("capture is paused in"));
    here.says("zebrafish");
    here.append("{\"type\":\"user\",\"torn zebrafish");
    there.says("elsewhere");
    machine.well(&["tail"]);
    assert!(here.run(&["resume"]).starts_with("Capture goes on in"));
    assert!(here.run(&["resume"]).starts_with("Capture was not paused in"));
    here.says("after");
    let report = machine.well(&["tail"]);
    assert!(!report.contains("kept raw"), "{report}");
    assert_eq!(stored(&machine), ["one: before", "one: after", "other: elsewhere"]);
    nowhere(&machine, "zebrafish");
    let (n, told) = skipped(&machine);
    assert_eq!(n, 2);
    assert!(told.contains("2 skipped (capture was paused)"), "{told}");
    // Reading it again because its file was replaced changes nothing.
    let path = machine.home().join(here.file());
    let bytes = fs::read(&path).unwrap();
    fs::remove_file(&path).unwrap();
    machine.write(here.file(), bytes);
    machine.well(&["tail"]);
    nowhere(&machine, "zebrafish");
    // The user's own word goes before.
    machine.well(&["tail", "--again"]);
    assert_eq!(stored(&machine), ["one: before", "one: zebrafish", "one: after", "other: elsewhere"]);
}

#[test]
fn a_pause_everywhere_is_everywhere_until_it_ends_everywhere() {
    let machine = sandbox();
    repository(&machine, "one");
    let mut here = Session::new(&machine, "aaaaaaaa-0000-4000-8000-000000000000", "one");
    let mut there = Session::new(&machine, "bbbbbbbb-0000-4000-8000-000000000000", "plain");
    assert!(here.run(&["pause", "--everywhere"]).starts_with("Capture is paused everywhere."));
    here.says("first");
    there.says("second");
    let refused = machine.run(&["resume"]);
    assert_eq!(refused.code, 1, "{}", refused.stdout);
    assert!(
        refused.stderr.contains("still paused everywhere; `scrollback resume --everywhere`"),
        "{}",
        refused.stderr
    );
    there.run(&["pause"]);
    here.run(&["resume", "--everywhere"]);
    here.says("third");
    there.says("fourth");
    machine.well(&["tail"]);
    assert_eq!(stored(&machine), ["one: third", "plain: fourth"]);
}

#[test]
fn a_project_is_bound_from_then_on_and_here_alone() {
    let machine = sandbox();
    repository(&machine, "one");
    repository(&machine, "one/module");
    let mut here = Session::new(&machine, "aaaaaaaa-0000-4000-8000-000000000000", "one/src");
    let mut module = Session::new(&machine, "bbbbbbbb-0000-4000-8000-000000000000", "one/module");
    let mut plain = Session::new(&machine, "cccccccc-0000-4000-8000-000000000000", "notes/deep");
    here.says("early");
    assert!(here.run(&["use", "apollo"]).contains("/one belong to \"apollo\""));
    let notes = machine.home().join("notes");
    let output = machine.command(&["use", "diary"]).current_dir(notes).output().unwrap();
    assert!(scrollback_tests::Ran::of(output).well().contains("/notes and below it belong to \"diary\""));
    here.says("middle");
    module.says("own");
    plain.says("dear");
    let active = here.run(&["active"]);
    assert!(active.starts_with("Project  apollo (bound in ") && active.contains("\nCapture  on"), "{active}");
    let active: Value = serde_json::from_str(&here.run(&["active", "--json"])).unwrap();
    assert_eq!((text(&active, "project"), text(&active, "by")), ("apollo", "use"));
    assert!(here.run(&["clear"]).contains("belong to the project of their directory"));
    assert!(here.run(&["clear"]).starts_with("No project was bound"));
    assert!(here.run(&["active"]).lines().next().unwrap().ends_with("/one"));
    here.says("late");
    // However late it is read.
    machine.well(&["tail"]);
    let expected = ["one: early", "apollo: middle", "one: late", "module: own", "diary: dear"];
    assert_eq!(stored(&machine), expected);
    let found = |project: &str, word: &str| {
        machine.well(&["search", "--json", "--project", project, word]).lines().count()
    };
    assert_eq!((found("apollo", "middle"), found("apollo", "early"), found("one", "early")), (1, 0, 1));
    let sessions = values(&machine.well(&["sessions", "--json", "--project", "apollo"]));
    assert_eq!(sessions.len(), 1);
    assert_eq!((text(&sessions[0], "session"), text(&sessions[0], "project")), (here.id, "apollo"));
    // Reading again gives the same.
    machine.well(&["tail", "--again"]);
    assert_eq!(stored(&machine), expected);
}

#[test]
fn bound_stores_what_is_bound_and_a_session_may_be_half_of_it() {
    let machine = sandbox();
    machine.write("config/config.toml", "capture.mode = \"bound\"\n");
    let config = machine.home().join("config").to_str().unwrap().to_owned();
    let machine = machine.var("XDG_CONFIG_HOME", "").var("SCROLLBACK_HOME", config);
    repository(&machine, "one");
    let mut here = Session::new(&machine, "aaaaaaaa-0000-4000-8000-000000000000", "one");
    let mut there = Session::new(&machine, "bbbbbbbb-0000-4000-8000-000000000000", "two");
    assert!(here.run(&["active"]).contains("Capture  only of bound projects, and none is bound here"));
    here.says("zebrafish before");
    here.append(&json!({"type": "ai-title", "sessionId": here.id, "aiTitle": "zebrafish title"}).to_string());
    there.says("zebrafish there");
    machine.well(&["tail"]);
    assert_eq!(machine.well(&["sessions"]).trim(), "No session matches.");
    here.run(&["use", "apollo"]);
    here.says("bound");
    here.run(&["clear"]);
    here.says("zebrafish after");
    machine.well(&["tail"]);
    let events = of_type(&machine.well(&["export"]), "event");
    assert_eq!(events.len(), 1);
    assert_eq!((text(&events[0], "text"), text(&events[0], "project")), ("bound", "apollo"));
    let bytes = fs::read(machine.home().join("config/store.db")).unwrap();
    assert!(!bytes.windows(9).any(|window| window == b"zebrafish"));
}

#[test]
fn a_session_whose_client_has_capture_off_is_noted_and_no_more() {
    let machine = sandbox();
    let mut off = Session::new(&machine, "aaaaaaaa-0000-4000-8000-000000000000", "one");
    let mut on = Session::new(&machine, "bbbbbbbb-0000-4000-8000-000000000000", "one");
    // As long as it is held, no drain runs.
    let lock = drain::lock(&machine.data()).unwrap().unwrap();
    for word in ["off", "nonsense"] {
        off.hooks(&[("SCROLLBACK_CAPTURE", word)]);
    }
    let left = fs::read_to_string(machine.data().join("spool/current")).unwrap();
    let records = values(left.replace("\n\n", "\n").trim_start());
    assert_eq!(records.len(), 2);
    for record in &records {
        let keys: Vec<&String> = record.as_object().unwrap().keys().collect();
        assert_eq!(keys, ["at", "capture", "client", "session", "v"], "{record}");
    }
    drop(lock);
    off.says("zebrafish");
    on.hooks(&[]);
    on.says("plain");
    off.append("{\"type\":\"user\",\"torn zebrafish");
    let of_an_agent = json!({"type": "user", "uuid": "dddddddd-0000-4000-8000-000000000000", "sessionId": off.id,
        "agentId": "a1b2c3d4", "isSidechain": true, "cwd": off.directory, "timestamp": later(), "parentUuid": null,
        "message": {"role": "user", "content": "zebrafish, agent"}, "version": "2.1.332"});
    let agent = format!(".claude/projects/p/{}/subagents/agent-a1b2c3d4.jsonl", off.id);
    machine.write(agent, format!("{of_an_agent}\n"));
    machine.well(&["tail"]);
    assert_eq!(stored(&machine), ["one: plain"]);
    assert_eq!(skipped(&machine).0, 3);
    nowhere(&machine, "zebrafish");
    // It goes on with capture on.
    std::thread::sleep(Duration::from_millis(20));
    off.hooks(&[]);
    off.says("resumed");
    machine.well(&["tail"]);
    assert_eq!(stored(&machine), ["one: resumed", "one: plain"]);
    nowhere(&machine, "zebrafish");
    // A `tail` with capture off reads nothing, and says so.
    on.says("later");
    let machine = machine.var("SCROLLBACK_CAPTURE", "off");
    assert!(machine.well(&["tail"]).starts_with("Capture is off"));
    assert_eq!(stored(&machine), ["one: resumed", "one: plain"]);
}

#[test]
fn the_project_of_a_clients_environment_goes_before_the_one_bound() {
    let machine = sandbox();
    let mut named = Session::new(&machine, "aaaaaaaa-0000-4000-8000-000000000000", "one");
    let mut bound = Session::new(&machine, "bbbbbbbb-0000-4000-8000-000000000000", "one");
    bound.run(&["use", "apollo"]);
    named.hooks(&[("SCROLLBACK_PROJECT", "gemini"), ("SCROLLBACK_CAPTURE", "bound")]);
    named.says("named");
    bound.says("bound");
    machine.well(&["tail"]);
    assert_eq!(stored(&machine), ["gemini: named", "apollo: bound"]);
    let machine = machine.var("SCROLLBACK_PROJECT", "gemini");
    assert!(machine.well(&["active"]).starts_with("Project  gemini (SCROLLBACK_PROJECT)"));
}

#[test]
fn excluded_directories_are_left_out_with_what_is_below_them() {
    let machine = sandbox().var("SCROLLBACK_CAPTURE_EXCLUDE", "~/private:/nowhere/*");
    let mut private = Session::new(&machine, "aaaaaaaa-0000-4000-8000-000000000000", "private/deep");
    let mut public = Session::new(&machine, "bbbbbbbb-0000-4000-8000-000000000000", "public");
    private.says("zebrafish");
    public.says("plain");
    machine.well(&["tail"]);
    assert_eq!(stored(&machine), ["public: plain"]);
    assert!(skipped(&machine).1.contains("1 skipped (its directory is excluded)"));
    let wrong = machine.var("SCROLLBACK_CAPTURE_EXCLUDE", "private").run(&["tail"]);
    assert_eq!(wrong.code, 64);
    assert!(wrong.stderr.contains("\"private\": it does not begin with `/` or `~/`"), "{}", wrong.stderr);
}

#[test]
fn a_setting_that_is_wrong_is_named_with_its_file() {
    let machine = sandbox();
    let home = machine.home().to_str().unwrap().to_owned();
    let machine = machine.var("SCROLLBACK_HOME", home);
    for (config, expected) in [
        (
            "capture.mode = \"some\"",
            "config.toml: capture.mode=\"some\" is not understood: it is `all` or `bound` or `off`",
        ),
        ("captures = true", "config.toml: \"captures\" is no setting; there are raw, "),
        ("[blobs]\nkeep = 3", "config.toml: blobs.keep is a integer where"),
        ("raw = \"all", "config.toml: TOML parse error at line 1"),
    ] {
        machine.write("config.toml", config);
        let ran = machine.run(&["tail"]);
        assert_eq!(ran.code, 64, "{config}");
        assert!(ran.stderr.contains(expected), "{config}: {}", ran.stderr);
    }
}
