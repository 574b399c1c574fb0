//! Reading events back, in the order of their session, with what is computed then: place, turn, pairing.

use crate::told::HOOK;
use crate::{SessionRow, Store, StoreError};
use rusqlite::{OptionalExtension as _, Row};
use scrollback_core::{
    AttachmentLine, EventId, EventLine, InjectedBy, LineBody, NoticeClass, Role, Timestamp,
};
use serde::Deserialize;
use serde_json::value::RawValue;
use std::collections::{HashMap, HashSet};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;

/// An event out of the store.
#[derive(Debug, Clone)]
pub struct StoredEvent {
    /// The event.
    pub line: EventLine,
    /// Whether its client took it back.
    pub withdrawn: bool,
    /// The file its record was read from.
    pub path: PathBuf,
    /// The number of that source.
    pub source: i64,
    /// The record's first byte there.
    pub offset: u64,
    /// The record's length there.
    pub length: u64,
}

/// A set of kinds, with a message's role told apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Kinds(u16);

impl Kinds {
    /// Every kind.
    pub const ALL: Self = Self(0b11_1111_1110);
    /// The kinds that are in the index.
    pub const SEARCHED: Self = Self(1 << 1 | 1 << 2 | 1 << 4 | 1 << 7 | 1 << 8);

    /// Returns the set of one kind, by its name in the line format.
    pub fn named(kind: &str) -> Option<Self> {
        Some(Self(match kind {
            "message" => 1 << 1 | 1 << 2,
            "thinking" => 1 << 3,
            "tool_call" => 1 << 4,
            "tool_result" => 1 << 5,
            "injected" => 1 << 6,
            "decision" => 1 << 7,
            "note" => 1 << 8,
            "notice" => 1 << 9,
            _ => return None,
        }))
    }

    /// Returns the messages of a role.
    pub const fn of_role(role: Role) -> Self {
        match role {
            Role::User => Self(1 << 1),
            Role::Assistant => Self(1 << 2),
        }
    }

    /// Returns what is in either set.
    #[must_use]
    pub const fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Returns what is in both sets.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// Returns what is in this set and not in the other.
    #[must_use]
    pub const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// Says whether nothing is in it.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Says whether the kind stored under that number is in it.
    pub(crate) const fn has(self, code: i64) -> bool {
        code >= 0 && code < 16 && self.0 >> code & 1 == 1
    }

    pub(crate) fn codes(self) -> impl Iterator<Item = i64> {
        (1..=9).filter(move |code| self.has(*code))
    }
}

/// Which of a session's events are wanted.
#[derive(Debug, Clone, Copy)]
pub struct Picked<'p> {
    /// Of that turn alone.
    pub turn: Option<u64>,
    /// Of those kinds.
    pub kinds: Kinds,
    /// Those withdrawn too.
    pub withdrawn: bool,
    /// Only these.
    pub only: Option<&'p HashSet<EventId>>,
}

impl Picked<'_> {
    /// Every event that was not withdrawn.
    pub const ALL: Self = Self { turn: None, kinds: Kinds::ALL, withdrawn: false, only: None };
}

/// What stands in an event's `more` column.
#[derive(Default, Deserialize)]
struct More {
    #[serde(default)]
    attachments: Vec<AttachmentLine>,
    why: Option<String>,
    alternatives: Option<String>,
    data: Option<Box<RawValue>>,
}

/// A call a result may belong to.
struct Call {
    place: (i64, i64, i64),
    id: EventId,
    tool: String,
}

const COLUMNS: &str = "event.uuid, event.at, event.parent, model.text, actor.text, event.kind, event.opens, event.withdrawn,
    event.revision, event.call, tool.text, event.detail, event.exit_status, event.text, event.more,
    event.gen, event.rec, event.part, source.path, event.source, event.off, event.len, event.own, origin.text, project.text";
const JOINS: &str = "event LEFT JOIN name AS model ON model.id = event.model
    LEFT JOIN name AS actor ON actor.id = event.actor LEFT JOIN name AS tool ON tool.id = event.tool
    LEFT JOIN name AS origin ON origin.id = event.copied_from LEFT JOIN name AS project ON project.id = event.project
    LEFT JOIN source ON source.id = event.source";

