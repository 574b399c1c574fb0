//! Text as a terminal takes it: cleaned of what would move its cursor, clipped, wrapped.

use std::borrow::Cow;
use std::ops::Range;
use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

/// Returns how many columns a text takes.
pub(crate) fn width(text: &str) -> usize {
    text.width()
}

/// Returns the text without escape sequences and control characters, a tab as four blanks: a transcript must not
/// be able to draw on the terminal. Newlines stay.
pub(crate) fn clean(text: &str) -> Cow<'_, str> {
    if !text.chars().any(|c| c != '\n' && unwelcome(c)) {
        return Cow::Borrowed(text);
    }
    let mut cleaned = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\n' => cleaned.push('\n'),
            '\t' => cleaned.push_str("    "),
            '\r' if chars.peek() != Some(&'\n') => cleaned.push('\n'),
            '\u{1b}' => skip_sequence(&mut chars),
            '\u{9b}' => skip_control(&mut chars),
            c if unwelcome(c) => {}
            c => cleaned.push(c),
        }
    }
    Cow::Owned(cleaned)
}

/// Says whether a character controls a terminal or turns the direction of what follows.
fn unwelcome(c: char) -> bool {
    c.is_control() || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Skips what follows an escape character.
fn skip_sequence(chars: &mut std::iter::Peekable<std::str::Chars<'_>>) {
    match chars.next() {
        Some('[') => skip_control(chars),
        Some(']' | 'P' | '_' | '^' | 'X') => {
            while let Some(c) = chars.next() {
                if c == '\u{7}' || c == '\u{9c}' || (c == '\u{1b}' && chars.next_if_eq(&'\\').is_some()) {
                    break;
                }
            }
        }
        Some('(' | ')' | '#') => {
            chars.next();
        }
        _ => {}
    }
}

fn skip_control(chars: &mut std::iter::Peekable<std::str::Chars<'_>>) {
    for c in chars.by_ref() {
        if ('\u{40}'..='\u{7e}').contains(&c) {
            break;
        }
    }
}

/// Returns the text, cleaned, on one line: every run of white space is a blank.
pub(crate) fn one_line(text: &str) -> String {
    let mut line = String::with_capacity(text.len().min(4096));
    for word in clean(text).split_whitespace() {
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    line
}

/// Returns the text in at most `columns`, with `…` for what is left out.
pub(crate) fn clip(text: &str, columns: usize) -> Cow<'_, str> {
    if width(text) <= columns {
        return Cow::Borrowed(text);
    }
    let mut used = 0;
    let mut end = 0;
    for (at, c) in text.char_indices() {
        used += c.width().unwrap_or(0);
        if used + 1 > columns {
            break;
        }
        end = at + c.len_utf8();
    }
    Cow::Owned(format!("{}…", text[..end].trim_end()))
}

/// Returns the text filled up to `columns` with blanks, clipped if it takes more.
pub(crate) fn fill(text: &str, columns: usize) -> String {
    let clipped = clip(text, columns);
    format!("{clipped}{}", " ".repeat(columns.saturating_sub(width(&clipped))))
}

/// Returns the lines of a text of at most `columns`, as its byte ranges: broken at blanks, within a word only
/// where it alone is wider. A line of the text keeps its indentation; an empty line is an empty range.
pub(crate) fn wrap(text: &str, columns: usize) -> Vec<Range<usize>> {
    let columns = columns.max(8);
    let mut lines = Vec::new();
    let mut start = 0;
    for line in text.split('\n') {
        let end = start + line.len();
        wrap_line(text, start..start + line.trim_end().len(), columns, &mut lines);
        start = end + 1;
    }
    lines
}

fn wrap_line(text: &str, line: Range<usize>, columns: usize, lines: &mut Vec<Range<usize>>) {
    let mut start = line.start;
    loop {
        let rest = &text[start..line.end];
        let mut used = 0;
        let mut blank = None;
        let mut over = None;
        for (at, c) in rest.char_indices() {
            used += c.width().unwrap_or(0);
            if c == ' ' && !rest[..at].trim().is_empty() {
                blank = Some(at);
            }
            if used > columns {
                over = Some(at);
                break;
            }
        }
        let Some(over) = over else {
            lines.push(start..line.end);
            return;
        };
        let end = start + blank.unwrap_or(over.max(rest.chars().next().map_or(1, char::len_utf8)));
        lines.push(start..start + text[start..end].trim_end().len());
        let skipped = text[end..line.end].trim_start();
        start = line.end - skipped.len();
        if start == line.end {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wrapped(text: &str, columns: usize) -> Vec<&str> {
        wrap(text, columns).into_iter().map(|range| &text[range]).collect()
    }

    #[test]
    fn what_moves_the_cursor_is_left_out() {
        let cases = [
            ("plain\ntext", "plain\ntext"),
            ("\u{1b}[31mred\u{1b}[0m", "red"),
            ("\u{1b}]0;title\u{7}after", "after"),
            ("\u{1b}]8;;http://x\u{1b}\\link\u{1b}]8;;\u{1b}\\", "link"),
            ("a\tb\0c\u{7f}", "a    bc"),
            ("50%\r100%\r\ndone", "50%\n100%\ndone"),
            ("\u{9b}2Jcleared", "cleared"),
            ("\u{202e}evil\u{202c}", "evil"),
        ];
        for (text, expected) in cases {
            assert_eq!(clean(text), expected, "{text:?}");
        }
    }

    #[test]
    fn a_text_is_clipped_by_columns() {
        let cases = [
            ("short", 5, "short"),
            ("longer", 5, "long…"),
            ("two words", 5, "two…"),
            ("日本語です", 5, "日本…"),
            ("日本語です", 4, "日…"),
            ("", 0, ""),
        ];
        for (text, columns, expected) in cases {
            assert_eq!(clip(text, columns), expected, "{text} in {columns}");
            assert!(width(&clip(text, columns)) <= columns);
        }
        assert_eq!(fill("ab", 4), "ab  ");
    }

    #[test]
    fn lines_break_at_blanks_and_long_words_within() {
        assert_eq!(wrapped("one two three four", 9), ["one two", "three", "four"]);
        assert_eq!(wrapped("one\n\n  two  \nthree", 9), ["one", "", "  two", "three"]);
        assert_eq!(wrapped("abcdefghijklm no", 9), ["abcdefghi", "jklm no"]);
        assert_eq!(wrapped("日本語日本語", 8), ["日本語日", "本語"]);
        assert_eq!(wrapped("123456789", 9), ["123456789"]);
        assert_eq!(wrapped("12345678 0", 9), ["12345678", "0"]);
        assert_eq!(wrapped("    indented words here", 14), ["    indented", "words here"]);
        assert_eq!(wrapped("", 9), [""]);
    }

    #[test]
    fn wrapping_loses_no_word_and_stays_in_its_columns() {
        let text = "The quick, brown fox — jumps over日本語 the lazy dog; again   and again.";
        for columns in 8..40 {
            let lines = wrapped(text, columns);
            assert!(lines.iter().all(|line| width(line) <= columns), "{columns}: {lines:?}");
            let together: String = lines.concat().split_whitespace().collect();
            assert_eq!(together, text.split_whitespace().collect::<String>());
        }
    }
}
