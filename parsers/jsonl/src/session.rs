//! Which session a record is of, where perhaps nothing says it.

use crate::path::Paths;
use crate::time;
use crate::{map::FieldMap, node::Node};
use scrollback_core::{Env, Source, text_digest};
use serde::{Deserialize, Serialize};

/// Hexadecimal digits of a digest that name a session.
const NAME: usize = 32;
/// An id this long is taken for one that no other file has; a shorter one is a number, a name, a counter.
const UNIQUE: usize = 16;
/// So many records of instructions are held back until the session is known; more of them are its beginning.
const HELD: u64 = 16;

/// What is said of a source whose sessions are named by its path.
pub(crate) const BY_PATH: &str = "no session, time or id says which session this is: it is named by its path, and a copy of the file elsewhere is another session";

/// What is known of the session of a source.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Known {
    /// The session of records that name none.
    pub(crate) session: Option<String>,
    /// How many records wait for it.
    pub(crate) held: u64,
    /// A digest of the facts said last.
    pub(crate) facts: String,
}

/// What a record says of which session it is.
pub(crate) struct Says<'t> {
    /// The session it names.
    pub(crate) session: Option<String>,
    /// Whether it carries a time, or an id that is unique.
    pub(crate) marked: bool,
    /// Whether it is of a conversation: an event that is not instructions.
    pub(crate) speaks: bool,
    /// The record.
    pub(crate) text: &'t str,
}

/// What becomes of a record.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Home {
    /// It is of that session.
    Session(String),
    /// It is of that session, which the path names from here on.
    ByPath(String),
    /// Nothing is known yet.
    Open,
}

/// What a user or the machine says of a source.
#[derive(Debug, Clone)]
pub(crate) struct Place {
    /// The session all of it is, by the user's word.
    pub(crate) label: Option<String>,
    /// The session that its path names.
    pub(crate) by_path: String,
}

impl Place {
    pub(crate) fn of(source: &Source<'_>, env: &dyn Env) -> Self {
        let home = env.home();
        let below = home.as_deref().and_then(|home| source.path.strip_prefix(home).ok());
        let path = match below {
            // So that it is the same session for whoever has the same home under another name.
            Some(below) => format!("~/{}", below.to_string_lossy()),
            None => source.path.to_string_lossy().into_owned(),
        };
        // A file that was compressed is the file it was.
        let plain = path.strip_suffix(".zst").or_else(|| path.strip_suffix(".gz")).unwrap_or(&path);
        let digest = text_digest(plain);
        let stem: String = source.stem().chars().filter(|c| !c.is_control()).collect();
        let by_path = format!("{stem}-{}", digest.get(..NAME / 2).unwrap_or_default());
        Self { label: source.session.map(str::to_owned), by_path }
    }
}

impl Known {
    /// Says which session a record is of. What is decided once stays, and rests on nothing that comes later: the
    /// first record decides that names a session, carries a time or a unique id, or speaks.
    pub(crate) fn home(&mut self, place: &Place, says: Says<'_>) -> Home {
        if let Some(label) = &place.label {
            return Home::Session(label.clone());
        }
        if says.session.is_some() {
            self.session = says.session;
        } else if self.session.is_none() && says.marked {
            let digest = text_digest(says.text);
            self.session = Some(digest.get(..NAME).unwrap_or_default().to_owned());
        }
        match &self.session {
            Some(session) => Home::Session(session.clone()),
            None if says.speaks || self.held >= HELD => Home::ByPath(self.name_by_path(place)),
            None => Home::Open,
        }
    }

    /// Names the session by the path.
    pub(crate) fn name_by_path(&mut self, place: &Place) -> String {
        self.session = Some(place.by_path.clone());
        place.by_path.clone()
    }
}

/// Says whether a record carries a time, or an id that no other file has.
pub(crate) fn is_marked(map: &FieldMap, node: &Node<'_>, id: Option<&str>) -> bool {
    let timed = |paths: &Paths| paths.all(node).any(time::is_time);
    timed(&map.record.time) || timed(&map.session.started) || id.is_some_and(|id| id.len() >= UNIQUE)
}
