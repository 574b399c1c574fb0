//! TOML: found by the places of its parts, changed by splice, never written anew.

mod place;
mod scan;

use crate::given::Given;
use crate::json::stands;
use crate::list::{self, New};
use crate::memo::Memo;
use crate::node::{Kind, Node, Part, Spot, leads, walk};
use crate::style::{Style, blank};
use crate::text::{Splice, Text, splice};
use crate::{EditError, value};
use place::Place;
use scan::{Scanned, Section, scan};
use serde::Serialize;
use serde_json::{Map, Value};

/// A TOML file to be edited.
///
/// A path is the keys from the root, with the index of an array's element in decimal digits, whether the array is
/// written in brackets or as `[[tables]]`, and whether a table has a header, dotted keys or braces. Every edit is
/// read back and compared with what it should mean. After an error the file is what it was before the call.
#[derive(Debug, Clone)]
pub struct Toml {
    text: Text,
    scanned: Scanned,
    missing: bool,
    memo: Memo,
    known: bool,
}

impl Toml {
    /// Reads a file; `None` is one that is not there.
    ///
    /// A file that is not UTF-8, does not parse, or has a key twice is an error.
    pub fn parse(file: Option<&[u8]>) -> Result<Self, EditError> {
        let text = Text::read(file.unwrap_or_default())?;
        let scanned = scan(&text.body)?;
        Ok(Self { text, scanned, missing: file.is_none(), memo: Memo::default(), known: false })
    }

    /// Takes what an earlier install found, before anything is edited: for a removal, or for another install, whose
    /// own findings are added.
    ///
    /// Without it, every table that a removal leaves with nothing in it goes too.
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

    /// Returns what is at a path; dates and times are their texts, and so are infinite numbers.
    pub fn value(&self, path: &[&str]) -> Option<Value> {
        value::at(&self.scanned.value, path).cloned()
    }

    /// Makes `new` stand at a path. Changes nothing if it stands there already, however it is written.
    ///
    /// Where nothing is, a table becomes a block `[path]` at the end of the file, and anything else the last key of
    /// its table; inside braces, both become a member. A plain value or an array in brackets that is there is
    /// replaced where it stands; a table that is there gets the members it lacks and loses those `new` has not.
    ///
    /// Something on the way that is no table, a table where `new` is none, an index past an array's end, and a
    /// value TOML has not (null) are errors.
    pub fn set(&mut self, path: &[&str], new: &(impl Serialize + ?Sized)) -> Result<(), EditError> {
        let mut edited = self.clone();
        edited.put(path, Given::new(new)?)?;
        *self = edited;
        Ok(())
    }

    /// Puts `new` last in the array at a path.
    ///
    /// Where nothing is, or an array of `[[tables]]`, a table becomes a block `[[path]]`; the array is in brackets
    /// otherwise. Something else than an array there, and what [`set`](Self::set) refuses, are errors.
    pub fn append(&mut self, path: &[&str], new: &(impl Serialize + ?Sized)) -> Result<(), EditError> {
        let new = Given::new(new)?;
        let mut expected = self.scanned.value.clone();
        if !value::append(&mut expected, path, new.value()) {
            return Err(self.blocked(path));
        }
        let table = matches!(new.node.kind, Kind::Object(_));
        let there = self.value(path).is_some();
        if let Some((pair, rest)) = self.pair_over(path) {
            let (array, depth) = match walk(&pair.node, rest) {
                Spot::Root(node) => (node, rest.len()),
                Spot::Part { container, index } => (&container.parts()[index].node, rest.len()),
                Spot::Missing { .. } | Spot::Blocked { .. } => (&pair.node, 0),
            };
            if depth < rest.len() || !there {
                return self.put_array(path, new);
            }
            let part = new.part(&[]);
            let new = New { source: &new.text, part: &part };
            let style = Style::toml(&self.text.body);
            let changes = list::insert(&self.text.body, &style, array, false, &new);
            let empty = self.empty(array);
            self.change(changes, &expected)?;
            self.found_empty(path, empty);
            Ok(())
        } else if table {
            self.block(path, true, &new, &expected)
        } else if there {
            Err(self.blocked(path))
        } else {
            self.put_array(path, new)
        }
    }

    /// Takes out what is at a path, with the comments inside it, and every table that held nothing but that and
    /// that the install made. Says whether there was something.
    pub fn remove(&mut self, path: &[&str]) -> Result<bool, EditError> {
        if path.is_empty() || self.value(path).is_none() {
            return Ok(false);
        }
        let mut path = path;
        while path.len() > 1 && self.goes(&path[..path.len() - 1]) {
            path = &path[..path.len() - 1];
        }
        let mut edited = self.clone();
        edited.cut(path)?;
        edited.drop_header(&path[..path.len() - 1])?;
        *self = edited;
        Ok(true)
    }

