//! JSON and JSONC.

mod scan;

use crate::given::Given;
use crate::list::{self, New};
use crate::memo::Memo;
use crate::node::{Kind, Node, Spot, walk};
use crate::style::{Style, blank};
use crate::text::{Splice, Text, splice};
use crate::{EditError, value};
pub(crate) use scan::{decode, scan};
use serde::Serialize;
use serde_json::Value;

/// A JSON or JSONC file to be edited.
///
/// A path is the keys from the root, with the index of an array's element in decimal digits; keys are compared as
/// they are meant, not as they are escaped. Every edit is read back and compared with what it should mean. After an
/// error the file is what it was before the call.
#[derive(Debug, Clone)]
pub struct Json {
    text: Text,
    /// Nothing in a file of blanks and comments.
    root: Option<Node>,
    /// Whether the file is not there.
    missing: bool,
    memo: Memo,
    /// Whether the memo is of all that was put in.
    known: bool,
}

impl Json {
    /// Reads a file; `None` is one that is not there, and a file without a value gets an object when it needs one.
    ///
    /// A file that is not UTF-8, does not parse, or has a key twice in one object is an error.
    pub fn parse(file: Option<&[u8]>) -> Result<Self, EditError> {
        let text = Text::read(file.unwrap_or_default())?;
        let root = scan(&text.body)?;
        Ok(Self { text, root, missing: file.is_none(), memo: Memo::default(), known: false })
    }

    /// Takes what an earlier install found, before anything is edited: for a removal, or for another install, whose
    /// own findings are added.
    ///
    /// Without it, every container that a removal leaves with nothing in it goes too, but for the root.
    #[must_use]
    pub fn with_memo(mut self, memo: Memo) -> Self {
        self.memo = memo;
        self.known = true;
        self
    }

    /// Returns what to keep for a later removal: what the edits so far found, and what
    /// [`with_memo`](Self::with_memo) gave, without what removals have used up.
    pub fn memo(&self) -> &Memo {
        &self.memo
    }

    /// Returns what is at a path.
    pub fn value(&self, path: &[&str]) -> Option<Value> {
        match walk(self.root.as_ref()?, path) {
            Spot::Root(node) => Some(value::of_json(&self.text.body, node)),
            Spot::Part { container, index } => {
                Some(value::of_json(&self.text.body, &container.parts()[index].node))
            }
            Spot::Missing { .. } | Spot::Blocked { .. } => None,
        }
    }

    /// Makes `new` stand at a path: in the place of what is there, or as the last member of its object; objects on
    /// the way are made. Changes nothing if it stands there already, however it is written.
    ///
    /// Something on the way that is no object, or an index past an array's end, is an error.
    pub fn set(&mut self, path: &[&str], new: &(impl Serialize + ?Sized)) -> Result<(), EditError> {
        let new = Given::new(new)?;
        let meant = new.value();
        if self.value(path).as_ref() == Some(&meant) {
            return Ok(());
        }
        let mut expected = self.expected();
        if !value::put(&mut expected, path, meant) {
            return Err(self.blocked(path));
        }
        self.put(path, new, &expected)
    }

    /// Puts `new` last in the array at a path; the array is made if nothing is there, and the objects on the way.
    ///
    /// Something else than an array there, or something on the way that is no object, is an error.
    pub fn append(&mut self, path: &[&str], new: &(impl Serialize + ?Sized)) -> Result<(), EditError> {
        let new = Given::new(new)?;
        let mut expected = self.expected();
        if !value::append(&mut expected, path, new.value()) {
            return Err(self.blocked(path));
        }
        let Some(array) = self.node(path) else {
            self.put(path, new.in_array()?, &expected)?;
            self.made(path);
            return Ok(());
        };
        if !matches!(array.kind, Kind::Array(_)) {
            return Err(self.blocked(path));
        }
        let changes = self.insert(array, path, &new, &[]);
        let empty = self.empty(path);
        self.change(changes, &expected)?;
        self.found_empty(path, empty);
        Ok(())
    }

