//! TOML by hand: each trap, its text before and after.

use scrollback_edit::{EditError, Memo, Toml};
use serde_json::{Value, json};

const PATH: [&str; 2] = ["mcp_servers", "scrollback"];

fn entry() -> Value {
    json!({ "args": ["mcp"], "command": "/bin/sb" })
}

fn open(text: &str) -> Toml {
    Toml::parse(Some(text.as_bytes())).unwrap()
}

fn text(toml: &Toml) -> String {
    String::from_utf8(toml.finish().unwrap()).unwrap()
}

fn memo(toml: &Toml) -> Memo {
    serde_json::from_str(&serde_json::to_string(toml.memo()).unwrap()).unwrap()
}

/// Sets a table, checks the text, and that an uninstall with the memo gives the same bytes.
#[track_caller]
fn installs(before: &str, after: &str) {
    let mut toml = open(before);
    toml.set(&PATH, &entry()).unwrap();
    assert_eq!(text(&toml), after);
    let mut toml = open(after).with_memo(memo(&toml));
    assert_eq!(toml.value(&PATH), Some(entry()));
    assert!(toml.remove(&PATH).unwrap());
    assert_eq!(text(&toml), before);
}

const BLOCK: &str = "[mcp_servers.scrollback]\nargs = [\"mcp\"]\ncommand = \"/bin/sb\"\n";

#[test]
fn a_block_goes_to_the_end() {
    installs("", BLOCK);
    installs("\n", &format!("\n\n{BLOCK}"));
    installs("a = 1\n", &format!("a = 1\n\n{BLOCK}"));
    installs("a = 1\n\n", &format!("a = 1\n\n\n{BLOCK}"));
    installs("# only this\n", &format!("# only this\n\n{BLOCK}"));
    installs("[mcp_servers]\n", &format!("[mcp_servers]\n\n{BLOCK}"));
    installs("[mcp_servers.a]\nx = 1 # y\n", &format!("[mcp_servers.a]\nx = 1 # y\n\n{BLOCK}"));
    installs("[[x]]\n[[x]]\n", &format!("[[x]]\n[[x]]\n\n{BLOCK}"));
}

#[test]
fn no_final_newline_and_crlf_and_a_byte_order_mark() {
    installs("a = 1", &format!("a = 1\n\n{}", BLOCK.trim_end()));
    installs("[a]\n  ", &format!("[a]\n  \n\n{}", BLOCK.trim_end()));
    let crlf = BLOCK.replace('\n', "\r\n");
    installs("\u{feff}a = 1\r\n[b]\r\n", &format!("\u{feff}a = 1\r\n[b]\r\n\r\n{crlf}"));
    installs("a = 1\r\n# x", &format!("a = 1\r\n# x\r\n\r\n{}", crlf.trim_end()));
    installs("\u{feff}", &format!("\u{feff}{BLOCK}"));
}

#[test]
fn strings_that_look_like_tables() {
    let before = "a = \"\"\"\n[mcp_servers.scrollback]\ncommand = 1\n\"\"\"\nb = '''\n# [x]\n\n[y]'''\n";
    installs(before, &format!("{before}\n{BLOCK}"));
    let mut toml = open(before);
    assert!(!toml.remove(&PATH).unwrap());
    toml.remove(&["a"]).unwrap();
    assert_eq!(text(&toml), "b = '''\n# [x]\n\n[y]'''\n");
}

