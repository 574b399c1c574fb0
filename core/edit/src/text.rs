//! A file's text, and changes of it at byte offsets.

use crate::EditError;
use std::ops::Range;

const MARK: &str = "\u{feff}";

/// A file's text without its byte-order mark, which is put back at the end.
#[derive(Debug, Clone)]
pub(crate) struct Text {
    mark: bool,
    pub(crate) body: String,
}

impl Text {
    /// Reads a file's bytes; an error names the first byte that is not UTF-8.
    pub(crate) fn read(bytes: &[u8]) -> Result<Self, EditError> {
        match std::str::from_utf8(bytes) {
            Ok(text) => {
                let body = text.strip_prefix(MARK);
                Ok(Self { mark: body.is_some(), body: body.unwrap_or(text).to_owned() })
            }
            Err(error) => {
                let valid = String::from_utf8_lossy(&bytes[..error.valid_up_to()]);
                let valid = valid.strip_prefix(MARK).unwrap_or(&valid);
                Err(EditError::at(valid, valid.len(), "this byte is not UTF-8"))
            }
        }
    }

    /// Returns the file's bytes.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        let mark = if self.mark { MARK } else { "" };
        [mark.as_bytes(), self.body.as_bytes()].concat()
    }
}

/// One change: the bytes of the range become the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Splice(pub(crate) Range<usize>, pub(crate) String);

/// Returns `text` with the changes made. They do not overlap; of two at one place, the first comes first.
pub(crate) fn splice(text: &str, mut changes: Vec<Splice>) -> String {
    changes.sort_by_key(|change| (change.0.start, change.0.end));
    let mut out = String::with_capacity(text.len());
    let mut from = 0;
    for Splice(range, new) in changes {
        out.push_str(&text[from..range.start]);
        out.push_str(&new);
        from = range.end;
    }
    out.push_str(&text[from..]);
    out
}

/// Returns the line ending a text uses first; `\n` if it is of one line.
pub(crate) fn newline(text: &str) -> &'static str {
    match text.find('\n') {
        Some(at) if text[..at].ends_with('\r') => "\r\n",
        _ => "\n",
    }
}

/// Returns where the line of `offset` starts.
pub(crate) fn line_start(text: &str, offset: usize) -> usize {
    text[..offset].rfind(['\n', '\r']).map_or(0, |newline| newline + 1)
}

/// Returns the blanks and tabs that the line of `offset` starts with.
pub(crate) fn line_indent(text: &str, offset: usize) -> &str {
    let line = &text[line_start(text, offset)..];
    &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
}

/// Returns where the line of `offset` ends, its line ending included.
pub(crate) fn line_end(text: &str, offset: usize) -> usize {
    text[offset..].find('\n').map_or(text.len(), |newline| offset + newline + 1)
}
