//! The command line. Help text is written here and nowhere else.

mod capture;
mod install;

pub(crate) use capture::{Active, Use, Where};
pub(crate) use install::{Doctor, Given, Install, Setup, Status, Uninstall, Which};

use crate::times::Moment;
use clap::{Args, CommandFactory as _, FromArgMatches as _, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use scrollback_core::Role;
use scrollback_store::{Kinds, Label, Sort};
use std::ffi::OsString;
use std::path::PathBuf;

/// The program's name unless it is given another.
pub(crate) const NAME: &str = "scrollback";

/// Records what coding agents say, think and do, from their transcripts, into a store of your own, each event
/// exactly once; and gives it back.
#[derive(Debug, Parser)]
#[command(
    version,
    max_term_width = 100,
    after_help = "Start with `tail`, then `sessions` and `search`. `demo` shows all of it on samples."
)]
struct Line {
    #[command(subcommand)]
    command: Command,
}

/// What is to be done.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Read transcripts into the store
    ///
    /// Reads what is new in every transcript of every client found here, or in those that `--path` names.
    /// Whatever was read before is not stored twice. Only one `tail` reads at a time: a second waits two
    /// seconds and leaves with 75. One that follows gives way between its looks.
    Tail(Tail),
    /// Print the events of transcripts, without a store
    ///
    /// Prints one JSON object a line: sessions, events, usage and withdrawals, redacted, as `export` has them.
    Parse(Parse),
    /// Find what was said and done
    ///
    /// Searched are messages, the names and inputs of tool calls, decisions and notes. `--kind thinking` and
    /// `--kind tool_result` look through the newest sessions and say how far they got.
    Search(Search),
    /// List sessions, the latest first
    ///
    /// A session of a sub-agent stands below the session that launched it, behind `↳`.
    Sessions(Sessions),
    /// Print a session
    Show(Show),
    /// Print one event in full
    Expand(Expand),
    /// Write sessions as lines of JSON
    ///
    /// The first line is `{"type":"scrollback","format":1}`. Sessions come in the order of client and id; each
    /// is its own line, its events in order (those its client took back among them), a `withdraw` line for
    /// each event taken back, and the tokens of its responses. The same store gives the same bytes.
    Export(Export),
    /// Count sessions, turns, tool calls and tokens
    ///
    /// A response is counted once, in the session that made it, however often it was written or copied. What the
    /// client took back is no turn and no call, but it cost its tokens. Input is without what was read from a
    /// cache or written to one; output includes reasoning.
    Stats(Stats),
    /// Say how much of the transcripts is in the store
    ///
    /// Says, for each client, how much was read and how much of that was understood; what was not; and which
    /// transcripts were never read, are behind or cannot be read. Leaves with 3 if there is any of these, or
    /// anything that is not understood or unreadable. Transcripts that were read and are gone are no failure.
    Coverage(Coverage),
    /// Read again what was not understood
    ///
    /// After an update of this program: records that were kept raw are read once more, from their transcripts, or,
    /// where these are gone, as they were kept. Events that are stored already stay as they are. Like `tail`, it
    /// waits two seconds for another that writes and leaves with 75.
    Reparse(Reparse),
    /// List the clients this program can read
    ///
    /// Among them are those that field maps declare: TOML files in the configuration directory, each listed with
    /// its file. One that is refused is listed too, and the command leaves with 1.
    Plugins(Plugins),
    /// Show everything on sample sessions
    ///
    /// Reads a few sample sessions into a store of their own, prints what `sessions`, `search` and `show` say
    /// of them, and leaves nothing behind.
    Demo,
    /// Begin a crate for a client of your own
    ///
    /// Writes a crate that reads a made-up format, with a transcript, its laws and a program of its own: it passes
    /// before you change anything. Nothing that exists is overwritten.
    New(New),
    /// Have every client found here record its sessions by itself
    ///
    /// Shows what would change in the clients' settings, asks, and writes it: a hook that a client runs when a session
    /// starts, a prompt is given, a turn stops and a session ends. Every other byte of the settings stays as it is,
    /// and what was there is kept beside it as `.bak`. Run again it changes nothing.
    Setup(Setup),
    /// Have one client record its sessions by itself
    ///
    /// As `setup`, for one client. With `--mcp-url` it also gets the entry of an MCP server elsewhere.
    Install(Install),
    /// Take out of the clients' settings what `setup` put there
    ///
    /// Out of the user's settings and those of the project here. The settings are then what they were before, and
    /// what was recorded stays.
    Uninstall(Uninstall),
    /// Say what is installed, and whether everything that was recorded has arrived
    ///
    /// For each client: where it is, which hooks stand in its settings and whether their program is there; the last
    /// event, what of its transcripts is not read yet, how long its hooks took; and what the last drain did.
    Status(Status),
    /// Try the installed hooks
    ///
    /// Runs each installed line as the client would, in a shell with next to no environment, and waits until what it
    /// left is in the store. Leaves with 3 if one does not arrive or something is missing.
    Doctor(Doctor),
    /// Bind a project's name to the sessions here
    ///
    /// From now on, sessions that start in this repository (or, outside of any, in this directory and below it) belong to
    /// the project of that name. What was said before stays where it was, whenever it is read.
    Use(Use),
    /// Say which project is bound here, and whether capture is on
    Active(Active),
    /// Bind no project's name to the sessions here any more
    Clear,
    /// Stop capturing the sessions here
    ///
    /// What is said from now on, in this repository (or, outside of any, in this directory and below it), is not stored,
    /// whether a hook or a later `tail` reads it. `tail --again` reads it all the same.
    Pause(Where),
    /// Go on capturing the sessions here
    ///
    /// With `--everywhere` every pause ends.
    Resume(Where),
    /// Take in what a client tells its hook
    ///
    /// It is what an installed line calls, with the client's payload on standard input. It leaves a record for the
    /// drain, starts it, prints what the client expects and ends with 0, or with 1 if the client is to know that
    /// something failed; whatever happens, nothing else is printed and nobody is waited for.
    Hook(Hook),
    /// Read what hooks left a record of
    ///
    /// Hooks start it; it ends when nothing is left. What it did stands in `capture.log` beside the store.
    Drain(Drain),
    /// Print the completion script of a shell
    Completions(Completions),
}

