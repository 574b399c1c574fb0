//! Which parser a file is for.

use super::Reading;
use crate::discover;
use crate::tail::TailReport;
use scrollback_core::{Env, Parser, Probe, Registry};
use std::path::Path;

impl<'a> Reading<'a, '_> {
    pub(super) fn recognise(&self, path: &Path, report: &mut TailReport) -> Option<&'a dyn Parser> {
        let head = match discover::read_head(path) {
            Ok(head) => head,
            Err(error) => {
                report.skipped += 1;
                report.problem(path, None, error.to_string());
                return None;
            }
        };
        if head.trim_ascii().is_empty() {
            // Nothing is in it yet, and nothing is wrong with it.
            report.skipped += 1;
            return None;
        }
        let parser = choose(self.env, self.registry, path, &head);
        if parser.is_none() {
            report.skipped += 1;
            let known: Vec<&str> = self.registry.parsers().map(|parser| &*parser.spec().id).collect();
            let what = format!("no parser knows this file; --parser chooses one of: {}", known.join(", "));
            report.problem(path, None, what);
        }
        parser
    }
}

/// Returns the parser of a file: one a user made for the place it is in, unless that is the home of another client
/// too; else the one that is surest of it.
pub(crate) fn choose<'r>(
    env: &dyn Env,
    registry: &'r Registry,
    path: &Path,
    head: &[u8],
) -> Option<&'r dyn Parser> {
    let parsers = || registry.parsers().map(|parser| parser as &'r dyn Parser);
    let home_of = |labelled: bool| {
        parsers().find(|it| it.spec().labelled == labelled && discover::is_at_home(env, *it, path))
    };
    let declared = home_of(true).filter(|_| home_of(false).is_none());
    declared.or_else(|| registry.probe(&Probe { path, head, schema: None }))
}
