//! Finds the literals that announce a secret, in one pass over the bytes.

use super::rules::Rule;
use super::view;
use aho_corasick::{AhoCorasick, Input, MatchKind, Span, packed};

/// An escaped ASCII character: a literal may stand behind it.
pub(super) const ESCAPE: &str = "\\u00";
/// How many literals are looked for at once: with more, vector instructions stop at every other word, and with
/// fewer there are more rounds. Those of three bytes stop them more often than longer ones.
const AT_ONCE: [usize; 2] = [20, 32];

/// A literal, and the rules it announces.
#[derive(Debug)]
pub(super) struct Keyword {
    pub(super) text: &'static str,
    /// In the order of the table.
    pub(super) rules: Vec<usize>,
}

/// A place where a literal stands; without one, where an escaped ASCII character does.
#[derive(Debug, Clone, Copy)]
pub(super) struct Hit<'f> {
    pub(super) at: usize,
    pub(super) keyword: Option<&'f Keyword>,
}

/// The literals of all rules.
#[derive(Debug)]
pub(super) struct Finder {
    /// Shorter literals first. [`ESCAPE`] stands behind them, without an entry.
    keywords: Vec<Keyword>,
    groups: Vec<Group>,
    longest: usize,
}

/// Some of the literals, looked for in one round.
#[derive(Debug)]
struct Group {
    /// Where the first of them stands among all.
    first: usize,
    search: Search,
}

#[derive(Debug)]
enum Search {
    /// With vector instructions.
    Packed(packed::Searcher),
    /// Without.
    Automaton(AhoCorasick),
}

impl Group {
    fn all(texts: &[&str]) -> Vec<Self> {
        let [short, long] = AT_ONCE;
        let split = texts.iter().take_while(|text| text.len() <= 3).count().max(short).min(texts.len());
        let (few, many) = texts.split_at(split);
        let packed = |texts: &[&str]| {
            let mut config = packed::Config::new();
            config.match_kind(packed::MatchKind::LeftmostFirst).heuristic_pattern_limits(false);
            config.builder().extend(texts).build().map(Search::Packed)
        };
        let mut first = 0;
        let groups: Option<Vec<Self>> = std::iter::once(few)
            .chain(many.chunks(long))
            .map(|texts| {
                let group = Self { first, search: packed(texts)? };
                first += texts.len();
                Some(group)
            })
            .collect();
        groups.unwrap_or_else(|| {
            let automaton = AhoCorasick::builder().match_kind(MatchKind::LeftmostFirst).build(texts);
            automaton.into_iter().map(|search| Self { first: 0, search: Search::Automaton(search) }).collect()
        })
    }

    /// Returns where the next literal stands from `from` on, and which one it is.
    fn find(&self, raw: &[u8], from: usize) -> Option<(usize, usize)> {
        let found = match &self.search {
            Search::Packed(search) => search.find_in(raw, Span { start: from, end: raw.len() }),
            Search::Automaton(search) => search.find(Input::new(raw).range(from..raw.len())),
        }?;
        Some((found.start(), self.first + found.pattern().as_usize()))
    }
}

impl Finder {
    pub(super) fn new(rules: &[Rule]) -> Self {
        let mut keywords: Vec<Keyword> = Vec::new();
        for (index, rule) in rules.iter().enumerate() {
            for &text in rule.keywords {
                match keywords.iter_mut().find(|keyword| keyword.text == text) {
                    Some(keyword) => keyword.rules.push(index),
                    None => keywords.push(Keyword { text, rules: vec![index] }),
                }
            }
        }
        keywords.sort_by_key(|keyword| keyword.text.len());
        let texts: Vec<&str> = keywords.iter().map(|keyword| keyword.text).chain([ESCAPE]).collect();
        let longest = texts.iter().map(|text| text.len()).max().unwrap_or(0);
        Self { groups: Group::all(&texts), longest, keywords }
    }

    #[cfg(test)]
    pub(super) fn keywords(&self) -> &[Keyword] {
        &self.keywords
    }

    /// Returns the places where literals stand, from `from` on, in order; they may overlap.
    pub(super) fn hits<'f>(&'f self, raw: &'f [u8], from: usize) -> impl Iterator<Item = Hit<'f>> {
        let find = move |group: usize, from: usize| self.groups.get(group)?.find(raw, from);
        let mut next: Vec<_> = (0..self.groups.len()).map(|group| find(group, from)).collect();
        std::iter::from_fn(move || {
            let (group, (at, keyword)) = next
                .iter()
                .enumerate()
                .filter_map(|(group, next)| Some((group, (*next)?)))
                .min_by_key(|next| next.1)?;
            if let Some(next) = next.get_mut(group) {
                *next = find(group, at + 1);
            }
            Some(Hit { at, keyword: self.keywords.get(keyword) })
        })
    }

    /// Calls `each` with every literal whose first escaped character is the one with a `\u00` at `at`: where it
    /// starts, and how far was looked.
    pub(super) fn escaped(&self, raw: &[u8], at: usize, mut each: impl FnMut(usize, &Keyword, usize)) {
        // Cheaply no: an escape that is no character of a literal.
        match raw.get(at + ESCAPE.len()..at + ESCAPE.len() + 2) {
            None | Some(b"22" | b"26" | b"27" | b"3c" | b"3C" | b"3e" | b"3E") => return,
            Some([b'2'..=b'7', _]) => {}
            Some(_) => return,
        }
        let start = view::align(raw, at.saturating_sub(self.longest));
        let (mut units, mut offsets) = (Vec::with_capacity(64), Vec::with_capacity(64));
        let (mut place, mut first) = (start, None);
        while let Some(unit) = view::unit(raw, place) {
            if place <= at && at < place + unit.len {
                first = Some(units.len());
            }
            units.push(unit.byte);
            offsets.push(place);
            place += unit.len;
            if first.is_some_and(|first| units.len() >= first + self.longest) {
                break;
            }
        }
        let Some(first) = first else { return };
        let seen = if units.len() < first + self.longest { raw.len() + 1 } else { place };
        for hit in self.hits(&units, 0) {
            let Some(keyword) = hit.keyword else { continue };
            if hit.at <= first
                && first < hit.at + keyword.text.len()
                && let Some(&at) = offsets.get(hit.at)
            {
                each(at, keyword, seen);
            }
        }
    }
}
