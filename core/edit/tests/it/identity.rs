//! Install, then uninstall, gives the same bytes; what stands in between means what it should, and nothing else
//! changed: over documents in every style.

use crate::written::{json_document, plain, toml_document};
use proptest::collection::vec;
use proptest::prelude::*;
use scrollback_edit::{Json, Memo, Toml};
use serde_json::{Value, json};

/// Returns a memo as a journal gives it back.
fn kept(memo: &Memo) -> Memo {
    serde_json::from_str(&serde_json::to_string(memo).unwrap()).unwrap()
}

/// What a JSON text means; no text means an empty object.
fn meaning(text: &str) -> Value {
    let plain = plain(text.strip_prefix('\u{feff}').unwrap_or(text));
    if plain.trim().is_empty() { json!({}) } else { serde_json::from_str(&plain).unwrap() }
}

fn toml_meaning(text: &str) -> ::toml::Table {
    ::toml::from_str(text.strip_prefix('\u{feff}').unwrap_or(text)).unwrap()
}

fn utf8(bytes: Option<Vec<u8>>) -> String {
    String::from_utf8(bytes.unwrap()).unwrap()
}

/// Returns the longest common beginning, what differs in each, and the longest common end.
fn difference<'t>(before: &'t str, after: &'t str) -> (&'t str, &'t str) {
    let ahead =
        before.chars().zip(after.chars()).take_while(|(a, b)| a == b).map(|(a, _)| a.len_utf8()).sum();
    let (before, after) = (&before[ahead..], &after[ahead..]);
    let pairs = before.chars().rev().zip(after.chars().rev());
    let behind: usize = pairs.take_while(|(a, b)| a == b).map(|(a, _)| a.len_utf8()).sum();
    (&before[..before.len() - behind], &after[..after.len() - behind])
}

/// A value to put in.
fn new_value() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(json!({ "hooks": [{ "type": "command", "command": "test -x \"/b\" && exec \\ é" }] })),
        Just(json!({ "command": "sb", "args": ["mcp", "x"], "env": {} })),
        Just(json!("text // no comment")),
        Just(json!([])),
        Just(json!(-1.5)),
    ]
}

