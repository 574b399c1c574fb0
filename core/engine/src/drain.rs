//! The short-lived process behind the hooks: it empties the spool, reads the transcripts it names, waits for what
//! was announced, and leaves. One at a time, by a lock that a dying process gives up. Nothing depends on it having
//! run: the drain of every later hook does the same, and so does `tail`.

mod rooted;

use crate::capture;
use crate::discover;
use crate::read::{Chosen, Heard, Reading, Telling};
use crate::redact::Redactor;
use crate::source::stat;
use crate::spool::{Spool, SpoolRecord, digest};
use crate::tail::{TailError, TailOptions, TailReport};
use rooted::Rooted;
use scrollback_core::{Adapter, Env, Parser, Registry, Role, Timestamp};
use scrollback_store::{Hooked, Mode, Store, StoreError};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File, TryLockError};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use thiserror::Error;

/// How a drain waits.
#[derive(Debug, Clone, Copy)]
pub struct Patience {
    /// How long it looks for a message that was announced.
    pub announced: Duration,
    /// How long until it looks again.
    pub again: Duration,
}

impl Patience {
    /// Looks every 20 ms for up to 10 s: clients write behind their hooks, the slowest seen by 5.7 s.
    pub const LONG: Self = Self { announced: Duration::from_secs(10), again: Duration::from_millis(20) };
    /// Looks once.
    pub const NONE: Self = Self { announced: Duration::ZERO, again: Duration::from_millis(20) };
}

/// What a drain did.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DrainReport {
    /// Records of hooks.
    pub records: u64,
    /// Records that could not be read, or are of a newer version.
    pub damaged: u64,
    /// Transcripts that were read.
    pub sources: u64,
    /// Bytes read.
    pub bytes: u64,
    /// Events that were new.
    pub stored: u64,
    /// Messages that were announced and came.
    pub came: u64,
    /// Messages that were announced and did not come while it waited; the next reading may find them.
    pub missing: u64,
    /// Messages that were new and that only hooks told.
    pub told: u64,
    /// Trials of an installed line that arrived, by their session.
    pub tried: Vec<String>,
    /// What was refused or failed.
    pub trouble: Vec<String>,
}

/// Why a drain ended early. What it did not finish stays in the spool.
#[derive(Debug, Error)]
pub enum DrainError {
    /// The spool could not be read.
    #[error("the spool: {0}")]
    Spool(#[from] io::Error),
    /// Reading failed.
    #[error(transparent)]
    Tail(#[from] TailError),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// How the session of a trial begins: no client gives a session such an id.
pub const TRIAL: &str = "scrollback-trial-";

/// Starts the drain of a data directory, unless one runs. It inherits nothing of the client's: no pipe, no
/// terminal; it outlives it.
pub fn ring(data: &Path) {
    if runs(data) {
        // It looks at the spool once more before it leaves.
        return;
    }
    let Ok(program) = std::env::current_exe() else { return };
    #[expect(clippy::disallowed_methods, reason = "the drain is this very program")]
    let mut command = Command::new(program);
    command.arg("drain").arg("--home").arg(data);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).process_group(0);
    // Should it not start, the next hook tries again.
    let _started = command.spawn();
}

/// Says whether a drain runs that will see what was appended before this was asked.
pub fn runs(data: &Path) -> bool {
    let Ok(file) = File::open(lock_path(data)) else { return false };
    matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock))
}

fn lock_path(data: &Path) -> PathBuf {
    data.join("drain.lock")
}

/// Takes the lock that lets one drain run; none if another has it.
pub fn lock(data: &Path) -> io::Result<Option<File>> {
    if !data.is_dir() {
        fs::DirBuilder::new().recursive(true).mode(0o700).create(data)?;
    }
    let file = File::options().create(true).truncate(false).write(true).mode(0o600).open(lock_path(data))?;
    // A hook that asks whether one runs holds it for a moment.
    for _ in 0..20 {
        match file.try_lock() {
            Ok(()) => return Ok(Some(file)),
            Err(TryLockError::WouldBlock) => std::thread::sleep(Duration::from_millis(5)),
            Err(TryLockError::Error(error)) => return Err(error),
        }
    }
    Ok(None)
}

/// What a drain needs.
pub struct Draining<'a> {
    /// The machine.
    pub env: &'a dyn Env,
    /// The plugins.
    pub registry: &'a Registry,
    /// How transcripts are read.
    pub options: &'a TailOptions,
    /// How it waits.
    pub patience: Patience,
    /// Whether sessions are recorded that have no transcript.
    pub unpersisted: bool,
}