/// `hook`
#[derive(Debug, Args)]
pub(crate) struct Hook {
    /// Whose hook it is, by the client's id
    #[arg(value_name = "CLIENT")]
    pub(crate) _client: String,
    /// The client's own name of the moment, where the payload does not say it
    #[arg(value_name = "EVENT")]
    pub(crate) _event: Option<String>,
    /// The payload, from a client that gives it as an argument; else it is read from standard input
    #[arg(value_name = "JSON")]
    pub(crate) _json: Option<String>,
    /// The directory the session started in, where the client's environment says it
    #[arg(long = "project", value_name = "DIR")]
    pub(crate) _project: Option<String>,
    /// The directory of the store; else the one of the environment
    #[arg(long = "home", value_name = "DIR")]
    pub(crate) _home: Option<PathBuf>,
}

/// `drain`
#[derive(Debug, Args)]
pub(crate) struct Drain {
    /// The directory of the store; else the one of the environment
    #[arg(long = "home", value_name = "DIR")]
    pub(crate) _home: Option<PathBuf>,
}

/// `tail`
#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of the command line")]
pub(crate) struct Tail {
    /// A transcript, a directory of them, or a pattern with `*`, `**` and `?`; may be given several times
    #[arg(long = "path", value_name = "GLOB|DIR")]
    pub(crate) paths: Vec<String>,
    /// The parser for everything that is read; else path and content decide (`plugins` lists them)
    #[arg(long, value_name = "ID")]
    pub(crate) parser: Option<String>,
    #[command(flatten)]
    pub(crate) label: LabelArgs,
    /// Say what would be read, and store nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Go on: read what is appended as it is written, and what is new, until SIGINT or SIGTERM
    #[arg(long, conflicts_with_all = ["dry_run", "again"])]
    pub(crate) follow: bool,
    /// Read everything again from its start; events that are stored already stay as they are
    #[arg(long)]
    pub(crate) again: bool,
    /// Print the summary as one JSON object, with every problem
    #[arg(long)]
    pub(crate) json: bool,
}

