//! What knows a client's hooks and settings.

use crate::{Env, Memos, Plan, PlanError};
use std::borrow::Cow;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// Where a client's settings are changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    /// For every project of the user.
    User,
    /// For one project, in files that are committed.
    Project,
}

/// What can be known of an adapter without running it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct AdapterSpec {
    /// The client's id.
    pub client: Cow<'static, str>,
    /// The client's name as people write it.
    pub name: Cow<'static, str>,
    /// The id of the parser of its transcripts, if it has any.
    pub parser: Option<Cow<'static, str>>,
    /// The levels it can be installed at.
    pub levels: &'static [Level],
    /// The environment variables that say where the client keeps its files, besides `HOME`.
    pub variables: &'static [&'static str],
}

impl AdapterSpec {
    /// Returns the spec of an adapter for a client whose parser has the same id.
    pub const fn new(client: &'static str, name: &'static str, levels: &'static [Level]) -> Self {
        Self {
            client: Cow::Borrowed(client),
            name: Cow::Borrowed(name),
            parser: Some(Cow::Borrowed(client)),
            levels,
            variables: &[],
        }
    }

    /// Returns the spec with the environment variables that say where the client keeps its files.
    #[must_use]
    pub const fn variables(mut self, names: &'static [&'static str]) -> Self {
        self.variables = names;
        self
    }
}

/// Whether a client is on this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Presence {
    /// No trace of it.
    Absent,
    /// Its configuration directory is here.
    Found {
        /// The directory.
        directory: PathBuf,
    },
}

/// The line a client runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HookLine {
    /// Our program, by absolute path, or by name where the file is shared.
    pub program: PathBuf,
    /// Arguments after `hook CLIENT EVENT`.
    pub args: Vec<String>,
}

/// An MCP server's entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum McpEntry {
    /// A program on this machine.
    Program {
        /// The server's name.
        name: String,
        /// The program.
        command: PathBuf,
        /// Its arguments.
        args: Vec<String>,
    },
    /// A server elsewhere.
    Http {
        /// The server's name.
        name: String,
        /// Its address.
        url: String,
        /// Headers, name and value.
        headers: Vec<(String, String)>,
    },
}

/// What should become of one half of an installation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Half<T> {
    /// It stays as it is, there or not.
    Leave,
    /// Nothing of ours stands there.
    Absent,
    /// This stands there.
    Stand(T),
}

/// What should stand in a client's settings. Both halves absent is an uninstall.
#[derive(Debug, Clone, Copy)]
pub struct Wanted<'w> {
    /// Where.
    pub level: Level,
    /// The hook line.
    pub hook: Half<&'w HookLine>,
    /// The MCP entry.
    pub mcp: Half<&'w McpEntry>,
    /// What the journal holds.
    pub memos: &'w Memos,
}

/// A hook of ours as it stands in a client's settings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StandingHook {
    /// The client's name of the moment.
    pub event: String,
    /// The line the client's shell runs, as it is written there.
    pub line: String,
    /// The program the line names: an absolute path, or a bare name that is looked up on `PATH`. None if the line
    /// cannot be read.
    pub program: Option<PathBuf>,
}

/// What stands in a client's settings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Standing {
    /// Where.
    pub level: Level,
    /// The hooks of ours, in the file's order.
    pub hooks: Vec<StandingHook>,
    /// Whether an MCP entry of ours is there.
    pub mcp: bool,
    /// Whether they are what this version would write.
    pub current: bool,
    /// What keeps the hooks from running though they stand, in words for the user.
    pub hindered: Vec<String>,
}

/// Where in a session a hook comes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Moment {
    /// A session starts or is taken up again.
    SessionStart,
    /// A prompt was given.
    Prompt,
    /// The turn stopped.
    Stop,
    /// The turn failed.
    StopFailure,
    /// A sub-agent stopped.
    SubagentStop,
    /// The context is to be compacted.
    Compaction,
    /// A tool gave its result.
    ToolResult,
    /// A person stopped the turn.
    Interrupt,
    /// The session ended.
    SessionEnd,
    /// Anything else.
    Other,
}

