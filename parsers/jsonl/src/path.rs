//! Where in a record something stands: names joined by dots.

use crate::node::Node;
use serde::de::{Deserialize, Deserializer, Error, SeqAccess, Visitor};
use std::fmt;

/// The names to a value, from the record or the block on. A name that is a number also means that element of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Path(Vec<String>);

/// Paths to one thing; the first that leads somewhere counts.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Paths(Vec<Path>);

impl Paths {
    /// Returns what the paths lead to, the first first; what is `null` is not there.
    pub(crate) fn all<'n, 't>(&'n self, from: &'n Node<'t>) -> impl Iterator<Item = &'n Node<'t>> {
        let lead = move |path: &'n Path| path.0.iter().try_fold(from, |node, name| node.get(name));
        self.0.iter().filter_map(lead).filter(|node| !node.is_null())
    }

    /// Returns what the first path that leads somewhere leads to.
    pub(crate) fn find<'n, 't>(&'n self, from: &'n Node<'t>) -> Option<&'n Node<'t>> {
        self.all(from).next()
    }

    /// Returns the first short string, or number as its digits, that the paths lead to.
    pub(crate) fn word(&self, from: &Node<'_>) -> Option<String> {
        self.all(from).find_map(Node::word)
    }

    /// Says whether a path leads to anything, `null` too.
    pub(crate) fn leads(&self, from: &Node<'_>) -> bool {
        self.0.iter().any(|path| path.0.iter().try_fold(from, |node, name| node.get(name)).is_some())
    }

    /// Says whether every path leads somewhere.
    pub(crate) fn lead_all(&self, from: &Node<'_>) -> bool {
        self.all(from).count() == self.0.len()
    }

    /// Says whether there is no path.
    pub(crate) const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// Reads `a.b."c.d"`: a name with a dot in it stands in quotes.
fn read(text: &str) -> Result<Path, String> {
    let mut names = Vec::new();
    let mut rest = text;
    loop {
        let (name, after) = if let Some(quoted) = rest.strip_prefix('"') {
            quoted.split_once('"').ok_or_else(|| format!("the path {text:?} does not close its quotes"))?
        } else {
            rest.split_at(rest.find('.').unwrap_or(rest.len()))
        };
        if name.is_empty() {
            return Err(format!(
                "the path {text:?} has a name that is empty; names are joined by single dots"
            ));
        }
        names.push(name.to_owned());
        match after.strip_prefix('.') {
            Some(more) => rest = more,
            None if after.is_empty() => return Ok(Path(names)),
            None => return Err(format!("the path {text:?} has no dot behind its quotes")),
        }
    }
}

impl<'de> Deserialize<'de> for Paths {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct OneOrMany;

        impl<'de> Visitor<'de> for OneOrMany {
            type Value = Paths;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a path such as \"message.role\", or a list of paths")
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Paths, E> {
                Ok(Paths(vec![read(text).map_err(E::custom)?]))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Paths, A::Error> {
                let mut paths = Vec::new();
                while let Some(text) = list.next_element::<String>()? {
                    paths.push(read(&text).map_err(A::Error::custom)?);
                }
                Ok(Paths(paths))
            }
        }

        deserializer.deserialize_any(OneOrMany)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_names_with_dots_between() {
        let names = |text| read(text).map(|path| path.0.join("|"));
        assert_eq!(names("role"), Ok("role".to_owned()));
        assert_eq!(names("a.b.0"), Ok("a|b|0".to_owned()));
        assert_eq!(names(r#"a."b.c".d"#), Ok("a|b.c|d".to_owned()));
        for wrong in ["", ".", "a.", ".a", "a..b", r#"a."b"#, r#""a"b"#] {
            assert!(names(wrong).is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn a_path_leads_through_objects_and_lists() {
        let node = Node::read(r#"{"a":{"b":[null,{"c":"x"}]},"n":null,"i":7}"#).unwrap();
        let word = |text| Paths(vec![read(text).unwrap()]).word(&node);
        assert_eq!(word("a.b.1.c").as_deref(), Some("x"));
        assert_eq!(word("i").as_deref(), Some("7"));
        for nowhere in ["a.b.0", "a.b.2", "n", "a", "a.b.1.c.d", "z"] {
            assert_eq!(word(nowhere), None, "{nowhere}");
        }
    }
}
