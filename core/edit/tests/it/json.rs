//! JSON and JSONC by hand: each trap, its text before and after.

use scrollback_edit::{EditError, Json, Memo};
use serde_json::{Value, json};

const GROUP: &str = r#"{"hooks":[{"command":"sb"}]}"#;

fn group() -> Value {
    serde_json::from_str(GROUP).unwrap()
}

fn open(text: &str) -> Json {
    Json::parse(Some(text.as_bytes())).unwrap()
}

fn text(json: &Json) -> String {
    String::from_utf8(json.finish().unwrap()).unwrap()
}

/// Installs a hook group, checks the text, and that an uninstall with the memo gives the same bytes.
#[track_caller]
fn installs(before: &str, after: &str) {
    let mut json = open(before);
    json.append(&["hooks", "Stop"], &group()).unwrap();
    assert_eq!(text(&json), after);
    let memo = serde_json::to_string(json.memo()).unwrap();
    let memo: Memo = serde_json::from_str(&memo).unwrap();
    let mut json = open(after).with_memo(memo);
    let index = json.value(&["hooks", "Stop"]).unwrap().as_array().unwrap().len() - 1;
    assert!(json.remove(&["hooks", "Stop", &index.to_string()]).unwrap());
    assert_eq!(text(&json), before);
}

#[track_caller]
fn refused(file: &[u8], error: &str) {
    assert_eq!(Json::parse(Some(file)).unwrap_err().to_string(), error);
}

#[test]
fn an_indented_file() {
    installs(
        "{\n    \"model\": \"opus\"\n}\n",
        "{\n    \"model\": \"opus\",\n    \"hooks\": {\n        \"Stop\": [\n            {\n                \"hooks\": [\n                    {\n                        \"command\": \"sb\"\n                    }\n                ]\n            }\n        ]\n    }\n}\n",
    );
}

#[test]
fn tabs_and_crlf_and_a_byte_order_mark() {
    installs(
        "\u{feff}{\r\n\t\"hooks\": {\r\n\t\t\"Stop\": [\r\n\t\t\t{\"hooks\": []}\r\n\t\t]\r\n\t}\r\n}",
        "\u{feff}{\r\n\t\"hooks\": {\r\n\t\t\"Stop\": [\r\n\t\t\t{\"hooks\": []},\r\n\t\t\t{\r\n\t\t\t\t\"hooks\": [\r\n\t\t\t\t\t{\r\n\t\t\t\t\t\t\"command\": \"sb\"\r\n\t\t\t\t\t}\r\n\t\t\t\t]\r\n\t\t\t}\r\n\t\t]\r\n\t}\r\n}",
    );
}

#[test]
fn an_indented_root() {
    let mut json = open("  {\n      \"a\": 1\n  }\n");
    json.set(&["b"], &json!([1])).unwrap();
    assert_eq!(text(&json), "  {\n      \"a\": 1,\n      \"b\": [\n          1\n      ]\n  }\n");
}