#[test]
fn inline_and_dotted_tables_are_kept_so() {
    installs(
        "mcp_servers = { a = { command = \"x\" } }\n",
        "mcp_servers = { a = { command = \"x\" }, scrollback = { args = [\"mcp\"], command = \"/bin/sb\" } }\n",
    );
    installs(
        "mcp_servers = {}\n[z]\n",
        "mcp_servers = { scrollback = { args = [\"mcp\"], command = \"/bin/sb\" } }\n[z]\n",
    );
    installs(
        "mcp_servers = {  }",
        "mcp_servers = { scrollback = { args = [\"mcp\"], command = \"/bin/sb\" } }",
    );
    installs(
        "mcp_servers.a.command = \"x\"\nb = 1\n[c]\n",
        &format!("mcp_servers.a.command = \"x\"\nb = 1\n[c]\n\n{BLOCK}"),
    );
    installs(
        "\"mcp_servers\".'a'.command = \"x\"\n",
        &format!("\"mcp_servers\".'a'.command = \"x\"\n\n{BLOCK}"),
    );
    // A key inside it beside dotted ones.
    let mut toml = open("a.b.c = 1\n\n[x]\n");
    toml.set(&["a", "b", "d e"], &2).unwrap();
    assert_eq!(text(&toml), "a.b.c = 1\na.b.\"d e\" = 2\n\n[x]\n");
    assert!(toml.remove(&["a", "b", "d e"]).unwrap());
    assert_eq!(text(&toml), "a.b.c = 1\n\n[x]\n");
    let mut toml = open("t = { a.b = 1 }\n");
    toml.set(&["t", "a", "c"], &2).unwrap();
    assert_eq!(text(&toml), "t = { a.b = 1, a.c = 2 }\n");
    assert_eq!(toml.value(&["t"]), Some(json!({ "a": { "b": 1, "c": 2 } })));
}

#[test]
fn tables_written_in_any_way_are_taken_out() {
    let cases = [
        ("x = 1\n\n[m.s]\na = 1\n\n[m.s.env]\nb = 2\n\n# next\n[n]\n", "x = 1\n\n# next\n[n]\n"),
        ("[m.s]\na = 1\n[n]\n[m.s.env]\nb = 2", "[n]"),
        ("[m]\ns.a = 1\ns.b.c = 2\nt = 3\n", "[m]\nt = 3\n"),
        ("m.s = { a = 1 } # ours\nt = 3\n", "t = 3\n"),
        ("[\"m\".'s']\n", ""),
        ("[m]\n# kept\ns = 1\n", "[m]\n# kept\n"),
    ];
    for (before, after) in cases {
        let mut toml = open(before);
        assert!(toml.remove(&["m", "s"]).unwrap(), "{before}");
        assert_eq!(text(&toml), after, "{before}");
    }
    let mut toml = open("t = { s.a = 1, s.b.c = 2, d = 3 }\nu = { v.w = 1 }\n");
    toml.remove(&["t", "s"]).unwrap();
    toml.remove(&["u", "v", "w"]).unwrap();
    assert_eq!(text(&toml), "t = { d = 3 }\n");
    let mut toml = open("[m]\ns = 1\n").with_memo(Memo::default());
    toml.remove(&["m", "s"]).unwrap();
    assert_eq!(text(&toml), "[m]\n");
}

#[test]
fn rows_of_trust_are_found_by_their_keys() {
    let row = "/home/dev/.codex/hooks.json:stop:0:0";
    let before = format!(
        "[hooks.state]\n\n[hooks.state.\"{row}\"]\ntrusted_hash = \"sha256:x\"\n\n[hooks.state.'C:\\x']\nenabled = true\n"
    );
    let mut toml = open(&before);
    let rows = toml.value(&["hooks", "state"]).unwrap();
    assert_eq!(rows.as_object().unwrap().keys().collect::<Vec<_>>(), [row, "C:\\x"]);
    toml.remove(&["hooks", "state", row]).unwrap();
    assert_eq!(text(&toml), "[hooks.state]\n\n[hooks.state.'C:\\x']\nenabled = true\n");
    toml.remove(&["hooks", "state", "C:\\x"]).unwrap();
    assert_eq!(text(&toml), "");
}

