//! What is captured, and for which project: intervals with times, and what hooks noted of sessions. An event is
//! judged by its own time, whether the drain or a later `tail` reads it.

use crate::project::{project_of, real};
use crate::spool::{Spool, SpoolRecord};
use glob::{MatchOptions, Pattern};
use scrollback_core::{Env, Timestamp};
use scrollback_store::{Holds, Interval, Mode, Note, NoteRow, Scope, Store, StoreError, Writer};
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// What is wanted at all.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Capture {
    /// How much is captured; what a session's own environment said goes before it.
    pub mode: Mode,
    /// Directories whose sessions are not captured, each with everything below it.
    pub exclude: Vec<Pattern>,
}

impl Capture {
    /// Excludes the directories of a pattern, which begins with `/` or `~/`.
    ///
    /// # Errors
    ///
    /// What is wrong with the pattern.
    pub fn exclude(&mut self, env: &dyn Env, pattern: &str) -> Result<(), String> {
        let pattern = match (pattern.strip_prefix("~"), env.home()) {
            (Some(rest), Some(home)) if rest.is_empty() || rest.starts_with('/') => {
                format!("{}{rest}", Pattern::escape(&home.to_string_lossy()))
            }
            _ => pattern.to_owned(),
        };
        let trimmed = pattern.trim_end_matches('/');
        if !trimmed.starts_with('/') && !trimmed.starts_with("**") {
            return Err("it does not begin with `/` or `~/`".to_owned());
        }
        self.exclude.push(Pattern::new(trimmed).map_err(|error| error.to_string())?);
        Ok(())
    }
}

/// What becomes of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict<'j> {
    /// It is kept: for the project of that name, or for that of its session.
    Keep(Option<&'j str>),
    /// It is passed, for that reason.
    Skip(&'static str),
}

/// Where an event happened, and when.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Of<'e> {
    /// The client.
    pub(crate) client: &'e str,
    /// The event's session, then those that launched it, the nearest first.
    pub(crate) sessions: &'e [String],
    /// The directory the session started in, if it is known: as it was written, and with its links followed.
    pub(crate) directories: &'e [PathBuf],
    /// The root of its repository, or that directory.
    pub(crate) root: Option<&'e Path>,
    /// When.
    pub(crate) at: Timestamp,
}

/// A client dates what it writes a little before the hook that goes with it.
const SLACK_MICROS: i64 = 2_000_000;

/// Judges events.
#[derive(Debug, Clone, Default)]
pub(crate) struct Judge {
    capture: Capture,
    intervals: Vec<Interval>,
    /// By client and session, in the order of time.
    notes: HashMap<(String, String), Vec<(Timestamp, Note)>>,
    /// Whether what would be passed is kept: the user asked for everything again.
    everything: bool,
}

impl Judge {
    /// Returns a judge of what the store knows; none if everything is kept whatever happened, so that nobody need ask.
    pub(crate) fn of(
        writer: &Writer<'_>,
        capture: &Capture,
        everything: bool,
    ) -> Result<Option<Self>, StoreError> {
        let mut intervals = writer.intervals()?;
        for interval in &mut intervals {
            match &mut interval.scope {
                Scope::Everywhere => {}
                Scope::Repository(root) | Scope::Directory(root) => *root = real(root),
            }
        }
        Ok(Self::new(capture.clone(), intervals, writer.notes()?, everything))
    }

    fn new(
        capture: Capture,
        intervals: Vec<Interval>,
        notes: Vec<NoteRow>,
        everything: bool,
    ) -> Option<Self> {
        let mut held: HashMap<(String, String), Vec<(Timestamp, Note)>> = HashMap::new();
        for NoteRow { client, session, at, note } in notes {
            held.entry((client, session)).or_default().push((at, note));
        }
        let judge = Self { capture, intervals, notes: held, everything };
        (judge.capture != Capture::default() || !judge.intervals.is_empty() || !judge.notes.is_empty())
            .then_some(judge)
    }

