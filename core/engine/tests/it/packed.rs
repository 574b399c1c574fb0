//! Compressed sources: their lines are those of the plain file, and a file that is compressed or moved goes on where
//! it was.

use crate::world::{World, jsonl, session_row};
use flate2::Compression;
use flate2::write::GzEncoder;
use proptest::prelude::*;
use scrollback_core::{LinesMark, Timestamp};
use scrollback_engine::source::{Limits, LineReader, Verdict};
use scrollback_engine::{Standing, TailOptions, coverage};
use std::fs;
use std::io::Write as _;
use std::path::Path;
use tempfile::TempDir;

#[derive(Debug, Clone, Copy)]
enum Codec {
    Zstd,
    Gzip,
}

const CODECS: [Codec; 2] = [Codec::Zstd, Codec::Gzip];

impl Codec {
    /// Returns the bytes as one frame or member.
    fn pack(self, bytes: &[u8]) -> Vec<u8> {
        match self {
            Self::Zstd => zstd::encode_all(bytes, 3).unwrap(),
            Self::Gzip => {
                let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
                encoder.write_all(bytes).unwrap();
                encoder.finish().unwrap()
            }
        }
    }

    fn ending(self) -> &'static str {
        match self {
            Self::Zstd => "zst",
            Self::Gzip => "gz",
        }
    }
}

fn now() -> Timestamp {
    "2026-01-01T00:00:00Z".parse().unwrap()
}

const SMALL: Limits = Limits { max_line: 300, chunk: 64 };

/// A line's index, offset, length and text.
type Found = (u64, u64, u64, Vec<u8>);

/// Returns each line's index, offset, length and text (in chunks where it is long), and the mark after them.
fn lines(path: &Path, mark: Option<&LinesMark>) -> (Vec<Found>, LinesMark, Verdict) {
    let (mut reader, verdict) = LineReader::open(path, mark, 0, SMALL, now()).unwrap();
    let mut lines = Vec::new();
    while let Some(line) = reader.next().unwrap() {
        let (mut found, over) = ((line.index, line.offset, line.length, line.bytes.to_vec()), line.over);
        while let Some(chunk) = reader.next_chunk().unwrap().filter(|_| over) {
            found.3.extend_from_slice(chunk);
        }
        lines.push(found);
    }
    let mark = reader.mark();
    (lines, mark, verdict)
}

fn put(path: &Path, bytes: &[u8]) {
    fs::File::create(path).unwrap().write_all(bytes).unwrap();
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// However the bytes are cut into frames, and wherever reading stopped in between.
    #[test]
    fn compressed_lines_are_the_plain_ones(
        text in proptest::collection::vec(prop_oneof![Just(b'\n'), Just(b' '), any::<u8>(), 97u8..123], 0..2000),
        cuts in proptest::collection::vec(0usize..2000, 0..4),
        stop in 0usize..5,
        gzip: bool,
    ) {
        let codec = if gzip { Codec::Gzip } else { Codec::Zstd };
        let folder = TempDir::new().unwrap();
        let (plain, packed) = (folder.path().join("plain"), folder.path().join("packed"));
        let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(text.len())).chain([0, text.len()]).collect();
        cuts.sort_unstable();
        let frames: Vec<Vec<u8>> = cuts.windows(2).map(|pair| codec.pack(&text[pair[0]..pair[1]])).collect();
        put(&plain, &text);
        put(&packed, &frames.concat());
        let (expected, plain_mark, _) = lines(&plain, None);
        // In one go.
        let (found, mark, _) = lines(&packed, None);
        prop_assert_eq!(&found, &expected);
        prop_assert_eq!((mark.offset, mark.index, &mark.head, &mark.tail), (plain_mark.offset, plain_mark.index, &plain_mark.head, &plain_mark.tail));
        // Some frames first, the others appended.
        let first = stop.min(frames.len());
        put(&packed, &frames[..first].concat());
        let (mut found, mark, _) = lines(&packed, None);
        fs::OpenOptions::new().append(true).open(&packed).unwrap().write_all(&frames[first..].concat()).unwrap();
        let (rest, _, verdict) = lines(&packed, Some(&mark));
        if let Verdict::Again { .. } = verdict {
            // An empty file had no codec yet.
            prop_assert!(first == 0);
            found.clear();
        }
        found.extend(rest);
        prop_assert_eq!(&found, &expected);
    }
}