#[test]
fn arrays_of_tables() {
    let group = json!({ "hooks": [{ "command": "sb", "timeout": 5 }] });
    let ours = "[[hooks.Stop]]\nhooks = [{ command = \"sb\", timeout = 5 }]\n";
    for before in ["", "a = 1\n", "[[hooks.Stop]]\nmatcher = \"x\"\n[[hooks.Stop.hooks]]\ncommand = \"u\"\n"]
    {
        let mut toml = open(before);
        toml.append(&["hooks", "Stop"], &group).unwrap();
        let between = if before.is_empty() { "" } else { "\n" };
        assert_eq!(text(&toml), format!("{before}{between}{ours}"));
        let last = toml.value(&["hooks", "Stop"]).unwrap().as_array().unwrap().len() - 1;
        assert!(toml.remove(&["hooks", "Stop", &last.to_string()]).unwrap());
        assert_eq!(text(&toml), before);
    }
    // Not the last, and inside the first.
    let before = "[[h]]\nn = 1\n[[h.x]]\ny = 1\n\n[[h]]\nn = 2\n";
    let mut toml = open(before);
    toml.append(&["h", "0", "x"], &json!({ "y": 2 })).unwrap();
    toml.set(&["h", "1", "m"], &true).unwrap();
    assert_eq!(text(&toml), "[[h]]\nn = 1\n[[h.x]]\ny = 1\n\n[[h.x]]\ny = 2\n\n[[h]]\nn = 2\nm = true\n");
    toml.remove(&["h", "0", "x", "1"]).unwrap();
    toml.remove(&["h", "1", "m"]).unwrap();
    assert_eq!(text(&toml), before);
    toml.remove(&["h", "0"]).unwrap();
    assert_eq!(text(&toml), "[[h]]\nn = 2\n");
}

#[test]
fn arrays_in_brackets() {
    let before = "a = [\n\t1, # one\n\t2 # two\n]\nb = [ ] # none\nc = [1,]\n";
    let mut toml = open(before);
    toml.append(&["a"], &3).unwrap();
    toml.append(&["b"], &json!({ "x": "y" })).unwrap();
    toml.append(&["c"], &2).unwrap();
    toml.append(&["d"], &1).unwrap();
    assert_eq!(
        text(&toml),
        "a = [\n\t1, # one\n\t2, # two\n\t3\n]\nb = [{ x = \"y\" }] # none\nc = [1, 2,]\nd = [1]\n"
    );
    for path in [["a", "2"], ["b", "0"], ["c", "1"], ["d", "0"]] {
        assert!(toml.remove(&path).unwrap());
    }
    assert_eq!(text(&toml), before);
    toml.set(&["a", "0"], &json!(["x"])).unwrap();
    assert_eq!(text(&toml), before.replace("1, #", "[\"x\"], #"));
}

#[test]
fn keys_go_into_their_table() {
    let cases = [
        ("[a]\nx = 1 # c\n\n[b]\n", "[a]\nx = 1 # c\nk = \"v\"\n\n[b]\n"),
        ("[a]\n\n[b]\n", "[a]\nk = \"v\"\n\n[b]\n"),
        ("[a]", "[a]\nk = \"v\""),
        ("  [a]\r\n  x = 1", "  [a]\r\n  x = 1\r\n  k = \"v\""),
        ("x = 1\n", "x = 1\n\n[a]\nk = \"v\"\n"),
        ("[a.b]\n", "[a.b]\n\n[a]\nk = \"v\"\n"),
        ("a = { }\n", "a = { k = \"v\" }\n"),
    ];
    for (before, after) in cases {
        let mut toml = open(before);
        toml.set(&["a", "k"], &"v").unwrap();
        assert_eq!(text(&toml), after);
        let mut toml = open(after).with_memo(memo(&toml));
        toml.remove(&["a", "k"]).unwrap();
        assert_eq!(text(&toml), before);
    }
    for (before, after) in [
        ("", "k = 1\n"),
        ("# c", "# c\nk = 1"),
        ("a = 1\n[x]\n", "a = 1\nk = 1\n[x]\n"),
        ("[x]\n", "k = 1\n\n[x]\n"),
        ("\n# c\n[x]\n", "k = 1\n\n\n# c\n[x]\n"),
    ] {
        let mut toml = open(before);
        toml.set(&["k"], &1).unwrap();
        assert_eq!(text(&toml), after);
        toml.remove(&["k"]).unwrap();
        assert_eq!(text(&toml), before);
    }
}

#[test]
fn a_table_that_stands_is_changed_by_its_members() {
    let before = "[mcp_servers.scrollback] # by hand\ncommand = \"/old\" # c\nargs = ['mcp']\nextra = 1\n\n[mcp_servers.scrollback.env]\nA = \"b\"\n\n[z]\n";
    let mut toml = open(before);
    toml.set(&PATH, &entry()).unwrap();
    assert_eq!(
        text(&toml),
        "[mcp_servers.scrollback] # by hand\ncommand = \"/bin/sb\" # c\nargs = ['mcp']\n\n[z]\n"
    );
    let again = text(&toml);
    toml.set(&PATH, &entry()).unwrap();
    assert_eq!(text(&toml), again);
}

