//! `parse`

use super::Run;
use crate::args::Parse;
use crate::exit::{Ended, Exit};
use anyhow::Result;
use scrollback_core::Line;
use scrollback_engine::{ParseError, Problem};

pub(super) fn run(run: &mut Run<'_>, args: &Parse) -> Result<Exit> {
    let mut exit = if run.complain_of_maps()? { Exit::Failed } else { Exit::Done };
    let label = args.label.label();
    if label.session.is_some() && args.files.len() > 1 {
        return Err(Ended::usage("--session names one transcript, and there are several").into());
    }
    for file in &args.files {
        let page = &mut *run.page;
        let parser = args.parser.as_deref();
        let mut out = |line: &Line| page.json(line);
        let parsed = scrollback_engine::parse_labelled(run.env, run.registry, file, parser, &label, &mut out);
        match parsed {
            Ok(report) => {
                for problem in &report.problems {
                    run.complain(&problem_line(problem))?;
                }
            }
            // Neither gets better with the next file.
            Err(ParseError::Write(error)) => return Err(error.into()),
            Err(error @ ParseError::Unknown(_)) => return Err(error.into()),
            Err(ParseError::Label(error)) => return Err(Ended::usage(error.to_string()).into()),
            Err(error) => {
                exit = Exit::Failed;
                run.complain(&error.to_string())?;
            }
        }
    }
    Ok(exit)
}

/// Returns a problem as one line: the file, the record, what is wrong.
pub(super) fn problem_line(problem: &Problem) -> String {
    let path = problem.path.display();
    match problem.record {
        Some(record) => format!("{path}:{record}: {}", problem.what),
        None => format!("{path}: {}", problem.what),
    }
}
