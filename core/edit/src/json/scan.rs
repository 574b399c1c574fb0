//! Where everything stands in a JSON or JSONC text.

use crate::EditError;
use crate::node::{Kind, Node, Part};
use std::collections::HashSet;

/// How deep values may lie in each other.
const DEPTH: usize = 128;

/// Returns the value of a text; none if there are only blanks and comments.
///
/// Comments of both kinds and a trailing comma are taken; anything else is as RFC 8259 has it. A key that an object
/// has twice is an error, since clients differ in which one counts.
pub(crate) fn scan(text: &str) -> Result<Option<Node>, EditError> {
    let mut scanner = Scanner { text, at: 0, depth: 0 };
    scanner.trivia()?;
    if scanner.at == text.len() {
        return Ok(None);
    }
    let node = scanner.value()?;
    scanner.trivia()?;
    if scanner.at < text.len() {
        return Err(scanner.error("expected the end of the file"));
    }
    Ok(Some(node))
}

/// Returns the text a JSON string stands for; half a surrogate pair becomes U+FFFD. The string has been scanned.
pub(crate) fn decode(raw: &str) -> String {
    let mut out = String::with_capacity(raw.len());
    let mut rest = &raw[1..raw.len() - 1];
    while let Some(at) = rest.find('\\') {
        out.push_str(&rest[..at]);
        let kind = rest.as_bytes()[at + 1];
        rest = &rest[at + 2..];
        match kind {
            b'b' => out.push('\u{8}'),
            b'f' => out.push('\u{c}'),
            b'n' => out.push('\n'),
            b'r' => out.push('\r'),
            b't' => out.push('\t'),
            b'u' => {
                let high = unit(rest);
                rest = &rest[4..];
                let low = rest.strip_prefix("\\u").map(unit).filter(|low| (0xdc00..0xe000).contains(low));
                if (0xd800..0xdc00).contains(&high)
                    && let Some(low) = low
                {
                    rest = &rest[6..];
                    let code = 0x1_0000 + ((high - 0xd800) << 10) + (low - 0xdc00);
                    out.push(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER));
                } else {
                    out.push(char::from_u32(high).unwrap_or(char::REPLACEMENT_CHARACTER));
                }
            }
            other => out.push(char::from(other)),
        }
    }
    out.push_str(rest);
    out
}

/// Returns the number of four hexadecimal digits; they have been scanned.
fn unit(digits: &str) -> u32 {
    digits.bytes().take(4).fold(0, |sum, digit| sum * 16 + char::from(digit).to_digit(16).unwrap_or(0))
}

struct Scanner<'t> {
    text: &'t str,
    at: usize,
    depth: usize,
}

impl Scanner<'_> {
    fn error(&self, what: impl Into<String>) -> EditError {
        EditError::at(self.text, self.at, what)
    }

    fn byte(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    /// Passes blanks and comments.
    fn trivia(&mut self) -> Result<(), EditError> {
        loop {
            let rest = &self.text[self.at..];
            let blank = rest.len() - rest.trim_start_matches([' ', '\t', '\n', '\r']).len();
            let rest = &rest[blank..];
            self.at += blank;
            if rest.starts_with("//") {
                self.at += rest.find(['\n', '\r']).unwrap_or(rest.len());
            } else if let Some(comment) = rest.strip_prefix("/*") {
                let end = comment.find("*/").ok_or_else(|| self.error("this comment has no end"))?;
                self.at += end + 4;
            } else {
                return Ok(());
            }
        }
    }

    fn value(&mut self) -> Result<Node, EditError> {
        let start = self.at;
        let kind = match self.byte() {
            Some(open @ (b'{' | b'[')) => self.container(open == b'{')?,
            Some(b'"') => {
                self.string()?;
                Kind::Scalar
            }
            Some(b'-' | b'0'..=b'9') => {
                self.number()?;
                Kind::Scalar
            }
            _ => {
                self.word()?;
                Kind::Scalar
            }
        };
        Ok(Node { span: start..self.at, kind })
    }

    fn container(&mut self, object: bool) -> Result<Kind, EditError> {
        if self.depth == DEPTH {
            return Err(self.error(format!("more than {DEPTH} levels of nesting")));
        }
        self.depth += 1;
        let close = if object { b'}' } else { b']' };
        let mut parts: Vec<Part> = Vec::new();
        let mut keys = HashSet::new();
        self.at += 1;
        self.trivia()?;
        while self.byte() != Some(close) {
            if parts.last().is_some_and(|last| last.comma.is_none()) {
                let wanted = if object { "expected `,` or `}`" } else { "expected `,` or `]`" };
                return Err(self.error(wanted));
            }
            let mut part = self.part(object, &mut keys)?;
            self.trivia()?;
            if self.byte() == Some(b',') {
                part.comma = Some(self.at);
                self.at += 1;
                self.trivia()?;
            }
            parts.push(part);
        }
        self.at += 1;
        self.depth -= 1;
        Ok(if object { Kind::Object(parts) } else { Kind::Array(parts) })
    }

    fn part(&mut self, object: bool, keys: &mut HashSet<String>) -> Result<Part, EditError> {
        let start = self.at;
        let mut name = Vec::new();
        let mut key_end = start;
        if object {
            if self.byte() != Some(b'"') {
                return Err(self.error("expected a key in double quotes or `}`"));
            }
            self.string()?;
            key_end = self.at;
            let key = decode(&self.text[start..key_end]);
            if !keys.insert(key.clone()) {
                return Err(EditError::at(self.text, start, format!("the key {key:?} is there twice")));
            }
            name.push(key);
            self.trivia()?;
            if self.byte() != Some(b':') {
                return Err(self.error("expected `:`"));
            }
            self.at += 1;
            self.trivia()?;
        }
        let node = self.value()?;
        Ok(Part { name, span: start..node.span.end, key_end, node, comma: None })
    }

    fn string(&mut self) -> Result<(), EditError> {
        let start = self.at;
        self.at += 1;
        loop {
            match self.byte() {
                None => return Err(EditError::at(self.text, start, "this string has no end")),
                Some(b'"') => break,
                Some(b'\\') => {
                    let rest = &self.text.as_bytes()[self.at + 1..];
                    self.at += match rest {
                        [b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't', ..] => 2,
                        [b'u', a, b, c, d, ..] if [a, b, c, d].iter().all(|it| it.is_ascii_hexdigit()) => 6,
                        _ => return Err(self.error("unknown escape")),
                    };
                }
                Some(0..0x20) => return Err(self.error("a control character must be escaped")),
                Some(_) => self.at += 1,
            }
        }
        self.at += 1;
        Ok(())
    }

    fn number(&mut self) -> Result<(), EditError> {
        let rest = &self.text[self.at..];
        let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && !"+-.".contains(c)).unwrap_or(rest.len());
        // Checks the grammar, and that the number is one.
        if serde_json::from_str::<serde_json::Number>(&rest[..end]).is_err() {
            return Err(self.error(format!("{:?} is not a number of JSON", &rest[..end])));
        }
        self.at += end;
        Ok(())
    }

    fn word(&mut self) -> Result<(), EditError> {
        let rest = &self.text[self.at..];
        let end = rest.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(rest.len());
        if !["true", "false", "null"].contains(&&rest[..end]) {
            return Err(self.error("expected a value"));
        }
        self.at += end;
        Ok(())
    }
}