    /// Takes out what is at a path, and every container that held nothing but that and that the install made.
    /// Says whether there was something.
    pub fn remove(&mut self, path: &[&str]) -> Result<bool, EditError> {
        if path.is_empty() || self.node(path).is_none() {
            return Ok(false);
        }
        let mut path = path;
        while path.len() > 1 && self.goes(&path[..path.len() - 1]) {
            path = &path[..path.len() - 1];
        }
        let parent = &path[..path.len() - 1];
        let Some(Spot::Part { container, index }) = self.root.as_ref().map(|root| walk(root, path)) else {
            return Ok(false);
        };
        let mut expected = self.expected();
        value::take(&mut expected, path);
        let last = container.parts().len() == 1 && list::bare(&self.text.body, container);
        let was = self.memo.was_empty(parent).filter(|_| last);
        let whole = was.filter(|_| parent.is_empty()).and_then(|was| self.whole(was));
        if let Some(whole) = whole {
            self.text.body = whole;
            self.root = scan(&self.text.body)?;
        } else {
            let was = was.filter(|was| !parent.is_empty() || scan(was).is_ok_and(|root| root.is_some()));
            let style = Style::json(&self.text.body, self.root.as_ref());
            let changes = list::remove(&self.text.body, &style, container, index, was);
            self.change(changes, &expected)?;
        }
        self.memo.forget(path);
        if last && !(parent.is_empty() && self.memo.made(parent)) {
            self.memo.forget(parent);
        }
        Ok(true)
    }

    /// Returns the file's bytes: `None` for one that is not there, or that the install made and that holds nothing
    /// any more.
    pub fn finish(&self) -> Option<Vec<u8>> {
        let made = self.missing || self.memo.made(&[]);
        let empty = match &self.root {
            None => blank(&self.text.body),
            Some(root) => {
                let (before, rest) = self.text.body.split_at(root.span.start);
                matches!(&root.kind, Kind::Object(parts) if parts.is_empty())
                    && list::bare(rest, &Node { span: 0..root.span.len(), kind: Kind::Scalar })
                    && blank(before)
                    && blank(&rest[root.span.len()..])
            }
        };
        (!(made && empty)).then(|| self.text.bytes())
    }

    fn node(&self, path: &[&str]) -> Option<&Node> {
        match walk(self.root.as_ref()?, path) {
            Spot::Root(node) => Some(node),
            Spot::Part { container, index } => Some(&container.parts()[index].node),
            Spot::Missing { .. } | Spot::Blocked { .. } => None,
        }
    }

    fn expected(&self) -> Value {
        self.value(&[]).unwrap_or_else(|| Value::Object(serde_json::Map::new()))
    }

    /// Puts a value in whose place is known to be possible.
    fn put(&mut self, path: &[&str], new: Given, expected: &Value) -> Result<(), EditError> {
        let body = &self.text.body;
        let Some(root) = &self.root else {
            return self.start(path, new, expected);
        };
        match walk(root, path) {
            Spot::Root(_) | Spot::Blocked { .. } => Err(self.blocked(path)),
            Spot::Part { container, index } => {
                let style = Style::json(body, self.root.as_ref());
                let part = new.part(&[]);
                let new = New { source: &new.text, part: &part };
                let change = list::replace(body, &style, container, index, &new);
                self.change(vec![change], expected)
            }
            Spot::Missing { object, depth } => {
                let new = new.under(&path[depth + 1..])?;
                let changes = self.insert(object, &path[..depth], &new, &[path[depth]]);
                let empty = self.empty(&path[..depth]);
                self.change(changes, expected)?;
                self.found_empty(&path[..depth], empty);
                for length in depth + 1..path.len() {
                    self.made(&path[..length]);
                }
                Ok(())
            }
        }
    }

    /// Puts the first value into a file without one.
    fn start(&mut self, path: &[&str], new: Given, expected: &Value) -> Result<(), EditError> {
        let body = &self.text.body;
        let new = new.under(path)?;
        let style = Style::json(body, None);
        let before = if body.is_empty() || body.ends_with('\n') { "" } else { style.newline };
        let value = style.value(&new.text, &new.node, Some(""));
        let was = (!self.missing).then(|| body.clone());
        let change = Splice(body.len()..body.len(), format!("{before}{value}{}", style.newline));
        self.change(vec![change], expected)?;
        self.memo.found(&[], was.as_deref());
        for length in 1..path.len() {
            self.made(&path[..length]);
        }
        Ok(())
    }

    fn insert(&self, container: &Node, path: &[&str], new: &Given, name: &[&str]) -> Vec<Splice> {
        let style = Style::json(&self.text.body, self.root.as_ref());
        let part = new.part(name);
        let new = New { source: &new.text, part: &part };
        list::insert(&self.text.body, &style, container, self.opens(path), &new)
    }

