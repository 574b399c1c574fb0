//! Writing: a transaction, and what goes into the change log with it.

use crate::changes::Log;
use crate::known::Known;
use crate::memory::Remembered;
use crate::{Store, StoreError, home};
use scrollback_core::{AttachmentLine, Event};
use std::collections::{BTreeMap, HashMap, HashSet};

/// An event on its way into the store: redacted, its attachments put away.
#[derive(Debug, Clone, Copy)]
pub struct Put<'p> {
    /// The client.
    pub client: &'p str,
    /// The event, redacted.
    pub event: &'p Event<'p>,
    /// The digest of its content before redaction, keyed with [`Store::content_key`].
    pub content: [u8; 16],
    /// Who caused it, as the line format has it; `None` where nothing is known.
    pub actor: Option<&'p str>,
    /// The project it belongs to, if that is another than its session's.
    pub project: Option<&'p str>,
    /// What its attachments became.
    pub attachments: &'p [AttachmentLine],
    /// Where it was read.
    pub claim: Claim,
}

/// Where a claim was read.
#[derive(Debug, Clone, Copy)]
pub struct Claim {
    /// The source's number.
    pub source: i64,
    /// The source's generation.
    pub generation: u16,
    /// The record's index.
    pub record: u64,
    /// Which of the record's events it is.
    pub part: u32,
    /// The record's first byte in the source.
    pub offset: u64,
    /// The record's length in bytes.
    pub length: u64,
    /// When the source's file was made, in nanoseconds since 1970.
    pub born_ns: i64,
}

/// What became of an event put into the store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stored {
    /// It was not held.
    New,
    /// It was held with other content, or in another session.
    Replaced,
    /// It was held.
    Held,
}

/// A transaction. What was put through it is dropped with it, unless it is committed.
pub struct Writer<'s> {
    pub(crate) store: &'s mut Store,
    /// Sessions touched: the earliest and the latest time of the events put.
    touched: HashMap<i64, Option<(i64, i64)>>,
    /// Sessions whose span is to be taken from their events: some moved away.
    respan: HashSet<i64>,
    /// Sessions that may have changed and are not yet in the change log, with their facts before; `None` for one
    /// that did change.
    changed: BTreeMap<i64, Option<String>>,
    /// Sessions whose file's birth is known in this transaction, by source.
    born: HashSet<(i64, i64)>,
    pub(crate) log: Log,
    pub(crate) known: Known,
    pub(crate) remembered: Remembered,
    done: bool,
}

impl Store {
    /// Begins to write. Waits ten seconds for another writer, then says that the store is busy.
    pub fn writer(&mut self) -> Result<Writer<'_>, StoreError> {
        self.begin()?;
        let known = Known::of(self)?;
        Ok(Writer {
            store: self,
            touched: HashMap::new(),
            respan: HashSet::new(),
            changed: BTreeMap::new(),
            born: HashSet::new(),
            log: Log::default(),
            known,
            remembered: Remembered::default(),
            done: false,
        })
    }

    fn begin(&self) -> Result<(), StoreError> {
        Ok(self.conn.prepare_cached("BEGIN IMMEDIATE")?.execute([]).map(drop)?)
    }
}

impl Drop for Writer<'_> {
    fn drop(&mut self) {
        if !self.done {
            // Nothing to do about an error: a transaction that cannot be rolled back ends with the connection.
            let _rolled_back = self.store.conn.execute_batch("ROLLBACK");
            self.store.caches = crate::open::Caches::default();
        }
    }
}

impl Writer<'_> {
    /// Ends the transaction: everything put is in the store.
    pub fn commit(mut self) -> Result<(), StoreError> {
        self.flush()?;
        self.done = true;
        Ok(())
    }

    /// Ends the transaction, everything put so far is in the store, and begins another.
    pub fn checkpoint(&mut self) -> Result<(), StoreError> {
        self.flush()?;
        // Should the next one not begin, nothing is left to roll back.
        self.done = true;
        self.store.begin()?;
        self.done = false;
        // Others may have written meanwhile.
        self.known = Known::of(self.store)?;
        Ok(())
    }

    fn flush(&mut self) -> Result<(), StoreError> {
        self.store.close_blocks()?;
        self.write_memory()?;
        let respan = std::mem::take(&mut self.respan);
        for session in &respan {
            self.store
                .conn
                .prepare_cached(
                    "UPDATE session SET (first_at, last_at) =
                     (SELECT min(at), max(at) FROM event WHERE session = ?1) WHERE id = ?1",
                )?
                .execute([session])?;
        }
        for (session, times) in std::mem::take(&mut self.touched) {
            if respan.contains(&session) {
                continue;
            }
            if let Some((first, last)) = times {
                self.store
                    .conn
                    .prepare_cached(
                        "UPDATE session SET first_at = min(coalesce(first_at, ?2), ?2),
                         last_at = max(coalesce(last_at, ?3), ?3) WHERE id = ?1",
                    )?
                    .execute([session, first, last])?;
            }
        }
        for (session, before) in std::mem::take(&mut self.changed) {
            if before.is_some() && before == Some(self.facts_now(session)?) {
                continue;
            }
            self.log_session(session)?;
        }
        self.end_run()?;
        self.log = Log::default();
        self.store.conn.prepare_cached("COMMIT")?.execute([])?;
        Ok(())
    }

    /// Returns the key of the content digests.
    pub fn content_key(&self) -> &[u8; 32] {
        &self.store.key
    }

    /// Keeps a blob under its SHA-256; `data` is `None` where only its size is to be kept.
    pub fn blob(
        &mut self,
        digest: &[u8; 32],
        media_type: &str,
        bytes: usize,
        data: Option<&[u8]>,
    ) -> Result<(), StoreError> {
        self.store.keep_blob(digest, media_type, bytes, data)
    }

    /// Takes the span of a session from its events: some are not there any more.
    pub(crate) fn span_anew(&mut self, session: i64) {
        self.respan.insert(session);
    }

    /// Puts a session into the change log.
    pub(crate) fn session_changed(&mut self, session: i64) {
        self.changed.insert(session, None);
    }

    /// Puts a session into the change log if its facts are others at the end of the transaction.
    pub(crate) fn session_may_change(&mut self, session: i64) -> Result<(), StoreError> {
        if !self.changed.contains_key(&session) {
            let before = self.facts_now(session)?;
            self.changed.insert(session, Some(before));
        }
        Ok(())
    }

    /// Widens the span of a session's events.
    pub(crate) fn touch(&mut self, session: i64, at: Option<i64>) {
        let Some(at) = at else { return };
        let span = self.touched.entry(session).or_insert(None);
        *span = Some(span.map_or((at, at), |(first, last)| (first.min(at), last.max(at))));
    }

    pub(crate) fn born(&mut self, client: i64, session: i64, claim: &Claim) -> Result<(), StoreError> {
        if self.born.insert((session, claim.source)) {
            let older = self
                .store
                .conn
                .prepare_cached("UPDATE session SET born = ?2 WHERE id = ?1 AND (born IS NULL OR born > ?2)")?
                .execute([session, claim.born_ns])?;
            if older > 0 {
                home::decide_session(self, client, session)?;
            }
        }
        Ok(())
    }
}

/// Returns rank and generation as one number, the rank first.
pub(crate) fn gen_rank(rank: u64, generation: u16) -> i64 {
    int(rank.min((1 << 46) - 1)) << 16 | i64::from(generation)
}

pub(crate) fn int(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}
