//! A line before it is a row: what is not read at all, and what a crash left of it.

use crate::wire::Row;

/// Reads a line; one that is all UTF-8, as nearly every one is, is checked once and as a whole.
pub(crate) fn read(bytes: &[u8]) -> serde_json::Result<Row<'_>> {
    match std::str::from_utf8(bytes) {
        Ok(text) => serde_json::from_str(text),
        Err(_) => serde_json::from_slice(bytes),
    }
}

/// Returns a line without the blanks around it, and without the zeros a crash leaves before it.
pub(crate) fn trimmed(bytes: &[u8]) -> &[u8] {
    let start =
        bytes.iter().position(|byte| *byte != 0 && !byte.is_ascii_whitespace()).unwrap_or(bytes.len());
    bytes.get(start..).unwrap_or_default().trim_ascii_end()
}

/// Returns the kind of a row of which nothing is read further: a stored request, which repeats what was said and
/// holds secrets, and progress, which repeats what stands in other rows. Nothing of it is decoded. Progress is
/// looked for only if `progress` says so: few versions wrote it, and looking costs.
pub(crate) fn skipped(bytes: &[u8], progress: bool) -> Option<&'static str> {
    let start = bytes.strip_prefix(b"{")?.trim_ascii_start();
    if !progress && !start.starts_with(b"\"type\"") {
        return None;
    }
    let kind = match leading_type(bytes)? {
        "progress" => "progress",
        kind if kind.starts_with("api-request") => "api-request",
        _ => return None,
    };
    // Torn, it may have a whole row behind it.
    let behind = bytes.get(1..)?;
    let torn = match std::str::from_utf8(behind) {
        Ok(text) => text.contains(ROW),
        Err(_) => behind.windows(ROW.len()).any(|window| window == ROW.as_bytes()),
    };
    (bytes.ends_with(b"}") && !torn).then_some(kind)
}

/// How most rows open; within a string it would be escaped.
const ROW: &str = "{\"parentUuid\"";

/// Returns a row's type if only plain members stand before it, without decoding anything.
pub(crate) fn leading_type(bytes: &[u8]) -> Option<&str> {
    let start = bytes.get(..1024).unwrap_or(bytes);
    let start = match std::str::from_utf8(start) {
        Ok(text) => text,
        Err(error) => std::str::from_utf8(start.get(..error.valid_up_to())?).ok()?,
    };
    let mut rest = start.strip_prefix('{')?;
    loop {
        let (key, after) = plain_string(rest.trim_ascii_start())?;
        rest = after.trim_ascii_start().strip_prefix(':')?.trim_ascii_start();
        if key == "type" {
            return Some(plain_string(rest)?.0);
        }
        rest = match rest.as_bytes().first()? {
            b'"' => plain_string(rest)?.1,
            b'{' | b'[' => return None,
            _ => rest.get(rest.find(',')?..)?,
        };
        rest = rest.trim_ascii_start().strip_prefix(',')?;
    }
}

/// Returns a string without escapes, and what follows it.
fn plain_string(text: &str) -> Option<(&str, &str)> {
    let (string, rest) = text.strip_prefix('"')?.split_once('"')?;
    (!string.contains('\\')).then_some((string, rest))
}

/// Returns the whole row a line ends with, if it begins with a torn one.
pub(crate) fn whole_tail(bytes: &[u8]) -> Option<(Row<'_>, &[u8])> {
    const OPENINGS: [&[u8]; 2] = [ROW.as_bytes(), b"{\"type\""];
    let mut from = 1;
    for _ in 0..32 {
        let rest = bytes.get(from..)?;
        let at =
            rest.windows(13).position(|window| OPENINGS.iter().any(|opening| window.starts_with(opening)))?;
        let tail = rest.get(at..)?;
        match read(tail) {
            Ok(row) if row.session_id.is_some() => return Some((row, tail)),
            _ => from += at + 1,
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_type_is_found_without_decoding() {
        let rows: [(&[u8], Option<&str>); 7] = [
            (br#"{"type":"api-request","x":{}}"#, Some("api-request")),
            (br#"{ "type" : "progress" }"#, Some("progress")),
            (
                br#"{"parentUuid":null,"isSidechain":false,"cwd":"/x","type":"progress","data":{}}"#,
                Some("progress"),
            ),
            (br#"{"message":{"type":"progress"},"type":"user"}"#, None),
            (br#"{"cwd":"C:\\x","type":"progress"}"#, None),
            (br#"{"a":1}"#, None),
            (b"{\"type\":\"pro", None),
        ];
        for (row, expected) in rows {
            assert_eq!(leading_type(row), expected, "{}", String::from_utf8_lossy(row));
        }
    }

    #[test]
    fn a_torn_row_hides_no_whole_one() {
        assert_eq!(skipped(br#"{"type":"progress","data":{}}"#, false), Some("progress"));
        assert_eq!(skipped(br#"{"type":"progress","data":{"#, true), None);
        assert_eq!(skipped(br#"{"type":"progress","da{"parentUuid":null,"type":"user"}"#, true), None);
        assert_eq!(skipped(br#"{"type":"user"}"#, true), None);
        let late = br#"{"parentUuid":null,"type":"progress"}"#;
        assert_eq!((skipped(late, true), skipped(late, false)), (Some("progress"), None));
    }

    #[test]
    fn zeros_before_a_row_are_no_part_of_it() {
        assert_eq!(trimmed(b"\0\0 {} \r\n"), b"{}");
        assert_eq!(trimmed(b"\0\0"), b"");
    }
}
