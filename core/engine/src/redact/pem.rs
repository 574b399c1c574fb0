//! How far a private key reaches: to its end line, or, torn, to where its base64 ends.

use super::{LONGEST, view};
use std::ops::Range;

/// How many units that are no key may stand between two lines of one: a quote, a plus, an indented quote.
const GAP: usize = 24;
/// How many may stand before its first line: `Proc-Type` and its like.
const HEADERS: usize = 300;

/// Returns what is to be replaced of the key whose first line stands at `header`, and how far was looked; beyond
/// the text if it ended first.
///
/// It is one stretch, unless quotes stand between the lines, as in source code. A first line with no key behind
/// it is prose, and nothing is replaced.
pub(super) fn spans(raw: &[u8], header: Range<usize>) -> (Vec<Range<usize>>, usize) {
    let limit = header.end + LONGEST;
    let mut at = header.end;
    let (mut spans, mut open) = (Vec::new(), header);
    // Whether a line of the key was seen; what stands since the open stretch ended.
    let (mut keyed, mut quoted, mut other, mut gap) = (false, false, false, 0);
    while at < limit {
        let Some(unit) = view::unit(raw, at) else {
            at = raw.len() + 1;
            break;
        };
        if is_base64(unit.byte) {
            let token = Token::read(raw, at, limit);
            let is_key =
                if keyed { token.units >= 16 || !other && !quoted && token.is_tail } else { token.is_first };
            if is_key {
                if quoted || keyed && other {
                    spans.push(std::mem::replace(&mut open, at..token.end));
                } else {
                    open.end = token.end;
                }
                (keyed, quoted, other, gap) = (true, false, false, 0);
            } else {
                other = true;
                gap += token.units;
            }
            at = token.end;
            continue;
        }
        if let Some((is_end, end)) = boundary(raw, at) {
            if is_end && !quoted {
                open.end = end;
            }
            at = if end == raw.len() { end + 1 } else { end };
            break;
        }
        quoted |= unit.byte == b'"';
        other |= !unit.byte.is_ascii_whitespace();
        gap += 1;
        if gap > if keyed { GAP } else { HEADERS } {
            break;
        }
        at += unit.len;
    }
    if keyed {
        spans.push(open);
    }
    (spans, at)
}

fn is_base64(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=')
}

/// A run of base64.
struct Token {
    end: usize,
    units: usize,
    /// Whether it can be a key's first line: long, or drawn at random.
    is_first: bool,
    /// Whether it can be a key's last, short line.
    is_tail: bool,
}

impl Token {
    fn read(raw: &[u8], start: usize, limit: usize) -> Self {
        let (mut end, mut units) = (start, 0);
        let (mut digit, mut lower, mut upper, mut sign) = (false, false, false, false);
        let mut next = view::unit(raw, end);
        while let Some(unit) = next.filter(|unit| end < limit && is_base64(unit.byte)) {
            digit |= unit.byte.is_ascii_digit();
            lower |= unit.byte.is_ascii_lowercase();
            upper |= unit.byte.is_ascii_uppercase();
            sign |= !unit.byte.is_ascii_alphanumeric();
            units += 1;
            end += unit.len;
            next = view::unit(raw, end);
        }
        let ends = next.is_none_or(|unit| unit.byte == b'"');
        Self {
            end,
            units,
            is_first: units >= 40 || units >= 16 && digit && lower && upper,
            is_tail: ends || digit || sign,
        }
    }
}

/// Returns whether the line of dashes at `at` is an end line, and where it ends, if one stands there.
fn boundary(raw: &[u8], at: usize) -> Option<(bool, usize)> {
    let mut end = at;
    let take = |end: &mut usize, most: usize, accepts: fn(u8) -> bool| {
        let mut taken = Vec::new();
        while let Some(unit) = view::unit(raw, *end).filter(|unit| taken.len() < most && accepts(unit.byte)) {
            taken.push(unit.byte);
            *end += unit.len;
        }
        taken
    };
    if take(&mut end, 5, |byte| byte == b'-').len() < 5 {
        return None;
    }
    let name = take(&mut end, 64, |byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b' ');
    take(&mut end, 5, |byte| byte == b'-');
    Some((name.starts_with(b"END"), end))
}
