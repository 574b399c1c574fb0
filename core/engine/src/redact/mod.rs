//! Secrets out, before the first byte is stored.
//!
//! One pass looks for the literals that announce a secret (`rules.rs`). At each, the expressions of its rules are
//! tried on a short stretch whose escapes are undone (`view.rs`), and what they match is looked at again
//! (`gate.rs`): a password is redacted, the call that fetches one is not. What is found is replaced by
//! `[redacted:RULE]`, and every other byte is kept.
//!
//! Text, JSON and torn records take the same way: within the escapes of any depth nothing is replaced but whole
//! units that hold no end of a string, so JSON stays JSON. The time is linear in the length of the text, since a
//! stretch is bounded, grows only along what is then replaced, and is made once for all the literals in it.

mod find;
mod gate;
mod pem;
mod plain;
mod rules;
mod stream;
mod view;

#[cfg(test)]
mod tests;

use find::{Finder, Keyword};
use gate::{MARK, Match};
pub use plain::is_plain;
use regex::bytes::{Regex, RegexBuilder};
use rules::{Before, Gate, RULES, Rule};
use std::borrow::Cow;
use std::ops::Range;
use std::sync::{LazyLock, OnceLock};
pub use stream::Streamer;
use view::View;

/// How far a match may go on beyond its rule's window: a longer run is no secret.
const LONGEST: usize = 1 << 19;
/// How much before a literal is looked at: a name's beginning.
const BEHIND: usize = 48;

/// How long it is remembered that something was found: what stands within [`BEHIND`] of a literal, escapes and all.
const NEAR: usize = 128;

/// Finds secrets and replaces them. Built once and shared.
#[derive(Debug)]
pub struct Redactor {
    finder: Finder,
    /// The rules' expressions, each built when its literal is first met.
    regexes: Vec<OnceLock<Option<Regex>>>,
}

impl Default for Redactor {
    fn default() -> Self {
        Self::new()
    }
}

impl Redactor {
    /// Returns a redactor with the built-in rules.
    pub fn new() -> Self {
        Self { finder: Finder::new(RULES), regexes: RULES.iter().map(|_| OnceLock::new()).collect() }
    }

