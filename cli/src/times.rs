//! Times as people write and read them: local, relative where that says more.

use crate::exit::Ended;
use anyhow::Result;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use jiff::{Span, ToSpan as _, ZonedDateTime};
use scrollback_core::Timestamp;
use std::str::FromStr;

/// What is accepted as a time, for help and errors.
pub(crate) const FORMS: &str =
    "RFC 3339, a date, `today`, `yesterday`, or how long ago: `30m`, `2h`, `3d`, `1w`";

/// A time as the command line gives it.
#[derive(Debug, Clone)]
pub(crate) enum Moment {
    /// That moment.
    At(Timestamp),
    /// That time here; of a date alone the first moment.
    Here(DateTime),
    /// The first moment of the day so many days ago, here.
    Day(i64),
    /// So long ago.
    Ago(Span),
}

impl FromStr for Moment {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("it is no time; accepted are {FORMS}");
        match text {
            "today" => return Ok(Self::Day(0)),
            "yesterday" => return Ok(Self::Day(1)),
            _ => {}
        }
        if let Ok(at) = text.parse() {
            return Ok(Self::At(at));
        }
        if let Ok(time) = text.parse::<DateTime>() {
            return Ok(Self::Here(time));
        }
        let unit = text.chars().next_back().ok_or_else(wrong)?;
        let n: i64 = text[..text.len() - unit.len_utf8()].parse().map_err(|_| wrong())?;
        if n < 0 {
            return Err(wrong());
        }
        let span = Span::new();
        match unit {
            's' => span.try_seconds(n),
            'm' => span.try_minutes(n),
            'h' => span.try_hours(n),
            'd' => span.try_days(n),
            'w' => span.try_weeks(n),
            _ => return Err(wrong()),
        }
        .map(Self::Ago)
        .map_err(|_| wrong())
    }
}

/// What the clock says, and where.
#[derive(Debug, Clone)]
pub(crate) struct Clock {
    now: ZonedDateTime,
}

impl Clock {
    /// Returns the clock at `now` in the zone of this machine.
    pub(crate) fn here(now: Timestamp) -> Self {
        Self::new(now, TimeZone::system())
    }

    /// Returns the clock at `now` in `zone`.
    pub(crate) fn new(now: Timestamp, zone: TimeZone) -> Self {
        Self { now: moment(now).to_zoned_datetime(zone) }
    }

    /// Returns the moment that is meant.
    pub(crate) fn resolve(&self, wanted: &Moment) -> Result<Timestamp> {
        let zone = self.now.time_zone();
        let found = match wanted {
            Moment::At(at) => return Ok(*at),
            Moment::Here(time) => zone.to_zoned_datetime(*time),
            Moment::Day(ago) => self.now.start_of_day().and_then(|day| day.checked_sub(ago.days())),
            Moment::Ago(span) => self.now.checked_sub(*span),
        };
        found
            .ok()
            .and_then(|zoned| Timestamp::from_micros(zoned.timestamp().as_microsecond()).ok())
            .ok_or_else(|| Ended::usage("a time is before the year 1 or after the year 9999").into())
    }

    /// Returns a time in at most ten columns: how long ago in the last hour, the time of today, the day of the
    /// last six days, else the date.
    pub(crate) fn short(&self, at: Timestamp) -> String {
        let then = self.zoned(at);
        let seconds = self.now.timestamp().as_second() - then.timestamp().as_second();
        let days = (self.now.date() - then.date()).get_days();
        match seconds {
            0..60 => "just now".to_owned(),
            60..3600 => format!("{} min ago", seconds / 60),
            _ if days == 0 && seconds >= 0 => then.strftime("%H:%M").to_string(),
            _ if (1..=6).contains(&days) => then.strftime("%a %H:%M").to_string(),
            _ => then.strftime("%Y-%m-%d").to_string(),
        }
    }

    /// Returns a time to the minute, with its date.
    pub(crate) fn minute(&self, at: Timestamp) -> String {
        self.zoned(at).strftime("%Y-%m-%d %H:%M").to_string()
    }

