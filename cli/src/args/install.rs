//! What changes clients' settings and looks at them.

use clap::{Args, ValueEnum};
use scrollback_core::Level;

/// Where settings are changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum LevelArg {
    /// For every project of the user
    User,
    /// For the project here, in files that are committed with it
    Project,
}

impl From<LevelArg> for Level {
    fn from(level: LevelArg) -> Self {
        match level {
            LevelArg::User => Self::User,
            LevelArg::Project => Self::Project,
        }
    }
}

/// Which half of an installation is meant.
#[derive(Debug, Args)]
pub(crate) struct Which {
    /// Only the hooks
    #[arg(long, conflicts_with = "mcp_only")]
    pub(crate) hooks_only: bool,
    /// Only the entry of the MCP server
    #[arg(long)]
    pub(crate) mcp_only: bool,
}

/// How far a run may go.
#[derive(Debug, Args)]
pub(crate) struct Given {
    /// Show what would change, and change nothing: the diff of every file, and the commands that would be run
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Do not ask
    #[arg(short = 'y', long)]
    pub(crate) yes: bool,
}

/// `setup`
#[derive(Debug, Args)]
pub(crate) struct Setup {
    /// Where: for the user, or for the project here
    #[arg(long, value_enum, value_name = "LEVEL", default_value_t = LevelArg::User)]
    pub(crate) level: LevelArg,
    #[command(flatten)]
    pub(crate) which: Which,
    #[command(flatten)]
    pub(crate) given: Given,
}

/// `install`
#[derive(Debug, Args)]
pub(crate) struct Install {
    /// The client, by its id: `claude-code`, `codex`
    #[arg(value_name = "CLIENT")]
    pub(crate) client: String,
    /// Where: for the user, or for the project here
    #[arg(long, value_enum, value_name = "LEVEL", default_value_t = LevelArg::User)]
    pub(crate) level: LevelArg,
    #[command(flatten)]
    pub(crate) which: Which,
    /// The address of an MCP server elsewhere; its entry is called `scrollback`
    #[arg(long, value_name = "URL", conflicts_with = "hooks_only")]
    pub(crate) mcp_url: Option<String>,
    /// A header for that server; may be given several times. A value `${VARIABLE}` is left to the client to fill in
    #[arg(long, value_name = "NAME=VALUE", requires = "mcp_url")]
    pub(crate) mcp_header: Vec<String>,
    /// Print what would be put into the settings, alone on standard output, to be pasted; nothing is read or written
    #[arg(long, conflicts_with = "dry_run")]
    pub(crate) print: bool,
    #[command(flatten)]
    pub(crate) given: Given,
}

/// `uninstall`
#[derive(Debug, Args)]
pub(crate) struct Uninstall {
    /// The client, by its id; else every one
    #[arg(value_name = "CLIENT")]
    pub(crate) client: Option<String>,
    /// Where; else for the user and for the project here
    #[arg(long, value_enum, value_name = "LEVEL")]
    pub(crate) level: Option<LevelArg>,
    #[command(flatten)]
    pub(crate) which: Which,
    /// Take everything that was recorded as well, and the backups of settings
    #[arg(long, conflicts_with_all = ["client", "level", "hooks_only", "mcp_only"])]
    pub(crate) purge: bool,
    #[command(flatten)]
    pub(crate) given: Given,
}

/// `status`
#[derive(Debug, Args)]
pub(crate) struct Status {
    /// Leave with 3 if something is missing, behind or not what it should be
    #[arg(long)]
    pub(crate) check: bool,
    /// Print one JSON object a client, and one of the drain, each on a line
    #[arg(long)]
    pub(crate) json: bool,
}

/// `doctor`
#[derive(Debug, Args)]
pub(crate) struct Doctor {
    /// Print one JSON object a line that was tried, each on a line
    #[arg(long)]
    pub(crate) json: bool,
}