    /// Returns a redactor with the built-in rules that all of this program share: each expression is built once.
    pub fn shared() -> &'static Self {
        static SHARED: LazyLock<Redactor> = LazyLock::new(Redactor::new);
        &SHARED
    }

    /// Returns a redactor without rules, for a test of what rules that change do.
    #[cfg(test)]
    pub(crate) fn none() -> Self {
        Self { finder: Finder::new(&[]), regexes: Vec::new() }
    }

    /// Returns the text with its secrets replaced; borrowed when nothing was found.
    pub fn text<'t>(&self, text: &'t str) -> Cow<'t, str> {
        match self.record(text.as_bytes()) {
            Cow::Borrowed(_) => Cow::Borrowed(text),
            Cow::Owned(bytes) => Cow::Owned(match String::from_utf8(bytes) {
                Ok(text) => text,
                Err(error) => String::from_utf8_lossy(error.as_bytes()).into_owned(),
            }),
        }
    }

    /// Returns one JSON value's text with its secrets replaced; borrowed when nothing was found.
    ///
    /// It stays valid JSON, and every byte outside of what is replaced is kept. Secrets are found in strings and
    /// keys, written with escapes or without, and in JSON that stands in a string.
    pub fn json<'t>(&self, json: &'t str) -> Cow<'t, str> {
        self.text(json)
    }

    /// Returns a record with its secrets replaced; borrowed when nothing was found. It may be anything: one JSON
    /// value or several, torn, not UTF-8. Bytes that are not UTF-8 are kept.
    pub fn record<'b>(&self, bytes: &'b [u8]) -> Cow<'b, [u8]> {
        let mut pass = Pass::new(bytes, true);
        self.look(&mut pass, 0);
        if pass.found.is_empty() {
            return Cow::Borrowed(bytes);
        }
        let mut out = Vec::with_capacity(bytes.len());
        let mut done = 0;
        for span in pass.spans() {
            span.replace(bytes, &mut done, &mut out);
        }
        out.extend_from_slice(bytes.get(done..).unwrap_or_default());
        Cow::Owned(out)
    }

    /// Tries the rules at every literal from `from` on.
    fn look(&self, pass: &mut Pass<'_>, from: usize) {
        let raw = pass.raw;
        for hit in self.finder.hits(raw, from) {
            match hit.keyword {
                Some(keyword) => self.try_rules(pass, hit.at, keyword, true),
                None => self.finder.escaped(raw, hit.at, |at, keyword, seen| {
                    pass.looked_to(at, seen);
                    self.try_rules(pass, at, keyword, false);
                }),
            }
        }
    }

    /// Tries the rules of a literal; `plain` if none of its letters is escaped.
    fn try_rules(&self, pass: &mut Pass<'_>, at: usize, keyword: &Keyword, plain: bool) {
        for &index in &keyword.rules {
            let Some(rule) = RULES.get(index) else { continue };
            let never = plain && !pass.is_after_mark(at) && !may_follow(rule, pass.raw, at, keyword);
            if !never && !pass.is_covered(at, index) {
                self.try_rule(pass, at, index, rule);
            }
        }
    }

    fn regex(&self, index: usize, rule: &Rule) -> Option<&Regex> {
        let build = || RegexBuilder::new(&format!("^(?:{})", rule.regex)).unicode(false).build().ok();
        self.regexes.get(index)?.get_or_init(build).as_ref()
    }

    fn try_rule(&self, pass: &mut Pass<'_>, at: usize, index: usize, rule: &Rule) {
        let Some(regex) = self.regex(index, rule) else { return };
        let mut window = rule.window;
        let mut admitted = None;
        while let Some(shown) = pass.show(at, window) {
            let units = pass.view.units();
            let before = units.get(shown.before..shown.start).unwrap_or_default();
            let rest = units.get(shown.start..shown.end).unwrap_or_default();
            let is_edge = matches!(rule.before, Before::Edge | Before::WideEdge) && pass.is_after_mark(at);
            if !is_edge && !follows(rule.before, before) {
                break;
            }
            let Some(groups) = regex.captures(rest) else {
                // Of a text with an escape for every letter, more is looked at.
                if admitted.is_none() && window == rule.window && 3 * rest.len() < window {
                    window *= 8;
                    continue;
                }
                break;
            };
            let (Some(whole), Some(secret)) = (groups.get(0), groups.get(rule.secret)) else { break };
            let named = if rule.secret > 1 { groups.get(1) } else { None };
            let quote = if rule.secret > 2 { groups.get(2).filter(|quote| !quote.is_empty()) } else { None };
            let end = match rule.gate {
                Gate::Assigned => pass.value_end(&shown, quote.map(|quote| quote.start()), secret.end()),
                _ => secret.end(),
            };
            // A name does not begin in what is replaced.
            let since = pass.mark_before(at).and_then(|end| pass.view.index(end)).unwrap_or(shown.before);
            let found = Match {
                before: units.get(since.max(shown.before)..shown.start).unwrap_or_default(),
                lead: rest.get(..secret.start()).unwrap_or_default(),
                secret: rest.get(secret.start()..end).unwrap_or_default(),
                after: rest.get(end..).unwrap_or_default(),
                named: named.map_or(&[][..], |group| group.as_bytes()),
                quote: quote.and_then(|quote| quote.as_bytes().first().copied()),
            };
            // Judged once, by what the rule's own window shows: what is admitted is replaced as far as it goes,
            // so that no stretch is gone over for nothing.
            if admitted.is_none() {
                let Some(len) = rule.gate.admits(&found) else { return };
                let start = shown.start + secret.start();
                admitted = Some(pass.span(start..start + len));
                if len < found.secret.len() {
                    break;
                }
            } else {
                admitted = Some(pass.span(shown.start + secret.start()..shown.start + end));
            }
            let goes_on = end.max(whole.end()) == rest.len() && at + window < pass.raw.len();
            if !goes_on || window >= LONGEST {
                break;
            }
            window *= 2;
        }
        let Some(span) = admitted else { return };
        if rule.gate == Gate::Pem {
            let (spans, seen) = pem::spans(pass.raw, span);
            pass.looked_to(at, seen);
            for span in spans {
                pass.add(at, index, span);
            }
        } else {
            pass.add(at, index, span);
        }
    }
}

