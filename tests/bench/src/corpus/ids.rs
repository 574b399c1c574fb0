//! Ids and times in the clients' spellings.

use super::rng::Rng;

/// Returns a random UUID, version 4.
pub(crate) fn uuid4(rng: &mut Rng) -> String {
    let (a, b) = (rng.next(), rng.next());
    format!(
        "{:08x}-{:04x}-4{:03x}-{:04x}-{:012x}",
        a >> 32,
        (a >> 16) & 0xFFFF,
        a & 0xFFF,
        (b >> 48) & 0x3FFF | 0x8000,
        b & 0xFFFF_FFFF_FFFF
    )
}

/// Returns a UUID of version 7 made at `ms`.
pub(crate) fn uuid7(rng: &mut Rng, ms: u64) -> String {
    let (a, b) = (rng.next(), rng.next());
    format!(
        "{:08x}-{:04x}-7{:03x}-{:04x}-{:012x}",
        ms >> 16,
        ms & 0xFFFF,
        a & 0xFFF,
        (b >> 48) & 0x3FFF | 0x8000,
        b & 0xFFFF_FFFF_FFFF
    )
}

/// Returns `prefix` and `count` letters and digits.
pub(crate) fn token(rng: &mut Rng, prefix: &str, count: usize) -> String {
    const LETTERS: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    let mut out = String::from(prefix);
    for _ in 0..count {
        out.push(char::from(rng.of(LETTERS)));
    }
    out
}

/// Returns year, month and day of a time in milliseconds since 1970.
pub(crate) fn date(ms: u64) -> (u64, u64, u64) {
    let days = ms / 86_400_000 + 719_468;
    let era = days / 146_097;
    let of_era = days % 146_097;
    let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let part = (5 * of_year + 2) / 153;
    let month = if part < 10 { part + 3 } else { part - 9 };
    (year_of_era + era * 400 + u64::from(month <= 2), month, of_year - (153 * part + 2) / 5 + 1)
}

/// Returns a time as the clients write it: RFC 3339, UTC, milliseconds.
pub(crate) fn time(ms: u64) -> String {
    let (year, month, day) = date(ms);
    let of_day = ms % 86_400_000;
    format!(
        "{year:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}.{:03}Z",
        of_day / 3_600_000,
        of_day / 60_000 % 60,
        of_day / 1_000 % 60,
        of_day % 1_000
    )
}
