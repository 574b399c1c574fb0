//! `setup`, `install` and `uninstall`, as a user runs them.

use crate::support::sandbox;
use scrollback_tests::Sandbox;
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

const CLAUDE: &str = ".claude/settings.json";
const COMMENTED: &str = "{\r\n\t// mine\r\n\t\"model\": \"opus\",\r\n\t\"hooks\": {\r\n\t\t\"Stop\": [\r\n\t\t\t{ \"hooks\": [{ \"type\": \"command\", \"command\": \"say done\" }] }, // theirs\r\n\t\t],\r\n\t},\r\n}";
const CONFIG: &str =
    "# mine\nmodel = \"o4\"\nnotify = [\"say\", \"done\"]\n\n[mcp_servers.weather]\ncommand = \"weather\"";

/// What is below a directory: bytes and the time of the last change; links as what they are.
type Tree = BTreeMap<PathBuf, (Option<Vec<u8>>, SystemTime)>;

fn tree(root: &Path) -> Tree {
    let mut tree = Tree::new();
    let mut open = vec![root.to_owned()];
    while let Some(directory) = open.pop() {
        for entry in fs::read_dir(&directory).unwrap().map(Result::unwrap) {
            let found = entry.metadata().unwrap();
            if found.is_dir() {
                open.push(entry.path());
            }
            let bytes = found.is_file().then(|| fs::read(entry.path()).unwrap());
            tree.insert(entry.path(), (bytes, found.modified().unwrap()));
        }
    }
    tree
}

/// Returns what a tree holds, without the times and without what is kept of the settings.
fn content(tree: &Tree) -> BTreeMap<&Path, Option<&[u8]>> {
    let kept = tree.iter().filter(|(path, _)| path.extension().is_none_or(|is| is != "bak"));
    kept.map(|(path, (bytes, _))| (path.as_path(), bytes.as_deref())).collect()
}

/// Returns a machine with both clients, comments and other people's hooks.
fn machine() -> Sandbox {
    let machine = sandbox();
    machine.write(CLAUDE, COMMENTED);
    machine.write(".codex/config.toml", CONFIG);
    machine
}

fn read(machine: &Sandbox, at: &str) -> String {
    fs::read_to_string(machine.home().join(at)).unwrap()
}

/// Returns a directory that is a repository, below the home.
fn project(machine: &Sandbox) -> PathBuf {
    let project = machine.home().join("src/app");
    fs::create_dir_all(project.join(".git")).unwrap();
    project
}

fn run_in(machine: &Sandbox, directory: &Path, args: &[&str]) -> scrollback_tests::Ran {
    scrollback_tests::Ran::of(machine.command(args).current_dir(directory).output().unwrap())
}

#[test]
fn a_setup_is_whole_and_a_second_one_writes_nothing() {
    let machine = machine();
    let before = tree(machine.home());
    let first = machine.run(&["setup", "--yes"]);
    assert_eq!((first.code, first.stderr.as_str()), (3, ""), "{}", first.stdout);
    assert!(first.stdout.contains("to do: Codex runs a new or changed hook"), "{}", first.stdout);
    for at in [CLAUDE, ".codex/hooks.json"] {
        let text = read(&machine, at);
        assert_eq!(text.matches("scrollback-under-test hook").count(), 7, "{text}");
        assert!(text.contains(&format!("--home {}", machine.data().display())), "{text}");
    }
    assert!(read(&machine, CLAUDE).contains("// theirs\r\n"));
    assert_eq!(fs::read(machine.home().join(".claude/settings.json.bak")).unwrap(), COMMENTED.as_bytes());
    let (set_up, kept) = (tree(machine.home()), tree(&machine.data()));
    assert_eq!(machine.well(&["setup", "--yes"]), "Nothing to change.\n");
    assert_eq!(machine.well(&["install", "codex", "--yes"]), "Nothing to change.\n");
    assert_eq!((tree(machine.home()), tree(&machine.data())), (set_up, kept));
    // And out again: the same bytes, but for what is kept of them.
    machine.well(&["uninstall", "--yes"]);
    assert_eq!(content(&tree(machine.home())), content(&before));
    assert_eq!(machine.well(&["uninstall", "--yes"]), "Nothing to change.\n");
}

#[test]
fn a_purge_takes_what_was_kept_and_nothing_of_the_users() {
    let machine = machine();
    machine.put_recorded();
    let before = tree(machine.home());
    machine.run(&["setup", "--yes"]);
    machine.well(&["tail"]);
    fs::create_dir_all(machine.data().join("parsers")).unwrap();
    let dry = machine.well(&["uninstall", "--purge", "--dry-run"]);
    assert!(dry.contains("store.db") && machine.store().exists(), "{dry}");
    let purged = machine.well(&["uninstall", "--purge", "--yes"]);
    assert!(purged.contains("parsers, which is yours"), "{purged}");
    let left: Vec<_> =
        fs::read_dir(machine.data()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left, ["parsers"]);
    let after = tree(machine.home());
    let paths: Vec<&PathBuf> = after.keys().collect();
    assert_eq!(paths, before.keys().collect::<Vec<_>>(), "backups go too");
    assert_eq!(content(&after), content(&before));
}

