//! What a pattern means on this machine.

use super::DiscoverError;
use glob::{MatchOptions, Pattern};
use scrollback_core::Env;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// What is special in a pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Syntax {
    /// Everything a shell knows: a user wrote it.
    Shell,
    /// `*`, `**`, `?` and a leading `~/`: a parser made it, perhaps out of directory names with any character.
    Plain,
}

/// A component of a pattern.
#[derive(Debug, Clone)]
pub(super) enum Part {
    /// Exactly that name.
    Name(String),
    /// Names of that pattern.
    Names(Pattern),
    /// Names that end in `.jsonl`, or in that and the ending of a compression.
    Transcripts,
    /// Directories, at any depth, this one among them.
    Depth,
}

impl Part {
    /// Says whether it matches an entry of that name; one of [`Part::Name`] is not looked for among entries.
    pub(super) fn takes(&self, name: &OsStr, options: MatchOptions) -> bool {
        match self {
            Self::Names(pattern) => {
                let name = name.to_string_lossy();
                pattern.matches_with(&name, options)
                    || is_plain_transcript(pattern.as_str())
                        && plain_name(&name).is_some_and(|plain| pattern.matches_with(plain, options))
            }
            Self::Transcripts => is_transcript(name),
            Self::Name(_) | Self::Depth => false,
        }
    }
}

/// A pattern with its variables replaced.
#[derive(Debug)]
pub(super) struct Expanded {
    given: String,
    /// The directory it begins in.
    pub(super) base: PathBuf,
    /// What follows, as if nothing was special.
    literal: String,
    /// What follows, with what came from variables escaped.
    text: String,
}

/// More alternatives than that are a mistake.
const ALTERNATIVES: usize = 1000;

impl Expanded {
    pub(super) fn of(env: &dyn Env, given: &str, syntax: Syntax) -> Result<Self, DiscoverError> {
        let no = |which| DiscoverError::NoDirectory { pattern: given.to_owned(), which };
        let tilde = given.strip_prefix('~').filter(|rest| rest.is_empty() || rest.starts_with('/'));
        let (literal, text) = replaced(env, tilde.unwrap_or(given), given, syntax)?;
        let base = if tilde.is_some() {
            env.home().ok_or_else(|| no("home"))?
        } else if literal.starts_with('/') {
            PathBuf::from("/")
        } else {
            env.current_dir().ok_or_else(|| no("current"))?
        };
        Ok(Self { given: given.to_owned(), base, literal, text })
    }

    /// Returns what follows the base, as if nothing was special.
    pub(super) fn literal(&self) -> &str {
        &self.literal
    }

    /// Returns the path that the pattern is if nothing in it is special, if there is one.
    pub(super) fn existing(&self) -> Option<PathBuf> {
        let mut path = self.base.clone();
        path.extend(self.literal.split('/').filter(|name| !name.is_empty() && *name != "."));
        std::fs::symlink_metadata(&path).is_ok().then_some(path)
    }

    /// Returns the components of each pattern that its braces stand for.
    pub(super) fn alternatives(&self) -> Result<Vec<Vec<Part>>, DiscoverError> {
        let mut texts = Vec::new();
        braces(self.text.clone(), &mut texts);
        if texts.len() >= ALTERNATIVES {
            return Err(self.malformed(format!("its braces stand for more than {ALTERNATIVES} patterns")));
        }
        texts.iter().map(|text| self.parts(text)).collect()
    }

    /// Returns one pattern for whole paths; what begins with `**` matches anywhere.
    pub(super) fn whole(&self) -> Result<Pattern, DiscoverError> {
        if self.given.starts_with("**/") {
            return Pattern::new(&self.text).map_err(|error| self.malformed(error.msg.to_owned()));
        }
        let base = self.base.to_string_lossy();
        let names = self.text.split('/').filter(|name| !name.is_empty() && *name != ".");
        let text = names.fold(Pattern::escape(base.trim_end_matches('/')), |text, name| text + "/" + name);
        Pattern::new(&text).map_err(|error| self.malformed(error.msg.to_owned()))
    }

    fn parts(&self, text: &str) -> Result<Vec<Part>, DiscoverError> {
        let mut parts = Vec::new();
        for name in text.split('/').filter(|name| !name.is_empty() && *name != ".") {
            parts.push(match unescaped(name) {
                _ if name == "*.jsonl" => Part::Transcripts,
                _ if name == "**" => {
                    if matches!(parts.last(), Some(Part::Depth)) {
                        continue;
                    }
                    Part::Depth
                }
                Some(name) => Part::Name(name),
                None => {
                    Part::Names(Pattern::new(name).map_err(|error| self.malformed(error.msg.to_owned()))?)
                }
            });
        }
        if matches!(parts.last(), Some(Part::Depth)) {
            parts.push(Part::Transcripts);
        }
        Ok(parts)
    }

