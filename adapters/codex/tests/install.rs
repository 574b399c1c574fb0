//! What the laws do not know: trust, the two places of hooks, the tables of servers.

#![expect(clippy::unwrap_used, reason = "what a test lays out is there, or the test fails")]
#![expect(clippy::disallowed_methods, reason = "the files of a machine")]

use scrollback_adapter_codex::Codex;
use scrollback_core::{Adapter as _, Half, HookLine, Level, McpEntry, Memos, Plan, PlanError, Step, Wanted};
use scrollback_engine::apply::{Applied, apply, memos};
use scrollback_testkit::World;
use serde_json::{Value, json};
use std::fs;
use std::path::PathBuf;
use tempfile::TempDir;

struct Machine {
    root: TempDir,
    world: World,
}

impl Machine {
    fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        for folder in ["home/.codex", "home/project/.git"] {
            fs::create_dir_all(root.path().join(folder)).unwrap();
        }
        let home = root.path().join("home");
        let world = World::new(&home).current_dir(home.join("project"));
        Self { root, world }
    }

    fn at(&self, name: &str) -> PathBuf {
        self.root.path().join("home").join(name)
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.at(name)).unwrap()
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.at(name), text).unwrap();
    }

    fn plan(&self, level: Level, hook: Half<&HookLine>, mcp: Half<&McpEntry>) -> Result<Plan, PlanError> {
        let memos = memos(&self.root.path().join("data")).unwrap();
        Codex.plan(&self.world, &Wanted { level, hook, mcp, memos: &memos })
    }

    fn apply(&self, level: Level, hook: Half<&HookLine>, mcp: Half<&McpEntry>) -> Applied {
        let plan = self.plan(level, hook, mcp).unwrap();
        apply(&plan, &self.world, &self.root.path().join("data")).unwrap()
    }

    fn hooks(&self) -> Value {
        serde_json::from_str(&self.read(".codex/hooks.json")).unwrap()
    }
}

fn hook() -> HookLine {
    HookLine { program: "/opt/scrollback".into(), args: vec![] }
}

fn program() -> McpEntry {
    McpEntry::Program {
        name: "scrollback".into(),
        command: "/opt/scrollback".into(),
        args: vec!["mcp".into()],
    }
}

#[test]
fn hooks_are_written_as_the_client_wants_them() {
    let machine = Machine::new();
    let done = machine.apply(Level::User, Half::Stand(&hook()), Half::Leave);
    assert!(done.told.len() == 1 && done.told[0].contains("/hooks"), "{done:?}");
    let hooks = machine.hooks();
    let line =
        |event: &str| format!("test -x /opt/scrollback && exec /opt/scrollback hook codex {event}; exit 0");
    for (event, timeout) in [("Stop", 10), ("SessionEnd", 3), ("Interrupt", 3)] {
        let handler = json!({"type": "command", "command": line(event), "timeout": timeout});
        assert_eq!(hooks["hooks"][event], json!([{"hooks": [handler]}]));
    }
    assert_eq!(hooks["hooks"].as_object().unwrap().len(), 7);
}

#[test]
fn the_trust_of_our_handlers_goes_with_them_and_no_other() {
    let machine = Machine::new();
    machine.write(
        ".codex/hooks.json",
        r#"{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "say done"}]}]}}"#,
    );
    let key = |event: &str| format!("{}:{event}", machine.at(".codex/hooks.json").display());
    let row = |event: &str| format!("[hooks.state.\"{}\"]\ntrusted_hash = \"sha256:00\"\n", key(event));
    let theirs = format!("model = \"o4\"\n\n{}", row("stop:0:0"));
    machine.write(".codex/config.toml", &theirs);
    machine.apply(Level::User, Half::Stand(&hook()), Half::Leave);
    // The user trusts: the client writes a row a handler.
    let ours =
        ["stop:1:0", "session_start:0:0", "user_prompt_submit:0:0", "subagent_stop:0:0", "pre_compact:0:0"];
    let rows: String = ours.map(|event| format!("\n{}", row(event))).concat();
    machine.write(".codex/config.toml", &format!("{theirs}{rows}"));
    assert_eq!(machine.plan(Level::User, Half::Stand(&hook()), Half::Leave), Ok(Plan::default()));
    let done = machine.apply(Level::User, Half::Absent, Half::Absent);
    assert_eq!(machine.read(".codex/config.toml"), theirs);
    assert!(done.told.is_empty(), "{done:?}");
}

#[test]
fn it_is_told_that_others_move() {
    let machine = Machine::new();
    machine.apply(Level::User, Half::Stand(&hook()), Half::Leave);
    let mut hooks = machine.hooks();
    let later = json!({"hooks": [{"type": "command", "command": "say done"}]});
    hooks["hooks"]["Stop"].as_array_mut().unwrap().push(later.clone());
    machine.write(".codex/hooks.json", &hooks.to_string());
    let done = machine.apply(Level::User, Half::Absent, Half::Absent);
    assert!(done.told.len() == 1 && done.told[0].contains("another place"), "{done:?}");
    assert_eq!(machine.hooks(), json!({"hooks": {"Stop": [later]}}));
}

