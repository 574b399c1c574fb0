//! Putting an event: a new one, one that is held, one whose content changed.

use crate::changes::Change;
use crate::home::{self, Standing};
use crate::told::HOOK;
use crate::write::{gen_rank, int};
use crate::{Put, StoreError, Stored, Writer, words};
use rusqlite::{OptionalExtension as _, params};
use scrollback_core::{Origin, Timestamp};

impl Writer<'_> {
    /// Puts an event: a claim of its session to it.
    pub fn event(&mut self, put: &Put<'_>) -> Result<Stored, StoreError> {
        let client = self.store.name_id(put.client)?;
        let session = self.session(client, &put.event.session)?;
        self.born(client, session, &put.claim)?;
        let coming = self.standing(put, session)?;
        let held = home::held(&self.store.conn, put.event.id)?;
        let Some(held) = held else {
            let told = put.claim.source == HOOK;
            if told && self.is_alias(put.event.id)? {
                return Ok(Stored::Held);
            }
            if !told && coming.own && self.known.told && self.meet_twin(put, client, &coming)? {
                self.known.put(put.event.id, session);
                return Ok(Stored::Replaced);
            }
            self.insert(put, client, &coming)?;
            self.known.put(put.event.id, session);
            return Ok(Stored::New);
        };
        if held.claim.session == session {
            self.known.put(put.event.id, session);
            return self.once_more(put, client, &held, &coming);
        }
        let claimed = home::claim_of(&self.store.conn, held.row, session)?;
        let claim = claimed.as_ref().map_or_else(|| coming.clone(), |claimed| claimed.with(&coming));
        if claimed.as_ref() == Some(&claim) {
            return Ok(Stored::Held);
        }
        home::keep_claim(&self.store.conn, held.row, &claim)?;
        if home::decide(self, client, held.row)? != Some(session) {
            return Ok(Stored::Held);
        }
        // The content is the home's; had it been read first, this were no revision.
        if held.content != put.content {
            self.replace_body(put, held.row, 0)?;
            home::index_again(self, client, held.row)?;
        } else if held.revision > 0 {
            self.revision(held.row, 0)?;
        }
        Ok(Stored::Replaced)
    }

    /// Puts an event its home session claims once more: perhaps other content, perhaps another place.
    fn once_more(
        &mut self,
        put: &Put<'_>,
        client: i64,
        held: &home::Held,
        coming: &Standing,
    ) -> Result<Stored, StoreError> {
        let was = &held.claim;
        let same_source = was.source == coming.source;
        let own = held.own();
        let mut both = own.with(coming);
        if same_source && coming.gen_rank > was.gen_rank && held.revision == 0 {
            (both.off, both.len) = (coming.off, coming.len);
        }
        if both != own {
            home::settle_in(&self.store.conn, held.row, &both, std::slice::from_ref(was))?;
            if both.at != own.at && both.at != was.at {
                self.span_anew(was.session);
                home::index_again(self, client, held.row)?;
            }
        }
        if held.content == put.content {
            if put.event.settled && !held.settled {
                self.settle(held)?;
            }
            return Ok(Stored::Held);
        }
        if !coming.own {
            // A copy never revises; what the session says of its own takes a copy's place.
            return Ok(Stored::Held);
        }
        let revisions = if was.own { held.revision + 1 } else { 0 };
        if was.own && !self.is_later(held, put.content, coming)? {
            return Ok(Stored::Held);
        }
        if was.own {
            self.keep_earlier(held.row, &held.content, coming.gen_rank)?;
        }
        self.replace_body(put, held.row, revisions)?;
        self.store
            .conn
            .prepare_cached("UPDATE event SET source = ?2, off = ?3, len = ?4 WHERE id = ?1")?
            .execute([held.row, coming.source, coming.off, coming.len])?;
        home::index_again(self, client, held.row)?;
        if held.settled {
            self.log(held.row, Change::Replaced)?;
        } else if put.event.settled {
            self.settle(held)?;
        }
        Ok(Stored::Replaced)
    }

    /// Says whether content that is not the one held is what stands from now on. Reading a file once more changes
    /// nothing, whether it was rewritten meanwhile or not; and which of a session's sources was read first does
    /// not matter.
    fn is_later(
        &mut self,
        held: &home::Held,
        content: [u8; 16],
        coming: &Standing,
    ) -> Result<bool, StoreError> {
        let was = &held.claim;
        let last: Option<i64> = self
            .store
            .conn
            .prepare_cached("SELECT max(gen) FROM earlier WHERE event = ?1")?
            .query_row([held.row], |row| row.get(0))?;
        let seen: Option<i64> = self
            .store
            .conn
            .prepare_cached("SELECT gen FROM earlier WHERE event = ?1 AND content = ?2")?
            .query_row(params![held.row, content.as_slice()], |row| row.get(0))
            .optional()?;
        if was.source == coming.source {
            // What was held before is held again only where it is said again behind what followed it.
            return Ok(seen.is_none() || last == Some(coming.gen_rank) && coming.off > was.off);
        }
        let held_since = last.unwrap_or(was.gen_rank);
        let (rank, other) = (held_since >> 16, coming.gen_rank >> 16);
        let later =
            rank < other || rank == other && self.path_of(was.source)? < self.path_of(coming.source)?;
        if !later && seen.is_none() {
            self.keep_earlier(held.row, &content, held_since)?;
            self.revision(held.row, held.revision + 1)?;
        }
        Ok(later)
    }

    fn path_of(&self, source: i64) -> Result<Vec<u8>, StoreError> {
        Ok(self
            .store
            .conn
            .prepare_cached("SELECT path FROM source WHERE id = ?1")?
            .query_row([source], |row| row.get(0))
            .optional()?
            .unwrap_or_default())
    }

    /// Remembers content that an event had before another took its place.
    fn keep_earlier(&mut self, row: i64, content: &[u8; 16], gen_rank: i64) -> Result<(), StoreError> {
        self.store
            .conn
            .prepare_cached("INSERT OR REPLACE INTO earlier (event, content, gen) VALUES (?1, ?2, ?3)")?
            .execute(params![row, content.as_slice(), gen_rank])?;
        Ok(())
    }

    /// Sets how often the content of an event changed.
    fn revision(&mut self, row: i64, revisions: i64) -> Result<(), StoreError> {
        let conn = &self.store.conn;
        conn.prepare_cached("UPDATE event SET revision = ?2 WHERE id = ?1")?.execute([row, revisions])?;
        if revisions == 0 {
            conn.prepare_cached("DELETE FROM earlier WHERE event = ?1")?.execute([row])?;
        }
        Ok(())
    }

    /// Lets an event that was open into the change log.
    fn settle(&mut self, held: &home::Held) -> Result<(), StoreError> {
        self.store.conn.prepare_cached("UPDATE event SET settled = 1 WHERE id = ?1")?.execute([held.row])?;
        self.log(held.row, Change::New)?;
        if held.withdrawn {
            self.log(held.row, Change::Withdrawn)?;
        }
        Ok(())
    }

    fn standing(&mut self, put: &Put<'_>, session: i64) -> Result<Standing, StoreError> {
        let event = put.event;
        let (rec, part) = event.order.place.unwrap_or((put.claim.record, put.claim.part));
        let (own, copied_from) = match &event.origin {
            Origin::Own => (true, None),
            Origin::Copied { from } => {
                (false, from.as_ref().map(|from| self.store.name_id(from)).transpose()?)
            }
        };
        Ok(Standing {
            session,
            own,
            copied_from,
            gen_rank: gen_rank(event.order.rank, put.claim.generation),
            rec: int(rec),
            part: i64::from(part),
            at: event.at.map(Timestamp::micros),
            parent: event.parent.map(|id| id.as_bytes().to_vec()),
            model: event.model.as_ref().map(|model| self.store.name_id(model)).transpose()?,
            actor: put.actor.map(|actor| self.store.name_id(actor)).transpose()?,
            source: put.claim.source,
            off: int(put.claim.offset),
            len: int(put.claim.length),
        })
    }

    fn insert(&mut self, put: &Put<'_>, client: i64, at: &Standing) -> Result<(), StoreError> {
        let event = put.event;
        let cells = self.cells(put)?;
        let record_id = event.record_id.as_deref().filter(|id| *id != event.id.to_string());
        let withdrawn = self.known.taken_back && self.is_withdrawn(event.id, at)?;
        let text = if withdrawn { None } else { words::searched(&event.body) };
        let doc = text.as_ref().map(|_| home::doc(self, at.session, at.at)).transpose()?;
        let project = put.project.map(|project| self.store.name_id(project)).transpose()?;
        self.store
            .conn
            .prepare_cached(
                "INSERT INTO event (uuid, session, gen, rec, part, own, copied_from, at, parent, model, actor,
                 kind, opens, settled, content, record_id, call, tool, detail, exit_status, text, more, source, off, len,
                 withdrawn, doc, project) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18,
                 ?19, ?20, ?21, ?22, ?23, ?24, ?25, ?26, ?27, ?28)",
            )?
            .execute(params![
                event.id.as_bytes().as_slice(),
                at.session,
                at.gen_rank,
                at.rec,
                at.part,
                at.own,
                at.copied_from,
                at.at,
                at.parent,
                at.model,
                at.actor,
                cells.kind,
                cells.opens,
                event.settled,
                put.content.as_slice(),
                record_id,
                cells.call,
                cells.tool,
                cells.detail,
                cells.exit_status,
                cells.text,
                cells.more,
                at.source,
                at.off,
                at.len,
                withdrawn,
                doc,
                project,
            ])?;
        let row = self.store.conn.last_insert_rowid();
        if put.claim.source == HOOK {
            self.remember_told(put, row, at)?;
        }
        self.touch(at.session, at.at);
        if let (Some(text), Some(doc)) = (&text, doc) {
            let project = project.map_or_else(|| self.project_of(at.session), |project| Ok(Some(project)))?;
            home::put_words(self, doc, &words::tokens(client, at.session, cells.kind, project), text)?;
        }
        if event.settled {
            self.log(row, Change::New)?;
            if withdrawn {
                self.log(row, Change::Withdrawn)?;
            }
        }
        if self.known.waiting { self.adopt_pending(client, event.id, at.session) } else { Ok(()) }
    }

    pub(crate) fn replace_body(&mut self, put: &Put<'_>, row: i64, revisions: i64) -> Result<(), StoreError> {
        let cells = self.cells(put)?;
        self.store
            .conn
            .prepare_cached(
                "UPDATE event SET kind = ?2, opens = ?3, settled = max(settled, ?4), content = ?5, call = ?6, tool = ?7,
                 detail = ?8, exit_status = ?9, text = ?10, more = ?11 WHERE id = ?1",
            )?
            .execute(params![
                row,
                cells.kind,
                cells.opens,
                put.event.settled,
                put.content.as_slice(),
                cells.call,
                cells.tool,
                cells.detail,
                cells.exit_status,
                cells.text,
                cells.more,
            ])?;
        self.revision(row, revisions)
    }
}
