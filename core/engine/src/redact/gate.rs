//! The second look at what a rule matched: whether it is a secret or only stands where one could.

use super::rules::Gate;

/// How a mark starts: nothing that holds one is replaced again.
pub(super) const MARK: &[u8] = b"[redacted:";

/// What a rule matched.
#[derive(Debug)]
pub(super) struct Match<'v> {
    /// The units before the keyword, at most a few dozen.
    pub(super) before: &'v [u8],
    /// The units from the keyword to the secret.
    pub(super) lead: &'v [u8],
    /// What would be replaced.
    pub(super) secret: &'v [u8],
    /// The units behind it.
    pub(super) after: &'v [u8],
    /// The name that was matched, or the scheme, if the rule has a group for it.
    pub(super) named: &'v [u8],
    /// The quote it stands in, if the rule has a group for it and there was one.
    pub(super) quote: Option<u8>,
}

impl Gate {
    /// Returns how much of the secret is to be replaced, or `None` if it is none.
    pub(super) fn admits(self, found: &Match<'_>) -> Option<usize> {
        let secret = found.secret;
        if contains(secret, MARK) || found.after.starts_with(MARK) {
            return None;
        }
        let is_one = match self {
            Self::Pem => true,
            Self::Varied => varied(secret),
            Self::Mixed => mixed(secret),
            Self::Cookie => {
                secret.len() >= 16 && secret.iter().any(u8::is_ascii_digit) && distinct(secret) >= 10
            }
            Self::Address => !placeholder(secret),
            Self::Authorization => authorization(found),
            Self::Assigned => return assigned(found),
        };
        is_one.then_some(secret.len())
    }
}

/// Says whether the end of a secret, where its maker's prefix is long past, is not a few characters repeated.
fn varied(secret: &[u8]) -> bool {
    distinct(secret.get(secret.len().saturating_sub(24)..).unwrap_or(secret)) >= 7
}

fn mixed(secret: &[u8]) -> bool {
    varied(secret)
        && secret.iter().any(u8::is_ascii_digit)
        && secret.iter().any(u8::is_ascii_alphabetic)
        && !wordy(secret, true)
}

fn authorization(found: &Match<'_>) -> bool {
    let secret = found.secret;
    if placeholder(secret) || wordy(secret, false) || found.named.is_empty() && number(secret) {
        return false;
    }
    if found.named.is_empty() {
        return secret.len() >= 16 && mixed(secret);
    }
    distinct(secret) >= 5
}

/// The parts of a name that says the value is nothing secret.
const HARMLESS: [&str; 16] = [
    "public",
    "page",
    "next",
    "prev",
    "continu",
    "cursor",
    "sync",
    "cancel",
    "cache",
    "primary",
    "foreign",
    "sort",
    "partition",
    "max",
    "num",
    "count",
];

fn assigned(found: &Match<'_>) -> Option<usize> {
    let name_start = found.before.iter().rev().take_while(|byte| is_name(**byte)).count();
    let prefix = found.before.get(found.before.len() - name_start..)?;
    let name = [prefix, found.named].concat().to_ascii_lowercase();
    let flag = found.lead.ends_with(b" ") && !found.lead.iter().any(|byte| matches!(byte, b':' | b'='));
    if flag && !prefix.starts_with(b"--") {
        return None;
    }
    let pass = [&b"assw"[..], b"assphrase", b"pwd"].iter().any(|word| contains(&name, word));
    let len = match found.quote {
        // What is quoted ends with its quote, or with all there is.
        Some(_) if !found.after.first().is_none_or(|byte| matches!(byte, b'"' | b'\'' | b'`')) => {
            return None;
        }
        Some(_) => found.secret.len(),
        None => found
            .secret
            .iter()
            .position(|byte| b",;&)(]}{<>|\\".contains(byte))
            .map_or(found.secret.len(), |len| if found.secret.get(len) == Some(&b'(') { 0 } else { len }),
    };
    // A quote that a string ends with opens nothing.
    if found.quote.is_some() && matches!(found.secret.first(), Some(b':' | b',' | b']' | b'}')) {
        return None;
    }
    // The beginning tells: of a long value no more is looked at.
    let value = found.secret.get(..len.min(96))?;
    if found.quote.is_none() && (number(value) || value.first() == Some(&b'[')) {
        return None;
    }
    let is_one = if found.quote.is_some() {
        if pass { len >= 6 && lively(value) && distinct(value) >= 4 } else { len >= 12 && strong(value) }
    } else {
        let shouted =
            !prefix.is_empty() && !name_has_lower(prefix, found.named) && found.lead.ends_with(b"=");
        if pass {
            len >= 8 && lively(value) && !path(value) && mixed_letters(value)
        } else {
            (len >= 16 || shouted && len >= 12) && strong(value) && !path(value)
        }
    };
    if !is_one {
        return None;
    }
    if HARMLESS.iter().any(|word| contains(&name, word.as_bytes())) {
        return None;
    }
    if placeholder(value) || is_uuid(value) && !name.ends_with(b"key") && !name.ends_with(b"secret") {
        return None;
    }
    Some(len)
}