    /// Returns the file's bytes: `None` for one that is not there, or that the install made and that holds nothing
    /// any more.
    pub fn finish(&self) -> Option<Vec<u8>> {
        let made = self.missing || self.memo.made(&[]);
        (!(made && blank(&self.text.body))).then(|| self.text.bytes())
    }

    /// Makes an array of one element where nothing is. It goes again with the element.
    fn put_array(&mut self, path: &[&str], new: Given) -> Result<(), EditError> {
        self.put(path, new.in_array()?)?;
        self.made(path);
        Ok(())
    }

    fn put(&mut self, path: &[&str], new: Given) -> Result<(), EditError> {
        let meant = new.value();
        if self.value(path).as_ref() == Some(&meant) {
            return Ok(());
        }
        let mut expected = self.scanned.value.clone();
        if path.is_empty() || !value::put(&mut expected, path, meant.clone()) {
            return Err(self.blocked(path));
        }
        if let Some((pair, rest)) = self.pair_over(path) {
            return self.put_inside(path, path.len() - rest.len(), &pair, new, &expected);
        }
        match (self.value(path), meant) {
            (None, Value::Object(_)) => {
                let mut edited = self.clone();
                if edited.block(path, false, &new, &expected).is_ok() {
                    *self = edited;
                    return Ok(());
                }
                // A table of dotted keys cannot get a header everywhere.
                self.pair(path, &new, &expected)
            }
            (None, _) => self.pair(path, &new, &expected),
            (Some(Value::Object(old)), Value::Object(members)) => {
                for part in new.node.parts() {
                    let key = part.name.concat();
                    let member = Given::read(new.text[part.node.span.clone()].to_owned())?;
                    self.put(&[path, &[key.as_str()]].concat(), member)?;
                }
                for key in old.keys().filter(|key| !members.contains_key(*key)) {
                    self.cut(&[path, &[key.as_str()]].concat())?;
                }
                Ok(())
            }
            (Some(_), _) => Err(self.blocked(path)),
        }
    }

    /// Puts a value into the value of a pair, which `path[..from]` leads to.
    fn put_inside(
        &mut self,
        path: &[&str],
        from: usize,
        pair: &Part,
        new: Given,
        expected: &Value,
    ) -> Result<(), EditError> {
        let body = &self.text.body;
        let style = Style::toml(body);
        match walk(&pair.node, &path[from..]) {
            Spot::Root(node) => {
                let written = style.value(&new.text, &new.node, None);
                self.change(vec![Splice(node.span.clone(), written)], expected)
            }
            Spot::Part { container, index } => {
                let part = new.part(&[]);
                let new = New { source: &new.text, part: &part };
                self.change(vec![list::replace(body, &style, container, index, &new)], expected)
            }
            Spot::Missing { object, depth } => {
                let (container, rest) = path.split_at(from + depth);
                let dotted =
                    object.parts().iter().any(|part| part.name.first().is_some_and(|it| it == rest[0]));
                let (name, under) = if dotted { (rest, &rest[..0]) } else { (&rest[..1], &rest[1..]) };
                let new = new.under(under)?;
                let part = new.part(name);
                let new = New { source: &new.text, part: &part };
                let changes = list::insert(body, &style, object, false, &new);
                let empty = self.empty(object);
                self.change(changes, expected)?;
                self.found_empty(container, empty);
                for length in container.len() + 1..path.len() {
                    self.made(&path[..length]);
                }
                Ok(())
            }
            Spot::Blocked { .. } => Err(self.blocked(path)),
        }
    }

    /// Puts a table in as a block of its own.
    fn block(&mut self, path: &[&str], array: bool, new: &Given, expected: &Value) -> Result<(), EditError> {
        let style = Style::toml(&self.text.body);
        let header = style.key(&self.header(path));
        let header = if array { format!("[[{header}]]") } else { format!("[{header}]") };
        let members = new.node.parts().iter().map(|part| style.part(&new.text, part, None));
        let lines: Vec<String> = std::iter::once(header).chain(members).collect();
        let change = place::block(&self.text.body, &self.scanned, path, &lines);
        self.change(vec![change], expected)?;
        self.made_file();
        Ok(())
    }

