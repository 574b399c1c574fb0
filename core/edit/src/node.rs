//! Where values stand in a text.

use std::ops::Range;

/// A value and its bytes.
#[derive(Debug, Clone)]
pub(crate) struct Node {
    pub(crate) span: Range<usize>,
    pub(crate) kind: Kind,
}

/// What a value is.
#[derive(Debug, Clone)]
pub(crate) enum Kind {
    Scalar,
    Array(Vec<Part>),
    Object(Vec<Part>),
}

/// An element of an array or a member of an object.
#[derive(Debug, Clone)]
pub(crate) struct Part {
    /// The key, decoded; several segments for a dotted one, none for an element.
    pub(crate) name: Vec<String>,
    /// From the key, or the element, to the end of the value.
    pub(crate) span: Range<usize>,
    /// Where the key ends; where the element starts.
    pub(crate) key_end: usize,
    pub(crate) node: Node,
    /// Where the comma after it stands.
    pub(crate) comma: Option<usize>,
}

impl Part {
    /// Returns where the part ends, its comma included.
    pub(crate) fn end(&self) -> usize {
        self.comma.map_or(self.span.end, |comma| comma + 1)
    }
}

impl Node {
    /// Returns the parts of an array or an object; of a scalar none.
    pub(crate) fn parts(&self) -> &[Part] {
        match &self.kind {
            Kind::Scalar => &[],
            Kind::Array(parts) | Kind::Object(parts) => parts,
        }
    }

    /// Says what it is, for people.
    pub(crate) fn what(&self) -> &'static str {
        match self.kind {
            Kind::Scalar => "a plain value",
            Kind::Array(_) => "an array",
            Kind::Object(_) => "a table of keys",
        }
    }
}

/// What a path leads to.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Spot<'n> {
    /// A value: the part at that index of a container.
    Part { container: &'n Node, index: usize },
    /// The root itself.
    Root(&'n Node),
    /// Nothing; the object that `path[..depth]` leads to does not have the next key.
    Missing { object: &'n Node, depth: usize },
    /// `path[..depth]` leads to a value that has no such part and can get none.
    Blocked { node: &'n Node, depth: usize },
}

/// Follows a path; a segment is a key of an object, or an index of an array in decimal digits.
///
/// A part with a dotted key is several segments long.
pub(crate) fn walk<'n>(root: &'n Node, path: &[&str]) -> Spot<'n> {
    let mut node = root;
    let mut depth = 0;
    let mut spot = Spot::Root(root);
    while depth < path.len() {
        let rest = &path[depth..];
        let index = match &node.kind {
            Kind::Scalar => return Spot::Blocked { node, depth },
            Kind::Array(parts) => match rest[0].parse::<usize>() {
                Ok(index) if index < parts.len() => index,
                _ => return Spot::Blocked { node, depth },
            },
            Kind::Object(parts) => match parts.iter().position(|part| leads(&part.name, rest)) {
                Some(index) => index,
                None => return Spot::Missing { object: node, depth },
            },
        };
        let part = &node.parts()[index];
        spot = Spot::Part { container: node, index };
        depth += part.name.len().max(1);
        node = &part.node;
    }
    spot
}

/// Says whether a key is the beginning of a path.
pub(crate) fn leads(name: &[String], path: &[&str]) -> bool {
    !name.is_empty() && name.len() <= path.len() && *name == path[..name.len()]
}
