//! Moments, in the forms clients write them.

use crate::node::Node;
use scrollback_core::Timestamp;

/// The first number that is taken for seconds since 1970: March 1973. A smaller one is a duration or a count.
const FIRST: f64 = 1e8;

/// Returns the moment a value says: RFC 3339, or a number since 1970 in seconds, milli-, micro- or nanoseconds,
/// which its size tells apart. A time without a zone is none: nobody knows which moment it was.
pub(crate) fn moment(node: &Node<'_>) -> Option<Timestamp> {
    if let Some(text) = node.text() {
        return text.trim().parse().ok();
    }
    let number = node.number().filter(|number| *number >= FIRST)?;
    // Beyond the year 5138 in seconds, and so on.
    let micros = match number {
        _ if number < 1e11 => number * 1e6,
        _ if number < 1e14 => number * 1e3,
        _ if number < 1e17 => number,
        _ if number < 1e20 => number / 1e3,
        _ => return None,
    };
    #[expect(clippy::cast_possible_truncation, reason = "below 1e17")]
    Timestamp::from_micros(micros.round() as i64).ok()
}

/// Says whether a value is a time as a client writes it, be it one that names no moment.
pub(crate) fn is_time(node: &Node<'_>) -> bool {
    match node.text() {
        Some(text) => text.bytes().filter(u8::is_ascii_digit).count() >= 8,
        None => node.number().is_some_and(|number| number >= FIRST),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_read_in_every_unit() {
        let of = |text| moment(&Node::read(text).unwrap()).map(|at| at.to_string());
        for text in [
            "\"2026-11-30T20:00:00.123Z\"",
            "1796068800.123",
            "1796068800123",
            "1796068800123000",
            "1796068800123000000",
        ] {
            assert_eq!(of(text).as_deref(), Some("2026-11-30T20:00:00.123Z"), "{text}");
        }
        for text in
            ["\"2026-11-30T20:00:00\"", "\"noon\"", "12.5", "-1", "1e300", "true", "{}", "\"1796068800\""]
        {
            assert_eq!(of(text), None, "{text}");
        }
    }
}
