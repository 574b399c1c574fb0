//! `completions`

use super::Run;
use crate::args::{self, Completions};
use crate::exit::Exit;
use anyhow::Result;

pub(super) fn run(run: &mut Run<'_>, args: &Completions) -> Result<Exit> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut args::definition(run.name, None), run.name, &mut script);
    run.page.bytes(&script)?;
    Ok(Exit::Done)
}
