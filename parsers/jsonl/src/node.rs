//! A JSON value that is looked into only where a path leads.

use scrollback_core::Text;
use serde::Deserialize;
use serde::de::{Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::cell::OnceCell;
use std::fmt;

/// The longest word: an id, a role, a kind.
const WORD: usize = 256;

/// A JSON value, as its text. What it holds is read when it is first asked for.
#[derive(Debug)]
pub(crate) struct Node<'t> {
    raw: &'t str,
    inner: OnceCell<Inner<'t>>,
}

#[derive(Debug)]
enum Inner<'t> {
    Object(Vec<(Cow<'t, str>, Node<'t>)>),
    List(Vec<Node<'t>>),
    Plain,
}

impl<'t> Node<'t> {
    /// Reads a text that is one JSON value.
    pub(crate) fn read(text: &'t str) -> Result<Self, serde_json::Error> {
        serde_json::from_str::<&RawValue>(text).map(Self::of)
    }

    fn of(raw: &'t RawValue) -> Self {
        Self { raw: raw.get(), inner: OnceCell::new() }
    }

    /// Returns the text of the value.
    pub(crate) const fn raw(&self) -> &'t str {
        self.raw
    }

    pub(crate) fn is_null(&self) -> bool {
        self.raw == "null"
    }

    pub(crate) fn is_object(&self) -> bool {
        self.raw.starts_with('{')
    }

    pub(crate) fn is_list(&self) -> bool {
        self.raw.starts_with('[')
    }

    fn inner(&self) -> &Inner<'t> {
        self.inner.get_or_init(|| match self.raw.as_bytes().first() {
            // The value was read as a whole before: it reads.
            Some(b'{' | b'[') => serde_json::from_str(self.raw).unwrap_or(Inner::Plain),
            _ => Inner::Plain,
        })
    }

    /// Returns what an object holds under a name, or a list at a number. Of a name that stands twice, the first.
    pub(crate) fn get(&self, name: &str) -> Option<&Self> {
        match self.inner() {
            Inner::Object(fields) => fields.iter().find(|(key, _)| key == name).map(|(_, node)| node),
            Inner::List(items) => items.get(name.parse::<usize>().ok()?),
            Inner::Plain => None,
        }
    }

    /// Returns the elements of a list; none for anything else.
    pub(crate) fn items(&self) -> &[Self] {
        match self.inner() {
            Inner::List(items) => items,
            Inner::Object(_) | Inner::Plain => &[],
        }
    }

    /// Returns a string's words.
    pub(crate) fn text(&self) -> Option<String> {
        let text = self.raw.starts_with('"').then(|| serde_json::from_str::<Text<'_>>(self.raw).ok())??;
        Some(text.into_inner().into_owned())
    }

    /// Returns a short string that is not empty, or a number as its digits.
    pub(crate) fn word(&self) -> Option<String> {
        let word = match self.raw.as_bytes().first()? {
            b'"' => self.text()?,
            b'-' | b'0'..=b'9' => self.raw.to_owned(),
            _ => return None,
        };
        let short = !word.trim().is_empty() && word.len() <= WORD && !word.contains(char::is_control);
        short.then_some(word)
    }

    /// Returns a number.
    pub(crate) fn number(&self) -> Option<f64> {
        serde_json::from_str(self.raw).ok().filter(|number: &f64| number.is_finite())
    }

    /// Says whether it is anything but `false`, nothing, or an empty string.
    pub(crate) fn is_set(&self) -> bool {
        !matches!(self.raw, "null" | "false" | "\"\"" | "0")
    }
}

impl<'de> Deserialize<'de> for Inner<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Any;

        impl<'de> Visitor<'de> for Any {
            type Value = Inner<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object or a list")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut fields = Vec::new();
                while let Some(key) = map.next_key::<Text<'de>>()? {
                    fields.push((key.into_inner(), Node::of(map.next_value::<&'de RawValue>()?)));
                }
                Ok(Inner::Object(fields))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
                let mut items = Vec::new();
                while let Some(item) = list.next_element::<&'de RawValue>()? {
                    items.push(Node::of(item));
                }
                Ok(Inner::List(items))
            }

            fn visit_unit<E: Error>(self) -> Result<Self::Value, E> {
                Ok(Inner::Plain)
            }
        }

        deserializer.deserialize_any(Any)
    }
}

/// Returns the text of the JSON value that a string holds, if it holds an object or a list.
pub(crate) fn within(text: &str) -> Option<&str> {
    let text = text.trim();
    let whole = text.starts_with(['{', '[']) && serde_json::from_str::<IgnoredAny>(text).is_ok();
    whole.then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_a_pair_costs_no_record_whether_in_a_key_or_a_text() {
        let node = Node::read(r#"{"\ud83d":1,"a":"x\ude00y"}"#).unwrap();
        assert_eq!(node.get("a").and_then(Node::text).as_deref(), Some("x\u{fffd}y"));
        assert_eq!(node.get("\u{fffd}").and_then(Node::word).as_deref(), Some("1"));
    }

    #[test]
    fn depth_is_no_matter() {
        let deep = format!(r#"{{"a":"x","d":{}{}}}"#, "[".repeat(10_000), "]".repeat(10_000));
        let node = Node::read(&deep).unwrap();
        assert_eq!(node.get("a").and_then(Node::word).as_deref(), Some("x"));
        assert!(node.get("d").is_some_and(|deep| deep.items().len() == 1));
    }

    #[test]
    fn a_word_is_short_and_is_one() {
        let long = format!("\"{}\"", "x".repeat(WORD + 1));
        for no in ["\"\"", "\" \"", "\"a\\nb\"", "true", "null", "{}", long.as_str()] {
            assert_eq!(Node::read(no).unwrap().word(), None, "{no}");
        }
        assert_eq!(Node::read("12").unwrap().word().as_deref(), Some("12"));
    }
}