/// `parse`
#[derive(Debug, Args)]
pub(crate) struct Parse {
    /// The transcripts
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// The parser; else path and content decide (`plugins` lists them)
    #[arg(long, value_name = "ID")]
    pub(crate) parser: Option<String>,
    #[command(flatten)]
    pub(crate) label: LabelArgs,
}

/// Whose transcripts are, where only a user knows it.
#[derive(Debug, Args, Default)]
pub(crate) struct LabelArgs {
    /// Whose the transcripts are: a client's name, for what is read with the fallback or a field map. It is kept
    /// with them, and ids are made from it
    #[arg(long, value_name = "NAME", value_parser = client_label)]
    pub(crate) client: Option<String>,
    /// Which session the transcript is, likewise; for one transcript
    #[arg(long, value_name = "ID", value_parser = session_label)]
    pub(crate) session: Option<String>,
}

impl LabelArgs {
    /// Returns what the user says.
    pub(crate) fn label(&self) -> Label {
        Label { client: self.client.clone(), session: self.session.clone() }
    }
}

fn client_label(text: &str) -> Result<String, String> {
    let part = |part: &str| {
        !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
    };
    if text.split('-').all(part) {
        return Ok(text.to_owned());
    }
    Err("a client is lower-case letters, digits and single hyphens: `acme-agent`".to_owned())
}

fn session_label(text: &str) -> Result<String, String> {
    if text.trim().is_empty() || text.len() > 200 || text.contains(char::is_control) {
        return Err("a session is named by 1 to 200 bytes of plain text".to_owned());
    }
    Ok(text.to_owned())
}

/// The filters that listings share.
#[derive(Debug, Args, Default)]
pub(crate) struct Filters {
    /// Only of that client, by its id: `claude-code`, `codex`
    #[arg(long, value_name = "ID", help_heading = "Filters")]
    pub(crate) client: Option<String>,
    /// Only of that project: its path, or the end of it (`app` for `/home/dev/app`)
    #[arg(long, value_name = "PATH", help_heading = "Filters")]
    pub(crate) project: Option<String>,
    /// Only of that session: its id, the beginning of it, or at least 4 characters of its end
    #[arg(long, value_name = "SESSION", help_heading = "Filters")]
    pub(crate) session: Option<String>,
    /// Only what happened then or later: `2h`, `3d`, `1w` (ago), `today`, `yesterday`, a date, RFC 3339
    #[arg(long, value_name = "TIME", help_heading = "Filters")]
    pub(crate) since: Option<Moment>,
    /// Only what happened before; a day is meant from its first moment
    #[arg(long, value_name = "TIME", help_heading = "Filters")]
    pub(crate) until: Option<Moment>,
}

/// `search`
#[derive(Debug, Args)]
pub(crate) struct Search {
    /// What to look for. All words must be found; `"…"` is a phrase, `w*` a beginning, `OR` and `NOT` are in
    /// capitals, every other character is text. A word finds a whole identifier or any part of it
    #[arg(required = true, value_name = "QUERY")]
    pub(crate) query: Vec<String>,
    #[command(flatten)]
    pub(crate) filters: Filters,
    /// Only of these kinds, separated by commas
    #[arg(long, value_enum, value_name = "KIND", value_delimiter = ',', help_heading = "Filters")]
    pub(crate) kind: Vec<Kind>,
    /// Only messages of that role
    #[arg(long, value_enum, value_name = "ROLE", help_heading = "Filters")]
    pub(crate) role: Option<RoleArg>,
    /// Only what that actor caused: `user:dev`, or a part of it (`user`, `dev`)
    #[arg(long, value_name = "ACTOR", help_heading = "Filters")]
    pub(crate) actor: Option<String>,
    /// The order: by relevance among the newest 5,000 matches, one hit a turn; or the newest first
    #[arg(long, value_enum, value_name = "ORDER", default_value_t = Order::Relevance)]
    pub(crate) sort: Order,
    /// At most so many hits
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub(crate) limit: usize,
    /// Print one JSON object a hit, each on a line
    #[arg(long)]
    pub(crate) json: bool,
}

