//! Installing with a client's own command.

use scrollback_adapter_claude_code::ClaudeCode;
use scrollback_core::{Adapter as _, Half, Level, McpEntry, Plan, Step, Wanted};
use scrollback_engine::apply::{apply, memos};
use scrollback_testkit::World;
use serde_json::{Value, json};

fn program(command: &str) -> McpEntry {
    McpEntry::Program {
        name: "scrollback".into(),
        command: command.into(),
        args: vec!["mcp".into(), "--x".into()],
    }
}

#[test]
fn the_clients_own_command_writes_the_users_entry() {
    let root = tempfile::tempdir().unwrap();
    let (home, bin, data) = (root.path().join("home"), root.path().join("bin"), root.path().join("data"));
    std::fs::create_dir_all(home.join(".claude")).unwrap();
    std::fs::create_dir(&bin).unwrap();
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_fake-claude"), bin.join("claude")).unwrap();
    let world = World::new(&home).var("PATH", bin.display().to_string());
    let plan = |mcp| {
        let memos = memos(&data).unwrap();
        ClaudeCode
            .plan(&world, &Wanted { level: Level::User, hook: Half::Leave, mcp, memos: &memos })
            .unwrap()
    };
    let servers = || {
        let state: Value =
            serde_json::from_slice(&std::fs::read(home.join(".claude.json")).unwrap()).unwrap();
        state["mcpServers"].clone()
    };
    let other = json!({"command": "weather"});
    let state = json!({"mcpServers": {"weather": other}}).to_string();
    #[expect(clippy::disallowed_methods, reason = "the client's own file")]
    std::fs::write(home.join(".claude.json"), &state).unwrap();
    let http = McpEntry::Http {
        name: "scrollback".into(),
        url: "https://memory.example/mcp".into(),
        headers: vec![("A".into(), "b c".into()), ("X".into(), "${Y}".into())],
    };
    let written = [
        (
            program("/a b/scrollback"),
            json!({"type": "stdio", "command": "/a b/scrollback", "args": ["mcp", "--x"], "env": {}}),
        ),
        (
            program("/new/scrollback"),
            json!({"type": "stdio", "command": "/new/scrollback", "args": ["mcp", "--x"], "env": {}}),
        ),
        (
            http,
            json!({"type": "http", "url": "https://memory.example/mcp", "headers": {"A": "b c", "X": "${Y}"}}),
        ),
    ];
    for (entry, written) in &written {
        let done = apply(&plan(Half::Stand(entry)), &world, &data).unwrap();
        assert!(done.told.is_empty() && !done.ran.is_empty(), "{done:?}");
        assert_eq!(servers(), json!({"scrollback": written, "weather": other}));
        assert_eq!(plan(Half::Stand(entry)), Plan::default());
        let standing = ClaudeCode.standing(&world).unwrap();
        assert!(standing.len() == 1 && standing[0].mcp && standing[0].hooks.is_empty(), "{standing:?}");
    }
    // A later step that fails brings back what was removed.
    let backup = std::fs::read_to_string(home.join(".claude.json.bak")).unwrap();
    assert!(backup.contains("/new/scrollback"), "{backup}");
    let mut plan = plan(Half::Absent);
    let Step::Run { program, args, .. } = plan.steps[0].clone() else { panic!("{plan:?}") };
    plan.steps.push(Step::Run { program, args, undo: vec![], rewrites: vec![], else_tell: String::new() });
    apply(&plan, &world, &data).unwrap_err();
    assert_eq!(servers()["scrollback"], written[2].1);
    plan.steps.pop();
    apply(&plan, &world, &data).unwrap();
    assert_eq!(servers(), json!({"weather": other}));
}
