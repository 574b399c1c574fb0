//! Walks directories. One listing a directory and no call a file: what an entry is comes with the listing, and
//! only links are followed up.

use super::pattern::{Part, is_transcript, plain_name};
use super::{Found, Problem};
use glob::{MatchOptions, Pattern};
use std::collections::{BTreeMap, HashSet};
use std::ffi::{OsStr, OsString};
use std::fs::{self, DirEntry, FileType};
use std::io;
use std::path::{Component, Path, PathBuf};
use std::rc::Rc;

/// A place, by the name it was found under and by its canonical one.
#[derive(Debug, Clone)]
struct Place {
    path: PathBuf,
    canonical: PathBuf,
}

impl Place {
    /// Returns what has that name here, if it is no link.
    fn join(&self, name: &OsStr) -> Self {
        Self { path: self.path.join(name), canonical: self.canonical.join(name) }
    }

    /// Returns the place at `path`; where a link leads nowhere, the link.
    fn resolved(path: PathBuf) -> Self {
        let canonical = fs::canonicalize(&path).unwrap_or_else(|_| path.clone());
        if path.components().any(|component| component == Component::ParentDir) {
            return Self { path: canonical.clone(), canonical };
        }
        Self { path, canonical }
    }
}

/// A directory still to be looked at, and what is looked for in it: `parts` from `at` on.
#[derive(Debug, Clone)]
struct Task {
    place: Place,
    run: usize,
    parts: Rc<[Part]>,
    at: usize,
}

/// What an entry is.
#[derive(Debug, Clone, Copy)]
struct Kind {
    directory: bool,
    link: bool,
}

impl Kind {
    fn of(path: &Path, kind: FileType) -> Self {
        let link = kind.is_symlink();
        Self { directory: if link { path.is_dir() } else { kind.is_dir() }, link }
    }
}

pub(super) const OPTIONS: MatchOptions = MatchOptions {
    case_sensitive: true,
    require_literal_separator: true,
    require_literal_leading_dot: false,
};

/// Finds files.
#[derive(Debug)]
pub(super) struct Walk {
    /// Whether a directory that is found stands for the transcripts in it.
    enters: bool,
    /// What is looked for in such a directory; run 0.
    transcripts: Rc<[Part]>,
    runs: usize,
    tasks: Vec<Task>,
    /// Directories found through links, looked at last: a file's own name goes before one through a link.
    later: BTreeMap<(OsString, usize, usize), Task>,
    /// Files that are links.
    links: Vec<Place>,
    /// The directories that were looked at for what is at any depth below: with the run and the part.
    seen: HashSet<(OsString, usize, usize)>,
    held: HashSet<OsString>,
    files: Vec<Place>,
    excluded: Vec<Pattern>,
    problems: Vec<Problem>,
}

impl Walk {
    pub(super) fn new(enters: bool) -> Self {
        Self {
            enters,
            transcripts: Rc::from([Part::Depth, Part::Transcripts]),
            runs: 0,
            tasks: Vec::new(),
            later: BTreeMap::new(),
            links: Vec::new(),
            seen: HashSet::new(),
            held: HashSet::new(),
            files: Vec::new(),
            excluded: Vec::new(),
            problems: Vec::new(),
        }
    }

    pub(super) fn problem(&mut self, path: &Path, what: String) {
        self.problems.push(Problem { path: path.to_owned(), what });
    }

    /// Leaves out what `pattern` matches.
    pub(super) fn exclude(&mut self, pattern: Pattern) {
        self.excluded.push(pattern);
    }

    /// Takes the file at `path`, or the transcripts in the directory there.
    pub(super) fn add(&mut self, path: PathBuf) {
        let directory = path.is_dir();
        let place = Place::resolved(path);
        if directory {
            self.tasks.push(self.transcripts_in(place));
        } else {
            self.take(place);
        }
    }

    /// Takes what `parts` match in `base`.
    pub(super) fn run(&mut self, base: &Path, parts: Vec<Part>) {
        self.runs += 1;
        let names =
            parts.iter().map_while(|part| if let Part::Name(name) = part { Some(name) } else { None });
        // The last name is looked for as any other, so that what it is gets known.
        let fixed: Vec<_> = names.take(parts.len().saturating_sub(1)).collect();
        let at = fixed.len();
        let place = Place::resolved(fixed.into_iter().fold(base.to_owned(), |path, name| path.join(name)));
        let kind = Kind { directory: true, link: place.path != place.canonical };
        self.go_to(Task { place, run: self.runs, parts: parts.into(), at }, kind);
    }