/// `sessions`
#[derive(Debug, Args)]
pub(crate) struct Sessions {
    #[command(flatten)]
    pub(crate) filters: Filters,
    /// At most so many sessions; without it 25, and all of them with `--json`
    #[arg(long, value_name = "N")]
    pub(crate) limit: Option<usize>,
    /// Print one JSON object a session, each on a line
    #[arg(long)]
    pub(crate) json: bool,
}

/// `show`
#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
pub(crate) struct Show {
    /// The session: its id, the beginning of it, or at least 4 characters of its end; a client before it and a
    /// turn after it narrow it down
    #[arg(value_name = "[CLIENT/]SESSION[:TURN]")]
    pub(crate) session: String,
    /// Only these kinds, separated by commas; without it everything but thinking
    #[arg(long, value_enum, value_name = "KIND", value_delimiter = ',')]
    pub(crate) kind: Vec<Kind>,
    /// Print everything in full: thinking, inputs and results of tools, injected text
    #[arg(long)]
    pub(crate) full: bool,
    /// Print what the session took over from another as well
    #[arg(long)]
    pub(crate) inherited: bool,
    /// Print what the client took back as well
    #[arg(long)]
    pub(crate) withdrawn: bool,
    /// Print the session and its events as lines of JSON
    #[arg(long, conflicts_with = "raw")]
    pub(crate) json: bool,
    /// Print the client's own records, as far as they were kept (`SCROLLBACK_RAW=all`)
    #[arg(long)]
    pub(crate) raw: bool,
}

/// `expand`
#[derive(Debug, Args)]
pub(crate) struct Expand {
    /// The event's id, or the beginning of it: at least 4 hexadecimal digits
    #[arg(value_name = "EVENT")]
    pub(crate) event: String,
    /// Print the event as a line of JSON
    #[arg(long, conflicts_with = "raw")]
    pub(crate) json: bool,
    /// Print the client's own record, if it was kept (`SCROLLBACK_RAW=all`)
    #[arg(long)]
    pub(crate) raw: bool,
}

/// `export`
#[derive(Debug, Args)]
pub(crate) struct Export {
    #[command(flatten)]
    pub(crate) filters: Filters,
    /// Write into that file, which is replaced when everything is written; only its owner may read it
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
}

/// `stats`
#[derive(Debug, Args)]
pub(crate) struct Stats {
    /// What rows are told apart by, separated by commas. Of what names no model, the model is the session's; a
    /// day is one here
    #[arg(long, value_enum, value_name = "KEY", value_delimiter = ',', default_value = "client")]
    pub(crate) by: Vec<Key>,
    #[command(flatten)]
    pub(crate) filters: Filters,
    /// Print one JSON object a row, each on a line, and one of everything; numbers are exact
    #[arg(long)]
    pub(crate) json: bool,
}

/// What rows of `stats` are told apart by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Key {
    /// The client
    Client,
    /// The project
    Project,
    /// The model
    Model,
    /// The day
    Day,
}

/// `coverage`
#[derive(Debug, Args)]
pub(crate) struct Coverage {
    /// Leave with 0 though something is not understood or unreadable
    #[arg(long)]
    pub(crate) allow_unknown: bool,
    /// List every transcript
    #[arg(short = 'v', long)]
    pub(crate) sources: bool,
    /// Print one JSON object a client, a kind not understood and a transcript, each on a line
    #[arg(long)]
    pub(crate) json: bool,
}

