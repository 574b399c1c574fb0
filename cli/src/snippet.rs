//! The piece of a text around what was searched for.

use crate::text;
use scrollback_store::Query;
use std::ops::Range;

/// How much of a text is looked at around its first match, in bytes on either side.
const AROUND: usize = 2_000;
/// How many words are marked at most.
const MARKED: usize = 50;

/// A piece of a text, on one line, and where in it the words stand that were searched for.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Snippet {
    /// The piece, with `…` where text is left out.
    pub(crate) text: String,
    /// Byte ranges of it.
    pub(crate) places: Vec<Range<usize>>,
}

/// Returns the piece of `text` around the first match, of at most `columns`.
pub(crate) fn snippet(query: &Query, text: &str, columns: usize) -> Snippet {
    let first = query.places(text, 1).first().map_or(0, |place| place.start);
    let from = boundary(text, first.saturating_sub(AROUND));
    let to = boundary(text, (first + AROUND).min(text.len()));
    let line = text::one_line(&text[from..to]);
    let first = query.places(&line, 1).first().map_or(0, |place| place.start);

    let mut piece = String::new();
    let fits = from == 0 && to == text.len() && text::width(&line) <= columns;
    let start = if fits { 0 } else { start(&line, first, columns / 4) };
    if start > 0 || from > 0 {
        piece.push('…');
    }
    piece.push_str(&line[start..]);
    if to < text.len() {
        piece.push('…');
    }
    let text = text::clip(&piece, columns).into_owned();
    let places = query.places(&text, MARKED);
    Snippet { text, places }
}

/// Returns where to begin so that at most `before` columns stand before `first`: at a word.
fn start(line: &str, first: usize, before: usize) -> usize {
    let mut start = first;
    for (at, c) in line[..first].char_indices().rev() {
        if text::width(&line[at..first]) > before {
            break;
        }
        if at == 0 {
            return 0;
        }
        if c == ' ' {
            start = at + 1;
        }
    }
    start
}

/// Returns the nearest character boundary at or before `at`.
fn boundary(text: &str, at: usize) -> usize {
    (0..=at).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(query: &str, text: &str, columns: usize) -> (String, Vec<String>) {
        let snippet = snippet(&Query::parse(query).unwrap(), text, columns);
        let words = snippet.places.iter().map(|place| snippet.text[place.clone()].to_owned()).collect();
        (snippet.text, words)
    }

    #[test]
    fn a_snippet_shows_the_first_match_in_its_place() {
        assert_eq!(found("door", "the\n\n  door", 40), ("the door".to_owned(), vec!["door".to_owned()]));
        let long = format!("{} needle {}", "hay ".repeat(2_000), "straw ".repeat(2_000));
        let (text, words) = found("needle", &long, 40);
        assert_eq!(text, "…hay hay needle straw straw straw straw…");
        assert_eq!(words, ["needle"]);
        let (text, _) = found("last", "the first words and the last", 28);
        assert_eq!(text, "the first words and the last");
        let (text, _) = found("none", "日本語 日本語", 8);
        assert_eq!(text, "日本語…");
    }
}
