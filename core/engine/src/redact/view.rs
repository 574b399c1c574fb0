//! Text with its escapes undone, and the way back to the bytes it was made of.
//!
//! A secret in a transcript stands in a JSON string, often in a JSON string within a JSON string: a newline is
//! `\n`, `\\n` or `\\\\n`, a quote `\"` or `\\\"`, a letter perhaps `\u0041`. Rather than parse, each run of
//! backslashes is read together with what it escapes as *one unit of one byte*, whatever the depth. A stretch of
//! whole units can be replaced without breaking an escape, so a JSON text stays one as long as nothing that is
//! replaced holds a quote.

use memchr::memchr;

/// A longer run of backslashes is no escape anybody writes: five times nested needs 31.
const LONGEST_RUN: usize = 40;
/// `uXXXX`: how far a unit reaches beyond its backslashes.
const BEYOND_RUN: usize = 5;

/// One unit: what it says, and how many bytes it takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Unit {
    /// The byte that stands for it: itself, what its escape means, `0xFF` for an escaped character beyond ASCII.
    pub(super) byte: u8,
    /// Its length in the text.
    pub(super) len: usize,
}

/// Returns the unit that starts at `at`, or `None` at the end. `at` must be the start of one.
pub(super) fn unit(raw: &[u8], at: usize) -> Option<Unit> {
    let rest = raw.get(at..)?;
    let first = *rest.first()?;
    if first == b'\\' { Some(escape(rest, LONGEST_RUN)) } else { Some(Unit { byte: first, len: 1 }) }
}

/// Reads the escape that `rest` starts with; one with more than `longest` backslashes is read as a quote, which
/// is never part of what is replaced.
fn escape(rest: &[u8], longest: usize) -> Unit {
    let run = rest.iter().take_while(|&&byte| byte == b'\\').count();
    let (byte, beyond) = match rest.get(run) {
        Some(b'n') => (b'\n', 1),
        Some(b'r') => (b'\r', 1),
        Some(b't') => (b'\t', 1),
        Some(b'b') => (8, 1),
        Some(b'f') => (12, 1),
        Some(&quoted @ (b'"' | b'/')) => (quoted, 1),
        Some(b'u') => match code(rest.get(run + 1..run + BEYOND_RUN)) {
            Some(code) => (u8::try_from(code).ok().filter(u8::is_ascii).unwrap_or(0xff), BEYOND_RUN),
            None => (b'\\', 0),
        },
        _ => (b'\\', 0),
    };
    Unit { byte: if run > longest { b'"' } else { byte }, len: run + beyond }
}

fn code(digits: Option<&[u8]>) -> Option<u32> {
    digits?.iter().try_fold(0, |code, &digit| Some(code * 16 + char::from(digit).to_digit(16)?))
}

/// Returns a start of a unit at or a little before `at`.
///
/// Where more backslashes than anybody writes stand before, it may be within their run: [`View`] knows.
pub(super) fn align(raw: &[u8], at: usize) -> usize {
    let at = at.min(raw.len());
    let near = at.saturating_sub(BEYOND_RUN);
    let Some(found) = raw.get(near..at).and_then(|bytes| memchr(b'\\', bytes)) else { return at };
    let slash = near + found;
    let run = raw
        .get(slash.saturating_sub(LONGEST_RUN + 1)..slash)
        .map_or(0, |bytes| bytes.iter().rev().take_while(|&&byte| byte == b'\\').count());
    slash - run
}

/// A stretch of a text as its units, one byte each.
#[derive(Debug)]
pub(super) struct View<'t> {
    raw: &'t [u8],
    start: usize,
    end: usize,
    /// Where it was to end.
    asked: usize,
    /// Whether no escape stands in it: then the units are the bytes themselves.
    plain: bool,
    units: Vec<u8>,
    /// Where in the units, and where in the text, each escape and each stretch without one starts.
    pieces: Vec<(usize, usize)>,
}

impl<'t> View<'t> {
    pub(super) fn new(raw: &'t [u8]) -> Self {
        Self { raw, start: 0, end: 0, asked: 0, plain: true, units: Vec::new(), pieces: Vec::new() }
    }

    /// Shows the whole units from `start`, which [`align`] gave, up to `end` at most.
    pub(super) fn show(&mut self, start: usize, end: usize) {
        let end = end.min(self.raw.len());
        self.start = start;
        self.end = end;
        self.asked = end;
        self.units.clear();
        self.pieces.clear();
        let mut at = start;
        while let Some(rest) = self.raw.get(at..end) {
            let stretch = memchr(b'\\', rest).unwrap_or(rest.len());
            let (stretch, escaped) = rest.split_at(stretch);
            if escaped.is_empty() && self.pieces.is_empty() {
                break;
            }
            if !stretch.is_empty() {
                self.pieces.push((self.units.len(), at));
                self.units.extend_from_slice(stretch);
                at += stretch.len();
            }
            if escaped.is_empty() {
                break;
            }
            // A run cut at its start has lost count of itself.
            let cut = at == start && start > 0 && self.raw.get(start - 1) == Some(&b'\\');
            let unit = escape(self.raw.get(at..).unwrap_or_default(), if cut { 0 } else { LONGEST_RUN });
            self.pieces.push((self.units.len(), at));
            if at + unit.len > end {
                self.pieces.pop();
                self.end = at;
                break;
            }
            self.units.push(unit.byte);
            at += unit.len;
        }
        self.plain = self.pieces.is_empty() && self.end == end;
    }