impl Draining<'_> {
    /// Empties the spool: reads what it names, waits for what was announced, and takes the records off the disk
    /// once everything they ask for is in the store.
    pub fn run(&self, store: &mut Store, spool: &Spool) -> Result<DrainReport, DrainError> {
        let mut report = DrainReport::default();
        let key = spool.key()?;
        let mut work = Work::default();
        let batch = loop {
            // What was taken before is on the disk still, and so in the batch again, before what is new.
            let batch = spool.take()?;
            let known = usize::try_from(report.records).unwrap_or(usize::MAX);
            for record in batch.records.iter().skip(known) {
                self.accept(record, &mut work, &mut report);
            }
            report.records = batch.records.len() as u64;
            report.damaged = batch.damaged + batch.newer;
            remember(store, batch.records.get(known..).unwrap_or_default())?;
            self.look(store, &key, &mut work, &mut report)?;
            ask(store, &key, &mut work, &mut report)?;
            work.awaited.retain(|awaited| !awaited.came);
            let now = Instant::now();
            let (over, awaited) = work.awaited.drain(..).partition(|awaited| now >= awaited.until);
            work.awaited = awaited;
            self.tell(store, over, &mut report)?;
            if work.awaited.is_empty() {
                break batch;
            }
            std::thread::sleep(self.patience.again);
        };
        batch.done()?;
        Ok(report)
    }

    /// Takes in what one record asks for.
    fn accept(&self, record: &SpoolRecord, work: &mut Work, report: &mut DrainReport) {
        if let Some(session) = record.session.as_ref().filter(|session| session.starts_with(TRIAL)) {
            report.tried.push(session.clone());
            return;
        }
        if record.capture.as_deref() == Some(Mode::Off.name()) {
            return;
        }
        let Some((adapter, parser)) = self.of(&record.client) else {
            report.trouble.push(format!("no parser reads the transcripts of {:?}", record.client));
            return;
        };
        let env = Rooted::of(self.env, &record.roots, adapter.spec().variables);
        let group = work.groups.entry((record.client.clone(), record.roots.clone())).or_default();
        group.sweep |= record.sweep;
        for path in &record.read {
            let path = PathBuf::from(path);
            // What is not there yet is looked at later, by its own name.
            if discover::is_at_home(&env, parser, &path.canonicalize().unwrap_or_else(|_| path.clone())) {
                group.paths.insert(path);
            } else {
                report.trouble.push(format!(
                    "{}: not one of {}'s transcripts, and not read",
                    path.display(),
                    parser.spec().name
                ));
            }
        }
        let until = Instant::now() + self.patience.announced;
        if !record.read.is_empty() {
            let awaited = |digest: &String| Awaited::of(record, Role::Assistant, Some(digest.clone()), until);
            work.awaited.extend(record.announced.iter().map(awaited));
        }
        for told in &record.told {
            // Without a transcript there is nothing to wait for.
            let until = if told.digest.is_some() { until } else { Instant::now() };
            let awaited = Awaited::of(record, told.role, told.digest.clone(), until);
            work.awaited.push(Awaited { text: Some(told.text.clone()), ..awaited });
        }
    }

    /// Stores what hooks told and no transcript had.
    fn tell(
        &self,
        store: &mut Store,
        over: Vec<Awaited>,
        report: &mut DrainReport,
    ) -> Result<(), DrainError> {
        for awaited in over {
            report.missing += u64::from(awaited.digest.is_some());
            let Awaited { record, role, text: Some(text), .. } = awaited else { continue };
            let transcripts: Vec<PathBuf> =
                record.read.iter().filter_map(|path| fs::canonicalize(path).ok()).collect();
            let persisted = !transcripts.is_empty();
            // A transcript that is there has its prompts.
            let wanted = if persisted { role == Role::Assistant } else { self.unpersisted };
            let (Some(session), Ok(at), Some((adapter, parser))) =
                (record.session.as_deref(), Timestamp::from_micros(record.at), self.of(&record.client))
            else {
                continue;
            };
            if !wanted {
                continue;
            }
            let telling = Telling {
                session,
                role,
                text: &text,
                at,
                cwd: record.cwd.as_deref(),
                transcripts: &transcripts,
            };
            let env = Rooted::of(self.env, &record.roots, adapter.spec().variables);
            let mut read = TailReport::default();
            let mut writer = store.writer()?;
            let mut reading =
                Reading::new(&env, self.registry, Redactor::shared(), self.options, &mut writer)?;
            reading.told(parser, &telling, &mut read)?;
            writer.commit()?;
            report.told += read.stored;
        }
        Ok(())
    }

    /// Returns a client's adapter and the parser of its transcripts.
    fn of(&self, client: &str) -> Option<(&dyn Adapter, &dyn Parser)> {
        let adapter: &dyn Adapter = self.registry.adapter(client).ok()?;
        Some((adapter, self.registry.parser(adapter.spec().parser.as_deref()?).ok()?))
    }

    /// Reads what changed of what is named.
    fn look(
        &self,
        store: &mut Store,
        key: &[u8; 32],
        work: &mut Work,
        report: &mut DrainReport,
    ) -> Result<(), DrainError> {
        for ((client, roots), group) in &mut work.groups {
            let Some((adapter, parser)) = self.of(client) else { continue };
            let env = Rooted::of(self.env, roots, adapter.spec().variables);
            let mut paths: BTreeSet<PathBuf> = group.paths.clone();
            if std::mem::take(&mut group.sweep) {
                paths.extend(discover::homes(&env, parser).canonical);
            }
            let mut chosen = Vec::new();
            for path in paths {
                let Ok(path) = fs::canonicalize(&path) else { continue };
                let Ok(found) = stat(&path) else { continue };
                if group.seen.insert(path.clone(), found) != Some(found) {
                    chosen.push(Chosen { path, parser: Some(parser), from: None });
                }
            }
            if chosen.is_empty() {
                continue;
            }
            let wanted = work.awaited.iter().filter_map(|awaited| awaited.digest.clone()).collect();
            let mut read = TailReport::default();
            let mut writer = store.writer()?;
            let mut reading =
                Reading::new(&env, self.registry, Redactor::shared(), self.options, &mut writer)?;
            reading.hear(Heard::new(*key, wanted));
            for chosen in &chosen {
                reading.source(chosen, &mut read, &mut |_, _| {})?;
            }
            let heard = reading.heard().unwrap_or_default();
            writer.commit()?;
            for awaited in &mut work.awaited {
                if awaited.digest.as_ref().is_some_and(|digest| heard.contains(digest)) && !awaited.came {
                    awaited.came = true;
                    report.came += 1;
                }
            }
            report.sources += read.sources_changed;
            report.bytes += read.bytes;
            report.stored += read.stored;
            report.trouble.extend(
                read.problems.iter().map(|problem| format!("{}: {}", problem.path.display(), problem.what)),
            );
        }
        Ok(())
    }
}

