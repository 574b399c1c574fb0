use super::*;
use proptest::prelude::*;
use std::time::{Duration, Instant};

fn of(line: &str) -> Vec<(bool, &str)> {
    values(line.as_bytes())
        .into_iter()
        .map(|part| {
            assert_eq!(&line.as_bytes()[part.range.clone()], part.bytes);
            (part.whole, std::str::from_utf8(part.bytes).unwrap())
        })
        .collect()
}

const W: bool = true;
const T: bool = false;

#[test]
fn several_values_are_taken_apart() {
    assert_eq!(of(r#"{"a":1}"#), [(W, r#"{"a":1}"#)]);
    assert_eq!(of("{}{}"), [(W, "{}"), (W, "{}")]);
    assert_eq!(of("{} \t{}\r"), [(W, "{}"), (W, "{}")]);
    assert_eq!(of("{\"a\":1}\0\0\0{\"b\":2}"), [(W, r#"{"a":1}"#), (W, r#"{"b":2}"#)]);
    assert_eq!(of("[1] 2 \"x\""), [(W, "[1]"), (W, "2"), (W, "\"x\"")]);
    assert_eq!(of(" \0"), []);
    assert_eq!(of(""), []);
}

#[test]
fn a_torn_value_is_told_from_the_whole_one_behind_it() {
    let behind = r#"{"type":"x","text":"a } \" { \\","in":{"b":[{}]}}"#;
    for torn in [
        r#"{"a":{"b":1"#,
        r#"{"a":"half a stri"#,
        r#"{"a":"with a \"quote\" and {brace"#,
        r#"{"a":"a colon:"#,
        r#"{"a":"a backslash \\"#,
        r#"{"a":1,"#,
        r"{",
        r#"{"a""#,
        r#"{"a":{"b":1}"#,
        r"no json at all",
    ] {
        assert_eq!(of(&format!("{torn}{behind}")), [(T, torn), (W, behind)], "{torn}");
        assert_eq!(of(&format!("{torn}\0\0{behind} ")), [(T, torn), (W, behind)], "{torn}");
        assert_eq!(of(&format!("{torn}{behind}{behind}")), [(T, torn), (W, behind), (W, behind)], "{torn}");
        let all = format!("{behind}{torn}{behind}");
        assert_eq!(of(&all), [(W, behind), (T, torn), (W, behind)], "{torn}");
    }
}

#[test]
fn an_inner_object_is_not_a_record() {
    for torn in [
        r#"{"type":"user","message":{"role":"user","content":"hi"}"#,
        r#"{"a":[{"b":1},{"c":2}"#,
        r#"{"a":[{"b":1}"#,
        r#"{"t":"prose {}"#,
        r#"{"t":{}"#,
        r#"{"a":1"#,
        r#"{"a":1}}"#,
    ] {
        let parts = of(torn);
        assert!(!parts.iter().any(|(whole, text)| *whole && *text != r#"{"a":1}"#), "{torn}: {parts:?}");
    }
    let both = r#"{"m":{"b":1}{"type":"y"}"#;
    assert_eq!(of(both), [(T, r#"{"m":{"b":1}"#), (W, r#"{"type":"y"}"#)]);
}

#[test]
fn what_is_no_json_is_one_torn_part() {
    assert_eq!(of("hello {world}"), [(T, "hello {world}")]);
    assert_eq!(of(r#"{"a":1} and more "#), [(W, r#"{"a":1}"#), (T, "and more")]);
    let bad = values(b"\xff\xfe{\"a\":1");
    assert_eq!((bad.parts().len(), bad.parts()[0].whole), (1, false));
}

#[test]
fn depth_costs_no_stack() {
    for depth in [10_000, 3_000_000] {
        let deep = "[".repeat(depth) + &"]".repeat(depth);
        assert_eq!(values(deep.as_bytes()).parts().len(), 1);
        assert!(values(deep.as_bytes()).parts()[0].whole);
        let deep = r#"{"a":"#.repeat(depth);
        assert_eq!(of(&deep), [(T, deep.as_str())]);
        let deep = r#"{"a":"#.repeat(depth) + "1" + &"}".repeat(depth - 1);
        assert_eq!(of(&deep), [(T, deep.as_str())]);
    }
}

#[test]
fn a_record_too_deep_for_its_decoder_is_one_whole_value() {
    #[derive(serde::Deserialize)]
    struct Raw<'r> {
        #[serde(borrow)]
        a: &'r serde_json::value::RawValue,
    }
    let deep = r#"{"a":"#.repeat(10_000) + "1" + &"}".repeat(10_000);
    assert!(serde_json::from_str::<serde_json::Value>(&deep).is_err());
    assert_eq!(of(&deep), [(W, deep.as_str())]);
    let raw: Raw<'_> = serde_json::from_str(&deep).unwrap();
    assert_eq!(raw.a.get().len(), deep.len() - 6);
}

#[test]
fn the_time_is_linear() {
    // Each of these takes minutes if any start is tried against the rest of the line.
    let n = 2 << 20;
    for line in [
        "{".repeat(n),
        r#"{"a":"#.repeat(n / 5),
        "x".to_owned() + &"}".repeat(n),
        "x".to_owned() + &r#"{"a":1}"#.repeat(n / 7),
        "\\".repeat(n) + "\"}",
        r#"\""#.repeat(n / 2) + "}",
        r#"{"a":"#.to_owned() + &"{} ".repeat(n / 3),
    ] {
        let start = Instant::now();
        let parts = values(line.as_bytes());
        assert!(!parts.parts().is_empty());
        assert!(start.elapsed() < Duration::from_secs(10), "{}", &line[..20]);
    }
}

fn json() -> impl Strategy<Value = String> {
    let text = r#"[ -~]{0,8}|[\\"{}\[\]:,]{0,6}"#.prop_map(|text| serde_json::to_string(&text).unwrap());
    let leaf = prop_oneof![text, Just("1".to_owned()), Just("null".to_owned())];
    let value = leaf.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(|list| format!("[{}]", list.join(","))),
            prop::collection::vec(inner, 0..3).prop_map(|list| {
                let fields: Vec<_> =
                    list.iter().enumerate().map(|(n, value)| format!("\"k{n}\":{value}")).collect();
                format!("{{{}}}", fields.join(","))
            }),
        ]
    });
    value.prop_map(|value| format!(r#"{{"type":{value}}}"#))
}

proptest! {
    #[test]
    fn whole_records_are_found_and_inner_objects_are_not(
        first in json(), torn in json(), cut in 1_usize..200, last in prop::collection::vec(json(), 0..3),
    ) {
        let cut = cut.min(torn.len() - 1);
        let torn = &torn[..cut];
        let line = format!("{first}{torn}{}", last.concat());
        let parts = of(&line);
        let wholes: Vec<_> = parts.iter().filter(|(whole, _)| *whole).map(|(_, text)| (*text).to_owned()).collect();
        let all: Vec<_> = [first.clone()].into_iter().chain(last.iter().cloned()).collect();
        // The record behind a tear is given up where it could be an inner object; never another.
        let mut without = all.clone();
        if without.len() > 1 {
            without.remove(1);
        }
        let unsure = torn.ends_with([':', '[', ',']);
        prop_assert!(wholes == all || unsure && wholes == without, "{line}\n{parts:?}");
    }

    #[test]
    fn parts_cover_everything_but_blanks(line in prop::collection::vec(
        prop_oneof![Just(b'{'), Just(b'}'), Just(b'"'), Just(b':'), Just(b'\\'), Just(b' '), Just(0), Just(b'a'),
            Just(b'['), Just(b']'), Just(b','), Just(b'1'), Just(0xff)], 0..40)) {
        let mut at = 0;
        for part in values(&line) {
            prop_assert!(part.range.start >= at && part.range.end > part.range.start);
            prop_assert!(line[at..part.range.start].iter().all(|&byte| is_blank(byte)));
            prop_assert!(!part.whole || serde_json::from_slice::<IgnoredAny>(part.bytes).is_ok());
            at = part.range.end;
        }
        prop_assert!(line[at..].iter().all(|&byte| is_blank(byte)));
    }
}
