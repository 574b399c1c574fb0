//! What a search asks for: words, phrases, prefixes, OR and NOT.

use crate::words;
use thiserror::Error;

/// A search, parsed: words are all wanted; `"…"` is a phrase; `w*` a prefix; OR and NOT in capitals; every other
/// character is text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Query {
    /// Alternatives; one of them must match.
    either: Vec<All>,
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
struct All {
    wanted: Vec<Term>,
    unwanted: Vec<Term>,
}

/// A word or a phrase: its words, folded, and whether the last is a prefix.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Term {
    text: String,
    prefix: bool,
}

/// A search that asks for nothing.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum QueryError {
    /// No word is in it.
    #[error(
        "the search has no word to look for: letters and digits are searched, other characters separate them"
    )]
    Empty,
    /// Only what must not be there.
    #[error("NOT needs a word beside it that is to be found, as in `timeout NOT test`")]
    OnlyNot,
}

impl Query {
    /// Parses a search.
    pub fn parse(text: &str) -> Result<Self, QueryError> {
        let mut either = vec![All::default()];
        let mut not = false;
        let mut any = false;
        for (token, quoted) in split(text) {
            if !quoted && token == "OR" {
                either.push(All::default());
                not = false;
                continue;
            }
            if !quoted && token == "NOT" {
                not = true;
                continue;
            }
            let prefix = !quoted && token.len() > 1 && token.ends_with('*');
            let term = Term { text: token.trim_end_matches('*').to_owned(), prefix };
            if !term.text.chars().any(char::is_alphanumeric) {
                continue;
            }
            any = true;
            if let Some(all) = either.last_mut() {
                if not { &mut all.unwanted } else { &mut all.wanted }.push(term);
            }
            not = false;
        }
        if !any {
            return Err(QueryError::Empty);
        }
        if either.iter().any(|all| all.wanted.is_empty() && !all.unwanted.is_empty()) {
            return Err(QueryError::OnlyNot);
        }
        either.retain(|all| !all.wanted.is_empty());
        Ok(Self { either })
    }

    /// Returns the search in the language of FTS5, on the columns `text` and `parts`.
    pub(crate) fn fts(&self) -> String {
        let alternatives: Vec<String> = self
            .either
            .iter()
            .map(|all| {
                let wanted: Vec<String> = all.wanted.iter().map(Term::fts).collect();
                let mut expression = format!("({})", wanted.join(" AND "));
                if !all.unwanted.is_empty() {
                    let unwanted: Vec<String> = all.unwanted.iter().map(Term::fts).collect();
                    expression = format!("({expression} NOT ({}))", unwanted.join(" OR "));
                }
                expression
            })
            .collect();
        format!("({})", alternatives.join(" OR "))
    }

    /// Says whether a text that is not in the index matches.
    pub(crate) fn matches(&self, text: &str) -> bool {
        let words = fold(text);
        let parts = fold(&words::parts(text));
        let has = |term: &Term| term.is_in(&words) || term.is_in(&parts) || term.in_parts(&parts);
        self.either.iter().any(|all| all.wanted.iter().all(has) && !all.unwanted.iter().any(has))
    }

    /// Returns where in a text the wanted words stand, as byte ranges in order; at most `limit`.
    pub fn places(&self, text: &str, limit: usize) -> Vec<std::ops::Range<usize>> {
        let wanted: Vec<(Vec<String>, bool)> = self
            .either
            .iter()
            .flat_map(|all| &all.wanted)
            .map(|term| (fold(&term.text), term.prefix))
            .collect();
        let mut places = Vec::new();
        let mut words = word_ranges(text).peekable();
        let mut ahead: Vec<(std::ops::Range<usize>, String)> = Vec::new();
        while places.len() < limit {
            // Holds as many words as the longest phrase has.
            let longest = wanted.iter().map(|(words, _)| words.len()).max().unwrap_or(1);
            while ahead.len() < longest {
                let Some(range) = words.next() else { break };
                let folded = text[range.clone()].to_lowercase();
                ahead.push((range, folded));
            }
            if ahead.is_empty() {
                break;
            }
            let hit = wanted
                .iter()
                .filter(|(phrase, prefix)| starts_with(&ahead, phrase, *prefix))
                .map(|(phrase, _)| phrase.len())
                .max();
            if let Some(length) = hit {
                places.push(ahead[0].0.start..ahead[length - 1].0.end);
                ahead.drain(..length);
            } else {
                if wanted
                    .iter()
                    .any(|(phrase, _)| phrase.len() == 1 && part_of(&text[ahead[0].0.clone()], &phrase[0]))
                {
                    places.push(ahead[0].0.clone());
                }
                ahead.remove(0);
            }
        }
        places
    }
}