    fn malformed(&self, what: String) -> DiscoverError {
        DiscoverError::Malformed { pattern: self.given.clone(), what }
    }
}

/// Returns `text` with its variables replaced, and the same with their values escaped.
fn replaced(
    env: &dyn Env,
    text: &str,
    given: &str,
    syntax: Syntax,
) -> Result<(String, String), DiscoverError> {
    if syntax == Syntax::Plain {
        let escaped: String =
            text.chars().map(|c| if "[]{},".contains(c) { format!("[{c}]") } else { c.into() }).collect();
        return Ok((text.to_owned(), escaped));
    }
    let (mut literal, mut escaped) = (String::new(), String::new());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('$') {
        literal += before;
        escaped += before;
        let in_braces = after.strip_prefix('{').and_then(|inner| inner.split_once('}'));
        let (name, behind) = in_braces.unwrap_or_else(|| {
            let end = after.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(after.len());
            after.split_at(end)
        });
        let names = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        if names && !name.starts_with(|c: char| c.is_ascii_digit()) {
            let value = env.var(name);
            let value = value
                .ok_or_else(|| DiscoverError::NotSet { pattern: given.to_owned(), name: name.to_owned() })?;
            literal += &value;
            escaped.extend(
                value.chars().map(|c| if "?*[]{},".contains(c) { format!("[{c}]") } else { c.into() }),
            );
            rest = behind;
        } else {
            literal.push('$');
            escaped.push('$');
            rest = after;
        }
    }
    Ok((literal + rest, escaped + rest))
}

/// Returns the name that `text` matches, if it is only one.
fn unescaped(text: &str) -> Option<String> {
    let mut name = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match c {
            '*' | '?' => return None,
            '[' => {
                let one = chars.next()?;
                if one == '!' || chars.next() != Some(']') {
                    return None;
                }
                name.push(one);
            }
            _ => name.push(c),
        }
    }
    Some(name)
}

/// Puts what the first braces of `text` stand for into `into`, and so on for those behind and within them.
fn braces(text: String, into: &mut Vec<String>) {
    if into.len() >= ALTERNATIVES {
        return;
    }
    let Some((start, stop, commas)) = first_braces(&text) else {
        into.push(text);
        return;
    };
    let mut from = start + 1;
    for comma in commas.into_iter().chain([stop]) {
        let part = |range: std::ops::Range<usize>| text.get(range).unwrap_or_default();
        braces(format!("{}{}{}", part(0..start), part(from..comma), part(stop + 1..text.len())), into);
        from = comma + 1;
    }
}

/// Returns where the first braces with a comma in them open and close, and where their commas are.
fn first_braces(text: &str) -> Option<(usize, usize, Vec<usize>)> {
    let mut open: Vec<(usize, Vec<usize>)> = Vec::new();
    let mut found: Option<(usize, usize, Vec<usize>)> = None;
    let mut set_ends = 0;
    for (at, c) in text.char_indices().filter(|(_, c)| c.is_ascii()) {
        if at < set_ends {
            continue;
        }
        match c {
            // A set's first character may be its own closing bracket.
            '[' => {
                let first = text.get(at + 1..).and_then(|set| set.chars().next()).map_or(0, char::len_utf8);
                let close = text.get(at + 1 + first..).and_then(|set| set.find(']'));
                set_ends = close.map_or(0, |close| at + 1 + first + close + 1);
            }
            '{' => open.push((at, Vec::new())),
            ',' => {
                if let Some((_, commas)) = open.last_mut() {
                    commas.push(at);
                }
            }
            '}' => {
                if let Some((start, commas)) = open.pop()
                    && !commas.is_empty()
                    && found.as_ref().is_none_or(|(first, ..)| start < *first)
                {
                    found = Some((start, at, commas));
                }
            }
            _ => {}
        }
    }
    found
}

/// Says whether a file of that name is read where a directory is given.
pub(crate) fn is_transcript(name: &OsStr) -> bool {
    let name = name.to_string_lossy();
    is_plain_transcript(plain_name(&name).unwrap_or(&name))
}

fn is_plain_transcript(name: &str) -> bool {
    Path::new(name).extension().is_some_and(|extension| extension == "jsonl")
}

/// Returns the name without the ending of a compression; none if it has none.
pub(crate) fn plain_name(name: &str) -> Option<&str> {
    name.strip_suffix(".zst").or_else(|| name.strip_suffix(".gz")).filter(|plain| !plain.is_empty())
}
