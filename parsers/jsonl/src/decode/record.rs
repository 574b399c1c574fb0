//! What a record is: who speaks in it, what of, and what it says of its session.

use crate::map::{FieldMap, has};
use crate::node::Node;
use crate::path::Paths;
use crate::piece::{self, Part, Piece};
use crate::time;
use scrollback_core::{Facts, Timestamp, TitleRank};
use serde::{Deserialize, Serialize};

/// Whose words a record holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Who {
    User,
    Assistant,
    Instructions,
    Thinking,
    Call,
    Result,
}

impl Who {
    /// Returns the word that stands for it in ids.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Assistant => "assistant",
            Self::Instructions => "instructions",
            Self::Thinking => "thinking",
            Self::Call => "call",
            Self::Result => "result",
        }
    }
}

/// What a record is.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Of a conversation.
    Of(Who),
    /// About the session.
    Session,
    /// Known to carry nothing, and its name.
    Nothing(String),
    /// Not understood, and its name.
    Unknown(String),
}

/// Says what a record is: by its kind where the kind says more than a role does, then by its role, then by its kind.
pub(super) fn kind(map: &FieldMap, node: &Node<'_>) -> Kind {
    let kinds = &map.kinds;
    let kind = map.record.kind.word(node);
    if let Some(kind) = &kind {
        let special =
            [(&kinds.thinking, Who::Thinking), (&kinds.call, Who::Call), (&kinds.result, Who::Result)];
        if has(&kinds.nothing, kind) {
            return Kind::Nothing(kind.clone());
        }
        if has(&map.session.kinds, kind) {
            return Kind::Session;
        }
        if let Some((_, who)) = special.into_iter().find(|(words, _)| has(words, kind)) {
            return Kind::Of(who);
        }
    }
    let roles = &map.roles;
    let role = map.record.role.word(node);
    let of_role = [
        (&roles.user, Who::User),
        (&roles.assistant, Who::Assistant),
        (&roles.instructions, Who::Instructions),
        (&roles.result, Who::Result),
    ];
    let of_kind = [
        (&kinds.user, Who::User),
        (&kinds.assistant, Who::Assistant),
        (&kinds.instructions, Who::Instructions),
    ];
    let (word, found) = match (&role, &kind) {
        (Some(role), _) => (format!("role {role}"), of_role.into_iter().find(|(words, _)| has(words, role))),
        (None, Some(kind)) => (kind.clone(), of_kind.into_iter().find(|(words, _)| has(words, kind))),
        (None, None) => return Kind::Unknown("no role or content".to_owned()),
    };
    match found {
        Some((_, who)) if holds(map, node, who) => Kind::Of(who),
        Some(_) => Kind::Unknown(format!("{word}: no content")),
        None => Kind::Unknown(word),
    }
}

/// Says whether a record has what somebody says, be it empty.
fn holds(map: &FieldMap, node: &Node<'_>, who: Who) -> bool {
    let record = &map.record;
    let says = |paths: &Paths| paths.leads(node);
    says(&record.content)
        || match who {
            Who::Assistant => says(&record.calls) || says(&record.thinking),
            Who::Result => says(&map.result.output),
            _ => false,
        }
}

/// Returns the pieces of a record.
pub(super) fn parts(map: &FieldMap, node: &Node<'_>, who: Who) -> Vec<Part> {
    let content = map.record.content.find(node);
    let whole = |piece| vec![("0".to_owned(), piece)];
    match who {
        Who::Call => whole(piece::call(map, node)),
        Who::Thinking => whole(match piece::thinking(map, node) {
            Piece::Nothing => written(map, content),
            thinking => thinking,
        }),
        Who::Result => {
            let parts =
                content.filter(|content| content.is_list()).map(|content| piece::content(map, content));
            match parts {
                Some(parts) if parts.iter().any(|(_, piece)| matches!(piece, Piece::Result(_))) => parts,
                _ => whole(Piece::Result(piece::result(map, node, content))),
            }
        }
        Who::User | Who::Assistant | Who::Instructions => {
            let mut parts = Vec::new();
            let thinking = map.record.thinking.all(node).map(|node| piece::plain(map, node));
            if let Some(text) = thinking.into_iter().find(|text| !text.is_empty()) {
                parts.push(("thinking".to_owned(), Piece::Thinking(text)));
            }
            parts.extend(content.into_iter().flat_map(|content| piece::content(map, content)));
            if let Some(calls) = map.record.calls.find(node) {
                parts.extend(piece::calls(map, calls));
            }
            if who == Who::Instructions { without_attachments(parts) } else { parts }
        }
    }
}

