//! Parts put into braces and brackets, and taken out again: JSON, and the inline tables and arrays of TOML.
//!
//! Taking out what was put in last is the inverse, byte for byte, except for what stood inside a container without
//! parts and comments; a [`Memo`](crate::Memo) remembers that.

use crate::node::{Kind, Node, Part};
use crate::style::{Language, Style, blank};
use crate::text::{Splice, line_indent};
use std::ops::Range;

/// A part to put in: a member or an element of the JSON text.
pub(crate) struct New<'s> {
    pub(crate) source: &'s str,
    pub(crate) part: &'s Part,
}

/// Returns the changes that put a part in last.
///
/// It goes on a line of its own where the last part does, or, in an empty container, where `open` says so or a line
/// break is already there.
pub(crate) fn insert(text: &str, style: &Style, container: &Node, open: bool, new: &New<'_>) -> Vec<Splice> {
    let close = container.span.end - 1;
    let parts = container.parts();
    let after = parts.last().map_or(container.span.start + 1, Part::end);
    let (point, line_comment) = last_solid(text, style, after..close);
    let mut changes = Vec::new();
    let mut trailing = "";
    let mut indent = None;
    let mut between = if point == container.span.start + 1 { "" } else { " " };
    let inner = || format!("{}{}", line_indent(text, container.span.start), style.unit);
    if let Some(last) = parts.last() {
        if last.comma.is_some() {
            trailing = ",";
        } else {
            changes.push(Splice(last.span.end..last.span.end, ",".to_owned()));
        }
        let space = space_before(text, last.span.start);
        match space.rsplit_once('\n') {
            Some((_, own)) => indent = Some(own.to_owned()),
            None if parts.len() > 1 => between = space,
            None => between = &style.gap,
        }
        if line_comment && indent.is_none() {
            indent = Some(inner());
        }
    } else {
        let inside = &text[container.span.start + 1..close];
        let on_lines = open || inside.contains('\n');
        if blank(inside) {
            let indent = on_lines.then(inner);
            let written = style.part(new.source, new.part, deep(style, indent.as_deref()));
            let filled = match indent {
                None => written,
                Some(indent) => {
                    let (newline, outer) = (style.newline, line_indent(text, container.span.start));
                    format!("{newline}{indent}{written}{newline}{outer}")
                }
            };
            // A member alone on one line stands between what the file has inside braces.
            let filled = if on_lines { filled } else { padded(style, container, &filled) };
            return vec![Splice(container.span.start + 1..close, filled)];
        }
        if text[point..close].contains('\n') {
            indent = Some(inner());
        }
    }
    let written = style.part(new.source, new.part, deep(style, indent.as_deref()));
    let between = indent.map_or_else(|| between.to_owned(), |indent| format!("{}{indent}", style.newline));
    changes.push(Splice(point..point, format!("{between}{written}{trailing}")));
    changes
}

/// Returns the changes that take a part out, its comma and its white space with it; comments beside it stay.
///
/// `was` is the text of the whole container before anything was put in, if known; it comes back with the last part.
pub(crate) fn remove(
    text: &str,
    style: &Style,
    container: &Node,
    index: usize,
    was: Option<&str>,
) -> Vec<Splice> {
    let parts = container.parts();
    let part = &parts[index];
    if parts.len() == 1 && bare(text, container) {
        return match was {
            Some(was) => vec![Splice(container.span.clone(), was.to_owned())],
            None => vec![Splice(container.span.start + 1..container.span.end - 1, String::new())],
        };
    }
    let after = index.checked_sub(1).map_or(container.span.start + 1, |before| parts[before].end());
    let (solid, line_comment) = last_solid(text, style, after..part.span.start);
    let mut changes = Vec::new();
    let mut end = part.span.end;
    match part.comma {
        Some(comma) if blank(&text[end..comma]) => end = comma + 1,
        Some(comma) => changes.push(Splice(comma..comma + 1, String::new())),
        None => {}
    }
    let last = index + 1 == parts.len();
    if last
        && part.comma.is_none()
        && let Some(comma) = index.checked_sub(1).and_then(|before| parts[before].comma)
    {
        changes.push(Splice(comma..comma + 1, String::new()));
    }
    let rest = text[end..].trim_start_matches([' ', '\t']);
    let line_ends = rest.starts_with(['\n', '\r']) || rest.starts_with(style.line_comment());
    if line_ends || (last && !line_comment) {
        changes.push(Splice(solid..end, String::new()));
    } else {
        // What is next stands on this line, or the line break before it ends a comment: that white space stays.
        let space = if last { 0 } else { text[end..].len() - rest.len() };
        changes.push(Splice(part.span.start..end + space, String::new()));
    }
    changes
}

/// Returns the change that puts a value in the place of a part's value.
pub(crate) fn replace(text: &str, style: &Style, container: &Node, index: usize, new: &New<'_>) -> Splice {
    let part = &container.parts()[index];
    let old = &part.node;
    let on_lines = if old.parts().is_empty() {
        space_before(text, part.span.start).contains('\n')
    } else {
        text[old.span.clone()].contains('\n')
    };
    let indent = on_lines.then(|| line_indent(text, part.span.start));
    Splice(old.span.clone(), style.value(new.source, &new.part.node, deep(style, indent)))
}

/// Says whether a container holds no comment beside its parts.
pub(crate) fn bare(text: &str, container: &Node) -> bool {
    let mut from = container.span.start + 1;
    let mut bare = true;
    for part in container.parts() {
        bare &= blank(&text[from..part.span.start]);
        if let Some(comma) = part.comma {
            bare &= blank(&text[part.span.end..comma]);
        }
        from = part.end();
    }
    bare && blank(&text[from..container.span.end - 1])
}

/// Returns where the last comment of a stretch between parts ends, or where the stretch starts, and whether that is
/// a comment that ends with its line.
fn last_solid(text: &str, style: &Style, stretch: Range<usize>) -> (usize, bool) {
    let (mut end, mut line) = (stretch.start, false);
    let mut at = stretch.start;
    while at < stretch.end {
        let rest = &text[at..stretch.end];
        if rest.starts_with(style.line_comment()) {
            at += rest.find(['\n', '\r']).unwrap_or(rest.len());
            (end, line) = (at, true);
        } else if let Some(comment) = rest.strip_prefix("/*") {
            at += comment.find("*/").map_or(rest.len(), |close| close + 4);
            (end, line) = (at, false);
        } else {
            at += 1;
        }
    }
    (end, line)
}

/// Returns the white space right before an offset.
fn space_before(text: &str, offset: usize) -> &str {
    let before = &text[..offset];
    &before[before.trim_end_matches([' ', '\t', '\n', '\r']).len()..]
}

/// Returns the indentation for what lies in a part on a line of its own: TOML keeps that on one line.
fn deep<'i>(style: &Style, indent: Option<&'i str>) -> Option<&'i str> {
    indent.filter(|_| style.language == Language::Json)
}

fn padded(style: &Style, container: &Node, filled: &str) -> String {
    let pad = if matches!(container.kind, Kind::Object(_)) { style.pad() } else { "" };
    format!("{pad}{filled}{pad}")
}