    /// Says whether the text from `start` to `end`, or to where it ends, is shown.
    pub(super) fn shows(&self, start: usize, end: usize) -> bool {
        self.start <= start && start < self.end && end.min(self.raw.len()) <= self.asked
    }

    pub(super) fn units(&self) -> &[u8] {
        if self.plain { self.raw.get(self.start..self.end).unwrap_or_default() } else { &self.units }
    }

    /// Returns where the stretch ends in the text.
    pub(super) fn end(&self) -> usize {
        self.end
    }

    /// Returns where in the text the unit at `index` starts; the end of the stretch for one beyond it.
    pub(super) fn offset(&self, index: usize) -> usize {
        if index >= self.units().len() {
            return self.end;
        }
        let piece = self.pieces.partition_point(|&(unit, _)| unit <= index).checked_sub(1);
        match piece.and_then(|piece| self.pieces.get(piece)) {
            Some(&(unit, at)) => at + (index - unit),
            None => self.start + index,
        }
    }

    /// Returns how many units end at `offset` of the text or before.
    pub(super) fn count_to(&self, offset: usize) -> usize {
        if offset >= self.end {
            return self.units().len();
        }
        let piece = self.pieces.partition_point(|&(_, at)| at <= offset).checked_sub(1);
        match piece.and_then(|piece| self.pieces.get(piece).zip(Some(piece + 1))) {
            Some((&(unit, at), next)) => {
                let next = self.pieces.get(next).map_or(self.units.len(), |&(unit, _)| unit);
                // Within an escape nothing has ended since its start.
                if next - unit == 1 && self.raw.get(at) == Some(&b'\\') { unit } else { unit + (offset - at) }
            }
            None => offset.saturating_sub(self.start),
        }
    }

    /// Returns the unit that starts at `offset` of the text, if one does.
    pub(super) fn index(&self, offset: usize) -> Option<usize> {
        let piece = self.pieces.partition_point(|&(_, at)| at <= offset).checked_sub(1);
        let index = match piece.and_then(|piece| self.pieces.get(piece)) {
            Some(&(unit, at)) => unit + (offset - at),
            None => offset.checked_sub(self.start)?,
        };
        (index < self.units().len() && self.offset(index) == offset).then_some(index)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn units(raw: &[u8]) -> Vec<u8> {
        let mut view = View::new(raw);
        view.show(0, raw.len());
        view.units().to_vec()
    }

    #[test]
    fn escapes_of_every_depth_are_one_byte() {
        assert_eq!(units(br"a\nb\\nc\\\\nd"), b"a\nb\nc\nd");
        assert_eq!(units(br#"\"x\\\"\/\\/"#), b"\"x\"//");
        assert_eq!(units(br"\u0041\\u004b\u00e9\u20ac"), b"AK\xff\xff");
        assert_eq!(units(br"\x\\y\u00g0"), br"\x\y\u00g0");
        assert_eq!(units(b"plain"), b"plain");
        assert_eq!(units(br"end\"), br"end\");
    }

    #[test]
    fn every_unit_finds_its_way_back() {
        let raw = br#"ab\n\u0041c\\\"de\\f\u00"#;
        let mut view = View::new(raw);
        view.show(0, raw.len());
        let mut at = 0;
        for index in 0..view.units().len() {
            assert_eq!(view.offset(index), at);
            assert_eq!(view.index(at), Some(index));
            let unit = unit(raw, at).unwrap();
            assert_eq!(view.units()[index], unit.byte);
            for inside in 1..unit.len {
                assert_eq!(view.index(at + inside), None);
            }
            at += unit.len;
        }
        assert_eq!(at, raw.len());
        assert_eq!(view.offset(view.units().len()), raw.len());
    }

    #[test]
    fn a_stretch_ends_before_a_unit_it_would_cut() {
        let raw = br"ab\u0041c";
        let mut view = View::new(raw);
        view.show(0, 5);
        assert_eq!((view.units(), view.end()), (&b"ab"[..], 2));
        view.show(2, 5);
        assert_eq!((view.units(), view.end()), (&b""[..], 2));
    }

    #[test]
    fn a_start_is_moved_to_a_unit() {
        let raw = br"xx\\u0041yy";
        for at in 3..9 {
            assert_eq!(align(raw, at), 2, "{at}");
        }
        assert_eq!(align(raw, 2), 2);
        assert_eq!(align(raw, 1), 1);
    }

    #[test]
    fn a_run_nobody_writes_is_a_quote_wherever_one_starts() {
        let raw = [&b"a"[..], &[b'\\'; 101], b"nb"].concat();
        assert_eq!(units(&raw), b"a\"b");
        let start = align(&raw, 102);
        let mut view = View::new(&raw);
        view.show(start, raw.len());
        assert_eq!(view.units(), b"\"b");
    }
}