    /// Puts a value in as a pair: in its table's section, beside dotted keys of its table, or under a new header.
    fn pair(&mut self, path: &[&str], new: &Given, expected: &Value) -> Result<(), EditError> {
        let style = Style::toml(&self.text.body);
        let line = |keys: &[&str]| style.part(&new.text, &new.part(keys), None);
        let (last, parent) = path.split_last().ok_or_else(|| self.blocked(path))?;
        match place::pair(&self.scanned, path) {
            Place::Section(section, keys) => {
                let change = place::line(&self.text.body, &self.scanned, section, None, &line(keys));
                self.change(vec![change], expected)?;
            }
            Place::After(section, pair, keys) => {
                let change = place::line(&self.text.body, &self.scanned, section, Some(pair), &line(keys));
                self.change(vec![change], expected)?;
            }
            Place::Nowhere => {
                let lines = [format!("[{}]", style.key(&self.header(parent))), line(&[last])];
                let change = place::block(&self.text.body, &self.scanned, parent, &lines);
                self.change(vec![change], expected)?;
                self.made(parent);
            }
        }
        self.made_file();
        Ok(())
    }

    /// Takes out what is at a path and nothing else.
    fn cut(&mut self, path: &[&str]) -> Result<(), EditError> {
        let body = &self.text.body;
        let parent = &path[..path.len() - 1];
        let (changes, was_last) = match self.pair_over(path).filter(|(_, rest)| !rest.is_empty()) {
            None => (place::lines_of(body, &self.scanned, path), false),
            Some((pair, rest)) => match walk(&pair.node, rest) {
                Spot::Part { container, index } => {
                    let was = self.memo.was_empty(parent);
                    let changes = list::remove(body, &Style::toml(body), container, index, was);
                    (changes, container.parts().len() == 1)
                }
                Spot::Missing { object, depth } => {
                    let outer = path.len() - rest.len() + depth;
                    return self.cut_dotted(&path[..outer], &rest[depth..], &object.clone());
                }
                Spot::Root(_) | Spot::Blocked { .. } => return Err(self.blocked(path)),
            },
        };
        let expected = self.without(path, &changes);
        self.change(changes, &expected)?;
        self.memo.forget(path);
        if was_last {
            self.memo.forget(parent);
        }
        Ok(())
    }

    /// Takes out the members of an object in braces whose dotted keys start with `group`.
    fn cut_dotted(&mut self, object: &[&str], group: &[&str], node: &Node) -> Result<(), EditError> {
        let names = node.parts().iter().map(|part| &part.name);
        let names = names.filter(|name| name.len() > group.len() && name[..group.len()] == *group);
        for name in names {
            let member: Vec<&str> = object.iter().copied().chain(name.iter().map(String::as_str)).collect();
            self.cut(&member)?;
        }
        Ok(())
    }

    /// Returns what is left when `changes` take out what is at a path: a table without a header of its own is gone
    /// with the last it held.
    fn without(&self, path: &[&str], changes: &[Splice]) -> Value {
        let mut expected = self.scanned.value.clone();
        value::take(&mut expected, path);
        let after = scan(&splice(&self.text.body, changes.to_vec())).map(|scanned| scanned.value);
        for length in (1..path.len()).rev() {
            let holder = value::at(&expected, &path[..length]);
            let empty =
                holder.is_some_and(|it| it == &Value::Object(Map::new()) || it == &Value::Array(Vec::new()));
            if !empty || after.as_ref() == Ok(&expected) {
                break;
            }
            value::take(&mut expected, &path[..length]);
        }
        expected
    }

    /// Takes out a header that the install made and that has no lines left, though its table has others elsewhere.
    fn drop_header(&mut self, path: &[&str]) -> Result<(), EditError> {
        let sections = &self.scanned.sections;
        let Some(section) = sections.iter().find(|section| section.path == path) else { return Ok(()) };
        let elsewhere = self.value(path).is_some_and(|table| table != Value::Object(Map::new()));
        if !path.is_empty() && self.memo.made(path) && section.pairs.is_empty() && elsewhere {
            let changes = place::lines_of_section(&self.text.body, section);
            let expected = self.scanned.value.clone();
            self.change(changes, &expected)?;
            self.memo.forget(path);
        }
        Ok(())
    }

