//! Whatever happens to a file: what a tail could see is stored, each once.

use crate::client;
use crate::world::{World, events};
use proptest::prelude::*;
use scrollback_core::EventId;
use scrollback_store::SessionFilter;
use std::collections::HashSet;
use std::fs::OpenOptions;

#[derive(Debug, Clone)]
enum Step {
    Append(u8),
    Tear(u8),
    Truncate(u16),
    Replace(u8),
    Tail,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => (1..6u8).prop_map(Step::Append),
        2 => any::<u8>().prop_map(Step::Tear),
        1 => any::<u16>().prop_map(Step::Truncate),
        1 => any::<u8>().prop_map(Step::Replace),
        4 => Just(Step::Tail),
    ]
}

fn record(n: usize) -> String {
    format!("{{\"id\":\"n{n}\",\"text\":\"{}\"}}\n", "w".repeat(n * 7 % 23))
}

#[derive(serde::Deserialize)]
struct Line {
    id: String,
}

/// Returns the first record of a text and how long it is.
fn first(text: &str) -> Option<(EventId, usize)> {
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<Line>();
    let line = values.next()?.ok()?;
    Some((client::id(&line.id), values.byte_offset()))
}

/// Returns the ids of the records that lines begin with, and of those that may be told from what is torn before.
fn visible(bytes: &[u8]) -> (HashSet<EventId>, HashSet<EventId>) {
    let (mut must, mut may) = (HashSet::new(), HashSet::new());
    let text = std::str::from_utf8(bytes).unwrap();
    let whole = text.rfind('\n').map_or("", |end| &text[..=end]);
    for mut line in whole.lines() {
        while let Some((id, length)) = first(line) {
            must.insert(id);
            line = &line[length..];
        }
        may.extend(line.match_indices("{\"id\"").filter_map(|(at, _)| first(&line[at..])).map(|(id, _)| id));
    }
    (must, may)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, max_shrink_iters: 200, ..ProptestConfig::default() })]

    #[test]
    fn every_event_a_tail_could_see_is_stored_once(steps in prop::collection::vec(step(), 1..24)) {
        let world = World::new();
        let name = "a.jsonl";
        let (mut bytes, mut next) = (Vec::<u8>::new(), 0);
        let (mut must, mut may) = (HashSet::new(), HashSet::new());
        world.append(name, "");
        for step in steps.into_iter().chain([Step::Append(1), Step::Tail]) {
            match step {
                Step::Append(count) => {
                    for _ in 0..count {
                        let record = record(next);
                        next += 1;
                        world.append(name, &record);
                        bytes.extend(record.bytes());
                    }
                }
                Step::Tear(at) => {
                    let record = record(next);
                    let piece = &record.as_bytes()[..=usize::from(at) % record.len()];
                    next += 1;
                    world.append(name, piece);
                    bytes.extend(piece);
                }
                Step::Truncate(at) => {
                    bytes.truncate(usize::from(at) % (bytes.len() + 1));
                    let file = OpenOptions::new().write(true).open(world.path(name)).unwrap();
                    file.set_len(bytes.len() as u64).unwrap();
                }
                Step::Replace(from) => {
                    let lines: Vec<&[u8]> = bytes.split_inclusive(|byte| *byte == b'\n').collect();
                    let from = usize::from(from) % (lines.len() + 1);
                    bytes = lines[from..].concat();
                    world.replace(name, &bytes);
                }
                Step::Tail => {
                    world.tail();
                    let (now, perhaps) = visible(&bytes);
                    must.extend(now);
                    may.extend(perhaps);
                }
            }
        }
        let store = world.store();
        let rows = store.sessions(&SessionFilter::default()).unwrap();
        let held = rows.iter().flat_map(|row| events(&store, &row.line.session));
        let stored: Vec<EventId> = held.map(|event| event.line.id).collect();
        let once: HashSet<EventId> = stored.iter().copied().collect();
        prop_assert_eq!(once.len(), stored.len(), "each once");
        prop_assert!(must.is_subset(&once), "lost: {:?}", must.difference(&once).count());
        let all: HashSet<EventId> = must.union(&may).copied().collect();
        prop_assert!(once.is_subset(&all), "made up: {:?}", once.difference(&all).count());
        prop_assert_eq!(world.tail().stored, 0);
    }
}