    /// Says whether an empty container is to be filled over several lines: as the one around it is.
    fn opens(&self, path: &[&str]) -> bool {
        let Some((_, parent)) = path.split_last() else { return true };
        self.node(parent).is_some_and(|outer| self.text.body[outer.span.clone()].contains('\n'))
    }

    /// Returns the text of a container in which there is nothing, no comment either.
    fn empty(&self, path: &[&str]) -> Option<String> {
        let node = self.node(path)?;
        let text = &self.text.body[node.span.clone()];
        (node.parts().is_empty() && blank(&text[1..text.len() - 1])).then(|| text.to_owned())
    }

    fn found_empty(&mut self, path: &[&str], was: Option<String>) {
        if let Some(was) = was
            && !self.moves(path)
            && !(path.is_empty() && (self.memo.made(path) || self.memo.was_empty(path).is_some()))
        {
            self.memo.found(path, Some(&was));
        }
    }

    fn made(&mut self, path: &[&str]) {
        if !self.moves(path) {
            self.memo.found(path, None);
        }
    }

    /// Says whether a path leads through an array: what it names may be another element tomorrow.
    fn moves(&self, path: &[&str]) -> bool {
        (0..path.len())
            .any(|length| self.node(&path[..length]).is_some_and(|node| matches!(node.kind, Kind::Array(_))))
    }

    /// Says whether a container goes with its only part.
    fn goes(&self, path: &[&str]) -> bool {
        let ours = self.memo.made(path) || (!self.known && self.memo.was_empty(path).is_none());
        ours && self
            .node(path)
            .is_some_and(|node| node.parts().len() == 1 && list::bare(&self.text.body, node))
    }

    /// Returns the text of the file before it had a value, if nothing else has been written since.
    fn whole(&self, was: &str) -> Option<String> {
        let root = self.root.as_ref()?;
        let old = scan(was).ok()?;
        let rest = self.text.body[..root.span.start].strip_prefix(was)?;
        (old.is_none() && blank(rest) && blank(&self.text.body[root.span.end..])).then(|| was.to_owned())
    }

    fn blocked(&self, path: &[&str]) -> EditError {
        let body = &self.text.body;
        let Some(root) = &self.root else {
            return EditError::at(body, 0, "the file itself cannot be replaced");
        };
        let (node, path) = match walk(root, path) {
            Spot::Blocked { node, depth } => (node, &path[..depth]),
            Spot::Part { container, index } => (&container.parts()[index].node, path),
            Spot::Root(node) | Spot::Missing { object: node, .. } => (node, path),
        };
        EditError::at(body, node.span.start, stands(path, node.what()))
    }

    /// Makes the changes, if the text then means what it should.
    fn change(&mut self, changes: Vec<Splice>, expected: &Value) -> Result<(), EditError> {
        let place = changes.first().map_or(0, |change| change.0.start);
        let body = splice(&self.text.body, changes);
        let root = scan(&body)?;
        let meant = root.as_ref().map(|root| value::of_json(&body, root));
        if meant.as_ref() != Some(expected) {
            return Err(EditError::at(&self.text.body, place, "an edit here would change something else"));
        }
        self.text.body = body;
        self.root = root;
        Ok(())
    }
}

/// Says what is in the way.
pub(crate) fn stands(path: &[&str], what: &str) -> String {
    match path {
        [] => format!("the file is {what}: nothing can be put there"),
        _ => format!("`{}` is {what}: nothing can be put there", path.join(".")),
    }
}

#[cfg(test)]
mod tests {
    use super::{Json, Splice};
    use serde_json::json;

    #[test]
    fn an_edit_that_means_something_else_is_not_made() {
        let before = "{\"a\": 1}";
        let mut file = Json::parse(Some(before.as_bytes())).unwrap();
        let change = |new: &str| vec![Splice(6..7, new.to_owned())];
        let error = file.change(change("2"), &json!({ "a": 3 })).unwrap_err();
        assert_eq!(error.to_string(), "1:7: an edit here would change something else");
        file.change(change("\""), &json!({ "a": 2 })).unwrap_err();
        assert_eq!(file.finish().as_deref(), Some(before.as_bytes()));
        file.change(change("2"), &json!({ "a": 2 })).unwrap();
        assert_eq!(file.finish(), Some(before.replace('1', "2").into_bytes()));
    }
}
