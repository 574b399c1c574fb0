//! `install --print`: what would be written, for somebody to paste.

use super::{Change, Run};
use crate::exit::{Ended, Exit};
use anyhow::Result;
use scrollback_core::{Env, Memos, Step, Timestamp};
use scrollback_engine::apply;
use std::io;
use std::path::{Path, PathBuf};

/// A machine on which the client is there and has no settings: nothing of the real one is read.
struct Blank<'e>(&'e dyn Env);

impl Env for Blank<'_> {
    fn var(&self, name: &str) -> Option<String> {
        self.0.var(name)
    }

    fn home(&self) -> Option<PathBuf> {
        self.0.home()
    }

    fn current_dir(&self) -> Option<PathBuf> {
        self.0.current_dir()
    }

    fn login(&self) -> Option<String> {
        self.0.login()
    }

    fn now(&self) -> Timestamp {
        self.0.now()
    }

    fn read(&self, _path: &Path) -> io::Result<Vec<u8>> {
        Err(io::ErrorKind::NotFound.into())
    }

    fn list(&self, _path: &Path) -> io::Result<Vec<PathBuf>> {
        Ok(Vec::new())
    }
}

/// Prints the one fragment on standard output, and on standard error where it goes.
pub(super) fn print(run: &mut Run<'_>, change: &Change<'_>) -> Result<Exit> {
    let blank = Blank(run.env);
    let wanted = scrollback_core::Wanted {
        level: change.level,
        hook: super::as_ref(&change.hook),
        mcp: super::as_ref(&change.mcp),
        memos: &Memos::new(),
    };
    let plan = change.adapter.plan(&blank, &wanted)?;
    let fragments: Vec<&Step> =
        plan.steps.iter().filter(|step| matches!(step, Step::Edit { .. } | Step::Run { .. })).collect();
    let [fragment] = fragments[..] else {
        return Err(Ended::usage("these are two fragments: say --hooks-only or --mcp-only").into());
    };
    match fragment {
        Step::Edit { path, after, .. } => {
            run.complain(&format!("for {}:", path.display()))?;
            let after = after.as_deref().unwrap_or_default();
            run.page.bytes(after)?;
            if !after.ends_with(b"\n") {
                run.page.line("")?;
            }
        }
        Step::Run { program, args, .. } => {
            run.complain("to be run:")?;
            run.page.line(apply::line_of(program, args))?;
        }
        Step::Tell(_) | Step::Note(_) => {}
    }
    for step in &plan.steps {
        if let Step::Tell(text) = step {
            run.complain(text)?;
        }
    }
    Ok(Exit::Done)
}
