//! What the tests share.

use scrollback_tests::Sandbox;
use serde_json::Value;

/// Returns a machine with an empty home.
pub(crate) fn sandbox() -> Sandbox {
    Sandbox::new(env!("CARGO_BIN_EXE_scrollback-under-test"))
}

/// Returns the time, as clients write it.
#[expect(clippy::disallowed_methods, reason = "a client dates what it writes")]
pub(crate) fn now() -> String {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    let micros = i64::try_from(since.as_micros()).unwrap();
    scrollback_core::Timestamp::from_micros(micros).unwrap().to_string()
}

/// Returns lines of JSON as values.
pub(crate) fn values(lines: &str) -> Vec<Value> {
    lines
        .lines()
        .map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}")))
        .collect()
}

/// Returns the lines of that `type`.
pub(crate) fn of_type(lines: &str, kind: &str) -> Vec<Value> {
    let begins = format!("{{\"type\":{kind:?},");
    lines.lines().filter(|line| line.starts_with(&begins)).flat_map(values).collect()
}

/// Returns the events of a kind. Others are not read: the input of a tool may be nested deeper than a value may.
pub(crate) fn of_kind(lines: &str, kind: &str) -> Vec<Value> {
    let holds = format!(",\"kind\":{kind:?},");
    let events =
        lines.lines().filter(|line| line.starts_with("{\"type\":\"event\",") && line.contains(&holds));
    events.flat_map(values).filter(|event| event["kind"] == kind).collect()
}

/// Returns the text under a key, empty if there is none.
pub(crate) fn text<'v>(value: &'v Value, key: &str) -> &'v str {
    value[key].as_str().unwrap_or_default()
}

/// Says that two exports are the same, and where they are not.
#[track_caller]
pub(crate) fn assert_same(one: &str, other: &str, what: &str) {
    let at = one.lines().zip(other.lines()).take_while(|(a, b)| a == b).count();
    let line = |text: &str| text.lines().nth(at).unwrap_or("(nothing)").to_owned();
    assert!(one == other, "{what}: line {}\n  {}\n  {}", at + 1, line(one), line(other));
}
