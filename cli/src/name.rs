//! How a session is named: in full, by its beginning or by its end.

use crate::times::Clock;
use crate::{print, text};
use anyhow::{Result, anyhow};
use scrollback_store::{SessionRow, Store};

/// The characters of a session's id that are printed, if they name it.
const SHORT: usize = 8;
/// How many sessions are listed where a name fits several.
const LISTED: usize = 10;

/// A session, and perhaps a turn of it.
#[derive(Debug)]
pub(crate) struct Named {
    /// The session.
    pub(crate) session: SessionRow,
    /// The turn.
    pub(crate) turn: Option<u64>,
}

/// Returns the session that `[CLIENT/]SESSION` names. None or several are an error that says which.
pub(crate) fn session(store: &Store, clock: &Clock, name: &str) -> Result<SessionRow> {
    let found = candidates(store, name)?;
    one(store, clock, name, found)
}

/// Returns what `[CLIENT/]SESSION[:TURN]` names.
pub(crate) fn session_and_turn(store: &Store, clock: &Clock, name: &str) -> Result<Named> {
    let found = candidates(store, name)?;
    if found.is_empty()
        && let Some((session, turn)) = name.rsplit_once(':')
        && let Ok(turn) = turn.parse()
    {
        return Ok(Named { session: self::session(store, clock, session)?, turn: Some(turn) });
    }
    Ok(Named { session: one(store, clock, name, found)?, turn: None })
}

/// Returns the sessions a name fits: read as a whole first, since ids may hold slashes, then after its client.
fn candidates(store: &Store, name: &str) -> Result<Vec<SessionRow>> {
    let found = store.find_session(None, name)?;
    match name.split_once('/') {
        Some((client, rest)) if found.is_empty() => Ok(store.find_session(Some(client), rest)?),
        _ => Ok(found),
    }
}

fn one(store: &Store, clock: &Clock, name: &str, mut found: Vec<SessionRow>) -> Result<SessionRow> {
    match (found.pop(), found.len()) {
        (Some(session), 0) => Ok(session),
        (None, _) => Err(anyhow!("no session is named {name:?}; `sessions` lists them")),
        (Some(last), more) => {
            found.push(last);
            let names = Names::of(store)?;
            let mut message =
                format!("{name:?} names {}; give more of the id:", print::count(more as u64 + 1, "session"));
            for session in found.iter().take(LISTED) {
                let when = session.last_at.map(|at| clock.minute(at)).unwrap_or_default();
                let title = text::one_line(title(session));
                let line = format!("{}  {}  {when}  {title}", names.short(session), session.line.client);
                message.push_str("\n  ");
                message.push_str(&text::clip(&line, 78));
            }
            if found.len() > LISTED {
                message = format!("{message}\n  and {} more", found.len() - LISTED);
            }
            Err(anyhow!(message))
        }
    }
}

/// Returns what a session is called: its title, else its last prompt, else nothing.
pub(crate) fn title(session: &SessionRow) -> &str {
    session.line.title.as_deref().or(session.line.last_prompt.as_deref()).unwrap_or_default()
}

/// Returns the last part of a project's path.
pub(crate) fn project(path: Option<&str>) -> &str {
    path.map_or("", |path| path.trim_end_matches('/').rsplit('/').next().unwrap_or(path))
}

/// The names of all sessions of a store.
pub(crate) struct Names(Vec<String>);

impl Names {
    /// Returns the names of a store's sessions.
    pub(crate) fn of(store: &Store) -> Result<Self> {
        Ok(Self::new(store.session_names()?))
    }

    fn new(names: impl IntoIterator<Item = String>) -> Self {
        // `find_session` compares without regard to case, too.
        Self(names.into_iter().map(|name| name.to_ascii_lowercase()).collect())
    }

    /// Returns the shortest end of a session's id, of 8 characters at least, that names it alone; the client and
    /// the whole id, if another client has a session of that id.
    pub(crate) fn short(&self, session: &SessionRow) -> String {
        let id = &session.line.session;
        self.short_of(id).map_or_else(|| format!("{}/{id}", session.line.client), str::to_owned)
    }

    fn short_of<'n>(&self, id: &'n str) -> Option<&'n str> {
        let mut ends: Vec<usize> = id.char_indices().rev().map(|(at, _)| at).skip(SHORT - 1).collect();
        ends.push(0);
        ends.into_iter()
            .map(|at| &id[at..])
            // What begins with a hyphen would be taken for a flag.
            .filter(|end| end.len() == id.len() || end.starts_with(char::is_alphanumeric))
            .find(|end| {
                let end_folded = end.to_ascii_lowercase();
                if end.len() == id.len() {
                    return self.0.iter().filter(|name| **name == end_folded).count() == 1;
                }
                let fits = |name: &&String| name.starts_with(&end_folded) || name.ends_with(&end_folded);
                self.0.iter().filter(fits).take(2).count() == 1
            })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_name_is_the_end_that_names_one_session() {
        let all = [
            "0197a000-0000-7000-8000-00000000aaaa",
            "0197a000-0000-7000-8000-00000000bbbb",
            "0197b000-0000-7000-8000-00000000bbbb",
            "00000000-aaaa",
            "s1",
            "parent/agent-12345678",
            "twice",
            "twice",
            "end-1234567",
        ];
        let names = Names::new(all.map(str::to_owned));
        let cases = [
            (all[1], Some("a000-0000-7000-8000-00000000bbbb")),
            (all[2], Some("b000-0000-7000-8000-00000000bbbb")),
            (all[3], Some("000-aaaa")),
            (all[4], Some("s1")),
            (all[5], Some("12345678")),
            (all[6], None),
            (all[8], Some("d-1234567")),
        ];
        for (id, expected) in cases {
            assert_eq!(names.short_of(id), expected, "{id}");
        }
        assert_eq!(names.short_of(all[0]), Some("0000aaaa"));
    }

    #[test]
    fn a_project_is_called_by_the_end_of_its_path() {
        let cases = [
            (Some("/home/dev/app"), "app"),
            (Some("/home/dev/app/"), "app"),
            (Some("app"), "app"),
            (None, ""),
        ];
        for (path, expected) in cases {
            assert_eq!(project(path), expected);
        }
    }
}