const TALK: [&str; 4] = [
    r#"{"text":"one","at":"2026-01-01T10:00:00Z"}"#,
    r#"{"text":"two"}"#,
    r#"{"text":"two"}"#,
    r#"{"kind":"later"}"#,
];

#[test]
fn what_a_file_begins_with_says_how_it_is_compressed() {
    for codec in CODECS {
        for name in ["a.jsonl", "a.jsonl.gz", "a.jsonl.zst"] {
            let world = World::new();
            world.append(name, codec.pack(jsonl(&TALK).as_bytes()));
            assert_eq!(world.tail().stored, 3, "{codec:?} {name}");
            assert_eq!(world.texts("a"), ["one", "two", "two"]);
        }
    }
    let world = World::new();
    world.append("a.jsonl.zst", jsonl(&TALK));
    assert_eq!(world.tail().stored, 3, "plain bytes under the name of compressed ones");
}

#[test]
fn a_file_that_is_compressed_goes_on_where_it_was() {
    for codec in CODECS {
        let world = World::new();
        world.append("a.jsonl", jsonl(&TALK));
        world.tail();
        let export = world.export();
        let packed = format!("a.jsonl.{}", codec.ending());
        // Both are there for a while.
        world.append(&packed, codec.pack(jsonl(&TALK).as_bytes()));
        assert_eq!((world.tail().sources, world.tail().records), (1, 0));
        fs::remove_file(world.path("a.jsonl")).unwrap();
        let report = world.tail();
        assert_eq!(
            (report.sources, report.records, report.stored, report.replaced),
            (1, 0, 0, 0),
            "{report:?}"
        );
        assert_eq!(world.export(), export);
        // It is one source, which is known, and not opened again.
        assert_eq!(sources(&world), [(packed.clone(), Standing::Read)]);
        assert_eq!(world.tail().opened, 0);
        // It grows, compressed; then it is plain again and grows once more.
        world.append(&packed, codec.pack(b"{\"text\":\"three\"}\n"));
        assert_eq!((world.tail().records, world.texts("a").len()), (1, 4));
        world.append("a.jsonl", jsonl(&TALK) + "{\"text\":\"three\"}\n{\"text\":\"four\"}\n");
        let report = world.tail();
        assert_eq!((report.sources, report.records, report.stored), (1, 1, 1), "{report:?}");
        fs::remove_file(world.path(&packed)).unwrap();
        assert_eq!(world.tail().records, 0);
        assert_eq!(world.texts("a"), ["one", "two", "two", "three", "four"]);
        assert_eq!(sources(&world), [("a.jsonl".to_owned(), Standing::Read)]);
    }
}

#[test]
fn a_file_that_is_moved_goes_on_where_it_was() {
    let world = World::new();
    world.append("2026/a.jsonl", "");
    world.append("2026/a.jsonl", jsonl(&TALK));
    world.tail();
    let export = world.export();
    fs::create_dir_all(world.path("archived")).unwrap();
    fs::rename(world.path("2026/a.jsonl"), world.path("archived/a.jsonl")).unwrap();
    let report = world.tail();
    assert_eq!((report.sources, report.records), (1, 0), "{report:?}");
    assert_eq!(sources(&world), [("archived/a.jsonl".to_owned(), Standing::Read)]);
    // Moved and compressed at once, and longer than it was.
    let more = Codec::Zstd.pack((jsonl(&TALK) + "{\"text\":\"three\"}\n").as_bytes());
    fs::remove_file(world.path("archived/a.jsonl")).unwrap();
    world.append("2026/a.jsonl.zst", more);
    assert_eq!(world.tail().records, 1);
    assert_eq!(world.texts("a"), ["one", "two", "two", "three"]);
    assert_ne!(world.export(), export);
}

