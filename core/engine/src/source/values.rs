//! Takes apart a line that is not one JSON value: several values, or a torn one and whole ones behind it.

use serde::de::IgnoredAny;
use std::ops::Range;

/// A part of a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part<'l> {
    /// Where it stands in the line.
    pub range: Range<usize>,
    /// The bytes there.
    pub bytes: &'l [u8],
    /// Whether it is one whole JSON value; else it is what is left of one, or of several.
    pub whole: bool,
}

/// The parts of a line, in order; blanks and NULs between them belong to none.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Values<'l> {
    parts: Vec<Part<'l>>,
}

impl<'l> Values<'l> {
    /// Returns the parts.
    pub fn parts(&self) -> &[Part<'l>] {
        &self.parts
    }

    fn push(&mut self, line: &'l [u8], range: Range<usize>, whole: bool) {
        let bytes = line.get(range.clone()).unwrap_or_default();
        self.parts.push(Part { range, bytes, whole });
    }
}

impl<'l> IntoIterator for Values<'l> {
    type Item = Part<'l>;
    type IntoIter = std::vec::IntoIter<Part<'l>>;

    fn into_iter(self) -> Self::IntoIter {
        self.parts.into_iter()
    }
}

/// Takes a line apart that a decoder refused.
///
/// Whole values stand from its start as far as they parse. What follows is torn, except for whole objects at
/// its end: an object there counts as a value of its own only where it cannot be a part of what was torn, so that
/// no inner object is mistaken for a record. The time is linear in the line, the stack does not grow with its
/// depth.
pub fn values(line: &[u8]) -> Values<'_> {
    let mut values = Values::default();
    let mut at = skip_blanks(line, 0);
    while at < line.len() {
        let Some(length) = line.get(at..).and_then(value) else { break };
        values.push(line, at..at + length, true);
        at = skip_blanks(line, at + length);
    }
    if at < line.len() {
        let salvaged = salvage(line, at);
        let torn = trim_end(line, at..salvaged.last().map_or(line.len(), |range| range.start));
        if !torn.is_empty() {
            values.push(line, torn, false);
        }
        for range in salvaged.into_iter().rev() {
            values.push(line, range, true);
        }
    }
    values
}

/// Says whether `text` is JSON values and nothing else, at least one.
pub(super) fn whole(text: &[u8]) -> bool {
    let values = values_at_start(text);
    values.0 > 0 && values.1 == text.len()
}

/// Counts the values at the start of `text`, and the bytes they and the blanks behind them take.
fn values_at_start(text: &[u8]) -> (usize, usize) {
    let (mut count, mut at) = (0, skip_blanks(text, 0));
    while let Some(length) = text.get(at..).filter(|rest| !rest.is_empty()).and_then(value) {
        count += 1;
        at = skip_blanks(text, at + length);
    }
    (count, at)
}

/// Returns how long the value is that `text` starts with.
fn value(text: &[u8]) -> Option<usize> {
    let mut stream = serde_json::Deserializer::from_slice(text).into_iter::<IgnoredAny>();
    match stream.next() {
        Some(Ok(_)) => Some(stream.byte_offset()),
        _ => None,
    }
}

fn is_blank(byte: u8) -> bool {
    byte == 0 || byte.is_ascii_whitespace()
}

fn skip_blanks(line: &[u8], from: usize) -> usize {
    let rest = line.get(from..).unwrap_or_default();
    from + rest.iter().take_while(|&&byte| is_blank(byte)).count()
}

fn trim_end(line: &[u8], range: Range<usize>) -> Range<usize> {
    let text = line.get(range.clone()).unwrap_or_default();
    let blanks = text.iter().rev().take_while(|&&byte| is_blank(byte)).count();
    range.start..range.end - blanks
}

/// Returns the whole objects at the end of a line that is torn at `from`, the last first.
fn salvage(line: &[u8], from: usize) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut rest = trim_end(line, from..line.len());
    while let Some(start) = last_object(line, rest.clone()) {
        let object = start..rest.end;
        let text = line.get(object.clone()).unwrap_or_default();
        // An object of nothing is no record, and stands in prose often.
        if skip_blanks(text, 1) + 1 >= text.len() || value(text) != Some(text.len()) {
            break;
        }
        found.push(object);
        rest = trim_end(line, from..start);
    }
    // Behind the first of them no other can belong to what is torn: a comma would stand between.
    if let Some(first) = found.last() {
        let mut torn = Torn::default();
        torn.read(line.get(from..first.start).unwrap_or_default());
        if torn.takes_an_object() {
            found.pop();
        }
    }
    found
}

/// Returns where the object starts that ends with `range`, going backwards: the only place from which it can
/// parse to that end.
fn last_object(line: &[u8], range: Range<usize>) -> Option<usize> {
    let text = line.get(range.clone())?;
    if text.last() != Some(&b'}') {
        return None;
    }
    let (mut depth, mut quoted) = (0_usize, false);
    let mut at = text.len();
    while let Some(byte) = at.checked_sub(1).and_then(|at| text.get(at)) {
        at -= 1;
        match byte {
            b'"' => {
                let before = text.get(..at).unwrap_or_default();
                let slashes = before.iter().rev().take_while(|&&byte| byte == b'\\').count();
                if slashes % 2 == 0 {
                    quoted = !quoted;
                }
                at -= slashes;
            }
            b'}' | b']' if !quoted => depth += 1,
            b'{' | b'[' if !quoted => {
                depth = depth.checked_sub(1)?;
                if depth == 0 {
                    return (*byte == b'{').then_some(range.start + at);
                }
            }
            _ => {}
        }
    }
    None
}

/// Where in a torn value a reader stands.
#[derive(Debug, Default)]
struct Torn {
    /// The brackets that are open.
    open: Vec<u8>,
    quoted: bool,
    escaped: bool,
    /// The last byte outside strings that is not blank.
    last: u8,
}

impl Torn {
    fn read(&mut self, text: &[u8]) {
        for &byte in text {
            if self.quoted {
                match byte {
                    _ if self.escaped => self.escaped = false,
                    b'\\' => self.escaped = true,
                    b'"' => self.quoted = false,
                    _ => {}
                }
                continue;
            }
            match byte {
                b'"' => self.quoted = true,
                b'{' | b'[' => self.open.push(byte),
                b'}' | b']' => {
                    self.open.pop();
                }
                _ => {}
            }
            if !is_blank(byte) {
                self.last = byte;
            }
        }
    }

    /// Says whether an object here could belong to the torn value.
    fn takes_an_object(&self) -> bool {
        match self.last {
            _ if self.quoted => false,
            b':' | b'[' => true,
            b',' => self.open.last() == Some(&b'['),
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests;
