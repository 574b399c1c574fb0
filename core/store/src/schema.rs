//! The tables, and how a store of an older version becomes one of this: migrations that only add.

use crate::StoreError;
use rusqlite::Connection;
use std::path::Path;

/// The version this program writes, as `PRAGMA user_version` has it; `docs/formats.md` lists what each added.
pub(crate) const VERSION: i64 = 1;

/// What takes a store from one version to the next.
const MIGRATIONS: [&str; 1] = [
    // 1
    "
    CREATE TABLE secret (name TEXT PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID;
    INSERT INTO secret (name, value) VALUES ('content', randomblob(32));
    CREATE TABLE name (id INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE);
    CREATE TABLE block (id INTEGER PRIMARY KEY, size INTEGER NOT NULL, data BLOB NOT NULL);
    CREATE TABLE string (id INTEGER PRIMARY KEY, digest BLOB NOT NULL UNIQUE, block INTEGER NOT NULL, at INTEGER NOT NULL, size INTEGER NOT NULL);
    CREATE TABLE blob (digest BLOB PRIMARY KEY, media_type TEXT NOT NULL, size INTEGER NOT NULL, data BLOB);
    CREATE TABLE source (
        id INTEGER PRIMARY KEY, path BLOB NOT NULL, logical TEXT NOT NULL DEFAULT '', parser INTEGER NOT NULL,
        client_label TEXT, session_label TEXT, remark TEXT,
        generation INTEGER NOT NULL DEFAULT 0, mark TEXT, state_version INTEGER NOT NULL DEFAULT 0, state TEXT NOT NULL DEFAULT '',
        records INTEGER NOT NULL DEFAULT 0, events INTEGER NOT NULL DEFAULT 0, empty INTEGER NOT NULL DEFAULT 0,
        unknown INTEGER NOT NULL DEFAULT 0, unreadable INTEGER NOT NULL DEFAULT 0, skipped INTEGER NOT NULL DEFAULT 0,
        UNIQUE (path, logical));
    CREATE TABLE kind_count (
        source INTEGER NOT NULL, what INTEGER NOT NULL, kind TEXT NOT NULL, version TEXT NOT NULL, n INTEGER NOT NULL,
        PRIMARY KEY (source, what, kind, version)) WITHOUT ROWID;
    CREATE TABLE memory (source INTEGER NOT NULL, key BLOB NOT NULL, value BLOB NOT NULL, PRIMARY KEY (source, key)) WITHOUT ROWID;
    CREATE TABLE session (
        id INTEGER PRIMARY KEY, client INTEGER NOT NULL, session TEXT NOT NULL,
        parent_session TEXT, lineage TEXT, launched_by TEXT, agent TEXT,
        project INTEGER, cwd TEXT, branch TEXT, title TEXT, title_rank INTEGER, held_title TEXT, held_title_rank INTEGER, held_summary TEXT, model TEXT, client_version TEXT,
        started_at INTEGER, ended_at INTEGER, end_reason TEXT, status TEXT, summary TEXT, pull_request TEXT,
        born INTEGER, first_at INTEGER, last_at INTEGER,
        UNIQUE (client, session));
    CREATE TABLE link (session INTEGER NOT NULL, origin TEXT NOT NULL, PRIMARY KEY (session, origin)) WITHOUT ROWID;
    CREATE TABLE event (
        id INTEGER PRIMARY KEY, uuid BLOB NOT NULL UNIQUE, session INTEGER NOT NULL,
        gen INTEGER NOT NULL, rec INTEGER NOT NULL, part INTEGER NOT NULL,
        own INTEGER NOT NULL, copied_from INTEGER, filled INTEGER NOT NULL DEFAULT 0,
        at INTEGER, parent BLOB, model INTEGER, actor INTEGER,
        kind INTEGER NOT NULL, opens INTEGER NOT NULL, settled INTEGER NOT NULL, withdrawn INTEGER NOT NULL DEFAULT 0,
        revision INTEGER NOT NULL DEFAULT 0, content BLOB NOT NULL, record_id TEXT,
        call TEXT, tool INTEGER, detail INTEGER, exit_status INTEGER, text, more TEXT,
        source INTEGER NOT NULL, off INTEGER NOT NULL, len INTEGER NOT NULL, doc INTEGER, project INTEGER);
    CREATE INDEX event_place ON event (session, gen, rec, part);
    CREATE INDEX event_opens ON event (session, gen, rec, part) WHERE opens = 1 AND withdrawn = 0;
    CREATE INDEX event_project ON event (session, project) WHERE project IS NOT NULL;
    CREATE UNIQUE INDEX event_doc ON event (doc) WHERE doc IS NOT NULL;
    CREATE TABLE claim (
        event INTEGER NOT NULL, session INTEGER NOT NULL, own INTEGER NOT NULL, copied_from INTEGER,
        gen INTEGER NOT NULL, rec INTEGER NOT NULL, part INTEGER NOT NULL,
        at INTEGER, parent BLOB, model INTEGER, actor INTEGER, source INTEGER NOT NULL, off INTEGER NOT NULL, len INTEGER NOT NULL,
        PRIMARY KEY (event, session)) WITHOUT ROWID;
    CREATE INDEX claim_session ON claim (session);
    CREATE TABLE withdrawal (session INTEGER NOT NULL, rank INTEGER NOT NULL, rec INTEGER NOT NULL, part INTEGER NOT NULL,
        PRIMARY KEY (session, rank, rec, part)) WITHOUT ROWID;
    CREATE TABLE withdrawn_event (uuid BLOB PRIMARY KEY) WITHOUT ROWID;
    CREATE TABLE rewound (event INTEGER PRIMARY KEY, source INTEGER NOT NULL);
    CREATE INDEX rewound_source ON rewound (source);
    CREATE TABLE earlier (event INTEGER NOT NULL, content BLOB NOT NULL, gen INTEGER NOT NULL, PRIMARY KEY (event, content)) WITHOUT ROWID;
    CREATE TABLE usage (
        session INTEGER NOT NULL, response TEXT NOT NULL, model TEXT, at INTEGER,
        input INTEGER, output INTEGER, cache_read INTEGER, cache_write INTEGER, reasoning INTEGER, holder BLOB,
        PRIMARY KEY (session, response)) WITHOUT ROWID;
    CREATE INDEX usage_holder ON usage (holder) WHERE holder IS NOT NULL;
    CREATE TABLE pending (holder BLOB NOT NULL, client INTEGER NOT NULL, what TEXT NOT NULL, PRIMARY KEY (holder, what)) WITHOUT ROWID;
    CREATE TABLE held_fact (id INTEGER PRIMARY KEY, holder BLOB NOT NULL, session INTEGER, what TEXT NOT NULL, UNIQUE (holder, what));
    CREATE INDEX held_fact_session ON held_fact (session) WHERE session IS NOT NULL;
    CREATE INDEX held_fact_waiting ON held_fact (holder) WHERE session IS NULL;
    CREATE TABLE raw (
        id INTEGER PRIMARY KEY, client INTEGER NOT NULL, digest BLOB NOT NULL, why INTEGER NOT NULL,
        source INTEGER NOT NULL, rec INTEGER NOT NULL, off INTEGER NOT NULL, len INTEGER NOT NULL,
        kind TEXT NOT NULL, version TEXT, block INTEGER, at INTEGER, size INTEGER, UNIQUE (digest, client, why));
    CREATE TABLE raw_chunk (raw INTEGER NOT NULL, n INTEGER NOT NULL, size INTEGER NOT NULL, data BLOB NOT NULL, PRIMARY KEY (raw, n)) WITHOUT ROWID;
    CREATE TABLE change (pos INTEGER PRIMARY KEY, n INTEGER NOT NULL, event INTEGER, session INTEGER, what INTEGER NOT NULL);
    CREATE TABLE hooked (client TEXT NOT NULL, at INTEGER NOT NULL, took INTEGER NOT NULL, PRIMARY KEY (client, at)) WITHOUT ROWID;
    CREATE TABLE told (event INTEGER PRIMARY KEY, session INTEGER NOT NULL, kind INTEGER NOT NULL, digest BLOB NOT NULL, at INTEGER);
    CREATE INDEX told_session ON told (session);
    CREATE TABLE alias (uuid BLOB PRIMARY KEY, event INTEGER NOT NULL) WITHOUT ROWID;
    CREATE TABLE note (client TEXT NOT NULL, session TEXT NOT NULL, at INTEGER NOT NULL, mode TEXT, project TEXT,
        PRIMARY KEY (client, session, at)) WITHOUT ROWID;
    CREATE TABLE interval (id INTEGER PRIMARY KEY, project TEXT, root BLOB, deep INTEGER NOT NULL, since INTEGER NOT NULL, until INTEGER);
    CREATE TABLE directory (path TEXT PRIMARY KEY, project INTEGER) WITHOUT ROWID;
    CREATE VIRTUAL TABLE words USING fts5 (
        text, parts, tokens, content = '', contentless_delete = 1, tokenize = 'unicode61 remove_diacritics 2');
    INSERT INTO words (words, rank) VALUES ('hashsize', 16777216);
    ",
];

/// Brings the store at `path` to this version, in one transaction; refuses one of a newer version.
pub(crate) fn migrate(conn: &Connection, path: &Path) -> Result<(), StoreError> {
    let found = version(conn)?;
    check(found, path)?;
    if found == VERSION {
        return Ok(());
    }
    conn.execute_batch("BEGIN IMMEDIATE")?;
    let migrated = (|| {
        let found = version(conn)?;
        check(found, path)?;
        for step in MIGRATIONS.iter().skip(usize::try_from(found).unwrap_or(0)) {
            conn.execute_batch(step)?;
        }
        conn.pragma_update(None, "user_version", VERSION)?;
        Ok(())
    })();
    conn.execute_batch(if migrated.is_ok() { "COMMIT" } else { "ROLLBACK" })?;
    migrated
}

/// Returns the version of a store; 0 for an empty file.
pub(crate) fn version(conn: &Connection) -> Result<i64, StoreError> {
    Ok(conn.query_row("PRAGMA user_version", [], |row| row.get(0))?)
}

fn check(found: i64, path: &Path) -> Result<(), StoreError> {
    if found > VERSION {
        return Err(StoreError::Newer { path: path.to_owned(), found, known: VERSION });
    }
    Ok(())
}
