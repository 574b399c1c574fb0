//! `parse`

use super::Run;
use crate::args::Parse;
use crate::exit::Exit;
use anyhow::Result;
use scrollback_engine::{ParseError, Problem};

pub(super) fn run(run: &mut Run<'_>, args: &Parse) -> Result<Exit> {
    let mut exit = Exit::Done;
    for file in &args.files {
        let page = &mut *run.page;
        let parsed =
            scrollback_engine::parse(run.env, run.registry, file, args.parser.as_deref(), &mut |line| {
                page.json(line)
            });
        match parsed {
            Ok(report) => {
                for problem in &report.problems {
                    run.complain(&problem_line(problem))?;
                }
            }
            // Neither gets better with the next file.
            Err(ParseError::Write(error)) => return Err(error.into()),
            Err(error @ ParseError::Unknown(_)) => return Err(error.into()),
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
