//! Thread ids in file names, and the time in a UUID of version 7.

/// What a file's name says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Name {
    /// The thread.
    pub(crate) thread: String,
    /// Whether the file is a later one of its thread, begun by a revert.
    pub(crate) later: bool,
}

/// Returns what the name of a rollout says: `rollout-<time>-<thread>`, after a revert `…-<thread>_<rollout>`.
pub(crate) fn name(stem: &str) -> Option<Name> {
    let last = tail_uuid(stem)?;
    let before = stem.get(..stem.len() - last.len())?;
    if let Some(before) = before.strip_suffix('_')
        && let Some(thread) = tail_uuid(before)
    {
        return Some(Name { thread: thread.to_owned(), later: true });
    }
    Some(Name { thread: last.to_owned(), later: false })
}

/// Returns the UUID that ends `text`.
pub(crate) fn tail_uuid(text: &str) -> Option<&str> {
    let uuid = text.get(text.len().checked_sub(36)?..)?;
    let shaped = uuid.bytes().enumerate().all(|(at, byte)| match at {
        8 | 13 | 18 | 23 => byte == b'-',
        _ => byte.is_ascii_hexdigit(),
    });
    shaped.then_some(uuid)
}

/// Returns the milliseconds since 1970 in the UUID of version 7 that ends `text`.
pub(crate) fn uuid7_ms(text: &str) -> Option<i64> {
    let uuid = tail_uuid(text)?;
    if uuid.as_bytes().get(14) != Some(&b'7') {
        return None;
    }
    let high = i64::from_str_radix(uuid.get(..8)?, 16).ok()?;
    let low = i64::from_str_radix(uuid.get(9..13)?, 16).ok()?;
    Some((high << 16) | low)
}

/// Says whether an id is one a migration made up from a place: `item-3`, `rollout-50`.
pub(crate) fn is_made_up(id: &str) -> bool {
    let number = id.strip_prefix("item-").or_else(|| id.strip_prefix("rollout-"));
    number.is_some_and(|number| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Says whether an id is too long to be a counter that starts again: providers of one machine begin with `msg_1`
/// or `call_0` each time.
pub(crate) fn is_unique(id: &str) -> bool {
    let tail = id.split_once(['_', '-']).map_or(id, |(_, tail)| tail);
    let digits = tail.bytes().filter(u8::is_ascii_digit).count();
    let letters = tail.bytes().filter(u8::is_ascii_alphabetic).count();
    let is_plain = tail.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte));
    is_plain && letters > 0 && digits > 0 && letters + digits >= 16
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_thread_is_in_the_name() {
        let plain = name("rollout-2026-11-30T20-46-39-01a22e35-adc4-7e23-a02d-3ce26c009c8c").unwrap();
        assert_eq!(plain, Name { thread: "01a22e35-adc4-7e23-a02d-3ce26c009c8c".to_owned(), later: false });
        let later = name(
            "rollout-2026-11-30T20-46-39-01a22e35-adc4-7e23-a02d-3ce26c009c8c_01a22e36-0000-7000-8000-000000000000",
        )
        .unwrap();
        assert_eq!(later, Name { thread: plain.thread, later: true });
        assert_eq!(name("gen-0.171.0-base-resumed"), None);
        assert_eq!(name("é01a22e35-adc4-7e23-a02d-3ce26c009c8"), None);
    }

    #[test]
    fn a_version_7_id_holds_its_time() {
        assert_eq!(uuid7_ms("msg_01a22e1e-eaed-7d73-b6c4-db8c77c5edc8"), Some(1_796_070_107_885));
        assert_eq!(uuid7_ms("7d88439a-5b0b-475b-8152-8a595b2fe0b8"), None);
        assert_eq!(uuid7_ms("msg_1"), None);
    }

    #[test]
    fn counters_are_told_from_ids() {
        for counter in [
            "msg_1",
            "call_0",
            "rs_1_33841240",
            "call_mockco000037",
            "msg_0000000000000001",
            "[left out of the copy 1]",
        ] {
            assert!(!is_unique(counter), "{counter}");
        }
        for id in ["msg_0d3f8a5c9b7e4f21aa55", "exec-8fe03b72-f3b9-483a-bc88-a8a0c044bd62"] {
            assert!(is_unique(id), "{id}");
        }
        assert!(is_made_up("item-3") && is_made_up("rollout-50") && !is_made_up("item-x"));
    }
}
