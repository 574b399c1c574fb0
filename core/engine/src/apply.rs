//! Carries plans out.
//!
//! Everything is checked before anything is written: that each file is what the plan saw, and may be written; then
//! every new content is put on the disk beside its file. Each file is replaced in one step, through symbolic links,
//! with its mode. If a step fails, those before it are undone. If the process is ended, each file is its old self or
//! its new one, and the journal knows which.

mod file;
mod journal;
#[cfg(test)]
mod tests;

use journal::Journal;
use scrollback_core::{Env, Memos, Plan, Step};
use similar::TextDiff;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use tempfile::NamedTempFile;
use thiserror::Error;

/// What was done.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Applied {
    /// Files that changed or are new, as the plan names them.
    pub wrote: Vec<PathBuf>,
    /// Files that are gone.
    pub removed: Vec<PathBuf>,
    /// Where what was replaced is kept.
    pub backups: Vec<PathBuf>,
    /// The commands that were run.
    pub ran: Vec<String>,
    /// What only the user can do now; a command whose program is not here is among it.
    pub told: Vec<String>,
    /// What the user should know.
    pub notes: Vec<String>,
}

/// Why a plan was not carried out. What it had done by then is undone.
#[derive(Debug, Error)]
pub enum ApplyError {
    /// A file is not what the plan saw.
    #[error("{} has changed since the plan was made; nothing was written", path.display())]
    Changed {
        /// The file.
        path: PathBuf,
    },
    /// Something else than a file is where one should be.
    #[error("{} is not a file", path.display())]
    NotAFile {
        /// The path.
        path: PathBuf,
    },
    /// A file or its directory may not be written to.
    #[error("{} is read-only", path.display())]
    ReadOnly {
        /// The file or directory.
        path: PathBuf,
    },
    /// A file could not be read or written.
    #[error("{}: {error}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system says.
        error: io::Error,
    },
    /// The journal is not understood; it is left as it is.
    #[error("the journal {} is not understood: {what}", path.display())]
    Journal {
        /// The journal.
        path: PathBuf,
        /// What is wrong.
        what: String,
    },
    /// A command of the client's failed.
    #[error("`{line}` failed: {what}")]
    Command {
        /// The command.
        line: String,
        /// Its exit status and what it said.
        what: String,
    },
    /// A step failed, and what came before it could not all be undone.
    #[error("{cause}; and what was done before is not all undone: {}", left.join(", "))]
    Half {
        /// Why the step failed.
        cause: Box<ApplyError>,
        /// What could not be undone, and why.
        left: Vec<String>,
    },
}

impl ApplyError {
    fn io(path: &Path, error: io::Error) -> Self {
        Self::Io { path: path.to_owned(), error }
    }
}

/// Returns what the journal in a data directory holds, for a plan. Writes nothing; without a journal there is
/// nothing.
pub fn memos(data: &Path) -> Result<Memos, ApplyError> {
    Ok(Journal::open(data)?.memos())
}

/// Takes away the backups that were made and are still what they were; returns which.
pub fn drop_backups(data: &Path) -> Result<Vec<PathBuf>, ApplyError> {
    if !Journal::place(data).exists() {
        return Ok(Vec::new());
    }
    let _lock = lock(data)?;
    let mut journal = Journal::open(data)?;
    let gone = journal.drop_backups()?;
    journal.save(data)?;
    Ok(gone)
}

/// Returns a plan as people read it: the files' changes as a unified diff, commands behind a `$`.
pub fn diff(plan: &Plan) -> String {
    let picture = plan.steps.iter().map(|step| match step {
        Step::Edit { path, before, after, .. } => edit_diff(path, before.as_deref(), after.as_deref()),
        Step::Run { program, args, .. } => format!("$ {}\n", line_of(program, args)),
        Step::Tell(text) | Step::Note(text) => format!("# {text}\n"),
    });
    picture.collect()
}

