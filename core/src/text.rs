//! Text out of JSON that may hold half a surrogate pair or bytes that are not UTF-8.

use serde::de::{Deserialize, Deserializer, Error, Visitor};
use std::borrow::Cow;
use std::fmt;

/// What a person or a tool wrote, as a client put it into JSON.
///
/// Borrows from the record where it can. A lone half of a surrogate pair (`"\ud83d"`), which a plain string
/// refuses together with its whole line, becomes one U+FFFD; so does each run of bytes that is not UTF-8.
///
/// It does not help inside `#[serde(tag = …)]`, `flatten` or `untagged`: those decode strings before this type
/// sees them. Make content blocks flat structs with the kind as a string. As a field it takes `#[serde(borrow)]`, and
/// `default` where it may be absent.
///
/// ```
/// use scrollback_core::Text;
///
/// #[derive(serde::Deserialize)]
/// struct Line<'r> {
///     #[serde(borrow, default)]
///     text: Text<'r>,
/// }
///
/// let line: Line<'_> = serde_json::from_str(r#"{"text":"cut \ud83d"}"#)?;
/// assert_eq!(&*line.text, "cut \u{fffd}");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Text<'r>(pub Cow<'r, str>);

impl<'r> Text<'r> {
    /// Returns the text itself.
    pub fn into_inner(self) -> Cow<'r, str> {
        self.0
    }
}

impl std::ops::Deref for Text<'_> {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl<'r> From<Text<'r>> for Cow<'r, str> {
    fn from(text: Text<'r>) -> Self {
        text.0
    }
}

impl<'de: 'r, 'r> Deserialize<'de> for Text<'r> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Lossy;

        impl<'de> Visitor<'de> for Lossy {
            type Value = Cow<'de, str>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string")
            }

            fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<Self::Value, E> {
                Ok(Cow::Borrowed(text))
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
                Ok(Cow::Owned(text.to_owned()))
            }

            fn visit_borrowed_bytes<E: Error>(self, bytes: &'de [u8]) -> Result<Self::Value, E> {
                Ok(lossy(bytes))
            }

            fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<Self::Value, E> {
                Ok(Cow::Owned(lossy(bytes).into_owned()))
            }
        }

        deserializer.deserialize_bytes(Lossy).map(Text)
    }
}

/// Replaces each half of a surrogate pair (three bytes, `ED A0..BF 80..BF`) and each other invalid sequence by one U+FFFD.
fn lossy(bytes: &[u8]) -> Cow<'_, str> {
    if let Ok(text) = std::str::from_utf8(bytes) {
        return Cow::Borrowed(text);
    }
    let mut text = String::with_capacity(bytes.len());
    let mut rest = bytes;
    while !rest.is_empty() {
        match std::str::from_utf8(rest) {
            Ok(good) => {
                text.push_str(good);
                break;
            }
            Err(error) => {
                let (good, bad) = rest.split_at(error.valid_up_to());
                text.push_str(&String::from_utf8_lossy(good));
                text.push('\u{fffd}');
                let half = matches!(bad, [0xed, 0xa0..=0xbf, 0x80..=0xbf, ..]);
                let skip = if half { 3 } else { error.error_len().unwrap_or(bad.len()) };
                rest = &bad[skip..];
            }
        }
    }
    Cow::Owned(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(json: &[u8]) -> String {
        serde_json::from_slice::<Text<'_>>(json).unwrap().0.into_owned()
    }

    #[test]
    fn half_a_pair_costs_one_character() {
        assert_eq!(read(br#""a\ud83db""#), "a\u{fffd}b");
        assert_eq!(read(br#""\ude00""#), "\u{fffd}");
        assert_eq!(read(br#""\ud83d\ude00""#), "😀");
    }

    #[test]
    fn bytes_that_are_not_utf_8_cost_one_character_each() {
        assert_eq!(read(b"\"a\xffb\xc3\x28\""), "a\u{fffd}b\u{fffd}(");
    }

    #[test]
    fn plain_text_is_borrowed() {
        let json = br#""plain""#;
        assert!(matches!(serde_json::from_slice::<Text<'_>>(json).unwrap().0, Cow::Borrowed("plain")));
    }
}