/// Says at a glance, from the bytes themselves, whether a rule may match at a literal. Where it meets an escape it
/// says yes: the view knows.
fn may_follow(rule: &Rule, raw: &[u8], at: usize, keyword: &Keyword) -> bool {
    let behind = raw.get(at + keyword.text.len()..).unwrap_or_default();
    match rule.gate {
        Gate::Assigned => return may_be_assigned(raw.get(..at).unwrap_or_default(), behind, keyword.text),
        Gate::Address
            if behind
                .iter()
                .find(|byte| b"@/\"\\ <>\n".contains(byte))
                .is_some_and(|byte| !b"@\\".contains(byte)) =>
        {
            return false;
        }
        _ => {}
    }
    let Some(before) = at.checked_sub(1).and_then(|before| raw.get(before)) else { return true };
    match rule.before {
        Before::Edge | Before::WideEdge if before.is_ascii_alphanumeric() || *before == b'_' => {
            raw.get(at.saturating_sub(6)..at).is_some_and(|near| near.contains(&b'\\'))
        }
        _ => true,
    }
}

/// Says at a glance whether a name is followed by what assigns, or is a flag: `"token": `, `token_key =`,
/// `--token `; not `tokens`, `"token",`, `the token is`.
fn may_be_assigned(before: &[u8], behind: &[u8], name: &str) -> bool {
    let is_part =
        |byte: &u8| byte.is_ascii_alphabetic() || matches!(byte, b'_' | b'-' | b'"' | b'\'' | b'`' | b']');
    if name.ends_with([' ', '=', ':']) {
        let next = behind.iter().find(|byte| **byte != b' ');
        return !name.ends_with(' ') || next.is_none_or(|byte| b":=\\".contains(byte)) || is_flag(before);
    }
    let mut rest = behind.iter().take(64).skip_while(|byte| is_part(byte));
    match rest.next() {
        Some(b' ') => {
            rest.find(|byte| **byte != b' ').is_none_or(|byte| b":=\\".contains(byte)) || is_flag(before)
        }
        Some(b':' | b'=' | b'\\') | None => true,
        Some(_) => false,
    }
}

/// Says whether what stands before is the beginning of a flag: `--access-`.
fn is_flag(before: &[u8]) -> bool {
    let is_name = |byte: &&u8| byte.is_ascii_alphanumeric() || matches!(**byte, b'_' | b'-');
    let start = before.iter().rev().take(BEHIND).take_while(is_name).count();
    before.get(before.len() - start..).is_some_and(|name| name.starts_with(b"--"))
}

fn follows(rule: Before, before: &[u8]) -> bool {
    let last = before.last();
    match rule {
        Before::Any => true,
        Before::Edge => !last.is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_'),
        Before::WideEdge => {
            !last.is_some_and(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
        }
        Before::Digit => last.is_some_and(u8::is_ascii_digit),
        Before::Word => last.is_some_and(u8::is_ascii_alphanumeric),
    }
}

/// What is replaced, by which rule, and at which literal that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Span {
    start: usize,
    end: usize,
    rule: usize,
    hit: usize,
}

impl Span {
    /// Writes what stands between `done` and the span, and the mark.
    fn replace(&self, bytes: &[u8], done: &mut usize, out: &mut Vec<u8>) {
        out.extend_from_slice(bytes.get(*done..self.start).unwrap_or_default());
        out.extend_from_slice(MARK);
        out.extend_from_slice(RULES.get(self.rule).map_or("secret", |rule| rule.name).as_bytes());
        out.push(b']');
        *done = self.end;
    }
}

/// Which units of a view a literal is judged by.
#[derive(Debug)]
struct Shown {
    /// The first of what may stand before it.
    before: usize,
    /// Its own first.
    start: usize,
    /// Behind the last.
    end: usize,
}

/// One look over one text.
#[derive(Debug)]
struct Pass<'b> {
    raw: &'b [u8],
    /// Whether the text ends where it ends; else more may come.
    whole: bool,
    view: View<'b>,
    found: Vec<Span>,
    /// Those of them that reach to near the last literal or beyond.
    open: Vec<Span>,
    /// The first literal that cannot be judged before more has come.
    undecided: Option<usize>,
    /// How many bytes were made into views: what linear time is tested by.
    shown: usize,
}

impl<'b> Pass<'b> {
    fn new(raw: &'b [u8], whole: bool) -> Self {
        Self {
            raw,
            whole,
            view: View::new(raw),
            found: Vec::new(),
            open: Vec::new(),
            undecided: None,
            shown: 0,
        }
    }