#[test]
fn a_dry_run_and_a_print_change_nothing_and_look_up_nothing() {
    let machine = machine();
    // A client's own command that leaves a trace if it is run, or only looked for in this directory.
    let bin = machine.home().join("bin");
    let trace = machine.home().join("trace");
    let script = machine.write("bin/claude", format!("#!/bin/sh\necho \"$@\" >> {}\n", trace.display()));
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
    let machine = machine.var("PATH", format!("{}:/usr/bin:/bin", bin.display()));
    let before = tree(machine.home());
    let shown = machine.well(&["setup", "--dry-run"]);
    assert!(shown.contains("+++ ") && shown.contains("Nothing was written"), "{shown}");
    let url = ["--mcp-url", "https://memory.example/mcp", "--mcp-header", "X-Tenant=acme"];
    let shown = machine.well(&[&["install", "claude-code", "--dry-run"][..], &url].concat());
    let command =
        "$ claude mcp add -s user -t http scrollback https://memory.example/mcp -H 'X-Tenant: acme'\n";
    assert!(shown.contains(command), "{shown}");
    // Without a terminal and without a yes it is the same, but for the exit status.
    let asked = machine.run(&["setup"]);
    assert_eq!(asked.code, 64);
    assert!(asked.stdout.contains("+++ ") && asked.stderr.contains("--yes"), "{asked:?}");
    let printed = machine.run(&["install", "codex", "--print"]);
    let fragment: serde_json::Value = serde_json::from_str(&printed.stdout).unwrap();
    assert_eq!(fragment["hooks"].as_object().unwrap().len(), 7);
    assert!(printed.code == 0 && printed.stderr.contains(".codex/hooks.json"), "{printed:?}");
    let args = [&["install", "codex", "--print", "--mcp-only"][..], &url].concat();
    let printed = machine.run(&args);
    assert!(printed.stdout.starts_with("[mcp_servers.scrollback]\n"), "{printed:?}");
    let both = machine.run(&[&["install", "codex", "--print"][..], &url].concat());
    assert_eq!((both.code, both.stdout.as_str()), (64, ""));
    assert_eq!(tree(machine.home()), before);
    assert!(!machine.data().exists() && !trace.exists());
    // A print reads nothing: settings that do not parse are none of its business.
    machine.write(CLAUDE, "{");
    let printed = machine.run(&["install", "claude-code", "--print"]);
    assert!(printed.code == 0 && printed.stdout.starts_with("{\n"), "{printed:?}");
}

#[test]
fn settings_that_do_not_parse_keep_no_other_client_from_being_installed() {
    let machine = machine();
    let broken = "{\n  \"hooks\": {\n    \"Stop\": [,]\n  }\n}\n";
    machine.write(CLAUDE, broken);
    let ran = machine.run(&["setup", "--yes"]);
    assert_eq!(ran.code, 1);
    assert!(ran.stderr.contains(".claude/settings.json:3:14:"), "{}", ran.stderr);
    assert_eq!(read(&machine, CLAUDE), broken);
    assert!(!machine.home().join(".claude/settings.json.bak").exists());
    assert!(read(&machine, ".codex/hooks.json").contains("hook codex Stop"));
    let status = machine.run(&["status", "--check"]);
    assert!(status.code == 3 && status.stdout.contains("settings.json:3:14:"), "{status:?}");
    // The same when the other client is the one.
    machine.write(CLAUDE, "{}");
    machine.write(".codex/hooks.json", "{\"hooks\": {}, \"other\": 1}");
    let ran = machine.run(&["setup", "--yes"]);
    assert!(ran.code == 1 && ran.stderr.contains("hooks.json has the key \"other\""), "{ran:?}");
    assert!(read(&machine, CLAUDE).contains("hook claude-code Stop"));
}