/// A path through an object of a document: one that is there often, rarely, or never.
fn path() -> impl Strategy<Value = Vec<&'static str>> {
    let key = prop_oneof![Just("hooks"), Just("mcpServers"), Just("a"), Just("new"), Just("k\"é\\")];
    vec(key, 1..4)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn json_comes_back(
        before in json_document(),
        group in new_value(),
        server in new_value(),
        events in vec(prop_oneof![Just("Stop"), Just("Start"), Just("new")], 1..4),
        order in any::<bool>(),
    ) {
        let mut json = Json::parse(Some(before.as_bytes())).unwrap();
        let mut expected = meaning(&before);
        let mut put = Vec::new();
        for event in &events {
            prop_assume!(json.value(&["hooks", event]).is_none_or(|it| it.is_array()));
            prop_assume!(json.value(&["hooks"]).is_none_or(|it| it.is_object()));
            json.append(&["hooks", event], &group).unwrap();
            let array = json.value(&["hooks", event]).unwrap().as_array().unwrap().len() - 1;
            put.push(vec!["hooks".to_owned(), (*event).to_owned(), array.to_string()]);
            let slot = &mut expected["hooks"][event];
            match slot {
                Value::Array(elements) => elements.push(group.clone()),
                _ => *slot = json!([group]),
            }
        }
        if json.value(&["mcpServers"]).is_none_or(|it| it.is_object()) {
            json.set(&["mcpServers", "scrollback"], &server).unwrap();
            put.push(vec!["mcpServers".to_owned(), "scrollback".to_owned()]);
            expected["mcpServers"]["scrollback"] = server.clone();
        }
        let after = utf8(json.finish());
        prop_assert_eq!(meaning(&after), expected, "{}", after);

        // A second install has nothing to do.
        if put.last().unwrap().len() == 2 {
            json.set(&["mcpServers", "scrollback"], &server).unwrap();
            prop_assert_eq!(&utf8(json.finish()), &after);
        }

        let mut json = Json::parse(Some(after.as_bytes())).unwrap().with_memo(kept(json.memo()));
        // Of several in one array, the last first, since indices move.
        put.reverse();
        put.sort_by_key(|path| (path[0] == "hooks") == order);
        for path in put {
            let path: Vec<&str> = path.iter().map(String::as_str).collect();
            prop_assert!(json.remove(&path).unwrap());
        }
        prop_assert_eq!(utf8(json.finish()), before, "{}", after);
        prop_assert!(json.memo().is_empty(), "{:?}", json.memo());
    }

    #[test]
    fn json_elsewhere_stays(before in json_document(), path in path(), new in new_value()) {
        let mut json = Json::parse(Some(before.as_bytes())).unwrap();
        let there = json.value(&path);
        let set = json.set(&path, &new);
        let after = utf8(json.finish());
        let Ok(()) = set else {
            prop_assert_eq!(after, before);
            return Ok(());
        };
        prop_assert_eq!(json.value(&path), Some(new));
        let (old, _) = difference(&before, &after);
        let Some(there) = there else {
            // Beside what was put in only a comma is new, which a comment may stand behind.
            let old = plain(old);
            prop_assert_eq!(old.trim(), "", "{}", after);
            return Ok(());
        };
        // What was replaced can be put back.
        json.set(&path, &there).unwrap();
        let back = utf8(json.finish());
        prop_assert_eq!(meaning(&back), meaning(&before));
    }

    #[test]
    fn json_parts_are_taken_out(before in json_document(), dice in vec(any::<prop::sample::Index>(), 1..5), known in any::<bool>()) {
        let mut json = Json::parse(Some(before.as_bytes())).unwrap();
        if known {
            json = json.with_memo(Memo::default());
        }
        let mut expected = meaning(&before);
        for die in dice {
            let paths = paths(&expected);
            if paths.is_empty() {
                break;
            }
            let mut path = die.get(&paths).clone();
            let text: Vec<&str> = path.iter().map(String::as_str).collect();
            let was = utf8(json.finish());
            prop_assert!(json.remove(&text).unwrap());
            let now = utf8(json.finish());
            let meant = meaning(&now);
            // What was left with nothing may have gone too.
            loop {
                take(&mut expected, &path);
                let left = &path[..path.len() - 1];
                if meant == expected || known || left.is_empty() {
                    break;
                }
                path.pop();
            }
            prop_assert_eq!(&meant, &expected, "{}\n{}", was, now);
        }
    }

    #[test]
    fn a_key_there_twice_is_refused(before in json_document(), key in prop_oneof![Just("\"x\""), Just("\"\\u0078\"")]) {
        let blank = |text: &str| plain(text).trim_start_matches('\u{feff}').trim().is_empty();
        // The brace that opens the file, if it holds a value.
        let open = before.find('{').filter(|open| blank(&before[..*open]) && !blank(&before));
        let Some(open) = open else { return Ok(()) };
        let open = open + 1;
        let text = format!("{}\n\"x\": 1,\n {key}: 2, {}", &before[..open], &before[open..]);
        let error = Json::parse(Some(text.as_bytes())).unwrap_err();
        prop_assert_eq!(error.line, before[..open].matches('\n').count() + 3);
        prop_assert_eq!(error.column, 2);
        prop_assert_eq!(error.what, "the key \"x\" is there twice");
    }

    #[test]
    fn nothing_panics(before in json_document(), at in any::<prop::sample::Index>(), with in "[{}\\[\\],:\"/*\\\\u\r\n é0e.-]{0,3}", gone in 0..3usize) {
        let mut bytes = before.into_bytes();
        let at = at.index(bytes.len() + 1);
        let end = (at + gone).min(bytes.len());
        bytes.splice(at..end, with.bytes());
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let lines = text.matches('\n').count() + 1;
        match Json::parse(Some(&bytes)) {
            Ok(mut json) => {
                let _set = json.set(&["hooks", "Stop"], &1);
                let _gone = json.remove(&["a"]);
            }
            Err(error) => prop_assert!((1..=lines).contains(&error.line) && error.column <= text.len() + 1),
        }
        if let Ok(mut toml) = Toml::parse(Some(&bytes)) {
            let _set = toml.set(&["hooks", "Stop"], &1);
        }
    }

    #[test]
    fn toml_comes_back(
        before in toml_document(),
        server in prop_oneof![
            Just(json!({ "command": "/b \"x\" \\ é", "args": ["mcp"] })),
            Just(json!({ "command": "sb", "env": { "A": "b" }, "enabled": true })),
        ],
        flag in prop_oneof![Just(vec!["features", "hooks"]), Just(vec!["flag"]), Just(vec!["m", "a", "flag"])],
        groups in 0..3usize,
    ) {
        let mut toml = Toml::parse(Some(before.as_bytes())).unwrap();
        let group = json!({ "hooks": [{ "type": "command", "command": "sb" }] });
        let server_path = ["m", "scrollback"];
        let mut put: Vec<Vec<String>> = Vec::new();
        let mut expected = toml_meaning(&before);
        let owned = |path: &[&str]| path.iter().map(ToString::to_string).collect::<Vec<_>>();
        if toml.set(&server_path, &server).is_ok() {
            put.push(owned(&server_path));
            toml_put(&mut expected, &server_path, &server, false);
        }
        if toml.value(&flag).is_none() && toml.set(&flag, &true).is_ok() {
            put.push(owned(&flag));
            toml_put(&mut expected, &flag, &json!(true), false);
        }
        for _ in 0..groups {
            if toml.append(&["h", "Stop"], &group).is_ok() {
                let index = toml.value(&["h", "Stop"]).unwrap().as_array().unwrap().len() - 1;
                put.push(owned(&["h", "Stop", &index.to_string()]));
                toml_put(&mut expected, &["h", "Stop"], &group, true);
            }
        }
        let after = utf8(toml.finish());
        prop_assert_eq!(toml_meaning(&after), expected, "{}", after);
        let mut toml = Toml::parse(Some(after.as_bytes())).unwrap().with_memo(kept(toml.memo()));
        for path in put.iter().rev() {
            let path: Vec<&str> = path.iter().map(String::as_str).collect();
            prop_assert!(toml.remove(&path).unwrap());
        }
        prop_assert_eq!(utf8(toml.finish()), before, "{}", after);
        prop_assert!(toml.memo().is_empty(), "{:?}", toml.memo());
    }

    #[test]
    fn toml_parts_are_taken_out(before in toml_document(), die in any::<prop::sample::Index>()) {
        let mut toml = Toml::parse(Some(before.as_bytes())).unwrap();
        let value = toml.value(&[]).unwrap();
        let paths = paths(&value);
        prop_assume!(!paths.is_empty());
        let path = die.get(&paths).clone();
        let text: Vec<&str> = path.iter().map(String::as_str).collect();
        prop_assert!(toml.remove(&text).unwrap());
        let after = utf8(toml.finish());
        let meant = Toml::parse(Some(after.as_bytes())).unwrap().value(&[]).unwrap();
        let mut expected = value;
        let mut path = path;
        loop {
            take(&mut expected, &path);
            if meant == expected || path.len() == 1 {
                break;
            }
            path.pop();
        }
        prop_assert_eq!(meant, expected, "{}", after);
        // Only lines, or what stands between brackets, went: everything that is left was there.
        let (_, new) = difference(&before, &after);
        let mut rest = before.chars();
        prop_assert!(new.chars().all(|c| rest.any(|other| other == c)), "{}", new);
    }
}

