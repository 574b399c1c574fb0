//! What of an event is searched, and how it is cut into words.

use scrollback_core::{Body, Role};
use std::borrow::Cow;

/// The kinds that are in the index: messages, tool calls, decisions, notes.
pub(crate) const SEARCHED: [i64; 5] = [1, 2, 4, 7, 8];

/// Returns the text of an event that is searched; none for a kind that is not in the index.
pub(crate) fn searched<'b>(body: &'b Body<'_>) -> Option<Cow<'b, str>> {
    match body {
        Body::Message { text, .. } | Body::Note { text } => Some(Cow::Borrowed(text)),
        Body::ToolCall { tool, input, .. } => Some(searched_text(4, Some(tool), input)),
        Body::Decision { what, .. } => Some(Cow::Borrowed(what)),
        _ => None,
    }
}

/// Returns the text of an event that is searched, from what stands in its row.
pub(crate) fn searched_text<'t>(kind: i64, tool: Option<&str>, text: &'t str) -> Cow<'t, str> {
    if kind != 4 {
        return Cow::Borrowed(text);
    }
    let tool = tool.unwrap_or_default();
    let mut words = String::with_capacity(tool.len() + text.len());
    words.push_str(tool);
    each_string(text, |string| {
        words.push('\n');
        words.push_str(string);
    });
    Cow::Owned(words)
}

/// Calls `each` with the strings in the text of a JSON value, keys included, decoded; numbers are left out.
fn each_string(json: &str, mut each: impl FnMut(&str)) {
    let bytes = json.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        if bytes[at] != b'"' {
            at += 1;
            continue;
        }
        let mut end = at + 1;
        let mut escaped = false;
        while end < bytes.len() && bytes[end] != b'"' {
            if bytes[end] == b'\\' {
                escaped = true;
                end += 1;
            }
            end += 1;
        }
        let end = end.min(bytes.len());
        let inner = json.get(at + 1..end).unwrap_or_default();
        if escaped {
            let quoted = json.get(at..(end + 1).min(bytes.len())).unwrap_or_default();
            match serde_json::from_str::<scrollback_core::Text<'_>>(quoted) {
                Ok(text) => each(&text),
                Err(_) => each(inner),
            }
        } else {
            each(inner);
        }
        at = end + 1;
    }
}

/// Returns the parts of the words that the tokenizer keeps whole: the humps of `parseHTTPHeader`, the single
/// characters of a run of Chinese, Japanese or Korean.
pub(crate) fn parts(text: &str) -> String {
    let mut all = String::new();
    for word in text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()) {
        if push_parts(word, &mut all) {
            all.push('\n');
        }
    }
    all
}

/// Returns the parts of one word, separated by blanks; none if it is its only part.
pub(crate) fn parts_of(word: &str) -> Option<String> {
    let mut parts = String::new();
    push_parts(word, &mut parts).then_some(parts)
}

/// Puts the parts of one word, separated by blanks, behind what is there; nothing if it is its only part. A word may
/// be all of a text, so it is not copied for it.
fn push_parts(word: &str, all: &mut String) -> bool {
    if word.len() < 2 || (word.is_ascii() && !humped(word.as_bytes())) {
        return false;
    }
    let start = all.len();
    let mut chars = word.chars().peekable();
    let (mut before, mut split) = (None, false);
    while let Some(here) = chars.next() {
        if before.is_some_and(|before| starts_part(before, here, chars.peek().copied())) {
            all.push(' ');
            split = true;
        }
        all.push(here);
        before = Some(here);
    }
    if !split {
        all.truncate(start);
    }
    split
}

fn humped(word: &[u8]) -> bool {
    (1..word.len()).any(|at| {
        let (before, here) = (word[at - 1], word[at]);
        before.is_ascii_digit() != here.is_ascii_digit()
            || here.is_ascii_uppercase()
                && (!before.is_ascii_uppercase() || word.get(at + 1).is_some_and(u8::is_ascii_lowercase))
    })
}

fn starts_part(before: char, here: char, next: Option<char>) -> bool {
    if ideographic(before) || ideographic(here) {
        return true;
    }
    if before.is_numeric() != here.is_numeric() {
        return true;
    }
    here.is_uppercase() && (!before.is_uppercase() || next.is_some_and(char::is_lowercase))
}

/// Says whether a character is written without blanks between words.
fn ideographic(c: char) -> bool {
    matches!(c, '\u{2e80}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}')
}

/// Returns the tokens that an index entry is filtered by.
pub(crate) fn tokens(client: i64, session: i64, kind: i64, project: Option<i64>) -> String {
    let name = match kind {
        1 | 2 => "message",
        4 => "call",
        7 => "decision",
        _ => "note",
    };
    let role = match kind {
        1 => " ruser",
        2 => " rassistant",
        _ => "",
    };
    let project = project.map_or(String::new(), |project| format!(" p{project}"));
    format!("c{client} s{session} k{name}{role}{project}")
}

/// Returns a role as its filter token.
pub(crate) const fn role_token(role: Role) -> &'static str {
    match role {
        Role::User => "ruser",
        Role::Assistant => "rassistant",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers_have_parts() {
        let cases = [
            ("parseHTTPHeader", Some("parse HTTP Header")),
            ("snake", None),
            ("README", None),
            ("Word", None),
            ("utf8", Some("utf 8")),
            ("日本語", Some("日 本 語")),
            ("a", None),
        ];
        for (word, expected) in cases {
            assert_eq!(parts_of(word).as_deref(), expected, "{word}");
        }
    }

    #[test]
    fn the_strings_of_an_input_are_its_words() {
        let strings = |json| {
            let mut found = Vec::new();
            each_string(json, |string| found.push(string.to_owned()));
            found
        };
        let found = strings(r#"{"cmd":"echo \"hi\"\n","n":[1,"two"]}"#);
        assert_eq!(found, ["cmd", "echo \"hi\"\n", "n", "two"]);
        assert_eq!(strings("\"torn"), ["torn"]);
    }
}
