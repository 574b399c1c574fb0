//! What says for which project sessions are captured, and whether they are.

use clap::Args;

/// `use`
#[derive(Debug, Args)]
pub(crate) struct Use {
    /// The project's name
    pub(crate) project: String,
}

/// `active`
#[derive(Debug, Args)]
pub(crate) struct Active {
    /// Print a JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

/// `pause`, `resume`
#[derive(Debug, Args)]
pub(crate) struct Where {
    /// Everywhere, not only here
    #[arg(long)]
    pub(crate) everywhere: bool,
}