#[test]
fn another_file_of_the_same_name_is_another_source() {
    let world = World::new();
    world.append("2025/a.jsonl", "");
    world.append("2025/a.jsonl", jsonl(&[r#"{"session":"A","text":"one"}"#]));
    world.tail();
    // The one stays, the other is a copy or something else: both are sources.
    world.append("2026/a.jsonl", "");
    world.append("2026/a.jsonl", jsonl(&[r#"{"session":"B","text":"other"}"#]));
    assert_eq!(world.tail().records, 1);
    assert_eq!(sources(&world).len(), 2);
    // The one goes, and a third of the same name says something else: it is read from its start.
    fs::remove_file(world.path("2025/a.jsonl")).unwrap();
    world.append("2027/a.jsonl", "");
    world.append("2027/a.jsonl", jsonl(&[r#"{"session":"C","text":"third"}"#, r#"{"text":"more"}"#]));
    assert_eq!(world.tail().records, 2);
    let standing = sources(&world);
    assert_eq!(
        standing,
        [
            ("2025/a.jsonl".to_owned(), Standing::Gone),
            ("2026/a.jsonl".to_owned(), Standing::Read),
            ("2027/a.jsonl".to_owned(), Standing::Read)
        ]
    );
}

#[test]
fn compressed_data_that_ends_in_the_middle_costs_what_is_missing() {
    let all = jsonl(&TALK).repeat(4_000);
    for codec in CODECS {
        let world = World::new();
        let name = format!("a.jsonl.{}", codec.ending());
        let packed = codec.pack(all.as_bytes());
        world.append(&name, &packed[..packed.len() * 9 / 10]);
        let report = world.tail();
        let problem = &report.problems[0];
        assert!(problem.path.ends_with(&name) && problem.what.contains("ends in the middle"), "{problem:?}");
        assert!(report.records > 1_000, "{codec:?}: {}", report.records);
        // The rest comes.
        world.append(&name, &packed[packed.len() * 9 / 10..]);
        let rest = world.tail();
        assert_eq!(rest.problems, []);
        assert_eq!(report.records + rest.records, 16_000);
        // Something else was put into the middle.
        let mut damaged = packed.clone();
        let middle = damaged.len() / 2;
        damaged[middle..middle + 40].fill(0x55);
        let world = World::new();
        world.append(&name, &damaged);
        assert!(!world.tail().problems.is_empty(), "{codec:?}");
        // Neither is it all there is, nor does it become so by being looked at.
        for _ in 0..2 {
            let [(_, Standing::Refused(what))] = &sources(&world)[..] else {
                panic!("{:?}", sources(&world))
            };
            assert!(what.contains("damaged"), "{what}");
            world.tail();
        }
    }
}

#[test]
fn coverage_counts_decompressed_bytes() {
    let world = World::new();
    let text = jsonl(&TALK).repeat(100);
    world.append("a.jsonl.zst", Codec::Zstd.pack(text.as_bytes()));
    world.tail();
    let registry = scrollback_core::Registry::default().with_parser(&crate::client::ACME).unwrap();
    let found = coverage(&world, &registry, &world.store()).unwrap();
    assert_eq!((found[0].bytes, found[0].captured), (text.len() as u64, text.len() as u64));
    // The session is that of the plain file's name.
    assert_eq!(session_row(&world.store(), "a").events, 300);
    assert_eq!(world.tail_with(&TailOptions { again: true, ..TailOptions::default() }).stored, 0);
}

/// Returns each source, its path below the home of transcripts, and how it stands.
fn sources(world: &World) -> Vec<(String, Standing)> {
    let registry = scrollback_core::Registry::default().with_parser(&crate::client::ACME).unwrap();
    let root = world.path("");
    coverage(world, &registry, &world.store())
        .unwrap()
        .into_iter()
        .map(|source| {
            (source.path.strip_prefix(&root).unwrap().to_str().unwrap().to_owned(), source.standing)
        })
        .collect()
}