    /// Says what becomes of an event.
    pub(crate) fn verdict(&self, of: &Of<'_>) -> Verdict<'_> {
        let note = self.note(of);
        let named = note.and_then(|note| note.project.as_deref());
        // Of several bindings the one nearest to the directory, then the last.
        let bound = self
            .holding(*of)
            .filter_map(|interval| match &interval.holds {
                Holds::Bound(project) => Some((depth(interval), interval.since, project.as_str())),
                Holds::Paused => None,
            })
            .max();
        let project = named.or(bound.map(|(_, _, project)| project));
        let mode = note.and_then(|note| note.mode).unwrap_or(self.capture.mode);
        match self.reason(of, mode, project) {
            Some(reason) if !self.everything => Verdict::Skip(reason),
            _ => Verdict::Keep(project),
        }
    }

    /// Returns why an event is not wanted, if it is not.
    fn reason(&self, of: &Of<'_>, mode: Mode, project: Option<&str>) -> Option<&'static str> {
        if mode == Mode::Off {
            return Some("capture was off");
        }
        let excluded =
            |directory: &PathBuf| self.capture.exclude.iter().any(|pattern| excludes(pattern, directory));
        if of.directories.iter().any(excluded) {
            return Some("its directory is excluded");
        }
        if self.holding(*of).any(|interval| interval.holds == Holds::Paused) {
            return Some("capture was paused");
        }
        (mode == Mode::Bound && project.is_none()).then_some("no project was bound")
    }

    /// Returns the last note before the event, of the nearest session that has any.
    fn note(&self, of: &Of<'_>) -> Option<&Note> {
        let notes = of
            .sessions
            .iter()
            .find_map(|session| self.notes.get(&(of.client.to_owned(), session.clone())))?;
        // A session that was off stays so until its next hook says otherwise.
        let was_off = |at: usize| at > 0 && notes[at - 1].1.mode == Some(Mode::Off);
        let from = |at: usize| notes[at].0.micros() - if was_off(at) { 0 } else { SLACK_MICROS };
        (0..notes.len()).rev().find(|at| from(*at) <= of.at.micros()).map(|at| &notes[at].1)
    }

    fn holding<'j>(&'j self, of: Of<'_>) -> impl Iterator<Item = &'j Interval> {
        self.intervals.iter().filter(move |interval| {
            interval.since <= of.at
                && interval.until.is_none_or(|until| of.at < until)
                && covers(&interval.scope, of.root)
        })
    }
}

fn covers(scope: &Scope, root: Option<&Path>) -> bool {
    match scope {
        Scope::Everywhere => true,
        Scope::Repository(held) => root.is_some_and(|root| root == held),
        Scope::Directory(held) => root.is_some_and(|root| root.starts_with(held)),
    }
}

fn depth(interval: &Interval) -> usize {
    match &interval.scope {
        Scope::Everywhere => 0,
        Scope::Repository(root) | Scope::Directory(root) => root.components().count(),
    }
}

/// Says whether a pattern is of the directory or of one above it.
fn excludes(pattern: &Pattern, directory: &Path) -> bool {
    let options = MatchOptions { require_literal_separator: true, ..MatchOptions::default() };
    directory.ancestors().any(|path| pattern.matches_path_with(path, options))
}

/// Returns the scope that a user means who stands in a directory: its repository, or, if it is in none, the directory
/// with everything below it.
pub fn scope_of(env: &dyn Env, directory: &Path) -> Scope {
    let home = env.home();
    match project_of(directory, None, &[], home.as_deref()) {
        Some(root) if root.join(".git").exists() => Scope::Repository(real(&root)),
        _ => Scope::Directory(real(directory)),
    }
}

/// Returns what holds in a directory at a time: whether capture is paused there, since when and by which scope; and
/// the project that is bound there.
pub fn holding(
    env: &dyn Env,
    store: &Store,
    directory: &Path,
    at: Timestamp,
) -> Result<(Option<Interval>, Option<Interval>), StoreError> {
    let root = match scope_of(env, directory) {
        Scope::Repository(root) | Scope::Directory(root) => root,
        Scope::Everywhere => PathBuf::from("/"),
    };
    let judge = Judge { intervals: store.intervals()?, ..Judge::default() };
    let of = Of { client: "", sessions: &[], directories: &[], root: Some(&root), at };
    let pause = judge.holding(of).find(|interval| interval.holds == Holds::Paused).cloned();
    let bindings = judge.holding(of).filter(|interval| interval.holds != Holds::Paused);
    let binding = bindings.max_by_key(|interval| (depth(interval), interval.since)).cloned();
    Ok((pause, binding))
}

/// Notes in the store what hooks left of how their sessions were to be captured. Their records stay in the spool.
pub fn take_notes(store: &mut Store, spool: &Spool) -> Result<(), StoreError> {
    // What cannot be read here is read, or told, by the drain.
    let records = spool.peek().unwrap_or_default();
    if records.is_empty() {
        return Ok(());
    }
    let mut writer = store.writer()?;
    note(&mut writer, &records)?;
    writer.commit()
}

/// Notes what records say of how their sessions are to be captured.
pub(crate) fn note(writer: &mut Writer<'_>, records: &[SpoolRecord]) -> Result<(), StoreError> {
    for record in records {
        if let (Some(session), Ok(at)) = (&record.session, Timestamp::from_micros(record.at)) {
            let mode = record.capture.as_deref().map(|mode| Mode::named(mode).unwrap_or(Mode::Off));
            let note = Note { mode, project: record.project.clone() };
            writer.note(&record.client, session, at, &note)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_micros(seconds * 1_000_000).unwrap()
    }

    fn repository(root: &str) -> Scope {
        Scope::Repository(root.into())
    }

    fn interval(holds: Holds, scope: Scope, since: i64, until: Option<i64>) -> Interval {
        Interval { holds, scope, since: at(since), until: until.map(at) }
    }

    fn bound(project: &str) -> Holds {
        Holds::Bound(project.to_owned())
    }

    fn note(session: &str, seconds: i64, mode: Option<Mode>, project: Option<&str>) -> NoteRow {
        NoteRow {
            client: "acme".to_owned(),
            session: session.to_owned(),
            at: at(seconds),
            note: Note { mode, project: project.map(str::to_owned) },
        }
    }

    fn judge(capture: Capture, intervals: Vec<Interval>, notes: Vec<NoteRow>) -> Judge {
        Judge::new(capture, intervals, notes, false).unwrap()
    }

    fn verdict<'j>(judge: &'j Judge, sessions: &[&str], root: Option<&str>, seconds: i64) -> Verdict<'j> {
        let sessions: Vec<String> = sessions.iter().map(|&session| session.to_owned()).collect();
        let directories: Vec<PathBuf> = root.map(PathBuf::from).into_iter().collect();
        let root = root.map(Path::new);
        judge.verdict(&Of {
            client: "acme",
            sessions: &sessions,
            directories: &directories,
            root,
            at: at(seconds),
        })
    }

    const PAUSED: Verdict<'static> = Verdict::Skip("capture was paused");
    const UNBOUND: Verdict<'static> = Verdict::Skip("no project was bound");
    const OFF: Verdict<'static> = Verdict::Skip("capture was off");

    #[test]
    fn with_nothing_to_judge_nobody_is_asked() {
        assert!(Judge::new(Capture::default(), Vec::new(), Vec::new(), false).is_none());
    }

    #[test]
    fn an_event_is_judged_by_its_own_time_and_place() {
        let judge = judge(
            Capture::default(),
            vec![
                interval(Holds::Paused, repository("/a"), 100, Some(200)),
                interval(bound("one"), repository("/b"), 100, Some(200)),
                interval(bound("two"), repository("/b"), 200, None),
                interval(bound("inner"), repository("/b/c"), 150, None),
                interval(bound("plain"), Scope::Directory("/d".into()), 100, None),
                interval(bound("deep"), repository("/d/e"), 50, None),
            ],
            Vec::new(),
        );
        for (root, seconds, expected) in [
            (Some("/a"), 99, Verdict::Keep(None)),
            (Some("/a"), 100, PAUSED),
            (Some("/a"), 199, PAUSED),
            (Some("/a"), 200, Verdict::Keep(None)),
            // Another repository is not touched: neither one whose name begins so, nor one within.
            (Some("/other"), 150, Verdict::Keep(None)),
            (Some("/ab"), 150, Verdict::Keep(None)),
            (Some("/a/module"), 150, Verdict::Keep(None)),
            (None, 150, Verdict::Keep(None)),
            (Some("/b"), 99, Verdict::Keep(None)),
            (Some("/b"), 150, Verdict::Keep(Some("one"))),
            (Some("/b"), 250, Verdict::Keep(Some("two"))),
            (Some("/b/c"), 250, Verdict::Keep(Some("inner"))),
            (Some("/d"), 150, Verdict::Keep(Some("plain"))),
            (Some("/d/x"), 150, Verdict::Keep(Some("plain"))),
            (Some("/d/e"), 150, Verdict::Keep(Some("deep"))),
        ] {
            assert_eq!(verdict(&judge, &["s"], root, seconds), expected, "{root:?} {seconds}");
        }
    }

    #[test]
    fn a_pause_everywhere_is_everywhere() {
        let pause = vec![interval(Holds::Paused, Scope::Everywhere, 100, None)];
        let judge = judge(Capture::default(), pause, Vec::new());
        for root in [Some("/a"), None] {
            assert_eq!(verdict(&judge, &["s"], root, 50), Verdict::Keep(None));
            assert_eq!(verdict(&judge, &["s"], root, 500), PAUSED);
        }
    }

    #[test]
    fn what_a_hook_noted_holds_for_its_session_until_the_next_note() {
        let notes = vec![
            note("s", 100, Some(Mode::Off), None),
            note("s", 300, None, None),
            note("t", 100, None, Some("named")),
            note("v", 100, Some(Mode::Bound), None),
        ];
        let intervals = vec![interval(bound("bound"), repository("/a"), 0, None)];
        let judge = judge(Capture::default(), intervals, notes);
        let here = Verdict::Keep(Some("bound"));
        for (sessions, root, seconds, expected) in [
            (&["s"][..], "/a", 90, here),
            (&["s"], "/a", 99, OFF),
            (&["s"], "/a", 200, OFF),
            (&["s"], "/a", 299, OFF),
            (&["s"], "/a", 300, here),
            // A sub-agent is judged as the session that launched it.
            (&["sub", "s"], "/a", 200, OFF),
            (&["t"], "/a", 200, Verdict::Keep(Some("named"))),
            (&["u"], "/a", 200, here),
            (&["v"], "/a", 200, here),
            (&["v"], "/b", 200, UNBOUND),
        ] {
            assert_eq!(verdict(&judge, sessions, Some(root), seconds), expected, "{sessions:?} {seconds}");
        }
    }

    #[test]
    fn bound_captures_what_is_bound_and_nothing_else() {
        let capture = Capture { mode: Mode::Bound, exclude: Vec::new() };
        let intervals = vec![interval(bound("p"), repository("/a"), 100, Some(200))];
        let strict = judge(capture.clone(), intervals.clone(), Vec::new());
        // Half of the session is bound.
        for (root, seconds, expected) in [
            ("/a", 50, UNBOUND),
            ("/a", 150, Verdict::Keep(Some("p"))),
            ("/a", 250, UNBOUND),
            ("/b", 150, UNBOUND),
        ] {
            assert_eq!(verdict(&strict, &["s"], Some(root), seconds), expected, "{root} {seconds}");
        }
        let lenient = Judge::new(capture, intervals, Vec::new(), true).unwrap();
        assert_eq!(verdict(&lenient, &["s"], Some("/a"), 150), Verdict::Keep(Some("p")));
        assert_eq!(verdict(&lenient, &["s"], Some("/b"), 150), Verdict::Keep(None));
    }

    #[test]
    fn an_excluded_directory_takes_what_is_below_it_along() {
        let exclude = vec![Pattern::new("/home/*/private").unwrap()];
        let judge = judge(Capture { mode: Mode::All, exclude }, Vec::new(), Vec::new());
        let excluded = Verdict::Skip("its directory is excluded");
        assert_eq!(verdict(&judge, &["s"], Some("/home/dev/private/deep"), 1), excluded);
        assert_eq!(verdict(&judge, &["s"], Some("/home/dev/x/private"), 1), Verdict::Keep(None));
        assert_eq!(verdict(&judge, &["s"], Some("/home/dev/public"), 1), Verdict::Keep(None));
    }
}