/// A client's call of a hook.
#[derive(Debug, Clone, Copy)]
pub struct Call<'p> {
    /// The event's name, if the installed line gives it.
    pub event: Option<&'p str>,
    /// The level of the line that was run.
    pub level: Option<Level>,
    /// What came on standard input.
    pub payload: &'p [u8],
}

/// Who ran the hook.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Host<'p> {
    /// The adapter's own client.
    Own,
    /// Another client that runs this one's hook files.
    Foreign(Cow<'p, str>),
}

/// What the drain should read after a hook.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Read<'p> {
    /// A transcript; checked to lie in the client's homes.
    Path(Cow<'p, Path>),
    /// A session, to be located.
    Session(Cow<'p, str>),
}

/// What a payload itself holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Seen<'p> {
    /// A prompt.
    Prompt(Cow<'p, str>),
    /// The agent's answer.
    Reply(Cow<'p, str>),
    /// The agent's thinking.
    Thinking(Cow<'p, str>),
    /// A tool's result.
    Result {
        /// The call's id.
        call: Option<Cow<'p, str>>,
        /// The tool's name.
        tool: Cow<'p, str>,
        /// The input, as the text of a JSON value.
        input: &'p str,
        /// The output.
        output: Cow<'p, str>,
        /// Whether it failed.
        error: bool,
    },
}

/// What a hook's payload means.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hook<'p> {
    /// Where in the session it comes.
    pub moment: Moment,
    /// Who ran it.
    pub host: Host<'p>,
    /// The session.
    pub session: Option<Cow<'p, str>>,
    /// The session's directory.
    pub cwd: Option<Cow<'p, Path>>,
    /// What to read.
    pub read: Vec<Read<'p>>,
    /// The SHA-256 of a last message that the transcript will hold.
    pub expect: Option<[u8; 32]>,
    /// What the payload holds.
    pub seen: Vec<Seen<'p>>,
}

/// A payload that is not what the client sends.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{what}")]
pub struct PayloadError {
    what: String,
}

impl PayloadError {
    /// Returns an error that says what was expected and what was found.
    pub fn new(what: impl Into<String>) -> Self {
        Self { what: what.into() }
    }
}

/// What became of a hook, for the reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome<'c> {
    /// It was recorded.
    Recorded,
    /// It was recorded, and this text is for the model.
    Context(&'c str),
    /// Capture is off here.
    Off,
    /// It could not be recorded.
    Failed(&'c str),
}

/// What the hook prints.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Reply<'c> {
    /// On standard output.
    pub stdout: Cow<'c, str>,
    /// On standard error.
    pub stderr: Cow<'c, str>,
    /// Whether it exits with 1 instead of 0.
    pub failed: bool,
}

/// How much a client takes, in its own unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limit(pub usize, pub Unit);

/// What a client counts in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// Bytes of UTF-8.
    Bytes,
    /// Characters.
    Chars,
    /// Units of UTF-16.
    Utf16,
    /// Tokens of a model.
    Tokens,
}

/// Knows a client's hooks and settings. It plans and never writes.
pub trait Adapter: Send + Sync {
    /// Returns what can be known without running it.
    fn spec(&self) -> &AdapterSpec;

    /// Says whether the client is on this machine; looks nothing up on PATH.
    fn detect(&self, env: &dyn Env) -> Presence;

    /// Returns what of ours stands in the client's settings, at each level.
    fn standing(&self, env: &dyn Env) -> Result<Vec<Standing>, PlanError>;

    /// Returns what must change so that `wanted` stands. Changes nothing; once carried out, the same call
    /// returns an empty plan.
    fn plan(&self, env: &dyn Env, wanted: &Wanted<'_>) -> Result<Plan, PlanError>;

    /// Says what a payload means. Must not panic, whatever the payload.
    fn hook<'p>(&self, env: &dyn Env, call: &Call<'p>) -> Result<Hook<'p>, PayloadError>;

    /// Returns a payload as the client sends it when a session of that id starts in that directory, before there is
    /// a transcript: what a trial of an installed line gives on standard input.
    fn probe(&self, session: &str, cwd: &Path) -> String;

    /// Returns what the client expects to be printed after `outcome`.
    fn reply<'c>(&self, call: &Call<'_>, outcome: Outcome<'c>) -> Reply<'c>;

    /// Returns how much text the client takes at that moment.
    fn limit(&self, moment: Moment) -> Limit;
}