    /// Returns what was found.
    pub(super) fn finish(mut self) -> Found {
        while let Some(task) = self.tasks.pop().or_else(|| self.later.pop_first().map(|(_, task)| task)) {
            self.look(&task);
        }
        let mut links = std::mem::take(&mut self.links);
        links.sort_unstable_by(|a, b| a.path.as_os_str().cmp(b.path.as_os_str()));
        for link in links {
            self.take(link);
        }
        // While a client compresses a file, and as long as it keeps both, the plain one is the source.
        self.files.retain(|place| {
            let text = place.canonical.to_string_lossy();
            plain_name(&text).is_none_or(|plain| !Path::new(plain).is_file())
        });
        self.files.sort_unstable_by(|a, b| a.path.as_os_str().cmp(b.path.as_os_str()));
        self.problems.sort_by(|a, b| a.path.cmp(&b.path));
        let (files, canonical) = self.files.into_iter().map(|place| (place.path, place.canonical)).unzip();
        Found { files, canonical, problems: self.problems }
    }

    fn look(&mut self, task: &Task) {
        match task.parts.get(task.at) {
            Some(Part::Name(name)) => self.look_for(task, name),
            Some(Part::Depth) if !self.is_new(task) => {}
            Some(Part::Depth) => {
                if let Some(Part::Name(name)) = task.parts.get(task.at + 1) {
                    self.look_for(&Task { at: task.at + 1, ..task.clone() }, name);
                }
                self.list(task);
            }
            Some(_) => self.list(task),
            None => {}
        }
    }

    /// Says whether this is looked for in that directory for the first time.
    fn is_new(&mut self, task: &Task) -> bool {
        self.seen.insert((task.place.canonical.as_os_str().to_owned(), task.run, task.at))
    }

    fn look_for(&mut self, task: &Task, name: &str) {
        let path = task.place.path.join(name);
        match fs::symlink_metadata(&path) {
            Ok(metadata) => {
                let kind = Kind::of(&path, metadata.file_type());
                let place = if kind.link || name == ".." {
                    Place::resolved(path)
                } else {
                    task.place.join(OsStr::new(name))
                };
                self.matched(task, task.at, place, kind);
            }
            Err(error) => self.failed(&path, &error),
        }
    }

    fn list(&mut self, task: &Task) {
        let entries = match fs::read_dir(&task.place.path) {
            Ok(entries) => entries,
            Err(error) => return self.failed(&task.place.path, &error),
        };
        let deep = matches!(task.parts.get(task.at), Some(Part::Depth));
        let at = task.at + usize::from(deep);
        for entry in entries {
            match entry {
                Ok(entry) => self.entry(task, &entry, at, deep),
                Err(error) => return self.failed(&task.place.path, &error),
            }
        }
    }

    /// Looks at an entry of a directory, whose name the part `at` is to match.
    fn entry(&mut self, task: &Task, entry: &DirEntry, at: usize, deep: bool) {
        let name = entry.file_name();
        let matches = task.parts.get(at).is_some_and(|part| part.takes(&name, OPTIONS));
        if !matches && !deep {
            return;
        }
        let mut place = task.place.join(&name);
        let kind = match entry.file_type() {
            Ok(kind) => Kind::of(&place.path, kind),
            Err(error) => return self.failed(&place.path, &error),
        };
        if kind.link {
            place = Place::resolved(place.path);
        }
        if deep && kind.directory {
            self.go_to(Task { place: place.clone(), at: task.at, ..task.clone() }, kind);
        }
        if matches {
            self.matched(task, at, place, kind);
        }
    }

    /// Goes on from a place that the part `at` matched.
    fn matched(&mut self, task: &Task, at: usize, place: Place, kind: Kind) {
        if at + 1 < task.parts.len() {
            if kind.directory {
                self.go_to(Task { place, at: at + 1, ..task.clone() }, kind);
            }
        } else if kind.directory && self.enters && !is_transcript(place.path.as_os_str()) {
            let task = self.transcripts_in(place);
            self.go_to(task, kind);
        } else if kind.link {
            self.links.push(place);
        } else {
            self.take(place);
        }
    }

    fn go_to(&mut self, task: Task, kind: Kind) {
        if kind.link {
            self.later.insert((task.place.path.as_os_str().to_owned(), task.run, task.at), task);
        } else {
            self.tasks.push(task);
        }
    }

    fn transcripts_in(&self, place: Place) -> Task {
        Task { place, run: 0, parts: Rc::clone(&self.transcripts), at: 0 }
    }

    fn take(&mut self, place: Place) {
        let text = place.path.to_string_lossy();
        let plain = plain_name(&text);
        let excluded = self.excluded.iter().any(|pattern| {
            pattern.matches_path_with(&place.path, OPTIONS)
                || plain.is_some_and(|plain| pattern.matches_with(plain, OPTIONS))
        });
        if !excluded && self.held.insert(place.canonical.as_os_str().to_owned()) {
            self.files.push(place);
        }
    }

    fn failed(&mut self, path: &Path, error: &io::Error) {
        // Nothing is there, or no directory: then nothing matches.
        if !matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) {
            self.problem(path, error.to_string());
        }
    }
}