#[test]
fn what_lies_in_an_array_is_not_remembered_by_its_index() {
    let mut json = open(r#"[{"x": {}, "y": []}]"#);
    json.set(&["0", "x", "a"], &1).unwrap();
    json.append(&["0", "y"], &1).unwrap();
    json.append(&["0", "z"], &1).unwrap();
    json.set(&["0", "n", "a"], &1).unwrap();
    assert_eq!(text(&json), r#"[{"x": {"a": 1}, "y": [1], "z": [1], "n": {"a": 1}}]"#);
    assert!(json.memo().is_empty());
}

#[test]
fn one_line_and_minified() {
    installs(
        r#"{ "a": 1, "hooks": { "Stop": [ 1 ] } }"#,
        r#"{ "a": 1, "hooks": { "Stop": [ 1, { "hooks": [{ "command": "sb" }] } ] } }"#,
    );
    installs(
        r#"{"a": [1, 2], "hooks": {"Stop": [1,2]}}"#,
        r#"{"a": [1, 2], "hooks": {"Stop": [1,2,{"hooks": [{"command": "sb"}]}]}}"#,
    );
    installs(r#"{"a":1,"b":[1,2]}"#, r#"{"a":1,"b":[1,2],"hooks":{"Stop":[{"hooks":[{"command":"sb"}]}]}}"#);
    installs(
        r#"{"a": 1, "hooks": {"Stop": [1,]}}"#,
        r#"{"a": 1, "hooks": {"Stop": [1, {"hooks": [{"command": "sb"}]},]}}"#,
    );
}

#[test]
fn comments_and_trailing_commas() {
    installs(
        "{\n  \"hooks\": { // all of them\n    /* none yet */\n    \"Stop\": [\n      1, // one\n      2 // two\n      // more\n    ], // end\n  },\n}\n",
        "{\n  \"hooks\": { // all of them\n    /* none yet */\n    \"Stop\": [\n      1, // one\n      2, // two\n      // more\n      {\n        \"hooks\": [\n          {\n            \"command\": \"sb\"\n          }\n        ]\n      }\n    ], // end\n  },\n}\n",
    );
    installs(
        "{\n  \"a\": \"// \\\" /* no comment\", // ,\n}",
        "{\n  \"a\": \"// \\\" /* no comment\", // ,\n  \"hooks\": {\n    \"Stop\": [\n      {\n        \"hooks\": [\n          {\n            \"command\": \"sb\"\n          }\n        ]\n      }\n    ]\n  },\n}",
    );
    installs(
        "{\"hooks\":{\"Stop\":[1 // one\n]}}",
        "{\"hooks\":{\"Stop\":[1, // one\n  {\n    \"hooks\":[\n      {\n        \"command\":\"sb\"\n      }\n    ]\n  }\n]}}",
    );
    installs(
        "{\"hooks\":{/* none */}}",
        "{\"hooks\":{/* none */ \"Stop\":[{\"hooks\":[{\"command\":\"sb\"}]}]}}",
    );
}

#[test]
fn what_was_empty_stays_so() {
    let filled = "{\n  \"hooks\": {\n    \"Stop\": [\n      {\n        \"hooks\": [\n          {\n            \"command\": \"sb\"\n          }\n        ]\n      }\n    ]\n  }\n}\n";
    for before in [
        "{}\n",
        "{ }\n",
        "{\n}\n",
        "{\n  \"hooks\": {}\n}\n",
        "{\n  \"hooks\": { }\n}\n",
        "{\n  \"hooks\": {\n\n  }\n}\n",
        "{\n  \"hooks\": {\n    \"Stop\": []\n  }\n}\n",
        "{\n  \"hooks\": {\n    \"Stop\": [\n    ]\n  }\n}\n",
        "",
    ] {
        installs(before, filled);
    }
    installs("\u{feff}", &format!("\u{feff}{filled}"));
    installs(" \n", &format!(" \n{filled}"));
    installs("// settings", &format!("// settings\n{filled}"));
    installs("/* a */\r\n\r\n", &format!("/* a */\r\n\r\n{}", filled.replace('\n', "\r\n")));
}

#[test]
fn a_file_that_was_not_there_goes() {
    let mut json = Json::parse(None).unwrap();
    assert_eq!(json.finish(), None);
    json.set(&["mcpServers", "scrollback"], &json!({ "command": "sb" })).unwrap();
    let file = json.finish().unwrap();
    let memo = json.memo().clone();
    assert_eq!(
        String::from_utf8(file.clone()).unwrap(),
        "{\n  \"mcpServers\": {\n    \"scrollback\": {\n      \"command\": \"sb\"\n    }\n  }\n}\n"
    );
    let mut json = Json::parse(Some(&file)).unwrap().with_memo(memo.clone());
    json.remove(&["mcpServers", "scrollback"]).unwrap();
    assert_eq!(json.finish(), None);
    // Somebody else wrote into it.
    let mut json = Json::parse(Some(&file)).unwrap().with_memo(memo);
    json.set(&["other"], &1).unwrap();
    json.remove(&["mcpServers", "scrollback"]).unwrap();
    assert_eq!(text(&json), "{\n  \"other\": 1\n}\n");
}

#[test]
fn without_a_memo_what_holds_nothing_goes() {
    let mut json = open(r#"{"a":1,"hooks":{"Stop":[{"x":1}]}}"#);
    json.remove(&["hooks", "Stop", "0"]).unwrap();
    assert_eq!(text(&json), r#"{"a":1}"#);
    let mut json = open(r#"{"hooks":{"Stop":[{"x":1}]}}"#);
    json.remove(&["hooks", "Stop", "0"]).unwrap();
    assert_eq!(text(&json), "{}");
    // With one that does not name it, it held something of the user's, and stays.
    let mut json = open(r#"{"hooks":{"Stop":[{"x":1}]}}"#).with_memo(Memo::default());
    json.remove(&["hooks", "Stop", "0"]).unwrap();
    assert_eq!(text(&json), r#"{"hooks":{"Stop":[]}}"#);
    // A comment of the user's is something.
    let mut json = open("{\"hooks\":{\"Stop\":[/* mine */ {\"x\":1}]}}");
    json.remove(&["hooks", "Stop", "0"]).unwrap();
    assert_eq!(text(&json), "{\"hooks\":{\"Stop\":[/* mine */]}}");
}

#[test]
fn what_others_wrote_since_stays() {
    let mut json = open("{\n}\n");
    json.append(&["hooks", "Stop"], &json!("ours")).unwrap();
    let memo = json.memo().clone();
    let mut json = open(&text(&json)).with_memo(memo);
    json.append(&["hooks", "Stop"], &json!("theirs")).unwrap();
    json.set(&["hooks", "Start"], &json!(["theirs"])).unwrap();
    json.remove(&["hooks", "Stop", "0"]).unwrap();
    assert_eq!(
        text(&json),
        "{\n  \"hooks\": {\n    \"Stop\": [\n      \"theirs\"\n    ],\n    \"Start\": [\n      \"theirs\"\n    ]\n  }\n}\n"
    );
}

#[test]
fn elements_are_replaced_and_taken_out_where_they_stand() {
    let mut json = open("[\n  1,\n  {\"a\": 1}, // ours\n  3\n]");
    json.set(&["1"], &json!({ "b": [2] })).unwrap();
    assert_eq!(text(&json), "[\n  1,\n  {\"b\": [2]}, // ours\n  3\n]");
    json.remove(&["1"]).unwrap();
    assert_eq!(text(&json), "[\n  1, // ours\n  3\n]");
    let cases: [(&str, &str, &str); 10] = [
        ("[1, 2, 3]", "0", "[2, 3]"),
        ("[1, 2, 3]", "1", "[1, 3]"),
        ("[1,2,3,]", "2", "[1,2,]"),
        ("[1 , 2 , 3]", "1", "[1 , 3]"),
        ("[1, // one\n 2, 3]", "1", "[1, // one\n 3]"),
        ("[1, // one\n 2]", "1", "[1 // one\n ]"),
        ("[1, // one\n 2 // two\n]", "1", "[1 // one // two\n]"),
        ("[1 /* , */ , 2]", "1", "[1 /* , */ ]"),
        ("[\n  1,\n  2 /* x */ , 3\n]", "1", "[\n  1,\n  /* x */  3\n]"),
        ("[1, // one\n 2, /* a\n b */ 3]", "1", "[1, // one\n /* a\n b */ 3]"),
    ];
    for (before, index, after) in cases {
        let mut json = open(before);
        assert!(json.remove(&[index]).unwrap(), "{before}");
        assert_eq!(text(&json), after, "{before}");
    }
    let mut json = open("[1]");
    assert!(!json.remove(&["1"]).unwrap());
    assert!(!json.remove(&["x", "y"]).unwrap());
    assert!(!json.remove(&[]).unwrap());
    assert_eq!(text(&json), "[1]");
}

#[test]
fn what_stands_already_is_not_written_again() {
    let before = "{ \"\\u0061\" : { \"x\":[ 1.0 ,\"\\u00e9\" ] } }";
    let mut json = open(before);
    json.set(&["a"], &json!({ "x": [1.0, "é"] })).unwrap();
    assert_eq!(text(&json), before);
    assert!(json.memo().is_empty());
    json.set(&["a", "x", "0"], &2).unwrap();
    assert_eq!(text(&json), before.replace("1.0", "2"));
}

#[test]
fn keys_are_compared_as_meant() {
    let mut json = open(r#"{"h\u006foks": {"a\/b \ud83d\ude00": [1]}}"#);
    assert_eq!(json.value(&["hooks", "a/b 😀", "0"]), Some(json!(1)));
    json.append(&["hooks", "a/b 😀"], &2).unwrap();
    assert_eq!(text(&json), r#"{"h\u006foks": {"a\/b \ud83d\ude00": [1, 2]}}"#);
    let mut json = open("{\n}");
    json.set(&["C:\\ \"x\"\n"], &json!("\u{1}\t\u{7f}")).unwrap();
    assert_eq!(text(&json), "{\n  \"C:\\\\ \\\"x\\\"\\n\": \"\\u0001\\t\u{7f}\"\n}");
    // Half a pair is a character of its own, and is written back as it was.
    let mut json = open(r#"{"a": "\ud83d"}"#);
    assert_eq!(json.value(&["a"]), Some(json!("\u{fffd}")));
    json.set(&["b"], &1).unwrap();
    assert_eq!(text(&json), r#"{"a": "\ud83d", "b": 1}"#);
    assert_eq!(
        open(r#"["\ud83d\u0041\udc00\ud83d"]"#).value(&["0"]),
        Some(json!("\u{fffd}A\u{fffd}\u{fffd}"))
    );
}

#[test]
fn refusals_name_the_place() {
    refused(b"{\n  \"a\": 1,\n  \"b\": {\"x\": 1, \"\\u0078\": 2}\n}", "3:17: the key \"x\" is there twice");
    refused(b"{\n  \"a\": 1\n  \"b\": 2}", "3:3: expected `,` or `}`");
    refused(b"[1 2]", "1:4: expected `,` or `]`");
    refused("{\"é\": tru}".as_bytes(), "1:7: expected a value");
    refused(b"{\"a\" 1}", "1:6: expected `:`");
    refused(b"{a: 1}", "1:2: expected a key in double quotes or `}`");
    refused(b"{,}", "1:2: expected a key in double quotes or `}`");
    refused(b"[1,,2]", "1:4: expected a value");
    refused(b"{\"a\": 01}", "1:7: \"01\" is not a number of JSON");
    refused(b"{\"a\": 1e999}", "1:7: \"1e999\" is not a number of JSON");
    refused(b"{\"a\": \"x\ny\"}", "1:9: a control character must be escaped");
    refused(b"{\"a\": \"x\\q\"}", "1:9: unknown escape");
    refused(b"{\"a\": \"x", "1:7: this string has no end");
    refused(b"{\"a\": \"x\\", "1:9: unknown escape");
    refused(b"{} /* x", "1:4: this comment has no end");
    refused(b"{} {}", "1:4: expected the end of the file");
    refused(b"{", "1:2: expected a key in double quotes or `}`");
    refused(b"[", "1:2: expected a value");
    refused(b"{}\n\xff", "2:1: this byte is not UTF-8");
    refused(b"\xff\xfe{\0}\0", "1:1: this byte is not UTF-8");
    refused("\u{feff}{]".as_bytes(), "1:2: expected a key in double quotes or `}`");
    let deep = "[".repeat(200);
    refused(deep.as_bytes(), "1:129: more than 128 levels of nesting");
}

#[test]
fn what_is_in_the_way_is_named_and_left() {
    let before = "{\n  \"hooks\": [1],\n  \"x\": null\n}";
    let mut json = open(before);
    let error = |error: Result<(), EditError>| error.unwrap_err().to_string();
    let hooks = "2:12: `hooks` is an array: nothing can be put there";
    assert_eq!(error(json.append(&["hooks", "Stop"], &1)), hooks);
    assert_eq!(error(json.set(&["hooks", "1"], &1)), hooks);
    let x = "3:8: `x` is a plain value: nothing can be put there";
    assert_eq!(error(json.append(&["x"], &1)), x);
    assert_eq!(error(json.set(&["x", "y"], &1)), x);
    assert_eq!(error(open("[]").set(&["x"], &1)), "1:1: the file is an array: nothing can be put there");
    assert_eq!(text(&json), before);
    assert!(json.memo().is_empty());
    let error = Json::parse(Some(b"{")).unwrap_err().in_file("/x/settings.json".as_ref());
    assert_eq!(error.to_string(), "/x/settings.json:1:2: expected a key in double quotes or `}`");
}
