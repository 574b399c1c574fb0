//! What rows make known of their sessions: where and when they began, what they came out of.

use crate::decode::{Rows, first_text};
use crate::session::{Known, Thread, short};
use crate::wire::{Message, Row};
use scrollback_core::{Facts, Lineage, Origin, Timestamp};
use std::borrow::Cow;

impl Rows {
    /// Returns what a row makes known of its session: what is new, and only of the session's own rows.
    pub(crate) fn facts<'r>(
        &mut self,
        row: &Row<'r>,
        kind: &str,
        thread: &Thread<'r>,
        at: Option<Timestamp>,
        origin: &Origin<'r>,
        message: Option<&Message<'r>>,
    ) -> Facts<'r> {
        let mut facts = Facts::default();
        if let Origin::Copied { from } = origin {
            self.copied(row, from.as_ref(), &mut facts);
            return facts;
        }
        if thread.agent.is_some() {
            self.link(thread, message, &mut facts);
        }
        let now = &mut self.saved.now;
        if let (false, Some(cwd)) = (now.placed, row.cwd.as_ref().filter(|cwd| !cwd.is_empty())) {
            now.placed = true;
            facts.cwd = Some(cwd.0.clone());
            facts.branch =
                row.git_branch.as_ref().map(|branch| branch.0.clone()).filter(|name| !name.is_empty());
        }
        if let Some(version) = row.version.as_ref().filter(|version| !version.is_empty()) {
            facts.client_version = news(&mut now.version, &version.0);
        }
        let model = message.and_then(|message| message.model.as_ref());
        if let Some(model) =
            model.filter(|model| kind == "assistant" && !matches!(&***model, "<synthetic>" | ""))
        {
            facts.model = news(&mut now.model, &model.0);
        }
        // Behind copies, only a prompt is a beginning: a copied user's row does not say that it is one.
        if now.origin.is_none() || (kind == "user" && row.tool_use_result.is_none()) {
            now.began = now.began.or(at.map(Timestamp::micros));
        }
        if kind == "assistant" {
            let sure = confirmed(now);
            facts.started_at = sure.started_at;
            facts.parent_session = facts.parent_session.or(sure.parent_session);
            facts.lineage = facts.lineage.or(sure.lineage);
        }
        facts
    }

    fn copied<'r>(&mut self, row: &Row<'r>, from: Option<&Cow<'r, str>>, facts: &mut Facts<'r>) {
        let now = &mut self.saved.now;
        now.began = None;
        let Some(from) = from else { return };
        if now.origin.as_deref() != Some(short(from)) {
            now.origin = Some(short(from).to_owned());
            facts.copied_from = Some(from.clone());
            // A branch says what it was branched from. A request's session may be an older one: the last copied
            // row's is the parent, which is known once the session goes on by itself.
            if row.forked_from.is_some() && !now.forked {
                now.forked = true;
                facts.parent_session = Some(from.clone());
                facts.lineage = Some(Lineage::Fork);
            }
        }
    }

    /// Ties a sub-agent's session to its parent, once, and again when a sidecar has come.
    fn link<'r>(&mut self, thread: &Thread<'r>, message: Option<&Message<'r>>, facts: &mut Facts<'r>) {
        let sidecar = self.sidecar.as_ref();
        if self.saved.now.linked && (self.saved.now.sidecar || sidecar.is_none()) {
            return;
        }
        let owned = |text: &str| Cow::Owned(text.to_owned());
        let parent = sidecar.and_then(|sidecar| sidecar.parent_agent_id.as_deref());
        facts.parent_session = Some(match parent.filter(|parent| !parent.is_empty()) {
            Some(parent) => Cow::Owned(format!("{}/{parent}", thread.top)),
            None => thread.top.clone(),
        });
        facts.lineage = Some(Lineage::Subagent);
        if let Some(sidecar) = sidecar {
            facts.launched_by = sidecar.tool_use_id.as_deref().map(owned);
            facts.agent = sidecar.agent().map(owned);
            if sidecar.is_fork == Some(true) {
                facts.copied_from.clone_from(&facts.parent_session);
            }
        } else if self.agent.is_none()
            && let Some(task) = self.saved.launched_by(first_text(message))
        {
            facts.launched_by = Some(owned(&task.call));
            facts.agent = task.agent.as_deref().map(owned);
        }
        let now = &mut self.saved.now;
        (now.linked, now.sidecar) = (true, sidecar.is_some());
        now.agent = facts.agent.as_deref().map(|agent| short(agent).to_owned());
    }
}

/// Returns what copies left open, once it is sure: when the session began, and what it is a fork of.
pub(crate) fn confirmed(now: &mut Known) -> Facts<'static> {
    let mut facts = Facts::default();
    if let (false, Some(began)) = (now.began_said, now.began) {
        now.began_said = true;
        facts.started_at = Timestamp::from_micros(began).ok();
    }
    if let (false, Some(origin)) = (now.forked, &now.origin) {
        facts.parent_session = Some(Cow::Owned(origin.clone()));
        facts.lineage = Some(Lineage::Fork);
        now.forked = true;
    }
    facts
}

/// Returns a name if it is not the one remembered, and remembers it.
fn news<'r>(held: &mut String, name: &Cow<'r, str>) -> Option<Cow<'r, str>> {
    if held == short(name) {
        return None;
    }
    short(name).clone_into(held);
    Some(name.clone())
}
