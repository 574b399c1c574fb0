//! Telling a transcript from everything else, by a map's own rule.

use crate::decode::speaks;
use crate::map::FieldMap;
use crate::node::Node;
use scrollback_core::{Probe, Score};

/// How many lines are looked at.
const LINES: usize = 32;

/// Says how sure a map is of a source. Without a rule it is of none; with the file's name and keys both, it is sure.
pub(crate) fn score(map: &FieldMap, probe: &Probe<'_>) -> Score {
    let Some(rule) = &map.recognise else { return Score::No };
    let name = probe.path.file_name().unwrap_or_default().to_string_lossy();
    let named = rule.names.iter().any(|pattern| matches(pattern.as_bytes(), name.as_bytes()));
    if !rule.names.is_empty() && !named {
        return Score::No;
    }
    let lines = || probe.lines().take(LINES).filter_map(|line| std::str::from_utf8(line).ok());
    let records = || lines().filter_map(|line| Node::read(line).ok()).filter(Node::is_object);
    if let Some(keys) = &rule.keys
        && !records().any(|node| keys.lead_all(&node))
    {
        return Score::No;
    }
    if rule.messages && !records().any(|node| speaks(map, &node)) && !is_cut(probe) {
        return Score::No;
    }
    if named && rule.keys.is_some() { Score::Sure } else { Score::Maybe }
}

/// Says whether the head is the beginning of one long line that names a role and a content.
fn is_cut(probe: &Probe<'_>) -> bool {
    let head = probe.head.trim_ascii_start();
    let holds = |key: &[u8]| head.windows(key.len()).any(|window| window == key);
    head.starts_with(b"{") && !head.contains(&b'\n') && holds(b"\"role\":") && holds(b"\"content\":")
}

/// Says whether a name is of a pattern of `*` and `?`.
fn matches(pattern: &[u8], name: &[u8]) -> bool {
    let (mut at, mut in_name) = (0, 0);
    // Where the last star stands, and what of the name it takes so far.
    let mut star: Option<(usize, usize)> = None;
    while in_name < name.len() {
        match pattern.get(at) {
            Some(b'*') => {
                star = Some((at, in_name));
                at += 1;
            }
            Some(one) if *one == b'?' || name.get(in_name) == Some(one) => {
                (at, in_name) = (at + 1, in_name + 1);
            }
            _ => {
                let Some((after, taken)) = star else { return false };
                star = Some((after, taken + 1));
                (at, in_name) = (after + 1, taken + 1);
            }
        }
    }
    pattern.get(at..).unwrap_or_default().iter().all(|rest| *rest == b'*')
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    fn of(map: &str, path: &str, head: &str) -> Score {
        let map = FieldMap::read(&format!("id='a'\nname='A'\nrecord={{role='who',content='said'}}\n{map}"))
            .unwrap();
        score(&map, &Probe { path: Path::new(path), head: head.as_bytes(), schema: None })
    }

    #[test]
    fn a_map_without_a_rule_is_never_sure() {
        assert_eq!(of("", "/x/a.jsonl", r#"{"who":"user","said":"hi"}"#), Score::No);
    }

    #[test]
    fn every_part_of_a_rule_must_hold() {
        let line = "{\"x\":1}\n{\"who\":\"user\",\"said\":\"hi\"}\n{\"who";
        assert_eq!(of("recognise={keys=['who','said']}", "/x/a.jsonl", line), Score::Maybe);
        assert_eq!(of("recognise={keys=['who','x']}", "/x/a.jsonl", line), Score::No);
        assert_eq!(of("recognise={names=['a.*']}", "/x/a.jsonl", line), Score::Maybe);
        assert_eq!(of("recognise={names=['a?.jsonl','*.log'],keys=['who']}", "/x/a.jsonl", line), Score::No);
        assert_eq!(of("recognise={names=['?.jsonl'],keys=['who']}", "/x/a.jsonl", line), Score::Sure);
        assert_eq!(of("recognise={messages=true}", "/x/a.jsonl", line), Score::Maybe);
        assert_eq!(of("recognise={messages=true}", "/x/a.jsonl", "{\"who\":\"user\"}\n"), Score::No);
    }
}