fn edit_diff(path: &Path, before: Option<&[u8]>, after: Option<&[u8]>) -> String {
    let text = |bytes: Option<&[u8]>| String::from_utf8_lossy(bytes.unwrap_or_default()).into_owned();
    let name = |bytes: Option<&[u8]>| match bytes {
        Some(_) => path.display().to_string(),
        None => "/dev/null".to_owned(),
    };
    let (old, new) = (text(before), text(after));
    let diff = TextDiff::from_lines(&old, &new);
    diff.unified_diff().context_radius(3).header(&name(before), &name(after)).to_string()
}

/// Returns a command as one types it.
pub fn line_of(program: &str, args: &[OsString]) -> String {
    let words = args.iter().map(|arg| {
        let word = arg.to_string_lossy();
        let plain =
            !word.is_empty() && word.chars().all(|char| char.is_alphanumeric() || "-_./:=@,".contains(char));
        if plain { word.into_owned() } else { format!("'{}'", word.replace('\'', r"'\''")) }
    });
    std::iter::once(program.to_owned()).chain(words).collect::<Vec<_>>().join(" ")
}

/// Says whether a plan can be carried out now: each file is what the plan saw and may be written to. Writes nothing.
pub fn check(plan: &Plan) -> Result<(), ApplyError> {
    for step in &plan.steps {
        let Step::Edit { path, before, mkdir, .. } = step else { continue };
        let target = file::target(path)?;
        unchanged(path, &target, before.as_deref())?;
        if file::is_read_only(&target)? {
            return Err(ApplyError::ReadOnly { path: path.clone() });
        }
        let outermost = mkdir.iter().find(|directory| !directory.exists()).unwrap_or(&target);
        let around = outermost.parent().unwrap_or(Path::new("/"));
        match fs::metadata(around) {
            Ok(found) if !found.is_dir() => {
                return Err(ApplyError::io(around, io::Error::other("it is not a directory")));
            }
            Ok(_) => {}
            Err(error) => return Err(ApplyError::io(around, error)),
        }
        if file::is_read_only(around)? {
            return Err(ApplyError::ReadOnly { path: around.to_owned() });
        }
    }
    Ok(())
}

fn unchanged(path: &Path, target: &Path, before: Option<&[u8]>) -> Result<(), ApplyError> {
    if file::read(target)?.as_deref() == before {
        return Ok(());
    }
    Err(ApplyError::Changed { path: path.to_owned() })
}

/// Carries a plan out, and keeps in `data`, which is made if it is not there, what uninstalling it needs.
///
/// Commands are looked up on the machine's `PATH`. One whose program is not there is told to the user instead; one
/// that fails is an error. After an error everything is as it was, but for backups; [`ApplyError::Half`] says what
/// is not. An empty plan writes nothing.
pub fn apply(plan: &Plan, env: &dyn Env, data: &Path) -> Result<Applied, ApplyError> {
    carry_out(plan, env, data, &mut |_| Ok(()))
}

/// Between which two writes the work stands; tests end it there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Point {
    Announced,
    Staged,
    BackedUp,
    Step(usize),
    Settled,
}

type Watch<'w> = dyn FnMut(Point) -> Result<(), ApplyError> + 'w;

fn carry_out(plan: &Plan, env: &dyn Env, data: &Path, watch: &mut Watch<'_>) -> Result<Applied, ApplyError> {
    let changes = plan.steps.iter().any(|step| matches!(step, Step::Edit { .. } | Step::Run { .. }));
    check(plan)?;
    let mut work = Work { env, data, applied: Applied::default(), done: Vec::new() };
    if !changes {
        work.tell(plan);
        return Ok(work.applied);
    }
    let _lock = lock(data)?;
    let before = Journal::open(data)?;
    let mut journal = before.clone();
    match work.all(plan, &mut journal, watch) {
        Ok(()) => Ok(work.applied),
        Err(cause) => {
            let mut left = work.undo();
            // Directories that were made for nothing go; backups that were made stay known.
            journal.sweep();
            if left.is_empty() {
                journal.take_back(&before);
            }
            if let Err(error) = journal.settle().and_then(|()| journal.save(data)) {
                left.push(error.to_string());
            }
            if left.is_empty() { Err(cause) } else { Err(ApplyError::Half { cause: Box::new(cause), left }) }
        }
    }
}

