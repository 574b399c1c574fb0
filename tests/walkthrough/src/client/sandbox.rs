//! A machine of its own for each walkthrough: a home, a project, a store, and an environment made from nothing.

use super::hooks::Before;
use super::{Client, To};
use crate::files;
use anyhow::{Context as _, Result, bail, ensure};
use std::cell::RefCell;
use std::ffi::OsString;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// The longest a client may take for a prompt in print mode.
const PATIENCE: Duration = Duration::from_secs(60);
/// How often it is looked whether something has happened.
pub(super) const LOOK: Duration = Duration::from_millis(25);

/// The folder that the client works in unless another is named.
pub(crate) const PROJECT: &str = "demo";

/// How sessions come into the store: a machine is set up for it, and asked to record by it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum How {
    /// By reading transcripts once the client has ended.
    Tail,
    /// By following them while it works.
    Follow,
    /// By the client's hooks, set up once for the user.
    Hooks,
}

/// What a program gave.
#[derive(Debug)]
pub(crate) struct Ran {
    /// The exit status; none if a signal ended it.
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// A machine for one walkthrough.
pub(crate) struct Sandbox {
    root: PathBuf,
    /// Removes the directory in the end, unless it is kept.
    _temporary: Option<tempfile::TempDir>,
    pub(crate) client: Client,
    how: How,
    /// What follows the transcripts, for [`How::Follow`], until everything is recorded.
    following: RefCell<Option<Following>>,
    /// What the client's settings were, for [`How::Hooks`].
    before: Option<Before>,
    /// The client's program.
    binary: PathBuf,
    /// `scrollback`.
    program: PathBuf,
    base: String,
}

impl Sandbox {
    /// Makes a machine on which a client is set up against the model at `base` and recorded. `keep` is where the
    /// directory is to stay.
    pub(crate) fn new(
        client: Client,
        how: How,
        clients: &Path,
        program: &Path,
        base: &str,
        keep: Option<&Path>,
    ) -> Result<Self> {
        let (root, temporary) = if let Some(keep) = keep {
            if keep.exists() {
                fs::remove_dir_all(keep)?;
            }
            (keep.to_owned(), None)
        } else {
            let temporary = tempfile::Builder::new().prefix("walk").tempdir()?;
            (temporary.path().to_owned(), Some(temporary))
        };
        let mut sandbox = Self {
            root,
            _temporary: temporary,
            client,
            how,
            following: RefCell::new(None),
            before: None,
            binary: clients.join(client.pinned().program),
            program: program.to_owned(),
            base: base.to_owned(),
        };
        fs::create_dir_all(sandbox.project())?;
        fs::create_dir_all(sandbox.temporary())?;
        client.set_up(&sandbox.home(), &sandbox.project(), base)?;
        match how {
            How::Tail => {}
            How::Follow => sandbox.follow()?,
            How::Hooks => sandbox.before = Some(sandbox.set_up_hooks()?),
        }
        Ok(sandbox)
    }

    /// Returns the directory that holds everything.
    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// Returns the home directory.
    pub(crate) fn home(&self) -> PathBuf {
        self.root.join("home")
    }

    /// Returns the directory that the client works in.
    pub(crate) fn project(&self) -> PathBuf {
        self.home().join(PROJECT)
    }

    /// Gives a prompt to a new session in another project, and wants it to go well.
    pub(crate) fn prompt_in(&self, project: &str, prompt: &str) -> Result<Ran> {
        let project = self.home().join(project);
        fs::create_dir_all(&project)?;
        let args = self.client.print(To::New, None, prompt);
        let ran = self.start_in(&project, self.first(), &args)?.wait()?;
        ensure!(ran.code == Some(0), "the client left with {:?}\n{}\n{}", ran.code, ran.stdout, ran.stderr);
        Ok(ran)
    }

    /// Returns the directory for temporary files.
    pub(super) fn temporary(&self) -> PathBuf {
        self.root.join("tmp")
    }

    /// Returns the environment that the client needs beside that of the machine.
    pub(super) fn environment(&self) -> Vec<(&'static str, String)> {
        self.client.environment(&self.base, &self.temporary())
    }

    /// Returns the client's program.
    pub(super) fn binary(&self) -> &Path {
        &self.binary
    }

