//! A tool call's input as people read it.

use crate::text;
use scrollback_core::Text;
use serde::Deserialize;
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::collections::BTreeMap;

/// The fields that say most of what a call does, the best first.
const TELLING: [&str; 14] = [
    "command",
    "cmd",
    "file_path",
    "pattern",
    "query",
    "url",
    "path",
    "filename",
    "skill",
    "name",
    "description",
    "prompt",
    "text",
    "input",
];

/// The fields of an object, in the order of their names.
type Fields<'i> = BTreeMap<Cow<'i, str>, &'i RawValue>;

/// Returns what a call does, on one line.
pub(super) fn summary(input: &str) -> String {
    let Ok(mut fields) = serde_json::from_str::<Fields<'_>>(input) else {
        return text::one_line(&plain(input));
    };
    fields.retain(|_, value| value.get() != "null");
    let telling = TELLING.iter().find_map(|name| fields.get(*name)).map(|value| plain(value.get()));
    match telling {
        Some(value) => text::one_line(&value),
        None if fields.is_empty() => String::new(),
        None => {
            let all: Vec<String> =
                fields.iter().map(|(name, value)| format!("{name}={}", plain(value.get()))).collect();
            text::one_line(&all.join(" "))
        }
    }
}

/// Returns everything of an input: names and values; one value without a name if it is no object.
pub(super) fn fields(input: &str) -> Vec<(String, String)> {
    match serde_json::from_str::<Fields<'_>>(input) {
        Ok(fields) => fields.iter().map(|(name, value)| (name.to_string(), plain(value.get()))).collect(),
        Err(_) => vec![(String::new(), plain(input))],
    }
}

/// Returns a JSON value as text: a string without its quotes, a list of strings as words, anything else as it is.
fn plain(json: &str) -> String {
    if let Some(text) = string(json) {
        return text;
    }
    match serde_json::from_str::<Vec<&RawValue>>(json) {
        Ok(list) if !list.is_empty() => {
            let words: Option<Vec<String>> = list.iter().map(|word| string(word.get())).collect();
            match words.as_deref() {
                // A command that a shell is given, as Codex writes it.
                Some([shell, flag, command]) if shell.ends_with("sh") && flag.starts_with('-') => {
                    command.clone()
                }
                Some(words) => words.join(" "),
                None => json.to_owned(),
            }
        }
        _ => json.to_owned(),
    }
}

fn string(json: &str) -> Option<String> {
    let mut deserializer = serde_json::Deserializer::from_str(json);
    json.starts_with('"')
        .then(|| Text::deserialize(&mut deserializer).ok())
        .flatten()
        .map(|text| text.0.into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_is_told_by_its_most_telling_field() {
        let cases = [
            (r#"{"command":"ls -la\necho hi","description":"List"}"#, "ls -la echo hi"),
            (r#"{"command":["bash","-lc","cargo test"],"workdir":"/x"}"#, "cargo test"),
            (r#"{"command":["ls","-la"]}"#, "ls -la"),
            (r#"{"file_path":"src/lib.rs","limit":5}"#, "src/lib.rs"),
            (r#"{"pattern":"TODO","path":"src"}"#, "TODO"),
            (r#"{"depth":2,"all":true}"#, "all=true depth=2"),
            (r#""*** Begin Patch\n*** End Patch""#, "*** Begin Patch *** End Patch"),
            (r#"{"command":"half \ud83d"}"#, "half \u{fffd}"),
            ("{}", ""),
            ("[1,2]", "[1,2]"),
        ];
        for (input, expected) in cases {
            assert_eq!(summary(input), expected, "{input}");
        }
    }

    #[test]
    fn an_input_in_full_has_its_fields() {
        let found = fields(r#"{"b":"two\nlines","a":[1]}"#);
        assert_eq!(found, [("a".to_owned(), "[1]".to_owned()), ("b".to_owned(), "two\nlines".to_owned())]);
        assert_eq!(fields("\"text\""), [(String::new(), "text".to_owned())]);
    }
}