/// Makes the data directory and waits for whoever applies a plan there now.
fn lock(data: &Path) -> Result<File, ApplyError> {
    let mut builder = fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.recursive(true).create(data).map_err(|error| ApplyError::io(data, error))?;
    let path = data.join("installed.lock");
    let file = File::options().create(true).truncate(false).write(true).open(&path);
    let file = file.map_err(|error| ApplyError::io(&path, error))?;
    file.lock().map_err(|error| ApplyError::io(&path, error))?;
    Ok(file)
}

/// Puts the new content of every file beside it.
fn stage(plan: &Plan) -> Result<Vec<Option<NamedTempFile>>, ApplyError> {
    for step in &plan.steps {
        let Step::Edit { path, mkdir, .. } = step else { continue };
        for directory in mkdir {
            match fs::create_dir(directory) {
                Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                    return Err(ApplyError::io(directory, error));
                }
                _ => {}
            }
        }
        file::clear(file::target(path)?.parent().unwrap_or(Path::new("/")));
    }
    let stage = |step: &Step| {
        let Step::Edit { path, after: Some(after), .. } = step else { return Ok(None) };
        let target = file::target(path)?;
        file::stage(&target, after, &target).map(Some)
    };
    plan.steps.iter().map(stage).collect()
}

/// What was done, so that it can be undone.
enum Done<'p> {
    Edit { target: PathBuf, before: Option<&'p [u8]>, mode: Option<fs::Permissions> },
    Run { program: PathBuf, name: &'static str, undo: &'p [OsString] },
}

struct Work<'p> {
    env: &'p dyn Env,
    data: &'p Path,
    applied: Applied,
    done: Vec<Done<'p>>,
}

impl<'p> Work<'p> {
    fn all(
        &mut self,
        plan: &'p Plan,
        journal: &mut Journal,
        watch: &mut Watch<'_>,
    ) -> Result<(), ApplyError> {
        plan.steps.iter().for_each(|step| journal.announce(step));
        journal.save(self.data)?;
        watch(Point::Announced)?;
        let mut staged = stage(plan)?;
        watch(Point::Staged)?;
        self.back_up(plan, journal)?;
        watch(Point::BackedUp)?;
        for (at, step) in plan.steps.iter().enumerate() {
            match step {
                Step::Edit { path, before, .. } => {
                    let target = file::target(path)?;
                    unchanged(path, &target, before.as_deref())?;
                    let mode = fs::metadata(&target).ok().map(|found| found.permissions());
                    self.done.push(Done::Edit { target: target.clone(), before: before.as_deref(), mode });
                    if let Some(staged) = staged[at].take() {
                        file::put(staged, &target)?;
                        self.applied.wrote.push(path.clone());
                    } else {
                        if before.is_some() {
                            file::take(&target)?;
                        }
                        self.applied.removed.push(path.clone());
                    }
                }
                Step::Run { program, args, undo, else_tell, .. } => {
                    self.run(program, args, undo, else_tell)?;
                }
                Step::Tell(text) => self.applied.told.push(text.clone()),
                Step::Note(text) => self.applied.notes.push(text.clone()),
            }
            watch(Point::Step(at))?;
        }
        journal.sweep();
        journal.settle()?;
        journal.save(self.data)?;
        // From here on there is nothing to undo.
        self.done.clear();
        watch(Point::Settled)
    }

    fn tell(&mut self, plan: &Plan) {
        for step in &plan.steps {
            match step {
                Step::Tell(text) => self.applied.told.push(text.clone()),
                Step::Note(text) => self.applied.notes.push(text.clone()),
                Step::Edit { .. } | Step::Run { .. } => {}
            }
        }
    }