impl Store {
    /// Gives `each` the wanted events of a session, in order. An error of `each` ends it.
    pub fn each_event<E: From<StoreError>>(
        &self,
        session: &SessionRow,
        picked: &Picked<'_>,
        each: &mut dyn FnMut(StoredEvent) -> Result<(), E>,
    ) -> Result<(), E> {
        let calls = self.calls(session.row)?;
        let launcher = self.launcher(session)?;
        let sql = format!(
            "SELECT {COLUMNS} FROM {JOINS} WHERE event.session = ?1
             ORDER BY event.gen, event.rec, event.part, event.id"
        );
        let mut statement = self.conn.prepare_cached(&sql).map_err(StoreError::from)?;
        let mut rows = statement.query([session.row]).map_err(StoreError::from)?;
        let (mut seq, mut turn) = (0, 0);
        while let Some(row) = rows.next().map_err(StoreError::from)? {
            let withdrawn: bool = row.get(7).map_err(StoreError::from)?;
            if !withdrawn && row.get::<_, bool>(6).map_err(StoreError::from)? {
                turn += 1;
            }
            let kind: i64 = row.get(5).map_err(StoreError::from)?;
            let id = uuid(row, 0).map_err(StoreError::from)?;
            if picked.kinds.has(kind)
                && (picked.withdrawn || !withdrawn)
                && picked.turn.is_none_or(|wanted| wanted == turn)
                && picked.only.is_none_or(|only| only.contains(&id))
            {
                let mut event = self.stored(row, session, seq, turn, &calls)?;
                if seq == 0 && !withdrawn && event.line.parent.is_none() {
                    event.line.parent = launcher;
                }
                each(event)?;
            }
            if !withdrawn {
                seq += 1;
            }
        }
        Ok(())
    }

    /// Returns the wanted events of a session, in order.
    pub fn events(&self, session: &SessionRow, picked: &Picked<'_>) -> Result<Vec<StoredEvent>, StoreError> {
        let mut events = Vec::new();
        self.each_event(session, picked, &mut |event| {
            events.push(event);
            Ok::<_, StoreError>(())
        })?;
        Ok(events)
    }

    /// Returns the session and the event of that id, if it is held; one whose id was that before has another now.
    pub fn event(&self, id: EventId) -> Result<Option<(SessionRow, StoredEvent)>, StoreError> {
        let session: Option<i64> = self
            .conn
            .prepare_cached("SELECT session FROM event WHERE uuid = ?1")?
            .query_row([id.as_bytes().as_slice()], |row| row.get(0))
            .optional()?;
        let Some(session) = session else {
            return match self.alias(id)? {
                Some(now) => self.event(now),
                None => Ok(None),
            };
        };
        let session = self.session_row(session)?;
        let only = HashSet::from([id]);
        let picked = Picked { withdrawn: true, only: Some(&only), ..Picked::ALL };
        Ok(self.events(&session, &picked)?.pop().map(|event| (session, event)))
    }