/// `reparse`
#[derive(Debug, Args)]
pub(crate) struct Reparse {
    /// Print the summary as one JSON object, with every problem
    #[arg(long)]
    pub(crate) json: bool,
}

/// `plugins`
#[derive(Debug, Args)]
pub(crate) struct Plugins {
    /// Print one JSON object a plugin, each on a line
    #[arg(long)]
    pub(crate) json: bool,
}

/// `new`
#[derive(Debug, Args)]
pub(crate) struct New {
    /// What is begun
    #[arg(value_enum, value_name = "WHAT")]
    pub(crate) what: Thing,
    /// The client's id: lower-case words with hyphens between them. The crate is `scrollback-parser-NAME`
    #[arg(value_name = "NAME")]
    pub(crate) name: String,
    /// Where the crate is made: a directory that is empty or not there yet
    #[arg(long, value_name = "DIR")]
    pub(crate) path: PathBuf,
    /// A checkout of scrollback to build with; without it, its crates of this version from the registry
    #[arg(long, value_name = "DIR")]
    pub(crate) scrollback: Option<PathBuf>,
}

/// What can be begun.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Thing {
    /// A parser of a client's transcripts
    Parser,
}

/// `completions`
#[derive(Debug, Args)]
pub(crate) struct Completions {
    /// The shell
    #[arg(value_enum, value_name = "SHELL")]
    pub(crate) shell: Shell,
}

/// A kind of event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "snake_case")]
pub(crate) enum Kind {
    /// Said by a person or an agent
    Message,
    /// Thought by the model
    Thinking,
    /// A tool, asked for
    #[value(alias = "tool-call")]
    ToolCall,
    /// What a tool gave back
    #[value(alias = "tool-result")]
    ToolResult,
    /// Put before the model by the client, a hook or a command
    Injected,
    /// Recorded by a cooperating agent
    Decision,
    /// Written down beside the conversation
    Note,
    /// Something went wrong or was cut short
    Notice,
}

impl Kind {
    /// Returns the kinds as a set; `None` where none is named.
    pub(crate) fn set(kinds: &[Self]) -> Option<Kinds> {
        let mut named = kinds.iter().filter_map(|kind| Kinds::named(kind.to_possible_value()?.get_name()));
        let first = named.next()?;
        Some(named.fold(first, Kinds::or))
    }
}

/// A role.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum RoleArg {
    /// Said to the agent
    User,
    /// Said by the agent
    Assistant,
}

impl From<RoleArg> for Role {
    fn from(role: RoleArg) -> Self {
        match role {
            RoleArg::User => Self::User,
            RoleArg::Assistant => Self::Assistant,
        }
    }
}

/// The order of hits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Order {
    /// By relevance
    Relevance,
    /// The newest first
    Newest,
}

impl From<Order> for Sort {
    fn from(order: Order) -> Self {
        match order {
            Order::Relevance => Self::Relevance,
            Order::Newest => Self::Newest,
        }
    }
}

/// Returns the definition of the command line, under the program's name.
pub(crate) fn definition(name: &'static str, version: Option<&'static str>) -> clap::Command {
    let command = Line::command().name(name).bin_name(name);
    match version {
        Some(version) => command.version(version),
        None => command,
    }
}

/// Returns what a command line asks for.
pub(crate) fn parse(
    name: &'static str,
    version: Option<&'static str>,
    args: impl Iterator<Item = OsString>,
) -> Result<Command, clap::Error> {
    let mut definition = definition(name, version);
    let matches = definition.try_get_matches_from_mut(args)?;
    Line::from_arg_matches(&matches).map(|line| line.command).map_err(|error| error.format(&mut definition))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_definition_is_sound() {
        definition(NAME, None).debug_assert();
    }

    #[test]
    fn every_kind_is_one_of_the_store() {
        let all = Kind::set(Kind::value_variants()).unwrap();
        assert_eq!(all, Kinds::ALL);
        assert_eq!(Kind::set(&[]), None);
    }
}
