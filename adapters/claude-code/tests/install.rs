//! What the laws do not know: other people's servers, older lines, the plugin, what is said.

#![expect(clippy::unwrap_used, reason = "what a test lays out is there, or the test fails")]
#![expect(clippy::disallowed_methods, reason = "the files of a machine")]

use scrollback_adapter_claude_code::ClaudeCode;
use scrollback_core::{Adapter as _, Half, HookLine, Level, McpEntry, Memos, Plan, PlanError, Step, Wanted};
use scrollback_engine::apply::{apply, memos};
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
        for folder in ["home/.claude", "home/project/.git"] {
            fs::create_dir_all(root.path().join(folder)).unwrap();
        }
        let home = root.path().join("home");
        let world = World::new(&home).current_dir(home.join("project"));
        Self { root, world }
    }

    fn at(&self, name: &str) -> PathBuf {
        self.root.path().join("home").join(name)
    }

    fn plan(&self, level: Level, hook: Half<&HookLine>, mcp: Half<&McpEntry>) -> Result<Plan, PlanError> {
        let memos = memos(&self.root.path().join("data")).unwrap();
        ClaudeCode.plan(&self.world, &Wanted { level, hook, mcp, memos: &memos })
    }
}

fn program(command: &str) -> McpEntry {
    McpEntry::Program {
        name: "scrollback".into(),
        command: command.into(),
        args: vec!["mcp".into(), "--x".into()],
    }
}

#[test]
fn somebody_elses_server_of_our_name_stays() {
    let machine = Machine::new();
    let entry = json!({"mcpServers": {"scrollback": {"command": "tmux-scrollback-server"}}}).to_string();
    fs::write(machine.at(".claude.json"), &entry).unwrap();
    fs::write(machine.at("project/.mcp.json"), &entry).unwrap();
    let wanted = program("/opt/scrollback");
    for level in [Level::User, Level::Project] {
        let plan = machine.plan(level, Half::Leave, Half::Stand(&wanted));
        assert!(
            matches!(&plan, Err(PlanError::Refused(text)) if text.contains("another server")),
            "{plan:?}"
        );
        assert_eq!(machine.plan(level, Half::Absent, Half::Absent), Ok(Plan::default()));
    }
}

#[test]
fn hooks_are_written_as_the_client_wants_them() {
    let machine = Machine::new();
    let hook = HookLine { program: "/opt/scrollback".into(), args: vec![] };
    let plan = machine.plan(Level::User, Half::Stand(&hook), Half::Leave).unwrap();
    let [Step::Edit { path, before: None, after: Some(after), .. }] = &plan.steps[..] else {
        panic!("{plan:?}")
    };
    assert_eq!(path, &machine.at(".claude/settings.json"));
    let settings: Value = serde_json::from_slice(after).unwrap();
    let events: Vec<&String> = settings["hooks"].as_object().unwrap().keys().collect();
    assert_eq!(
        events,
        [
            "PreCompact",
            "SessionEnd",
            "SessionStart",
            "Stop",
            "StopFailure",
            "SubagentStop",
            "UserPromptSubmit"
        ]
    );
    let line = "test -x /opt/scrollback && exec /opt/scrollback hook claude-code Stop \
                --project \"$CLAUDE_PROJECT_DIR\"; exit 0";
    let group = json!([{"hooks": [{"type": "command", "command": line, "timeout": 10}]}]);
    assert_eq!(settings["hooks"]["Stop"], group);
}

#[test]
fn an_older_line_is_replaced_where_it_stands_and_a_second_one_goes() {
    let machine = Machine::new();
    let old = json!({"hooks": {
        "Stop": [
            {"hooks": [{"type": "command", "command": "/old/scrollback hook claude-code", "async": true, "statusMessage": "x"}]},
            {"hooks": [{"type": "command", "command": "say done"}, {"type": "command", "command": "scrollback hook claude-code"}]},
        ],
        "PostToolUse": [{"hooks": [{"type": "command", "command": "/old/scrollback", "args": ["hook", "claude-code"]}]}],
    }});
    fs::write(machine.at(".claude/settings.json"), old.to_string()).unwrap();
    let standing = ClaudeCode.standing(&machine.world).unwrap();
    assert!(!standing[0].hooks.is_empty() && !standing[0].current, "{standing:?}");
    let hook = HookLine { program: "/opt/scrollback".into(), args: vec![] };
    let plan = machine.plan(Level::User, Half::Stand(&hook), Half::Leave).unwrap();
    let [Step::Edit { after: Some(after), .. }] = &plan.steps[..] else { panic!("{plan:?}") };
    let settings: Value = serde_json::from_slice(after).unwrap();
    let stop = &settings["hooks"]["Stop"];
    let first = &stop[0]["hooks"][0];
    assert!(
        first["command"].as_str().unwrap().contains("exec /opt/scrollback hook claude-code Stop"),
        "{first}"
    );
    assert_eq!((first.get("async"), &first["statusMessage"]), (None, &json!("x")));
    assert_eq!(stop[1], json!({"hooks": [{"type": "command", "command": "say done"}]}));
    assert_eq!(stop.as_array().unwrap().len(), 2);
    assert_eq!(settings["hooks"].get("PostToolUse"), None);
}

#[test]
fn a_plugin_is_noticed_and_switched_off_hooks_are_told() {
    let machine = Machine::new();
    let hook = HookLine { program: "/opt/scrollback".into(), args: vec![] };
    let install = || machine.plan(Level::User, Half::Stand(&hook), Half::Leave);
    let settings = machine.at(".claude/settings.json");
    fs::write(&settings, r#"{"enabledPlugins": {"scrollback@market": true}}"#).unwrap();
    assert!(matches!(install(), Err(PlanError::Refused(text)) if text.contains("scrollback@market")));
    fs::write(&settings, r#"{"enabledPlugins": {"scrollback@market": false}, "disableAllHooks": true}"#)
        .unwrap();
    let steps = install().unwrap().steps;
    assert!(
        matches!(&steps[..], [Step::Edit { .. }, Step::Tell(text)] if text.contains("disableAllHooks")),
        "{steps:?}"
    );
    fs::write(&settings, "{\n  // mine\n}").unwrap();
    let plan = install().unwrap();
    let told = |text: &String| text.contains("comments or trailing commas");
    assert!(matches!(&plan.steps[..], [Step::Edit { .. }, Step::Tell(text)] if told(text)), "{plan:?}");
    apply(&plan, &machine.world, &machine.root.path().join("data")).unwrap();
    let standing = ClaudeCode.standing(&machine.world).unwrap();
    assert!(matches!(&standing[0].hindered[..], [text] if told(text)), "{standing:?}");
}

#[test]
fn the_variable_says_where_the_client_is() {
    let machine = Machine::new();
    let elsewhere = machine.at("elsewhere");
    let world = machine.world.clone().var("CLAUDE_CONFIG_DIR", elsewhere.display().to_string());
    let hook = HookLine { program: "/opt/scrollback".into(), args: vec![] };
    let wanted =
        Wanted { level: Level::User, hook: Half::Stand(&hook), mcp: Half::Leave, memos: &Memos::new() };
    assert!(matches!(ClaudeCode.plan(&world, &wanted), Err(PlanError::Refused(_))));
    fs::create_dir(&elsewhere).unwrap();
    let plan = ClaudeCode.plan(&world, &wanted).unwrap();
    assert!(matches!(&plan.steps[..], [Step::Edit { path, .. }] if *path == elsewhere.join("settings.json")));
}