    /// Returns the ids of held events that begin with `prefix`, hexadecimal with or without hyphens; at most ten.
    pub fn find_event(&self, prefix: &str) -> Result<Vec<EventId>, StoreError> {
        let hex: String = prefix.chars().filter(|c| *c != '-').collect::<String>().to_ascii_lowercase();
        if hex.is_empty() || hex.len() > 32 || !hex.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Ok(Vec::new());
        }
        let bound = |fill: char| {
            let padded: String = hex.chars().chain(std::iter::repeat(fill)).take(32).collect();
            u128::from_str_radix(&padded, 16).unwrap_or_default().to_be_bytes().to_vec()
        };
        Ok(self
            .conn
            .prepare_cached(
                "SELECT uuid FROM event WHERE uuid BETWEEN ?1 AND ?2
                 UNION SELECT uuid FROM alias WHERE uuid BETWEEN ?1 AND ?2 ORDER BY uuid LIMIT 10",
            )?
            .query_map([bound('0'), bound('f')], |row| uuid(row, 0))?
            .collect::<Result<_, _>>()?)
    }

    /// Returns what a session holds of other sessions' events: each home session with its events that this one
    /// began with.
    pub fn inherited(&self, session: &SessionRow) -> Result<Vec<(SessionRow, HashSet<EventId>)>, StoreError> {
        let pairs: Vec<(i64, EventId)> = self
            .conn
            .prepare_cached(
                "SELECT event.session, event.uuid FROM claim JOIN event ON event.id = claim.event
                 WHERE claim.session = ?1 ORDER BY claim.gen, claim.rec, claim.part",
            )?
            .query_map([session.row], |row| Ok((row.get(0)?, uuid(row, 1)?)))?
            .collect::<Result<_, _>>()?;
        let mut homes: Vec<(i64, HashSet<EventId>)> = Vec::new();
        for (home, id) in pairs {
            match homes.iter_mut().find(|(row, _)| *row == home) {
                Some((_, ids)) => {
                    ids.insert(id);
                }
                None => homes.push((home, HashSet::from([id]))),
            }
        }
        homes.into_iter().map(|(row, ids)| Ok((self.session_row(row)?, ids))).collect()
    }

    /// Returns the calls of a session, those it inherited too, by the client's id of the call.
    fn calls(&self, session: i64) -> Result<HashMap<String, Vec<Call>>, StoreError> {
        let mut statement = self.conn.prepare_cached(
            "SELECT event.call, event.uuid, tool.text, event.gen, event.rec, event.part FROM event
             LEFT JOIN name AS tool ON tool.id = event.tool WHERE event.session = ?1 AND event.kind = 4
             UNION ALL
             SELECT event.call, event.uuid, tool.text, claim.gen, claim.rec, claim.part FROM claim
             JOIN event ON event.id = claim.event LEFT JOIN name AS tool ON tool.id = event.tool
             WHERE claim.session = ?1 AND event.kind = 4 ORDER BY 4, 5, 6",
        )?;
        let mut calls: HashMap<String, Vec<Call>> = HashMap::new();
        let mut rows = statement.query([session])?;
        while let Some(row) = rows.next()? {
            let call = Call {
                place: (row.get(3)?, row.get(4)?, row.get(5)?),
                id: uuid(row, 1)?,
                tool: row.get::<_, Option<String>>(2)?.unwrap_or_default(),
            };
            calls.entry(row.get(0)?).or_default().push(call);
        }
        Ok(calls)
    }

    /// Returns the call that launched a session.
    fn launcher(&self, session: &SessionRow) -> Result<Option<EventId>, StoreError> {
        let (Some(parent), Some(call)) = (&session.line.parent_session, &session.launched_by) else {
            return Ok(None);
        };
        let parent: Option<i64> = self
            .conn
            .prepare_cached(
                "SELECT session.id FROM session JOIN name AS client ON client.id = session.client
                 WHERE client.text = ?1 AND session = ?2",
            )?
            .query_row([&session.line.client, parent], |row| row.get(0))
            .optional()?;
        let Some(parent) = parent else { return Ok(None) };
        Ok(self.calls(parent)?.get(call).and_then(|calls| calls.first()).map(|call| call.id))
    }

    fn stored(
        &self,
        row: &Row<'_>,
        session: &SessionRow,
        seq: u64,
        turn: u64,
        calls: &HashMap<String, Vec<Call>>,
    ) -> Result<StoredEvent, StoreError> {
        let more: Option<String> = row.get(14)?;
        let more: More = more.as_deref().and_then(|more| serde_json::from_str(more).ok()).unwrap_or_default();
        let kind: i64 = row.get(5)?;
        let call_id = || row.get::<_, Option<String>>(9).map(Option::unwrap_or_default);
        let detail: Option<i64> = row.get(11)?;
        let text = self.text_of(row.get_ref(13)?)?;
        let mut parent = row
            .get_ref(2)?
            .as_blob_or_null()
            .map_err(rusqlite::Error::from)?
            .and_then(|id| id.try_into().ok())
            .map(EventId::from_bytes);
        let body = match kind {
            1 | 2 => LineBody::Message {
                role: if kind == 1 { Role::User } else { Role::Assistant },
                text,
                attachments: more.attachments,
            },
            3 => LineBody::Thinking { text },
            4 => LineBody::ToolCall {
                call_id: call_id()?,
                tool: row.get::<_, Option<String>>(10)?.unwrap_or_default(),
                input: json(&text)?,
            },
            5 => {
                let call_id = call_id()?;
                let place = (row.get(15)?, row.get(16)?, row.get(17)?);
                let call = calls.get(&call_id).and_then(|calls| nearest(calls, place));
                parent = parent.or(call.map(|call| call.id));
                LineBody::ToolResult {
                    tool: match row.get::<_, Option<String>>(10)? {
                        Some(tool) => tool,
                        None => call.map_or("unknown", |call| &call.tool).to_owned(),
                    },
                    call_id,
                    output: text,
                    error: detail == Some(1),
                    exit_status: row.get(12)?,
                    attachments: more.attachments,
                }
            }
            6 => LineBody::Injected { injected_by: injected_by(detail), text },
            7 => LineBody::Decision { what: text, why: more.why, alternatives: more.alternatives },
            8 => LineBody::Note { text },
            _ => LineBody::Notice { class: notice_class(detail), text },
        };
        let actor: Option<String> = row.get(4)?;
        let revision: i64 = row.get(8)?;
        let number = |at: usize| row.get::<_, i64>(at).map(|n| u64::try_from(n).unwrap_or(0));
        let own: bool = row.get(22)?;
        let origin: Option<String> = row.get(23)?;
        let line = EventLine {
            id: uuid(row, 0)?,
            client: session.line.client.clone(),
            session: session.line.session.clone(),
            seq,
            turn,
            at: row.get::<_, Option<i64>>(1)?.and_then(|at| Timestamp::from_micros(at).ok()),
            body,
            trust: if actor.is_some() { "claimed" } else { "unattributed" }.to_owned(),
            actor,
            project: row.get::<_, Option<String>>(24)?.or_else(|| session.root.clone()),
            model: row.get(3)?,
            parent,
            revision: u64::try_from(revision).ok().filter(|n| *n > 0),
            evidence: if row.get::<_, i64>(19)? == HOOK { vec!["hook".to_owned()] } else { Vec::new() },
            copied_from: origin.filter(|origin| !own && *origin != session.line.session),
            data: more.data,
        };
        Ok(StoredEvent {
            line,
            withdrawn: row.get(7)?,
            path: PathBuf::from(OsStr::from_bytes(
                row.get_ref(18)?.as_blob_or_null().map_err(rusqlite::Error::from)?.unwrap_or_default(),
            )),
            source: row.get(19)?,
            offset: number(20)?,
            length: number(21)?,
        })
    }
}

