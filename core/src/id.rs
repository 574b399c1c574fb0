//! The identity of an event: fixed by what the client wrote, the same on every machine.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use sha2::{Digest as _, Sha256};
use std::fmt;
use std::str::FromStr;
use uuid::Uuid;

/// The namespace of every id that scrollback computes (`docs/formats.md`); it never changes.
pub const NAMESPACE: Uuid = Uuid::from_u128(0xff71_993b_e084_4d71_a97e_237e_1a96_dd18);

/// The identity of an event.
///
/// A UUID: version 5 over the client and the parts its format page lists, joined by the byte `1F`; or the UUID
/// the client itself gave, where it gave one that is unique everywhere ([`EventId::part_of`]). Never made from a
/// path, an offset, a line number or text after redaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EventId(Uuid);

impl EventId {
    /// Returns the id of the event that `parts` name within `client`, in order; the last part is the block's
    /// index in its record. The [front page](crate#identity) says what the parts are.
    ///
    /// ```
    /// use scrollback_core::EventId;
    ///
    /// // The first block of the record `msg_7` in the session `s1`; the same on every machine.
    /// let id = EventId::of("acme", &["s1", "msg_7", "0"]);
    /// assert_eq!(id.to_string(), "ad99fe14-f64e-5cdc-9a8a-057a33bff4bf");
    /// assert_ne!(id, EventId::of("acme", &["s1", "msg_7", "1"]));
    /// ```
    pub fn of(client: &str, parts: &[&str]) -> Self {
        let mut name = String::with_capacity(client.len() + parts.iter().map(|p| p.len() + 1).sum::<usize>());
        name.push_str(client);
        for part in parts {
            name.push('\u{1f}');
            name.push_str(part);
        }
        Self(Uuid::new_v5(&NAMESPACE, name.as_bytes()))
    }

    /// Returns the id of `part` of a record whose own id is `record`, a UUID that is unique everywhere: the UUID
    /// itself for part `0`, version 5 of it and the part for any other. `None` when `record` is not a lower-case
    /// 8-4-4-4-12 UUID.
    pub fn part_of(record: &str, part: &str) -> Option<Self> {
        let written_as_uuid = record.len() == 36
            && record.bytes().enumerate().all(|(at, byte)| match at {
                8 | 13 | 18 | 23 => byte == b'-',
                _ => byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte),
            });
        let whole = if written_as_uuid { Uuid::try_parse(record).ok()? } else { return None };
        Some(Self(if part == "0" { whole } else { Uuid::new_v5(&whole, part.as_bytes()) }))
    }

    /// Returns the sixteen bytes of the id, as the store keeps it.
    pub const fn as_bytes(&self) -> &[u8; 16] {
        self.0.as_bytes()
    }

    /// Returns the id of sixteen bytes out of a store.
    pub const fn from_bytes(bytes: [u8; 16]) -> Self {
        Self(Uuid::from_bytes(bytes))
    }
}

impl fmt::Display for EventId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.as_hyphenated().fmt(f)
    }
}

impl FromStr for EventId {
    type Err = uuid::Error;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Uuid::try_parse(text).map(Self)
    }
}

impl Serialize for EventId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for EventId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

/// Returns the SHA-256 of `text` in lower-case hexadecimal: the part that stands for a text in an id, where the
/// client gave the record none. The text is the client's, whole, before anything is cut out of it.
pub fn text_digest(text: &str) -> String {
    use fmt::Write as _;
    Sha256::digest(text.as_bytes()).iter().fold(String::with_capacity(64), |mut hex, byte| {
        let _ = write!(hex, "{byte:02x}");
        hex
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_uuid_of_the_client_is_part_zero() {
        let row = "c0a52ff7-60cc-4f6e-a6ec-bff41b06dbdc";
        assert_eq!(EventId::part_of(row, "0").unwrap().to_string(), row);
        let second = EventId::part_of(row, "1").unwrap();
        assert_eq!(second, EventId::part_of(row, "1").unwrap());
        assert_ne!(second.to_string(), row);
    }

    #[test]
    fn only_a_lower_case_hyphenated_uuid_is_taken_as_one() {
        for not in ["", "msg_1", "C0A52FF7-60CC-4F6E-A6EC-BFF41B06DBDC", "c0a52ff760cc4f6ea6ecbff41b06dbdc"] {
            assert_eq!(EventId::part_of(not, "0"), None, "{not}");
        }
    }

    #[test]
    fn parts_do_not_run_into_each_other() {
        assert_ne!(EventId::of("acme", &["ab", "c"]), EventId::of("acme", &["a", "bc"]));
    }

    #[test]
    fn a_text_stands_for_itself_by_its_sha_256() {
        assert_eq!(text_digest("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    }
}
