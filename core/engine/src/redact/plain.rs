//! Whether a text is plainly without a secret, told without building anything: for a hook, which its client waits for.

use super::find::ESCAPE;
use super::rules::RULES;

/// How many places the first three bytes of a literal may have.
const PLACES: usize = 1 << 12;
/// How many literals announce something.
const COUNT: usize = count();

/// By the place of its first three bytes, the number of the last literal that has them, from 1; 0 where none has.
static FIRST: [u8; PLACES] = chains().0;
/// By its number, the literal before that has the same place.
static BEFORE: [u8; COUNT + 1] = chains().1;
/// By its number, each literal.
static LITERALS: [&str; COUNT + 1] = literals();

const fn place(first: u8, second: u8, third: u8) -> usize {
    ((first as usize) << 6 ^ (second as usize) << 3 ^ third as usize) % PLACES
}

const fn count() -> usize {
    let (mut count, mut rule) = (1, 0);
    while rule < RULES.len() {
        count += RULES[rule].keywords.len();
        rule += 1;
    }
    count
}

const fn literals() -> [&'static str; COUNT + 1] {
    let mut literals = [ESCAPE; COUNT + 1];
    let (mut at, mut rule) = (2, 0);
    while rule < RULES.len() {
        let keywords = RULES[rule].keywords;
        let mut keyword = 0;
        while keyword < keywords.len() {
            literals[at] = keywords[keyword];
            (at, keyword) = (at + 1, keyword + 1);
        }
        rule += 1;
    }
    literals
}

const fn chains() -> ([u8; PLACES], [u8; COUNT + 1]) {
    let (mut first, mut before, literals) = ([0; PLACES], [0; COUNT + 1], literals());
    let mut number = 1;
    while number <= COUNT {
        let bytes = literals[number].as_bytes();
        let place = place(bytes[0], bytes[1], bytes[2]);
        before[number] = first[place];
        // A table with more literals than a byte counts does not compile.
        assert!(number < 256);
        #[expect(clippy::cast_possible_truncation, reason = "just asserted")]
        let as_byte = number as u8;
        first[place] = as_byte;
        number += 1;
    }
    (first, before)
}

/// Says whether nothing in a text announces a secret, so that a [`Redactor`](super::Redactor) would leave it as it is. It
/// may say no of a text without any; it builds nothing.
pub fn is_plain(text: &str) -> bool {
    let text = text.as_bytes();
    !text.windows(3).enumerate().any(|(at, three)| {
        let mut number = FIRST[place(three[0], three[1], three[2])];
        while number != 0 {
            let literal = LITERALS[usize::from(number)].as_bytes();
            if text.get(at..).is_some_and(|rest| rest.starts_with(literal)) {
                return true;
            }
            number = BEFORE[usize::from(number)];
        }
        false
    })
}
