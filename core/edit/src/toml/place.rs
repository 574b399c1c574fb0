//! Lines of TOML: where they are put in, and which are taken out.
//!
//! A block is put in after one empty line and taken out with it; a file without a final line ending stays one.

use super::scan::{Scanned, Section};
use crate::text::{Splice, line_end, line_indent, line_start, newline};
use std::ops::Range;

/// Where a pair goes.
pub(super) enum Place<'p, 'k> {
    /// Last in a section, under that key.
    Section(usize, &'p [&'k str]),
    /// In a section, after a pair, under that dotted key.
    After(usize, usize, &'p [&'k str]),
    /// Its table has no lines yet.
    Nowhere,
}

/// Says where the pair with that path goes.
pub(super) fn pair<'p, 'k>(scanned: &Scanned, path: &'p [&'k str]) -> Place<'p, 'k> {
    let parent = &path[..path.len() - 1];
    if let Some(index) = scanned.sections.iter().position(|section| section.path == parent) {
        return Place::Section(index, &path[parent.len()..]);
    }
    // The longest table on the way that dotted keys make.
    for length in (1..path.len()).rev() {
        for (index, section) in scanned.sections.iter().enumerate() {
            let within = section.path.len() < length && section.path == path[..section.path.len()];
            if !within {
                continue;
            }
            let table = &path[section.path.len()..length];
            let in_it = |name: &[String]| name.len() > table.len() && name[..table.len()] == *table;
            if let Some(pair) = section.pairs.iter().rposition(|pair| in_it(&pair.name)) {
                return Place::After(index, pair, &path[section.path.len()..]);
            }
        }
    }
    Place::Nowhere
}

/// Returns the change that puts a line in: after that pair of a section, or after its last.
pub(super) fn line(text: &str, scanned: &Scanned, section: usize, pair: Option<usize>, line: &str) -> Splice {
    let newline = newline(text);
    let place = &scanned.sections[section];
    let before = pair.map_or(place.pairs.last(), |pair| place.pairs.get(pair));
    let (end, indent) = match before {
        Some(pair) => (pair.span.end, line_indent(text, pair.span.start)),
        None if !place.header.is_empty() => (place.header.end, line_indent(text, place.header.start)),
        None if scanned.sections.len() > 1 => return Splice(0..0, format!("{line}{newline}{newline}")),
        None => (text.len(), ""),
    };
    let at = line_end(text, end);
    if text[..at].ends_with('\n') || text.is_empty() {
        Splice(at..at, format!("{indent}{line}{newline}"))
    } else {
        Splice(at..at, format!("{newline}{indent}{line}"))
    }
}

/// Returns the change that puts a block in: at the end of the file, or of the array's element it belongs to.
pub(super) fn block(text: &str, scanned: &Scanned, path: &[&str], lines: &[String]) -> Splice {
    let newline = newline(text);
    let elements = (1..path.len()).rev().map(|length| &path[..length]);
    let element = elements.filter(|path| path.last().is_some_and(|key| key.parse::<usize>().is_ok()));
    let within = element.filter_map(|element| {
        let mut sections = scanned.sections.iter();
        sections.rfind(|section| !section.header.is_empty() && under(&section.path, element))
    });
    let at = within.map(|section| line_end(text, section.end())).next().unwrap_or(text.len());
    let block = lines.join(newline);
    let new = match &text[..at] {
        "" => format!("{block}{newline}"),
        before if before.ends_with('\n') => format!("{newline}{block}{newline}"),
        _ => format!("{newline}{newline}{block}"),
    };
    Splice(at..at, new)
}

/// Returns the changes that take out all lines of what is at a path.
pub(super) fn lines_of(text: &str, scanned: &Scanned, path: &[&str]) -> Vec<Splice> {
    let mut ranges: Vec<Range<usize>> = Vec::new();
    for section in &scanned.sections {
        if !section.header.is_empty() && under(&section.path, path) {
            ranges.push(of_section(text, section));
            continue;
        }
        if section.path.len() >= path.len() || section.path != path[..section.path.len()] {
            continue;
        }
        let rest = &path[section.path.len()..];
        for pair in section.pairs.iter().filter(|pair| under(&pair.name, rest)) {
            ranges.push(line_start(text, pair.span.start)..line_end(text, pair.span.end));
        }
    }
    whole_lines(text, ranges)
}

/// Returns the change that takes out a section.
pub(super) fn lines_of_section(text: &str, section: &Section) -> Vec<Splice> {
    whole_lines(text, vec![of_section(text, section)])
}

fn of_section(text: &str, section: &Section) -> Range<usize> {
    without_empty_line(text, line_start(text, section.header.start))..line_end(text, section.end())
}

fn whole_lines(text: &str, ranges: Vec<Range<usize>>) -> Vec<Splice> {
    let mut merged: Vec<Range<usize>> = Vec::new();
    for range in ranges {
        match merged.last_mut() {
            Some(last) if last.end >= range.start => last.end = range.end,
            _ => merged.push(range),
        }
    }
    // What came first took an empty line with it.
    if let Some(first) = merged.first_mut()
        && first.start == 0
    {
        first.end += leading_newline(&text[first.end..]);
    }
    if let Some(last) = merged.last_mut()
        && last.end == text.len()
        && !text.ends_with('\n')
    {
        last.start = before_newline(text, last.start);
    }
    merged.into_iter().map(|range| Splice(range, String::new())).collect()
}

/// Returns where the first thing at a path stands.
pub(super) fn first(scanned: &Scanned, path: &[&str]) -> usize {
    let of_section = |section: &Section| {
        if !section.header.is_empty() && under(&section.path, path) {
            return Some(section.header.start);
        }
        let whole = |name: &[String]| [&section.path, name].concat();
        let related = |name: &[String]| {
            let whole = whole(name);
            under(&whole, path) || (whole.len() < path.len() && whole == path[..whole.len()])
        };
        section.pairs.iter().find(|pair| related(&pair.name)).map(|pair| pair.span.start)
    };
    scanned.sections.iter().find_map(of_section).unwrap_or_default()
}

/// Says whether a path is `outer` or lies in it.
fn under(path: &[String], outer: &[&str]) -> bool {
    path.len() >= outer.len() && path[..outer.len()] == *outer
}

/// Returns the start of the empty line before a line, or that line's own; a file's first line is not taken.
fn without_empty_line(text: &str, start: usize) -> usize {
    let before = before_newline(text, start);
    if text[..before].ends_with('\n') { before } else { start }
}

fn before_newline(text: &str, at: usize) -> usize {
    let before = &text[..at];
    let before = before.strip_suffix('\n').unwrap_or(before);
    before.strip_suffix('\r').unwrap_or(before).len()
}

fn leading_newline(text: &str) -> usize {
    if text.starts_with("\r\n") { 2 } else { usize::from(text.starts_with('\n')) }
}
