//! Pictures in messages and results.

use crate::world::{World, events, jsonl};
use scrollback_core::LineBody;
use scrollback_engine::TailOptions;

/// `hello`, and its SHA-256.
const FILE: &str = "aGVsbG8=";
const HEX: &str = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824";
const DIGEST: [u8; 32] = [
    0x2c, 0xf2, 0x4d, 0xba, 0x5f, 0xb0, 0xa3, 0x0e, 0x26, 0xe8, 0x3b, 0x2a, 0xc5, 0xb9, 0xe2, 0x9e, 0x1b,
    0x16, 0x1e, 0x5c, 0x1f, 0xa7, 0x42, 0x5e, 0x73, 0x04, 0x33, 0x62, 0x93, 0x8b, 0x98, 0x24,
];

fn world(options: &TailOptions) -> World {
    let world = World::new();
    world.append(
        "a.jsonl",
        jsonl(&[
            &format!(r#"{{"id":"1","text":"look","file":"{FILE}"}}"#),
            r#"{"id":"2","call":"c","input":{}}"#,
            &format!(r#"{{"id":"3","result":"drawn","call":"c","file":"{FILE}"}}"#),
        ]),
    );
    world.tail_with(options);
    world
}

#[test]
fn bytes_are_kept_once_with_a_marker_in_the_text() {
    let world = world(&TailOptions::default());
    let store = world.store();
    assert_eq!(store.blob(&DIGEST).unwrap().as_deref(), Some(&b"hello"[..]));
    let marker = format!("[image/png, 5 bytes, sha256:{}…]", &HEX[..12]);
    assert_eq!(world.texts("a"), [format!("look\n{marker}"), "{}".to_owned(), format!("drawn\n{marker}")]);
    for event in [&events(&store, "a")[0], &events(&store, "a")[2]] {
        let (LineBody::Message { attachments, .. } | LineBody::ToolResult { attachments, .. }) =
            &event.line.body
        else {
            panic!("{event:?}")
        };
        assert_eq!((attachments[0].digest.clone(), attachments[0].bytes), (format!("sha256:{HEX}"), 5));
        assert_eq!(attachments[0].name.as_deref(), Some("picture.png"));
    }
    let all: Vec<u8> = std::fs::read(world.store_path()).unwrap();
    assert!(!all.windows(FILE.len()).any(|window| window == FILE.as_bytes()), "the base64 is not stored");
}

#[test]
fn without_blobs_only_digest_and_size_are_kept() {
    let without = TailOptions { keep_blobs: false, ..TailOptions::default() };
    let world = world(&without);
    assert_eq!(world.store().blob(&DIGEST).unwrap(), None);
    assert!(world.export().contains(HEX));
    let export = world.export();
    world.again();
    assert_eq!(
        world.store().blob(&DIGEST).unwrap().as_deref(),
        Some(&b"hello"[..]),
        "read again, and wanted now"
    );
    assert_eq!(world.export(), export);
}