fn name_has_lower(prefix: &[u8], named: &[u8]) -> bool {
    prefix.iter().chain(named).any(u8::is_ascii_lowercase)
}

fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')
}

/// Says whether a value is a path through code: `self.config.key2`, `Keys::get`, `a->b`.
fn path(value: &[u8]) -> bool {
    contains(value, b"::") || contains(value, b"->") || value.first() == Some(&b'/') || {
        value.contains(&b'.') && wordy(value, true)
    }
}

/// Says whether a value has what words lack: a digit, or a sign passwords have.
fn lively(value: &[u8]) -> bool {
    value.iter().any(|byte| byte.is_ascii_digit() || b"!@#^*?+~&%".contains(byte)) && !wordy(value, false)
}

fn mixed_letters(value: &[u8]) -> bool {
    value.iter().any(u8::is_ascii_digit) && value.iter().any(u8::is_ascii_alphabetic)
}

/// Says whether a value looks drawn at random: at least three bits a character, not made of words.
fn strong(value: &[u8]) -> bool {
    (mixed_letters(value) || value.len() >= 20 && both_cases(value))
        && !wordy(value, true)
        && entropy(value) >= 3.0
}

fn both_cases(value: &[u8]) -> bool {
    value.iter().any(u8::is_ascii_lowercase) && value.iter().any(u8::is_ascii_uppercase)
}

/// Says whether a value is made of words: each of its parts is one, or a short number, or (`numbered`) a word
/// with a short number behind it.
fn wordy(value: &[u8], numbered: bool) -> bool {
    value
        .split(|byte| !byte.is_ascii_alphanumeric())
        .filter(|part| !part.is_empty())
        .all(|part| word(part, numbered))
}

fn word(part: &[u8], numbered: bool) -> bool {
    let digits = part.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
    if digits == part.len() {
        return digits <= 8;
    }
    let letters = part.get(..part.len() - digits).unwrap_or_default();
    if digits > 0 && !(numbered && digits <= 2) || letters.iter().any(u8::is_ascii_digit) {
        return false;
    }
    if !both_cases(letters) {
        return true;
    }
    // Camel case is words; letters up and down at random are not.
    let humps = letters.iter().filter(|byte| byte.is_ascii_uppercase()).count();
    letters.len() >= humps * 4
}

/// Says whether a value is a number as JSON has them: outside of a string nothing is replaced.
fn number(value: &[u8]) -> bool {
    value.iter().all(|byte| byte.is_ascii_digit() || b"+-.eE".contains(byte))
}

fn is_uuid(value: &[u8]) -> bool {
    value.len() == 36
        && value.iter().enumerate().all(|(at, byte)| {
            if matches!(at, 8 | 13 | 18 | 23) { *byte == b'-' } else { byte.is_ascii_hexdigit() }
        })
}

/// Says whether something stands for a secret that is filled in elsewhere, or that was taken out already.
fn placeholder(value: &[u8]) -> bool {
    const STARTS: [&[u8]; 9] = [b"$", b"<", b"{", b"%(", b"%s", b"%{", b"#{", b"@{", b"os."];
    const HOLDS: [&[u8]; 11] = [
        b"***",
        b"xxxx",
        b"...",
        b"${",
        b"{{",
        b"your",
        b"placeholder",
        b"changeme",
        b"example",
        b"redacted",
        b"process.env",
    ];
    const WHOLE: [&[u8]; 12] = [
        b"password",
        b"passwd",
        b"pass",
        b"pw",
        b"pwd",
        b"secret",
        b"token",
        b"user_password",
        b"null",
        b"none",
        b"undefined",
        b"\xe2\x80\xa6",
    ];
    let lower = value.to_ascii_lowercase();
    STARTS.iter().any(|start| lower.starts_with(start))
        || HOLDS.iter().any(|held| contains(&lower, held))
        || WHOLE.contains(&lower.as_slice())
        || value.iter().all(|byte| !byte.is_ascii_alphanumeric() && byte.is_ascii())
}

fn contains(text: &[u8], part: &[u8]) -> bool {
    memchr::memmem::find(text, part).is_some()
}

/// Returns how many different bytes there are.
fn distinct(value: &[u8]) -> usize {
    let mut seen = [false; 256];
    for &byte in value {
        if let Some(slot) = seen.get_mut(usize::from(byte)) {
            *slot = true;
        }
    }
    seen.iter().filter(|slot| **slot).count()
}

/// Returns the bits a byte carries, from how often each occurs.
fn entropy(value: &[u8]) -> f64 {
    let mut counts = [0u32; 256];
    for &byte in value {
        if let Some(count) = counts.get_mut(usize::from(byte)) {
            *count += 1;
        }
    }
    let total: f64 = counts.iter().map(|&count| f64::from(count)).sum();
    counts
        .iter()
        .filter(|count| **count > 0)
        .map(|&count| {
            let share = f64::from(count) / total;
            -share * share.log2()
        })
        .sum()
}