#[test]
fn one_for_the_user_takes_the_projects_place_and_not_the_other_way() {
    let machine = machine();
    let project = project(&machine);
    let theirs = "{\"hooks\": {\"Stop\": [{\"hooks\": [{\"type\": \"command\", \"command\": \"make\"}]}]}}\n";
    machine.write("src/app/.claude/settings.json", theirs);
    let at_project = run_in(&machine, &project, &["setup", "--level", "project", "--yes"]);
    assert_eq!((at_project.code, at_project.stderr.as_str()), (3, ""), "{}", at_project.stdout);
    let committed = read(&machine, "src/app/.claude/settings.json");
    // Read on other machines: no path of this one.
    let line = "command -v scrollback >/dev/null && exec scrollback hook claude-code Stop";
    assert!(committed.contains(line) && !committed.contains("--home"), "{committed}");
    assert!(project.join(".codex/hooks.json").exists());
    let for_user = run_in(&machine, &project, &["setup", "--yes"]);
    let gone = "had an entry of ours for this project; it goes";
    assert_eq!(for_user.stdout.matches(gone).count(), 2, "{}", for_user.stdout);
    assert_eq!(read(&machine, "src/app/.claude/settings.json"), theirs);
    assert!(!project.join(".codex").exists(), "what we made goes");
    let again = run_in(&machine, &project, &["setup", "--level", "project", "--yes"]);
    assert_eq!(again.code, 1);
    assert_eq!(again.stderr.matches("it is installed for the user, and so for this project too").count(), 2);
    // An uninstall in the project takes out both levels, one elsewhere leaves the project's.
    machine.well(&["uninstall", "--yes"]);
    run_in(&machine, &project, &["setup", "--level", "project", "--yes"]);
    machine.well(&["uninstall", "--yes"]);
    assert!(project.join(".codex/hooks.json").exists());
    assert_eq!(run_in(&machine, &project, &["uninstall", "--yes"]).code, 0);
    assert_eq!(read(&machine, "src/app/.claude/settings.json"), theirs);
    assert!(!project.join(".codex").exists());
}

#[test]
fn the_mcp_half_waits_for_a_server_but_may_name_another() {
    let machine = machine();
    let before = tree(machine.home());
    for args in [&["setup", "--mcp-only", "--yes"][..], &["install", "codex", "--mcp-only", "--yes"]] {
        let ran = machine.run(args);
        assert!(ran.code == 3 && ran.stderr.contains("no MCP server of its own"), "{ran:?}");
    }
    assert_eq!(tree(machine.home()), before);
    let url = ["--mcp-url", "https://memory.example/mcp"];
    let header = ["--mcp-header", "X-Tenant=acme", "--mcp-header", "Authorization=Bearer ${TOKEN}"];
    let args = [&["install", "codex", "--mcp-only", "--yes"][..], &url, &header].concat();
    machine.well(&args);
    let config = read(&machine, ".codex/config.toml");
    for line in ["url = \"https://memory.example/mcp\"", "bearer_token_env_var = \"TOKEN\"", "X-Tenant"] {
        assert!(config.starts_with(CONFIG) && config.contains(line), "{config}");
    }
    assert!(!machine.home().join(".codex/hooks.json").exists());
    assert_eq!(machine.well(&args), "Nothing to change.\n");
    let status = machine.well(&["status"]);
    assert!(status.contains("user: an MCP entry"), "{status}");
    machine.well(&["uninstall", "codex", "--yes"]);
    assert_eq!(content(&tree(machine.home())), content(&before));
    for wrong in [
        &["--mcp-url", "ftp://x"][..],
        &["--mcp-header", "a=b"],
        &["--mcp-url", "http://x", "--mcp-header", "a b=c"],
    ] {
        assert_eq!(machine.run(&[&["install", "codex", "--yes"][..], wrong].concat()).code, 64, "{wrong:?}");
    }
    assert_eq!(content(&tree(machine.home())), content(&before));
}

#[test]
fn a_client_without_its_command_is_told_what_to_run() {
    let machine = machine();
    let args = ["install", "claude-code", "--mcp-url", "http://h/mcp", "--yes"];
    let ran = machine.run(&args);
    assert_eq!(ran.code, 3);
    let line =
        "claude is not on PATH; where it is, run: claude mcp add -s user -t http scrollback http://h/mcp";
    assert!(ran.stdout.contains(line), "{}", ran.stdout);
    // The hooks stand nevertheless.
    assert!(read(&machine, CLAUDE).contains("hook claude-code Stop"));
}

#[test]
fn nobody_is_installed_who_is_not_there() {
    let machine = sandbox();
    let ran = machine.well(&["setup", "--yes"]);
    assert!(ran.contains("Not found here: Claude Code, Codex."), "{ran}");
    let ran = machine.run(&["install", "codex", "--yes"]);
    assert!(ran.code == 1 && ran.stderr.contains("Codex is not here"), "{ran:?}");
    let ran = machine.run(&["install", "netscape", "--yes"]);
    assert!(ran.code == 64 && ran.stderr.contains("claude-code"), "{ran:?}");
    assert_eq!(fs::read_dir(machine.home()).unwrap().count(), 0, "no client's directory is made");
    assert!(!machine.data().exists());
}

#[test]
fn a_settings_file_behind_a_link_stays_behind_it() {
    let machine = machine();
    let real = machine.write("dotfiles/claude.json", COMMENTED);
    let link = machine.home().join(CLAUDE);
    fs::remove_file(&link).unwrap();
    std::os::unix::fs::symlink(&real, &link).unwrap();
    machine.run(&["setup", "--yes"]);
    assert!(link.is_symlink() && fs::read_to_string(&real).unwrap().contains("hook claude-code"));
    machine.well(&["uninstall", "--yes"]);
    assert!(link.is_symlink());
    assert_eq!(fs::read_to_string(&real).unwrap(), COMMENTED);
}