/// Returns the paths of all members and elements.
fn paths(value: &Value) -> Vec<Vec<String>> {
    let children: Vec<(String, &Value)> = match value {
        Value::Object(members) => members.iter().map(|(key, value)| (key.clone(), value)).collect(),
        Value::Array(elements) => {
            elements.iter().enumerate().map(|(index, value)| (index.to_string(), value)).collect()
        }
        _ => Vec::new(),
    };
    let mut all = Vec::new();
    for (key, value) in children {
        all.push(vec![key.clone()]);
        all.extend(paths(value).into_iter().map(|path| [vec![key.clone()], path].concat()));
    }
    all
}

fn take(value: &mut Value, path: &[String]) {
    match value {
        Value::Object(members) if path.len() == 1 => drop(members.remove(&path[0])),
        Value::Object(members) => take(&mut members[&path[0]], &path[1..]),
        Value::Array(elements) if path.len() == 1 => drop(elements.remove(path[0].parse().unwrap())),
        Value::Array(elements) => take(&mut elements[path[0].parse::<usize>().unwrap()], &path[1..]),
        _ => unreachable!("paths lead through containers"),
    }
}

fn toml_put(table: &mut ::toml::Table, path: &[&str], new: &Value, append: bool) {
    let new = ::toml::Value::try_from(new).unwrap();
    if path.len() > 1 {
        let inner = table.entry(path[0]).or_insert_with(|| ::toml::Table::new().into());
        let ::toml::Value::Table(inner) = inner else { panic!("{} is no table", path[0]) };
        toml_put(inner, &path[1..], &serde_json::to_value(new).unwrap(), append);
    } else if append {
        let array = table.entry(path[0]).or_insert_with(|| ::toml::Value::Array(Vec::new()));
        array.as_array_mut().unwrap().push(new);
    } else {
        table.insert(path[0].to_owned(), new);
    }
}
