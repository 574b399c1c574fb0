//! What a text means, and what an edit should make of it: every edit is checked against this.

use crate::json;
use crate::node::{Kind, Node};
use serde_json::{Map, Value};

/// Returns the value of a scanned JSON text.
pub(crate) fn of_json(text: &str, node: &Node) -> Value {
    match &node.kind {
        Kind::Array(parts) => parts.iter().map(|part| of_json(text, &part.node)).collect(),
        Kind::Object(parts) => {
            let members = parts.iter().map(|part| (part.name.concat(), of_json(text, &part.node)));
            Value::Object(members.collect())
        }
        Kind::Scalar => {
            let raw = &text[node.span.clone()];
            match raw.as_bytes()[0] {
                b'"' => Value::String(json::decode(raw)),
                // The scanner has read it as a number or a word before.
                _ => serde_json::from_str(raw).unwrap_or_default(),
            }
        }
    }
}

/// Returns the value of a TOML table; dates and times are their texts, and so are numbers JSON has not.
pub(crate) fn of_toml(table: toml::Table) -> Value {
    Value::Object(table.into_iter().map(|(key, value)| (key, of_toml_value(value))).collect())
}

fn of_toml_value(value: toml::Value) -> Value {
    match value {
        toml::Value::String(text) => Value::String(text),
        toml::Value::Integer(number) => Value::from(number),
        toml::Value::Float(number) if number.is_finite() => Value::from(number),
        toml::Value::Float(number) => Value::String(number.to_string()),
        toml::Value::Boolean(yes) => Value::Bool(yes),
        toml::Value::Datetime(time) => Value::String(time.to_string()),
        toml::Value::Array(elements) => elements.into_iter().map(of_toml_value).collect(),
        toml::Value::Table(table) => of_toml(table),
    }
}

/// Returns the value at a path.
pub(crate) fn at<'v>(root: &'v Value, path: &[&str]) -> Option<&'v Value> {
    path.iter().try_fold(root, |value, key| match value {
        Value::Object(members) => members.get(*key),
        Value::Array(elements) => elements.get(key.parse::<usize>().ok()?),
        _ => None,
    })
}

/// Puts a value at a path, making the objects on the way; says whether there was a place for it.
#[must_use]
pub(crate) fn put(root: &mut Value, path: &[&str], new: Value) -> bool {
    let Some(slot) = slot(root, path) else { return false };
    *slot = new;
    true
}

/// Puts a value last in the array at a path, making the array if nothing is there; says whether it could.
#[must_use]
pub(crate) fn append(root: &mut Value, path: &[&str], new: Value) -> bool {
    match slot(root, path) {
        Some(slot @ Value::Null) => *slot = Value::Array(vec![new]),
        Some(Value::Array(elements)) => elements.push(new),
        _ => return false,
    }
    true
}

fn slot<'v>(root: &'v mut Value, path: &[&str]) -> Option<&'v mut Value> {
    path.iter().try_fold(root, |value, key| {
        if value.is_null() {
            *value = Value::Object(Map::new());
        }
        match value {
            Value::Object(members) => Some(members.entry(*key).or_insert(Value::Null)),
            Value::Array(elements) => elements.get_mut(key.parse::<usize>().ok()?),
            _ => None,
        }
    })
}

/// Takes out what is at a path, if something is.
pub(crate) fn take(root: &mut Value, path: &[&str]) {
    let Some((last, parents)) = path.split_last() else { return };
    let found = parents.iter().try_fold(root, |value, key| match value {
        Value::Object(members) => members.get_mut(*key),
        Value::Array(elements) => elements.get_mut(key.parse::<usize>().ok()?),
        _ => None,
    });
    match found {
        Some(Value::Object(members)) => {
            members.remove(*last);
        }
        Some(Value::Array(elements)) => {
            if let Some(index) = last.parse().ok().filter(|index| *index < elements.len()) {
                elements.remove(index);
            }
        }
        _ => {}
    }
}