    /// Makes the view show the window of the literal at `at`, and returns which of its units that is: the same
    /// ones whatever was shown before. `None` if no unit starts there.
    fn show(&mut self, at: usize, window: usize) -> Option<Shown> {
        let start = view::align(self.raw, at.saturating_sub(BEHIND));
        let end = at + window;
        if !self.view.shows(start, end) {
            // Where one literal follows upon another, one long view serves them all.
            let dense = start < self.view.end();
            self.view.show(start, if dense { end + window.max(4096) } else { end });
            self.shown += self.view.end() - start;
        }
        self.looked_to(at, end);
        let before = self.view.index(start)?;
        Some(Shown { before, start: self.view.index(at)?, end: self.view.count_to(end) })
    }

    /// Notes that the judgement of the literal at `at` rests on what stands before `seen`.
    fn looked_to(&mut self, at: usize, seen: usize) {
        if !self.whole && seen > self.raw.len() {
            self.undecided = Some(self.undecided.map_or(at, |first| first.min(at)));
        }
    }

    /// Says whether what is replaced ends at `at`: a mark will stand before.
    fn is_after_mark(&self, at: usize) -> bool {
        self.open.iter().any(|span| span.end == at)
    }

    /// Returns where what is replaced before `at` ends, if that is near.
    fn mark_before(&self, at: usize) -> Option<usize> {
        self.open.iter().map(|span| span.end).filter(|end| *end <= at).max()
    }

    /// Says whether a literal stands in what a rule at least as particular found.
    fn is_covered(&self, at: usize, rule: usize) -> bool {
        self.open.iter().any(|span| span.start <= at && at < span.end && span.rule <= rule)
    }

    /// Returns where those units stand, widened to whole characters.
    fn span(&self, units: Range<usize>) -> Range<usize> {
        let continues = |at: usize| self.raw.get(at).is_some_and(|byte| matches!(byte, 0x80..=0xbf));
        let (mut start, mut end) = (self.view.offset(units.start), self.view.offset(units.end));
        for _ in 0..3 {
            start -= usize::from(start > 0 && continues(start));
            end += usize::from(continues(end));
        }
        start..end
    }

    /// Returns how far an assigned value reaches, from the unit `from` of what is shown: to white space or a
    /// quote; if it is quoted, to the quote that closes the one at `opened`, which in a string stands behind as
    /// many backslashes.
    fn value_end(&self, shown: &Shown, opened: Option<usize>, from: usize) -> usize {
        let slashes = |unit: usize| (self.view.offset(unit + 1) - self.view.offset(unit)).saturating_sub(1);
        let units = self.view.units().get(..shown.end).unwrap_or_default();
        let opened = opened.map(|opened| shown.start + opened);
        let quote = opened.and_then(|opened| units.get(opened)).copied();
        let depth = opened.map_or(0, slashes);
        let mut at = shown.start + from;
        while let Some(&unit) = units.get(at) {
            let closes = match (unit, quote) {
                (b' ' | b'\t' | b'\n' | b'\r' | b'\x0c', _) | (b'"' | b'\'' | b'`', None) => true,
                (b'"', Some(quote)) => {
                    // An even run ends a JSON string, whatever was opened.
                    let run = slashes(at);
                    run % 2 == 0 || quote == unit && run % (2 * (depth + 1)) == depth
                }
                (_, Some(quote)) => quote == unit,
                _ => false,
            };
            if closes {
                break;
            }
            at += 1;
        }
        at - shown.start
    }

    fn add(&mut self, hit: usize, rule: usize, span: Range<usize>) {
        let span = Span { start: span.start, end: span.end, rule, hit };
        self.open.retain(|open| open.end + NEAR >= hit);
        self.open.push(span.clone());
        self.found.push(span);
    }

    /// Returns what was found, in order, what overlaps as one under the more particular name.
    fn spans(&self) -> Vec<Span> {
        let mut found = self.found.clone();
        found.sort_by_key(|span| (span.start, span.end));
        let mut spans: Vec<Span> = Vec::with_capacity(found.len());
        for span in found {
            match spans.last_mut() {
                Some(last) if span.start < last.end => {
                    last.end = last.end.max(span.end);
                    last.rule = last.rule.min(span.rule);
                }
                _ => spans.push(span),
            }
        }
        spans
    }
}