#[test]
fn hooks_kept_in_the_configuration_stay_there() {
    let machine = Machine::new();
    let before = "[[hooks.Stop]]\n[[hooks.Stop.hooks]]\ntype = \"command\"\ncommand = \"say done\"\n";
    machine.write(".codex/config.toml", before);
    machine.apply(Level::User, Half::Stand(&hook()), Half::Stand(&program()));
    assert!(!machine.at(".codex/hooks.json").exists());
    let text = machine.read(".codex/config.toml");
    assert!(text.starts_with(before) && text.contains("hook codex Interrupt"), "{text}");
    machine.apply(Level::User, Half::Absent, Half::Absent);
    assert_eq!(machine.read(".codex/config.toml"), before);
}

#[test]
fn a_file_the_client_ignores_is_refused() {
    let machine = Machine::new();
    machine.write(".codex/hooks.json", r#"{"hooks": {}, "version": 1}"#);
    let plan = machine.plan(Level::User, Half::Stand(&hook()), Half::Leave);
    assert!(matches!(&plan, Err(PlanError::Refused(text)) if text.contains("\"version\"")), "{plan:?}");
    // It is in nobody's way when something is taken out.
    assert_eq!(machine.plan(Level::User, Half::Absent, Half::Absent), Ok(Plan::default()));
}

#[test]
fn what_the_user_set_beside_our_server_stays() {
    let machine = Machine::new();
    let text = |entry: &str| format!("[mcp_servers.scrollback]\n{entry}startup_timeout_sec = 20\n");
    machine.write(
        ".codex/config.toml",
        &text("command = \"/old/scrollback\"\nargs = [\"mcp\"]\nenv = { A = \"b\" }\n"),
    );
    machine.apply(Level::User, Half::Leave, Half::Stand(&program()));
    let now = text("command = \"/opt/scrollback\"\nargs = [\"mcp\"]\nenv = { A = \"b\" }\n");
    assert_eq!(machine.read(".codex/config.toml"), now);
    // Of a server elsewhere the client takes no key of a program.
    let http = McpEntry::Http {
        name: "scrollback".into(),
        url: "https://memory.example/mcp".into(),
        headers: vec![
            ("authorization".into(), "Bearer ${TOKEN}".into()),
            ("X-Plain".into(), "1".into()),
            ("X-Named".into(), "${NAME}".into()),
        ],
    };
    machine.apply(Level::User, Half::Leave, Half::Stand(&http));
    let config: toml::Table = machine.read(".codex/config.toml").parse().unwrap();
    let server = serde_json::to_value(&config["mcp_servers"]["scrollback"]).unwrap();
    assert_eq!(
        server,
        json!({
            "startup_timeout_sec": 20, "url": "https://memory.example/mcp", "bearer_token_env_var": "TOKEN",
            "http_headers": {"X-Plain": "1"}, "env_http_headers": {"X-Named": "NAME"}
        })
    );
    assert_eq!(machine.plan(Level::User, Half::Leave, Half::Stand(&http)), Ok(Plan::default()));
}

#[test]
fn what_is_in_the_way_is_told_or_refused() {
    let machine = Machine::new();
    let install = || machine.plan(Level::User, Half::Stand(&hook()), Half::Stand(&program()));
    machine.write(".codex/config.toml", "[features]\nhooks = false\n");
    let steps = install().unwrap().steps;
    assert!(
        steps.iter().any(|step| matches!(step, Step::Tell(text) if text.contains("[features]"))),
        "{steps:?}"
    );
    machine.write(".codex/config.toml", "[plugins.\"scrollback@market\"]\nenabled = true\n");
    assert!(matches!(install(), Err(PlanError::Refused(text)) if text.contains("scrollback@market")));
    machine.write(".codex/config.toml", "[mcp_servers.scrollback]\ncommand = \"tmux\"\n");
    assert!(matches!(install(), Err(PlanError::Refused(text)) if text.contains("another server")));
}

#[test]
fn the_variable_says_where_the_client_is() {
    let machine = Machine::new();
    let elsewhere = machine.at("elsewhere");
    let world = machine.world.clone().var("CODEX_HOME", elsewhere.display().to_string());
    let (hook, memos) = (hook(), Memos::new());
    let wanted = Wanted { level: Level::User, hook: Half::Stand(&hook), mcp: Half::Leave, memos: &memos };
    assert!(matches!(Codex.plan(&world, &wanted), Err(PlanError::Refused(_))));
    fs::create_dir(&elsewhere).unwrap();
    let plan = Codex.plan(&world, &wanted).unwrap();
    assert!(matches!(&plan.steps[0], Step::Edit { path, .. } if *path == elsewhere.join("hooks.json")));
}