/// Returns the pieces of instructions, which hold no attachments: one is not understood.
fn without_attachments(parts: Vec<Part>) -> Vec<Part> {
    let split = |(part, piece): Part| match piece {
        Piece::Words { text, attachments } if !attachments.is_empty() => vec![
            (part.clone(), Piece::Words { text, attachments: Vec::new() }),
            (part, Piece::Unknown("attachment in instructions".to_owned())),
        ],
        piece => vec![(part, piece)],
    };
    parts.into_iter().flat_map(split).collect()
}

fn written(map: &FieldMap, content: Option<&Node<'_>>) -> Piece {
    match content.map(|content| piece::plain(map, content)) {
        Some(text) if !text.is_empty() => Piece::Thinking(text),
        _ => Piece::Nothing,
    }
}

/// Returns the text of a record: what stands for it in an id where it has none.
pub(super) fn text(parts: &[Part]) -> String {
    let mut all: Vec<&str> = Vec::new();
    for (_, piece) in parts {
        match piece {
            Piece::Words { text, .. } | Piece::Thinking(text) => all.push(text),
            Piece::Call { id, tool, input } => all.extend([id.as_deref().unwrap_or_default(), tool, input]),
            Piece::Result(output) => all.extend([output.call.as_deref().unwrap_or_default(), &output.text]),
            Piece::Nothing | Piece::Unknown(_) => {}
        }
    }
    all.join("\n")
}

impl Piece {
    /// Says whether it is something said or done.
    pub(super) fn speaks(&self) -> bool {
        match self {
            Self::Words { text, attachments } => !text.is_empty() || !attachments.is_empty(),
            Self::Thinking(_) | Self::Call { .. } | Self::Result(_) => true,
            Self::Nothing | Self::Unknown(_) => false,
        }
    }

    /// Says whether it is of the conversation: anything said or done that is not instructions.
    pub(super) fn speaks_as(&self, who: Who) -> bool {
        self.speaks() && !(who == Who::Instructions && matches!(self, Self::Words { .. }))
    }
}

/// Says whether a record is of a conversation by a map: a role and what it says.
pub(crate) fn speaks(map: &FieldMap, node: &Node<'_>) -> bool {
    match kind(map, node) {
        Kind::Of(who @ (Who::User | Who::Assistant | Who::Instructions)) => {
            parts(map, node, who).iter().any(|(_, piece)| piece.speaks())
        }
        _ => false,
    }
}

/// What a record says of its session.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Told {
    pub(super) model: Option<String>,
    cwd: Option<String>,
    branch: Option<String>,
    title: Option<String>,
    pub(super) version: Option<String>,
    started: Option<Timestamp>,
}

/// Returns what a record says of its session; `opens` if it is about the session.
pub(super) fn told(map: &FieldMap, node: &Node<'_>, opens: bool) -> Told {
    let (record, session) = (&map.record, &map.session);
    let word = |own: &Paths, session: &Paths| {
        let of_session = if opens { session.word(node) } else { None };
        of_session.or_else(|| own.word(node))
    };
    Told {
        model: word(&record.model, &session.model),
        // A directory that is not absolute says nothing of where.
        cwd: word(&record.cwd, &session.cwd).filter(|cwd| cwd.starts_with('/')),
        branch: word(&record.branch, &session.branch),
        title: word(&record.title, &session.title),
        version: word(&record.version, &session.version),
        started: if opens { session.started.all(node).find_map(time::moment) } else { None },
    }
}

impl Told {
    pub(super) fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    pub(super) fn facts(&self) -> Facts<'static> {
        let own = |text: &Option<String>| text.clone().map(Into::into);
        Facts {
            model: own(&self.model),
            cwd: own(&self.cwd),
            branch: own(&self.branch),
            title: self.title.clone().map(|title| (TitleRank::Generated, title.into())),
            client_version: own(&self.version),
            started_at: self.started,
            ..Facts::default()
        }
    }
}