#[test]
fn a_file_that_was_not_there_goes() {
    let mut toml = Toml::parse(None).unwrap();
    assert_eq!(toml.finish(), None);
    toml.set(&PATH, &entry()).unwrap();
    assert_eq!(text(&toml), BLOCK);
    let mut toml = open(BLOCK).with_memo(memo(&toml));
    toml.remove(&PATH).unwrap();
    assert_eq!(toml.finish(), None);
}

#[test]
fn text_is_escaped() {
    let given = "C:\\a \"b\" 'c'\n\t\u{1}\u{7f}é😀";
    let mut toml = open("");
    toml.set(&["a b", "é"], &given).unwrap();
    assert_eq!(text(&toml), "[\"a b\"]\n\"é\" = \"C:\\\\a \\\"b\\\" 'c'\\n\\t\\u0001\\u007Fé😀\"\n");
    assert_eq!(toml.value(&["a b", "é"]), Some(json!(given)));
}

#[test]
fn refusals_name_the_place() {
    let error = |text: &[u8]| Toml::parse(Some(text)).unwrap_err().to_string();
    assert_eq!(error(b"a = 1\n[b]\nc = 1\nc = 2\n"), "4:1: duplicate key");
    assert_eq!(error(b"[a]\n[b]\n[a]\n"), "3:2: duplicate key");
    assert_eq!(error("\u{feff}é = \n".as_bytes()).split(": ").next(), Some("1:1"));
    assert_eq!(error(b"a = 1\nb = \"x\n"), "2:7: invalid basic string, expected `\"`");
    assert_eq!(error(b"a = 1\n\xff"), "2:1: this byte is not UTF-8");
}

#[test]
fn what_is_in_the_way_is_named_and_left() {
    let before = "x = 1\nhooks = [1]\n[[t]]\n[u]\nv = 1979-05-27\n";
    let mut toml = open(before);
    let error = |error: Result<(), EditError>| error.unwrap_err().to_string();
    assert_eq!(error(toml.set(&["x", "y"], &1)), "1:1: `x` is a plain value: nothing can be put there");
    assert_eq!(error(toml.append(&["u"], &1)), "4:1: `u` is a table: nothing can be put there");
    assert_eq!(error(toml.set(&["u"], &1)), "4:1: `u` is a table: nothing can be put there");
    assert_eq!(error(toml.set(&["t", "k"], &1)), "3:1: `t` is an array: nothing can be put there");
    assert_eq!(error(toml.append(&["t"], &1)), "3:1: `t` is an array: nothing can be put there");
    assert_eq!(
        error(toml.append(&["hooks", "Stop"], &1)),
        "2:1: `hooks` is an array: nothing can be put there"
    );
    assert!(toml.set(&["n"], &Value::Null).is_err());
    assert!(toml.set(&["n"], &u64::MAX).is_err());
    assert_eq!(toml.value(&["u", "v"]), Some(json!("1979-05-27")));
    assert_eq!(text(&toml), before);
    assert!(toml.memo().is_empty());
}

#[test]
fn an_array_that_was_made_goes_again_wherever_its_table_stands() {
    let group = json!({ "hooks": [{ "command": "scrollback" }] });
    for new in [group, json!("scrollback")] {
        for before in [
            "",
            "a = 1",
            "[hooks]\n",
            "[hooks]\nPre = []\n",
            "hooks = {}\n",
            "hooks = { }\r\n",
            "hooks = { Pre = [] }\n",
            "hooks = { Stop = [] }\n",
            "hooks.Pre = []\n",
            "hooks.Stop = [ ]\n",
            "[hooks]\nStop = [\n]\n",
        ] {
            let mut toml = open(before);
            toml.append(&["hooks", "Stop"], &new).unwrap();
            assert_eq!(toml.value(&["hooks", "Stop", "0"]).as_ref(), Some(&new), "{before:?}");
            let mut toml = open(&text(&toml)).with_memo(memo(&toml));
            assert!(toml.remove(&["hooks", "Stop", "0"]).unwrap(), "{before:?}");
            assert_eq!(text(&toml), before, "{new}");
        }
    }
}
