use super::*;
use std::io::Seek as _;
use std::os::unix::fs::PermissionsExt as _;
use tempfile::TempDir;

fn record(session: &str) -> SpoolRecord {
    SpoolRecord {
        v: VERSION,
        client: "acme".to_owned(),
        session: Some(session.to_owned()),
        ..SpoolRecord::default()
    }
}

fn sessions(batch: &Batch) -> Vec<&str> {
    batch.records.iter().filter_map(|record| record.session.as_deref()).collect()
}

#[test]
fn what_was_left_is_taken_once() {
    let data = TempDir::new().unwrap();
    let spool = Spool::of(data.path());
    assert!(!spool.has_some());
    assert!(sessions(&spool.take().unwrap()).is_empty());
    spool.append(&record("a"), false).unwrap();
    spool.append(&record("b"), false).unwrap();
    assert!(spool.has_some());
    let batch = spool.take().unwrap();
    assert_eq!(sessions(&batch), ["a", "b"]);
    // A drain that dies leaves what it took to the next, before what came since.
    drop(batch);
    spool.append(&record("c"), false).unwrap();
    let batch = spool.take().unwrap();
    assert_eq!(sessions(&batch), ["a", "b", "c"]);
    batch.done().unwrap();
    assert!(!spool.has_some());
}

#[test]
fn a_line_cut_short_costs_itself() {
    let data = TempDir::new().unwrap();
    let spool = Spool::of(data.path());
    spool.append(&record("a"), false).unwrap();
    let mut file = File::options().append(true).open(spool.current()).unwrap();
    file.seek(io::SeekFrom::End(0)).unwrap();
    file.write_all(b"\n{\"v\":1,\"client\":\"ac").unwrap();
    spool.append(&record("b"), false).unwrap();
    file.write_all(b"\n{\"v\":99,\"client\":\"acme\",\"at\":0}\n").unwrap();
    let batch = spool.take().unwrap();
    assert_eq!((sessions(&batch), batch.damaged, batch.newer), (vec!["a", "b"], 1, 1));
}

#[test]
fn any_number_of_hooks_append_while_drains_take() {
    const HOOKS: usize = 8;
    const EACH: usize = 200;
    let data = TempDir::new().unwrap();
    let spool = Spool::of(data.path());
    let mut taken: Vec<String> = std::thread::scope(|scope| {
        let hooks: Vec<_> = (0..HOOKS)
            .map(|hook| {
                let spool = spool.clone();
                scope.spawn(move || {
                    for n in 0..EACH {
                        spool.append(&record(&format!("{hook}-{n}")), false).unwrap();
                    }
                })
            })
            .collect();
        let mut taken = Vec::new();
        loop {
            let over = hooks.iter().all(std::thread::ScopedJoinHandle::is_finished);
            let batch = spool.take().unwrap();
            assert_eq!(batch.damaged, 0);
            taken.extend(sessions(&batch).into_iter().map(str::to_owned));
            batch.done().unwrap();
            if over && !spool.has_some() {
                return taken;
            }
        }
    });
    taken.sort();
    let mut expected: Vec<_> =
        (0..HOOKS).flat_map(|hook| (0..EACH).map(move |n| format!("{hook}-{n}"))).collect();
    expected.sort();
    assert_eq!(taken, expected);
}

#[test]
fn the_key_is_made_once_and_nobody_else_reads_it() {
    let data = TempDir::new().unwrap();
    let spool = Spool::of(&data.path().join("not/there/yet"));
    // Often, since it is a matter of who comes between.
    for n in 0..100 {
        let spool = Spool::of(&data.path().join(format!("{n}")));
        let keys: Vec<_> = std::thread::scope(|scope| {
            let asked: Vec<_> = (0..8).map(|_| scope.spawn(|| spool.key().unwrap())).collect();
            asked.into_iter().map(|key| key.join().unwrap()).collect()
        });
        assert!(keys.iter().all(|key| *key == keys[0] && *key != [0; 32]));
        let left = fs::read_dir(&spool.folder).unwrap().count();
        assert_eq!(left, 1, "the key, and nothing it was made of");
    }
    spool.key().unwrap();
    spool.append(&record("a"), false).unwrap();
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&spool.folder), 0o700);
    for file in ["key", "current"] {
        assert_eq!(mode(&spool.folder.join(file)), 0o600, "{file}");
    }
}