/// Returns the last call before a place, else the first after it: clients that restart their ids use one for
/// several calls.
fn nearest(calls: &[Call], place: (i64, i64, i64)) -> Option<&Call> {
    calls.iter().rev().find(|call| call.place < place).or_else(|| calls.first())
}

fn uuid(row: &Row<'_>, at: usize) -> rusqlite::Result<EventId> {
    row.get::<_, [u8; 16]>(at).map(EventId::from_bytes)
}

/// Returns a text as JSON: what is stored as a call's input is, else it is a string of it.
fn json(text: &str) -> Result<Box<RawValue>, StoreError> {
    RawValue::from_string(text.to_owned())
        .or_else(|_| serde_json::value::to_raw_value(text))
        .map_err(|error| StoreError::Content(format!("a call whose input is no JSON: {error}")))
}

fn injected_by(code: Option<i64>) -> InjectedBy {
    [
        InjectedBy::Hook,
        InjectedBy::Skill,
        InjectedBy::Compaction,
        InjectedBy::Reminder,
        InjectedBy::Command,
        InjectedBy::Environment,
        InjectedBy::Instructions,
        InjectedBy::Other,
    ]
    .into_iter()
    .find(|by| Some(*by as i64) == code)
    .unwrap_or(InjectedBy::Other)
}

fn notice_class(code: Option<i64>) -> NoticeClass {
    [
        NoticeClass::ApiError,
        NoticeClass::Interrupted,
        NoticeClass::Aborted,
        NoticeClass::Retry,
        NoticeClass::Gap,
    ]
    .into_iter()
    .find(|class| Some(*class as i64) == code)
    .unwrap_or(NoticeClass::Gap)
}