    /// Keeps what is replaced and what commands rewrite; a file that only goes held nothing but ours.
    fn back_up(&mut self, plan: &Plan, journal: &mut Journal) -> Result<(), ApplyError> {
        for step in &plan.steps {
            match step {
                Step::Edit { path, before: Some(before), after: Some(_), .. } => {
                    self.keep(path, before, journal)?;
                }
                Step::Run { program, rewrites, .. } if self.find(program).is_some() => {
                    for path in rewrites {
                        if let Some(bytes) = file::read(&file::target(path)?)? {
                            self.keep(path, &bytes, journal)?;
                        }
                    }
                }
                _ => {}
            }
        }
        if self.applied.backups.is_empty() { Ok(()) } else { journal.save(self.data) }
    }

    fn keep(&mut self, path: &Path, bytes: &[u8], journal: &mut Journal) -> Result<(), ApplyError> {
        let place = file::backup_place(path, bytes, |at, there| journal.is_backup(path, at, there))?;
        if let Some(place) = place {
            file::write(&place, bytes, &file::target(path)?)?;
            journal.backed_up(path, &place, bytes);
            self.applied.backups.push(place);
        }
        Ok(())
    }

    /// Looks a program up on the machine's `PATH`.
    fn find(&self, program: &str) -> Option<PathBuf> {
        let path = self.env.var("PATH")?;
        let found = std::env::split_paths(&path).map(|directory| directory.join(program));
        found.filter(|program| program.is_absolute()).find(|program| is_executable(program))
    }

    fn run(
        &mut self,
        name: &'static str,
        args: &[OsString],
        undo: &'p [OsString],
        else_tell: &str,
    ) -> Result<(), ApplyError> {
        let Some(program) = self.find(name) else {
            self.applied.told.push(else_tell.to_owned());
            return Ok(());
        };
        execute(self.env, &program, name, args)?;
        self.applied.ran.push(line_of(name, args));
        self.done.push(Done::Run { program, name, undo });
        Ok(())
    }

    /// Undoes what was done, the last first; returns what could not be undone.
    fn undo(&mut self) -> Vec<String> {
        let mut left = Vec::new();
        for done in std::mem::take(&mut self.done).into_iter().rev() {
            let undone = match &done {
                Done::Edit { target, before, mode } => put_back(target, *before, mode.as_ref()),
                Done::Run { undo: [], .. } => Ok(()),
                Done::Run { program, name, undo } => execute(self.env, program, name, undo),
            };
            if let Err(error) = undone {
                left.push(error.to_string());
            }
        }
        left
    }
}

/// Makes a file what it was, with its mode.
fn put_back(target: &Path, before: Option<&[u8]>, mode: Option<&fs::Permissions>) -> Result<(), ApplyError> {
    if file::read(target)?.as_deref() == before {
        return Ok(());
    }
    let Some(before) = before else { return file::take(target) };
    file::write(target, before, target)?;
    match mode {
        Some(mode) => {
            fs::set_permissions(target, mode.clone()).map_err(|error| ApplyError::io(target, error))
        }
        None => Ok(()),
    }
}

fn is_executable(path: &Path) -> bool {
    let Ok(found) = fs::metadata(path) else { return false };
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        found.is_file() && found.permissions().mode() & 0o111 != 0
    }
    #[cfg(not(unix))]
    found.is_file()
}

/// Runs a command of the client's to its end, in the machine's home and directory.
fn execute(env: &dyn Env, program: &Path, name: &str, args: &[OsString]) -> Result<(), ApplyError> {
    #[expect(clippy::disallowed_methods, reason = "this is where a plan's commands are run")]
    let mut command = std::process::Command::new(program);
    command.args(args).stdin(Stdio::null());
    if let Some(home) = env.home() {
        command.env("HOME", home);
    }
    if let Some(directory) = env.current_dir() {
        command.current_dir(directory);
    }
    let failed = |what: String| ApplyError::Command { line: line_of(name, args), what };
    let output = command.output().map_err(|error| failed(error.to_string()))?;
    if output.status.success() {
        return Ok(());
    }
    let said = [output.stderr, output.stdout].map(|said| String::from_utf8_lossy(&said).trim().to_owned());
    let said = said.into_iter().find(|said| !said.is_empty()).unwrap_or_default();
    Err(failed(format!("{}: {said}", output.status)))
}
