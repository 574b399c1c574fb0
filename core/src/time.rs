//! Moments, to the microsecond.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::str::FromStr;
use thiserror::Error;

/// A moment in UTC, to the microsecond, from year 1 to 9999; written as RFC 3339.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(i64);

/// A text or number that is no moment of the years 1 to 9999.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{0:?} is not an RFC 3339 time of the years 1 to 9999")]
pub struct TimestampError(String);

const FIRST: i64 = -62_135_596_800_000_000;
/// The last moment that can be printed in every zone: the end of 9999-12-30, at 22 hours UTC.
const LAST: i64 = 253_402_207_200_999_999;

impl Timestamp {
    /// Returns the moment `micros` microseconds after 1970 began.
    pub fn from_micros(micros: i64) -> Result<Self, TimestampError> {
        if (FIRST..=LAST).contains(&micros) {
            Ok(Self(micros))
        } else {
            Err(TimestampError(micros.to_string()))
        }
    }

    /// Returns the moment `millis` milliseconds after 1970 began.
    pub fn from_millis(millis: i64) -> Result<Self, TimestampError> {
        millis.checked_mul(1000).map_or_else(|| Err(TimestampError(millis.to_string())), Self::from_micros)
    }

    /// Returns microseconds since 1970 began.
    pub const fn micros(self) -> i64 {
        self.0
    }
}

impl FromStr for Timestamp {
    type Err = TimestampError;

    fn from_str(text: &str) -> Result<Self, TimestampError> {
        let wrong = || TimestampError(text.chars().take(64).collect());
        let moment: jiff::Timestamp = text.parse().map_err(|_| wrong())?;
        Self::from_micros(moment.as_microsecond()).map_err(|_| wrong())
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match jiff::Timestamp::from_microsecond(self.0) {
            Ok(moment) if self.0 % 1000 == 0 => write!(f, "{moment:.3}"),
            Ok(moment) => write!(f, "{moment:.6}"),
            Err(_) => Err(fmt::Error),
        }
    }
}

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_comes_back_as_it_was_written() {
        for text in ["2026-11-30T20:00:00.123Z", "1999-01-01T00:00:00.000Z", "2026-11-30T20:00:00.123456Z"] {
            assert_eq!(text.parse::<Timestamp>().unwrap().to_string(), text);
        }
        assert_eq!(
            "2026-11-30T21:00:00+01:00".parse::<Timestamp>().unwrap().to_string(),
            "2026-11-30T20:00:00.000Z"
        );
    }

    #[test]
    fn what_is_no_time_says_so() {
        for text in ["", "yesterday", "2026-13-01T00:00:00Z", "1700000000"] {
            assert!(text.parse::<Timestamp>().is_err(), "{text}");
        }
        assert!(Timestamp::from_millis(i64::MAX).is_err());
    }
}