    /// Gives a command the machine's environment and nothing else.
    pub(super) fn within(&self, command: &mut Command) {
        command
            .env_clear()
            .env("HOME", self.home())
            .env("USER", "dev")
            .env("LOGNAME", "dev")
            .env("SHELL", "/bin/sh")
            .env("PATH", "/usr/local/bin:/usr/bin:/bin")
            .env("TERM", "xterm-256color")
            .env("LANG", "C.UTF-8")
            .env("TZ", "UTC")
            .env("TMPDIR", self.temporary())
            .env("SCROLLBACK_HOME", self.root.join("data"))
            .current_dir(self.project());
    }

    /// Gives a command the client's environment: it knows nothing of the store.
    pub(super) fn within_client(&self, command: &mut Command) {
        self.within(command);
        command.env_remove("SCROLLBACK_HOME").envs(self.environment());
    }

    /// Returns the arguments before all others of the client.
    pub(super) fn first(&self) -> &'static [&'static str] {
        if self.how == How::Hooks { self.client.unreviewed() } else { &[] }
    }

    /// Starts the client in print mode and does not wait.
    pub(crate) fn start(&self, args: &[OsString]) -> Result<Running> {
        self.start_with(self.first(), args)
    }

    /// Runs the client in print mode, with the hooks that were reviewed.
    pub(crate) fn run_reviewed(&self, args: &[OsString]) -> Result<Ran> {
        self.start_with(&[], args)?.wait()
    }

    /// Says whether the client's hooks record.
    pub(crate) fn has_hooks(&self) -> bool {
        self.how == How::Hooks
    }

    fn start_with(&self, first: &[&str], args: &[OsString]) -> Result<Running> {
        self.start_in(&self.project(), first, args)
    }

    fn start_in(&self, directory: &Path, first: &[&str], args: &[OsString]) -> Result<Running> {
        let stdout = self.root.join("stdout");
        let stderr = self.root.join("stderr");
        let mut command = files::command(&self.binary);
        self.within_client(&mut command);
        command
            .args(first)
            .args(args)
            .current_dir(directory)
            .stdin(Stdio::null())
            .stdout(File::create(&stdout)?)
            .stderr(File::create(&stderr)?);
        let child = command.spawn().with_context(|| self.binary.display().to_string())?;
        Ok(Running { child, stdout, stderr })
    }

    /// Runs the client in print mode.
    pub(crate) fn run(&self, args: &[OsString]) -> Result<Ran> {
        self.start(args)?.wait()
    }

    /// Gives a prompt in print mode, and wants it to go well.
    pub(crate) fn prompt(&self, to: To, prompt: &str) -> Result<Ran> {
        let last = if matches!(to, To::New) { None } else { Some(self.last_session()?) };
        let ran = self.run(&self.client.print(to, last.as_deref(), prompt))?;
        if ran.code != Some(0) {
            bail!("the client left with {:?}\n{}\n{}", ran.code, ran.stdout, ran.stderr);
        }
        Ok(ran)
    }

    /// Returns the id of the session whose transcript was written last: the end of its file's name.
    fn last_session(&self) -> Result<String> {
        let newest = self
            .transcripts()?
            .into_iter()
            .max_by_key(|path| path.metadata().and_then(|metadata| metadata.modified()).ok())
            .context("no transcript yet")?;
        let stem = newest.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let start = stem.len().saturating_sub(36);
        Ok(stem.get(start..).unwrap_or_default().to_owned())
    }

    /// Returns the client's transcripts.
    pub(crate) fn transcripts(&self) -> Result<Vec<PathBuf>> {
        let mut found = Vec::new();
        let mut ahead = vec![self.home().join(self.client.transcripts())];
        while let Some(folder) = ahead.pop() {
            if !folder.is_dir() {
                continue;
            }
            for entry in fs::read_dir(folder)? {
                let path = entry?.path();
                if path.is_dir() {
                    ahead.push(path);
                } else if path.extension().is_some_and(|extension| extension == "jsonl") {
                    found.push(path);
                }
            }
        }
        found.sort();
        Ok(found)
    }

    /// Brings everything that the client has written into the store.
    pub(crate) fn record(&self) -> Result<()> {
        match self.how {
            How::Tail => self.scrollback(&["tail"]).map(drop),
            How::Follow => {
                until("everything followed", || Ok(self.ran(&["coverage"])?.code == Some(0)))?;
                self.following.take().map_or(Ok(()), Following::stop)
            }
            How::Hooks => {
                ensure!(self.drained()?, "hooks left something unread\n{}", self.log());
                self.before.as_ref().map_or(Ok(()), |before| self.take_out_hooks(before))
            }
        }
    }