fn starts_with(ahead: &[(std::ops::Range<usize>, String)], phrase: &[String], prefix: bool) -> bool {
    !phrase.is_empty()
        && ahead.len() >= phrase.len()
        && phrase.iter().enumerate().all(|(at, word)| {
            let held = &ahead[at].1;
            if prefix && at + 1 == phrase.len() { held.starts_with(word.as_str()) } else { held == word }
        })
}

/// Says whether a folded word is a part of an identifier.
fn part_of(identifier: &str, word: &str) -> bool {
    words::parts_of(identifier).is_some_and(|parts| {
        parts.to_lowercase().split(' ').collect::<String>().contains(word) && {
            let parts = parts.to_lowercase();
            let flat: Vec<&str> = parts.split(' ').collect();
            (0..flat.len()).any(|from| (from + 1..=flat.len()).any(|to| flat[from..to].concat() == word))
        }
    })
}

impl Term {
    fn fts(&self) -> String {
        let star = if self.prefix { " *" } else { "" };
        let quoted = |text: &str| format!("\"{}\"", text.replace('"', "\"\""));
        let whole = format!("{{text parts}} : {}{star}", quoted(&self.text));
        let split: Vec<String> = self
            .text
            .split(|c: char| !c.is_alphanumeric())
            .filter(|word| !word.is_empty())
            .map(|word| words::parts_of(word).unwrap_or_else(|| word.to_owned()))
            .collect();
        let parts = split.join(" ");
        if parts.split(' ').count() > split.len() {
            format!("({whole} OR parts : {}{star})", quoted(&parts))
        } else {
            whole
        }
    }

    fn is_in(&self, words: &[String]) -> bool {
        let phrase = fold(&self.text);
        words.windows(phrase.len().max(1)).any(|window| {
            window.iter().zip(&phrase).enumerate().all(|(at, (held, word))| {
                if self.prefix && at + 1 == phrase.len() {
                    held.starts_with(word.as_str())
                } else {
                    held == word
                }
            })
        })
    }

    fn in_parts(&self, parts: &[String]) -> bool {
        let own = fold(&words::parts(&self.text));
        !own.is_empty() && parts.windows(own.len()).any(|window| window == own)
    }
}

fn word_ranges(text: &str) -> impl Iterator<Item = std::ops::Range<usize>> {
    let base = text.as_ptr() as usize;
    text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).map(move |word| {
        let start = word.as_ptr() as usize - base;
        start..start + word.len()
    })
}

fn fold(text: &str) -> Vec<String> {
    word_ranges(text).map(|range| text[range].to_lowercase()).collect()
}

/// Splits a search into words and quoted phrases.
fn split(text: &str) -> Vec<(String, bool)> {
    let mut tokens = Vec::new();
    let mut rest = text.trim_start();
    while !rest.is_empty() {
        if let Some(after) = rest.strip_prefix('"') {
            let (phrase, next) = after.split_once('"').unwrap_or((after, ""));
            tokens.push((phrase.to_owned(), true));
            rest = next.trim_start();
        } else {
            let end = rest.find(|c: char| c.is_whitespace() || c == '"').unwrap_or(rest.len());
            tokens.push((rest[..end].to_owned(), false));
            rest = rest[end..].trim_start();
        }
    }
    tokens
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matches(query: &str, text: &str) -> bool {
        Query::parse(query).unwrap().matches(text)
    }

    #[test]
    fn words_phrases_prefixes_and_operators() {
        let cases = [
            ("connection refused", "refused the connection", true),
            ("\"connection refused\"", "refused the connection", false),
            ("\"connection refused\"", "Connection refused: 111", true),
            ("conn*", "connection", true),
            ("conn", "connection", false),
            ("a OR b", "only b", true),
            ("a NOT b", "a b", false),
            ("a NOT b", "a c", true),
            ("snake", "snake_case", true),
            ("snake_case", "snake_case", true),
            ("header", "parseHTTPHeader", true),
            ("HTTPHeader", "parseHTTPHeader", true),
            ("parseHTTPHeader", "parseHTTPHeader", true),
            ("src/main.rs", "see src/main.rs:12", true),
            ("本語", "日本語です", true),
            ("or", "this or that", true),
        ];
        for (query, text, expected) in cases {
            assert_eq!(matches(query, text), expected, "{query} in {text}");
        }
    }

    #[test]
    fn a_search_for_nothing_says_so() {
        assert_eq!(Query::parse("  --- "), Err(QueryError::Empty));
        assert_eq!(Query::parse("NOT a"), Err(QueryError::OnlyNot));
    }

    #[test]
    fn places_are_those_of_the_words() {
        let query = Query::parse("refused \"the door\"").unwrap();
        let text = "He refused the door, REFUSED it";
        let found: Vec<&str> = query.places(text, 9).into_iter().map(|range| &text[range]).collect();
        assert_eq!(found, ["refused", "the door", "REFUSED"]);
    }
}
