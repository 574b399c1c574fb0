//! Whose sources are, by the user's word: which of them take it, before anything is read.

use super::TailOptions;
use crate::discover;
use crate::read::choose;
use scrollback_core::{Env, Parser, ParserSpec, Registry};
use scrollback_store::{Label, SourceRow};
use std::collections::HashMap;
use std::path::PathBuf;
use thiserror::Error;

/// A source does not take the label that was given.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum LabelError {
    /// Its parser knows itself whose it is.
    #[error(
        "{} is read with {parser}, which knows client and session itself: --client and --session are for the \
         fallback and for field maps; --parser chooses one",
        path.display()
    )]
    NotTaken {
        /// The source.
        path: PathBuf,
        /// The id of its parser.
        parser: String,
    },
    /// It was read under another one, and its events have their ids from that.
    #[error(
        "{} was read before as {held}: --again reads it as {given} too, and what is stored stays",
        path.display()
    )]
    Held {
        /// The source.
        path: PathBuf,
        /// What it was read as.
        held: String,
        /// What it was to be read as now.
        given: String,
    },
    /// One session was named for several sources.
    #[error("--session names one transcript, and there are {n}: name one with --path")]
    Several {
        /// How many there are.
        n: usize,
    },
}

/// Gives each source its parser, if all of them take the label that is given; without one, leaves them as they are.
/// What cannot be read, or what nobody knows, is reported where it is read.
pub(super) fn settle<'r>(
    env: &dyn Env,
    registry: &'r Registry,
    known: &HashMap<PathBuf, SourceRow>,
    files: &mut [(PathBuf, Option<&'r dyn Parser>)],
    options: &TailOptions,
) -> Result<(), LabelError> {
    if options.label.is_empty() {
        return Ok(());
    }
    let mut takers = 0;
    for (path, chosen) in files {
        let row = known.get(path);
        let parser = chosen
            .or_else(|| row.and_then(|row| registry.parser(&row.parser).ok()))
            .or_else(|| discover::read_head(path).ok().and_then(|head| choose(env, registry, path, &head)));
        let Some(parser) = parser else { continue };
        let spec = parser.spec();
        if !spec.labelled {
            return Err(LabelError::NotTaken { path: path.clone(), parser: spec.id.to_string() });
        }
        if let Some(row) = row.filter(|row| row.parser == spec.id && row.mark.is_some() && !options.again) {
            let (held, given) = (name(spec, &row.label), name(spec, &options.label.or(&row.label)));
            if given != held {
                return Err(LabelError::Held { path: path.clone(), held, given });
            }
        }
        takers += 1;
        *chosen = Some(parser);
    }
    if options.label.session.is_some() && takers > 1 {
        return Err(LabelError::Several { n: takers });
    }
    Ok(())
}

/// Returns what sources of that label are read as: the client, and the session if one is named.
fn name(spec: &ParserSpec, label: &Label) -> String {
    let client = label.client.as_deref().unwrap_or(&spec.client);
    match &label.session {
        Some(session) => format!("{client}/{session}"),
        None => format!("{client}, its sessions unnamed"),
    }
}
