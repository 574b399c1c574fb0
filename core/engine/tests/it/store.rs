//! The store itself: versions, damage, modes, another writer.

use crate::world::{World, jsonl};
use scrollback_store::{Access, Store, StoreError};
use std::fmt::Write as _;
use std::fs::{self, OpenOptions, Permissions};
use std::io::Write as _;
use std::os::unix::fs::{FileExt as _, PermissionsExt as _};
use std::sync::Barrier;
use std::thread;

fn filled() -> World {
    let world = World::new();
    world.append("a.jsonl", jsonl(&[r#"{"text":"hello"}"#]));
    world.tail();
    world
}

#[test]
fn a_newer_store_is_refused_and_left_as_it_is() {
    let world = filled();
    // The version stands at byte 60 of a SQLite file, the high byte first.
    let file = OpenOptions::new().write(true).open(world.store_path()).unwrap();
    file.write_all_at(&999_u32.to_be_bytes(), 60).unwrap();
    let before = fs::read(world.store_path()).unwrap();
    for access in [Access::Write, Access::Read] {
        let Err(error) = Store::open(&world.store_path(), access) else { panic!("it was opened") };
        assert!(matches!(error, StoreError::Newer { found: 999, .. }), "{error}");
        let text = error.to_string();
        assert!(text.contains("999") && text.contains("up to 1"), "{text}");
    }
    assert_eq!(fs::read(world.store_path()).unwrap(), before);
}

#[test]
fn what_is_no_database_is_refused_and_left_as_it_is() {
    let mut damaged = {
        let world = filled();
        fs::read(world.store_path()).unwrap()
    };
    damaged[100..].fill(0x5a);
    for bytes in [b"this is no database, it is a letter to a friend; ".repeat(40), damaged] {
        let world = World::new();
        fs::create_dir(world.root().join("data")).unwrap();
        fs::File::create(world.store_path()).unwrap().write_all(&bytes).unwrap();
        for access in [Access::Write, Access::Read] {
            let Err(error) = Store::open(&world.store_path(), access) else { panic!("it was opened") };
            assert!(matches!(error, StoreError::Damaged { .. }), "{error}");
            assert!(error.to_string().contains("left as it is"), "{error}");
        }
        assert_eq!(fs::read(world.store_path()).unwrap(), bytes);
    }
}

#[test]
fn nobody_else_can_read_it() {
    let world = World::new();
    let mut store = world.store();
    let writer = store.writer().unwrap();
    let mode = |path: &std::path::Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&world.root().join("data")), 0o700);
    for entry in fs::read_dir(world.root().join("data")).unwrap() {
        let path = entry.unwrap().path();
        assert_eq!(mode(&path), 0o600, "{}", path.display());
    }
    drop(writer);
}

#[test]
fn where_nothing_can_be_written_it_says_so() {
    let world = World::new();
    world.append("file", "no directory");
    let Err(error) = Store::open(&world.path("file").join("store.db"), Access::Write) else {
        panic!("opened")
    };
    assert!(matches!(error, StoreError::Unusable { .. }), "{error}");
    let Err(error) = Store::open(&world.path("none.db"), Access::Read) else { panic!("opened") };
    assert!(matches!(error, StoreError::Missing { .. }), "{error}");
    let locked = world.root().join("locked");
    fs::create_dir(&locked).unwrap();
    fs::set_permissions(&locked, Permissions::from_mode(0o500)).unwrap();
    if fs::File::create(locked.join("probe")).is_ok() {
        println!("not tested: this user may write everywhere");
        return;
    }
    let Err(error) = Store::open(&locked.join("store.db"), Access::Write) else { panic!("opened") };
    assert!(matches!(error, StoreError::Unusable { .. }), "{error}");
}

#[test]
fn opening_it_again_leaves_what_is_in_it() {
    let world = filled();
    let export = world.export();
    let key = *world.store().content_key();
    for _ in 0..3 {
        assert_eq!((world.export(), *world.store().content_key()), (export.clone(), key));
    }
    let read = Store::open(&world.store_path(), Access::Read).unwrap();
    assert_eq!(crate::world::export(&read), export);
}

#[test]
fn many_may_make_it_at_once() {
    for _ in 0..15 {
        let world = World::new();
        let start = Barrier::new(8);
        let open = || {
            start.wait();
            *world.store().content_key()
        };
        thread::scope(|scope| {
            let all: Vec<_> = (0..8).map(|_| scope.spawn(open)).collect();
            let keys: Vec<[u8; 32]> = all.into_iter().map(|one| one.join().unwrap()).collect();
            assert!(keys.iter().all(|key| *key == keys[0]));
        });
    }
}

#[test]
fn a_writer_that_stays_is_named() {
    let world = filled();
    let mut one = world.store();
    let writer = one.writer().unwrap();
    let Err(error) = world.store().writer().map(drop) else { panic!("two writers") };
    assert!(error.is_busy() && error.to_string().contains("try again"), "{error}");
    drop(writer);
    world.store().writer().unwrap().commit().unwrap();
}

#[test]
fn what_is_not_committed_is_not_there() {
    let world = filled();
    let export = world.export();
    let mut store = world.store();
    drop(store.writer().unwrap());
    assert_eq!(crate::world::export(&store), export);
}

#[test]
fn many_events_of_one_time_are_put_quickly() {
    let world = World::new();
    let mut bytes = String::new();
    for n in 0..12_000 {
        writeln!(bytes, r#"{{"id":"n{n}","text":"w"}}"#).unwrap();
    }
    world.append("a.jsonl", bytes);
    let report = world.tail();
    assert_eq!(report.stored, 12_000);
    assert!(report.seconds < 20.0, "{} seconds", report.seconds);
}