    /// Returns the pair whose value a path leads to or into, and the rest of the path.
    fn pair_over<'p, 'k>(&self, path: &'p [&'k str]) -> Option<(Part, &'p [&'k str])> {
        let sections = self.scanned.sections.iter();
        let over = |section: &Section| leads(&section.path, path) || section.path.is_empty();
        sections.filter(|section| over(section)).find_map(|section| {
            let rest = &path[section.path.len()..];
            let pair = section.pairs.iter().find(|pair| leads(&pair.name, rest))?;
            Some((pair.clone(), &rest[pair.name.len()..]))
        })
    }

    /// Returns a path without the indices of elements: as headers name it.
    fn header<'k>(&self, path: &[&'k str]) -> Vec<&'k str> {
        let array =
            |length: usize| value::at(&self.scanned.value, &path[..length]).is_some_and(Value::is_array);
        path.iter().enumerate().filter(|(index, _)| !array(*index)).map(|(_, key)| *key).collect()
    }

    fn empty(&self, node: &Node) -> Option<String> {
        let text = &self.text.body[node.span.clone()];
        (node.parts().is_empty() && blank(&text[1..text.len() - 1])).then(|| text.to_owned())
    }

    fn found_empty(&mut self, path: &[&str], was: Option<String>) {
        if let Some(was) = was
            && !self.moves(path)
        {
            self.memo.found(path, Some(&was));
        }
    }

    fn made(&mut self, path: &[&str]) {
        if !self.moves(path) {
            self.memo.found(path, None);
        }
    }

    fn made_file(&mut self) {
        if self.missing {
            self.memo.found(&[], None);
        }
    }

    fn moves(&self, path: &[&str]) -> bool {
        self.header(path).len() < path.len()
    }

    /// Says whether a table or an array goes with its only member or element.
    fn goes(&self, path: &[&str]) -> bool {
        let ours = self.memo.made(path) || (!self.known && self.memo.was_empty(path).is_none());
        let one = match value::at(&self.scanned.value, path) {
            Some(Value::Object(members)) => members.len() == 1,
            Some(Value::Array(elements)) => elements.len() == 1,
            _ => false,
        };
        ours && one && self.bare(path)
    }

    /// Says whether a table or an array holds no comment beside its parts.
    fn bare(&self, path: &[&str]) -> bool {
        let body = &self.text.body;
        let Some((pair, rest)) = self.pair_over(path) else {
            let section = self.scanned.sections.iter().find(|section| section.path == path);
            return section.is_none_or(|section| {
                let first = section.pairs.first().map_or(section.header.end, |pair| pair.span.start);
                blank(&body[section.header.end..first])
            });
        };
        match walk(&pair.node, rest) {
            Spot::Root(node) => list::bare(body, node),
            Spot::Part { container, index } => list::bare(body, &container.parts()[index].node),
            // Dotted keys make it: it has no braces to hold one.
            Spot::Missing { .. } | Spot::Blocked { .. } => true,
        }
    }

    fn blocked(&self, path: &[&str]) -> EditError {
        let root = &self.scanned.value;
        let known = (0..=path.len()).rev().find(|length| value::at(root, &path[..*length]).is_some());
        let path = &path[..known.unwrap_or_default()];
        let what = match value::at(root, path) {
            Some(Value::Array(_)) => "an array",
            Some(Value::Object(_)) => "a table",
            _ => "a plain value",
        };
        let at = place::first(&self.scanned, path);
        EditError::at(&self.text.body, at, stands(path, what))
    }

    /// Makes the changes, if the text then means what it should.
    fn change(&mut self, changes: Vec<Splice>, expected: &Value) -> Result<(), EditError> {
        let place = changes.first().map_or(0, |change| change.0.start);
        let body = splice(&self.text.body, changes);
        let scanned = scan(&body).map_err(|error| {
            EditError::at(&self.text.body, place, format!("an edit here fails: {}", error.what))
        })?;
        if &scanned.value != expected {
            return Err(EditError::at(&self.text.body, place, "an edit here would change something else"));
        }
        self.text.body = body;
        self.scanned = scanned;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::{Splice, Toml};
    use serde_json::json;

    #[test]
    fn an_edit_that_means_something_else_is_not_made() {
        let before = "a = 1";
        let mut file = Toml::parse(Some(before.as_bytes())).unwrap();
        let change = |new: &str| vec![Splice(4..5, new.to_owned())];
        let error = file.change(change("2"), &json!({ "a": 3 })).unwrap_err();
        assert_eq!(error.to_string(), "1:5: an edit here would change something else");
        file.change(change("\""), &json!({ "a": 2 })).unwrap_err();
        assert_eq!(file.finish().as_deref(), Some(before.as_bytes()));
        file.change(change("2"), &json!({ "a": 2 })).unwrap();
        assert_eq!(file.finish(), Some(before.replace('1', "2").into_bytes()));
    }
}