    /// Returns a time to the second, with its date and its zone.
    pub(crate) fn exact(&self, at: Timestamp) -> String {
        self.zoned(at).strftime("%Y-%m-%d %H:%M:%S %Z").to_string()
    }

    /// Returns the day of a time.
    pub(crate) fn day(&self, at: Timestamp) -> String {
        self.zoned(at).strftime("%Y-%m-%d").to_string()
    }

    /// Returns a time to the minute, with its date only if it is not the day of `before`.
    pub(crate) fn since(&self, at: Timestamp, before: Option<Timestamp>) -> String {
        let same_day = before.is_some_and(|before| self.zoned(before).date() == self.zoned(at).date());
        if same_day { self.zoned(at).strftime("%H:%M").to_string() } else { self.minute(at) }
    }

    fn zoned(&self, at: Timestamp) -> ZonedDateTime {
        moment(at).to_zoned_datetime(self.now.time_zone().clone())
    }
}

fn moment(at: Timestamp) -> jiff::Timestamp {
    // Every `Timestamp` is in jiff's range, which is a day wider on either side.
    jiff::Timestamp::from_microsecond(at.micros()).unwrap_or(jiff::Timestamp::UNIX_EPOCH)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clock() -> Clock {
        let zone = TimeZone::fixed(jiff::tz::offset(1));
        Clock::new("2026-11-30T20:00:00Z".parse().unwrap(), zone)
    }

    #[test]
    fn a_time_is_what_a_person_means_here() {
        let cases = [
            ("2026-11-01T10:00:00+02:00", "2026-11-01T08:00:00.000Z"),
            ("2026-11-01", "2026-10-31T23:00:00.000Z"),
            ("2026-11-01T10:00", "2026-11-01T09:00:00.000Z"),
            ("2026-11-01 10:00", "2026-11-01T09:00:00.000Z"),
            ("today", "2026-11-29T23:00:00.000Z"),
            ("yesterday", "2026-11-28T23:00:00.000Z"),
            ("30m", "2026-11-30T19:30:00.000Z"),
            ("2h", "2026-11-30T18:00:00.000Z"),
            ("3d", "2026-11-27T20:00:00.000Z"),
            ("1w", "2026-11-23T20:00:00.000Z"),
        ];
        for (text, expected) in cases {
            let at = clock().resolve(&text.parse().unwrap()).unwrap();
            assert_eq!(at.to_string(), expected, "{text}");
        }
    }

    #[test]
    fn what_is_no_time_says_what_is() {
        for text in ["", "soon", "-2h", "2", "h", "2y", "2026-13-01", "99999999999999999999d", "2ü"] {
            assert!(text.parse::<Moment>().is_err_and(|error| error.contains("yesterday")), "{text}");
        }
        assert!(clock().resolve(&"19000w".parse().unwrap()).is_ok());
        assert!(clock().resolve(&"900000w".parse().unwrap()).is_err());
    }

    #[test]
    fn a_time_is_shown_as_short_as_it_can_be() {
        let cases = [
            ("2026-11-30T19:59:30Z", "just now"),
            ("2026-11-30T19:59:00Z", "1 min ago"),
            ("2026-11-30T19:00:01Z", "59 min ago"),
            ("2026-11-30T07:05:00Z", "08:05"),
            ("2026-11-29T22:30:00Z", "Sun 23:30"),
            ("2026-11-24T12:00:00Z", "Tue 13:00"),
            ("2026-11-23T12:00:00Z", "2026-11-23"),
            ("2026-12-24T12:00:00Z", "2026-12-24"),
        ];
        for (at, expected) in cases {
            assert_eq!(clock().short(at.parse().unwrap()), expected, "{at}");
        }
        let (first, second) =
            ("2026-11-29T22:50:00Z".parse().unwrap(), "2026-11-29T23:10:00Z".parse().unwrap());
        assert_eq!(clock().since(first, None), "2026-11-29 23:50");
        assert_eq!(clock().since(second, Some(first)), "2026-11-30 00:10");
        assert_eq!(clock().since(second, Some(second)), "00:10");
    }
}
