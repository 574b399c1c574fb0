//! A machine in a temporary directory, and what the tests look at.

use crate::client::ACME;
use scrollback_core::{Env, Registry, Timestamp};
use scrollback_engine::{Progress, TailError, TailOptions, TailReport};
use scrollback_store::{Access, Picked, SessionFilter, SessionRow, Store, StoredEvent};
use std::fmt::Write as _;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicI64, Ordering};
use tempfile::TempDir;

/// A machine: a home directory with transcripts and a store, and a clock.
pub(crate) struct World {
    root: PathBuf,
    /// Microseconds that the clock is ahead of the machine's.
    ahead: AtomicI64,
    _dir: Option<TempDir>,
}

impl World {
    pub(crate) fn new() -> Self {
        let dir = TempDir::new().unwrap();
        Self { root: dir.path().canonicalize().unwrap(), _dir: Some(dir), ahead: AtomicI64::new(0) }
    }

    /// Returns the machine another process or thread set up there.
    pub(crate) fn at(root: &Path) -> Self {
        Self { root: root.to_owned(), _dir: None, ahead: AtomicI64::new(0) }
    }

    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    pub(crate) fn pass_seconds(&self, seconds: i64) {
        self.ahead.fetch_add(seconds * 1_000_000, Ordering::Relaxed);
    }

    /// Returns the path of a transcript.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        let path = self.root.join("sessions").join(name);
        fs::create_dir_all(if name.is_empty() { &path } else { path.parent().unwrap() }).unwrap();
        path
    }

    /// Appends to a transcript.
    pub(crate) fn append(&self, name: &str, bytes: impl AsRef<[u8]>) {
        let mut file = OpenOptions::new().create(true).append(true).open(self.path(name)).unwrap();
        file.write_all(bytes.as_ref()).unwrap();
    }

    /// Puts other bytes into a transcript, in place.
    pub(crate) fn rewrite(&self, name: &str, bytes: impl AsRef<[u8]>) {
        File::create(self.path(name)).unwrap().write_all(bytes.as_ref()).unwrap();
    }

    /// Puts another file in a transcript's place.
    pub(crate) fn replace(&self, name: &str, bytes: impl AsRef<[u8]>) {
        let new = self.root.join("new");
        File::create(&new).unwrap().write_all(bytes.as_ref()).unwrap();
        fs::rename(new, self.path(name)).unwrap();
    }

    pub(crate) fn store_path(&self) -> PathBuf {
        self.root.join("data/store.db")
    }

    pub(crate) fn store(&self) -> Store {
        Store::open(&self.store_path(), Access::Write).unwrap()
    }

    pub(crate) fn tail(&self) -> TailReport {
        self.tail_with(&TailOptions::default())
    }

    /// Tails one transcript.
    pub(crate) fn tail_one(&self, name: &str) -> TailReport {
        let paths = vec![self.path(name).to_str().unwrap().to_owned()];
        self.tail_with(&TailOptions { paths, parser: Some("acme".to_owned()), ..TailOptions::default() })
    }

    pub(crate) fn again(&self) -> TailReport {
        self.tail_with(&TailOptions { again: true, ..TailOptions::default() })
    }

    /// Tails with a handle of its own on the store.
    pub(crate) fn tail_with(&self, options: &TailOptions) -> TailReport {
        self.try_tail(options).unwrap()
    }

    pub(crate) fn try_tail(&self, options: &TailOptions) -> Result<TailReport, TailError> {
        let registry = Registry::default().with_parser(&ACME).unwrap();
        scrollback_engine::tail(self, &registry, &mut self.store(), options, &mut |_: &Progress| {})
    }

    pub(crate) fn export(&self) -> String {
        export(&self.store())
    }

    /// Returns the texts of a session's events that were not withdrawn, in order.
    pub(crate) fn texts(&self, session: &str) -> Vec<String> {
        let store = self.store();
        let row = session_row(&store, session);
        let events = store.events(&row, &Picked::ALL).unwrap();
        events.iter().map(|event| event.line.body.text().to_owned()).collect()
    }

    /// Returns the bytes that were kept raw.
    pub(crate) fn raw(&self) -> Vec<Vec<u8>> {
        let store = self.store();
        let records = store.raw_records().unwrap();
        records.iter().map(|record| store.raw_bytes(record.row).unwrap()).collect()
    }
}

impl Env for World {
    fn var(&self, _name: &str) -> Option<String> {
        None
    }

    fn home(&self) -> Option<PathBuf> {
        Some(self.root.clone())
    }

    fn current_dir(&self) -> Option<PathBuf> {
        Some(self.root.clone())
    }

    fn login(&self) -> Option<String> {
        Some("dev".to_owned())
    }

    #[expect(clippy::disallowed_methods, reason = "files have the machine's times")]
    fn now(&self) -> Timestamp {
        let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
        let micros = i64::try_from(since.as_micros()).unwrap() + self.ahead.load(Ordering::Relaxed);
        Timestamp::from_micros(micros).unwrap()
    }

    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        fs::read(path)
    }

    fn list(&self, _path: &Path) -> io::Result<Vec<PathBuf>> {
        Ok(Vec::new())
    }
}

pub(crate) fn session_row(store: &Store, session: &str) -> SessionRow {
    store.find_session(None, session).unwrap().into_iter().find(|row| row.line.session == session).unwrap()
}

/// Returns a session's events, those withdrawn too.
pub(crate) fn events(store: &Store, session: &str) -> Vec<StoredEvent> {
    let picked = Picked { withdrawn: true, ..Picked::ALL };
    store.events(&session_row(store, session), &picked).unwrap()
}

/// Returns everything a user can get out of a store, in an order of its own.
pub(crate) fn export(store: &Store) -> String {
    let mut out = String::new();
    let mut sessions = store.sessions(&SessionFilter::default()).unwrap();
    sessions.sort_by(|a, b| a.line.session.cmp(&b.line.session));
    for session in &sessions {
        writeln!(out, "{}", serde_json::to_string(&session.line).unwrap()).unwrap();
        for event in store.events(session, &Picked { withdrawn: true, ..Picked::ALL }).unwrap() {
            let mark = if event.withdrawn { " withdrawn" } else { "" };
            writeln!(out, "  {}{mark}", serde_json::to_string(&event.line).unwrap()).unwrap();
        }
        for usage in store.usage_of(session).unwrap() {
            writeln!(out, "  {}", serde_json::to_string(&usage).unwrap()).unwrap();
        }
        for (home, ids) in store.inherited(session).unwrap() {
            let mut ids: Vec<String> = ids.iter().map(ToString::to_string).collect();
            ids.sort();
            writeln!(out, "  inherited {} {}", home.line.session, ids.join(" ")).unwrap();
        }
    }
    out
}

/// Returns lines as a transcript has them.
pub(crate) fn jsonl(lines: &[&str]) -> String {
    lines.iter().fold(String::new(), |all, line| all + line + "\n")
}

/// A source of numbers that look random and are the same in each run.
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Returns a number below `below`.
    pub(crate) fn throw(&mut self, below: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % below
    }
}