    /// Starts to follow the transcripts, of which there are none yet.
    fn follow(&self) -> Result<()> {
        let mut command = files::command(&self.program);
        self.within(&mut command);
        let (stdout, stderr) = (self.root.join("followed"), self.root.join("follow-complaints"));
        command.args(["tail", "--follow"]).stdin(Stdio::null());
        command.stdout(File::create(stdout)?).stderr(File::create(&stderr)?);
        *self.following.borrow_mut() = Some(Following { child: command.spawn()?, complaints: stderr });
        until("a store", || Ok(self.ran(&["export"])?.code == Some(0)))
    }

    /// Says whether a message with that text is in the store, while the client is at work.
    pub(crate) fn holds(&self, text: &str) -> Result<bool> {
        match self.how {
            How::Tail => self.scrollback(&["tail"]).map(drop)?,
            How::Follow => {}
            // No hook comes after the prompt is written and before the turn ends: the client has it, which the next will
            // find.
            How::Hooks => {
                let holds = |path: &PathBuf| fs::read_to_string(path).is_ok_and(|held| held.contains(text));
                return Ok(self.transcripts()?.iter().any(holds));
            }
        }
        let export = self.scrollback(&["export"])?;
        Ok(export.lines().any(|line| line.contains(r#""kind":"message""#) && line.contains(text)))
    }

    /// Runs `scrollback`, which must go well, and returns what it printed.
    pub(crate) fn scrollback(&self, args: &[&str]) -> Result<String> {
        let Ran { code, stdout, stderr } = self.ran(args)?;
        if code != Some(0) {
            bail!("scrollback {} left with {code:?}\n{stdout}{stderr}", args.join(" "));
        }
        Ok(stdout)
    }

    pub(super) fn ran(&self, args: &[&str]) -> Result<Ran> {
        let mut command = files::command(&self.program);
        self.within(&mut command);
        let output = command.args(args).env("NO_COLOR", "1").stdin(Stdio::null()).output()?;
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Ok(Ran { code: output.status.code(), stdout: text(&output.stdout), stderr: text(&output.stderr) })
    }
}

/// `scrollback tail --follow` at work.
struct Following {
    child: Child,
    complaints: PathBuf,
}

impl Following {
    /// Asks it to stop, as a service manager does; it must not have complained of anything.
    fn stop(mut self) -> Result<()> {
        let asked = files::command("kill").arg(self.child.id().to_string()).status()?;
        let status = self.child.wait()?;
        let complaints = fs::read_to_string(&self.complaints)?;
        if !asked.success() || !status.success() || !complaints.is_empty() {
            bail!("following left with {status}\n{complaints}");
        }
        Ok(())
    }
}

impl Drop for Following {
    fn drop(&mut self) {
        // It has ended already if everything was recorded.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// A client at work in print mode.
pub(crate) struct Running {
    child: Child,
    stdout: PathBuf,
    stderr: PathBuf,
}

impl Running {
    /// Waits until the client has ended.
    ///
    /// # Errors
    ///
    /// If it takes longer than a minute; it is killed then.
    pub(crate) fn wait(mut self) -> Result<Ran> {
        let began = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait()? {
                let text =
                    |path: &Path| fs::read(path).map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
                return Ok(Ran {
                    code: status.code(),
                    stdout: text(&self.stdout)?,
                    stderr: text(&self.stderr)?,
                });
            }
            if began.elapsed() > PATIENCE {
                self.child.kill()?;
                self.child.wait()?;
                let said = fs::read_to_string(&self.stderr).unwrap_or_default();
                bail!("the client did not end within {} s\n{said}", PATIENCE.as_secs());
            }
            thread::sleep(LOOK);
        }
    }

    /// Kills the client, as `SIGKILL` does.
    pub(crate) fn kill(mut self) -> Result<()> {
        self.child.kill()?;
        self.child.wait()?;
        Ok(())
    }
}

/// Waits until something is so.
///
/// # Errors
///
/// If it is not within half a minute, or cannot be told.
pub(crate) fn until(what: &str, mut so: impl FnMut() -> Result<bool>) -> Result<()> {
    let began = Instant::now();
    while !so()? {
        if began.elapsed() > Duration::from_secs(30) {
            bail!("waited in vain: {what}");
        }
        thread::sleep(LOOK);
    }
    Ok(())
}