/// Asks the store, once, whether what is awaited is there: an earlier reading may have found it.
fn ask(
    store: &mut Store,
    key: &[u8; 32],
    work: &mut Work,
    report: &mut DrainReport,
) -> Result<(), DrainError> {
    for awaited in work.awaited.iter_mut().filter(|awaited| !awaited.came && !awaited.asked) {
        awaited.asked = true;
        let (Some(wanted), Some(session), Ok(at)) =
            (&awaited.digest, &awaited.record.session, Timestamp::from_micros(awaited.record.at))
        else {
            continue;
        };
        let said = store.said_about(&awaited.record.client, session, awaited.role, at)?;
        if said.iter().any(|text| digest(key, text) == *wanted) {
            awaited.came = true;
            report.came += 1;
        }
    }
    Ok(())
}

/// Keeps how long the hooks took, and what they noted of their sessions.
fn remember(store: &mut Store, records: &[SpoolRecord]) -> Result<(), StoreError> {
    let mut writer = store.writer()?;
    capture::note(&mut writer, records)?;
    for record in records {
        if let (Some(took), Ok(at)) = (record.took, Timestamp::from_micros(record.at)) {
            writer.hooked(&record.client, Hooked { at, took: Duration::from_micros(took) })?;
        }
    }
    writer.commit()
}

/// What is to be done.
#[derive(Default)]
struct Work {
    /// By client and by where it keeps its files.
    groups: BTreeMap<(String, BTreeMap<String, String>), Group>,
    awaited: Vec<Awaited>,
}

/// A message that a hook announced and no transcript had yet.
struct Awaited {
    /// The hook's record.
    record: SpoolRecord,
    role: Role,
    /// What it is known by; none if no transcript will have it.
    digest: Option<String>,
    /// Its words, if the hook told them.
    text: Option<String>,
    until: Instant,
    came: bool,
    /// Whether the store was asked for it.
    asked: bool,
}

impl Awaited {
    fn of(record: &SpoolRecord, role: Role, digest: Option<String>, until: Instant) -> Self {
        let record = SpoolRecord { told: Vec::new(), announced: Vec::new(), ..record.clone() };
        Self { record, role, digest, text: None, until, came: false, asked: false }
    }
}

/// What is to be read of one client.
#[derive(Default)]
struct Group {
    paths: BTreeSet<PathBuf>,
    /// Whether everything of the client's is to be looked at.
    sweep: bool,
    /// What was seen of each file.
    seen: BTreeMap<PathBuf, crate::source::Stat>,
}
