//! A value an adapter gives, in the order of its fields.

use crate::EditError;
use crate::json::scan;
use crate::node::{Node, Part};
use crate::value;
use serde::Serialize;
use serde_json::Value;

/// A value as JSON text, and where everything stands in it.
pub(crate) struct Given {
    pub(crate) text: String,
    pub(crate) node: Node,
}

impl Given {
    /// Takes a value; one that JSON has no text for is an error.
    pub(crate) fn new(value: &(impl Serialize + ?Sized)) -> Result<Self, EditError> {
        let text = serde_json::to_string(value).map_err(|error| {
            EditError::at("", 0, format!("the value to put in is not one of JSON: {error}"))
        })?;
        Self::read(text)
    }

    /// Takes a JSON text.
    pub(crate) fn read(text: String) -> Result<Self, EditError> {
        match scan(&text)? {
            Some(node) => Ok(Self { text, node }),
            None => Err(EditError::at(&text, 0, "the value to put in has no text")),
        }
    }

    /// Returns `{path[0]: {path[1]: … value}}`.
    pub(crate) fn under(self, path: &[&str]) -> Result<Self, EditError> {
        let text = path.iter().rev().fold(self.text, |text, key| format!("{{{}:{text}}}", Value::from(*key)));
        Self::read(text)
    }

    /// Returns `[value]`.
    pub(crate) fn in_array(self) -> Result<Self, EditError> {
        Self::read(format!("[{}]", self.text))
    }

    /// Returns the value as the one member or element of something.
    pub(crate) fn part(&self, name: &[&str]) -> Part {
        Part {
            name: name.iter().map(ToString::to_string).collect(),
            span: self.node.span.clone(),
            key_end: self.node.span.start,
            node: self.node.clone(),
            comma: None,
        }
    }

    /// Returns what it means.
    pub(crate) fn value(&self) -> Value {
        value::of_json(&self.text, &self.node)
    }
}
