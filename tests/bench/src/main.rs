//! Makes corpora of transcripts and measures scrollback over them.
#![cfg_attr(test, allow(clippy::unwrap_used, reason = "a test stops where something is missing"))]
#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    clippy::disallowed_methods,
    clippy::format_push_string,
    clippy::print_stdout,
    clippy::similar_names,
    reason = "a generator and a stopwatch: it writes files, builds text, starts programs and makes figures of what they took"
)]

mod baseline;
mod corpus;
mod machine;
mod measure;
mod place;
mod run;
mod shape;
mod table;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use clap::{Parser, Subcommand};

use corpus::{Client, Plan};

/// Makes corpora of transcripts and measures scrollback over them.
#[derive(Debug, Parser)]
struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Measures, and prints what was measured beside what is wanted.
    Run(measure::Options),
    /// Writes a corpus: the same bytes from the same seed on every machine.
    Corpus {
        /// Where to; a folder that does not exist or is empty.
        dir: PathBuf,
        /// About how many MiB.
        #[arg(long, default_value_t = 64)]
        mb: u64,
        #[arg(long, default_value_t = 1)]
        seed: u64,
        #[arg(long, value_enum, default_value = "claude-code")]
        client: Client,
        /// At least about how many transcripts.
        #[arg(long, default_value_t = 1)]
        files: u64,
        /// Small files and outputs: many events in few bytes.
        #[arg(long)]
        lean: bool,
    },
    /// Prints what transcripts are made of: generated ones, or real ones to compare with.
    Shape {
        /// Folders and files.
        #[arg(required = true)]
        paths: Vec<PathBuf>,
    },
    /// Reads each line of files into a `serde_json::Value` and prints one field: what `parse` is compared with.
    #[command(hide = true)]
    Values { paths: Vec<PathBuf> },
    /// Starts a program and writes down what it used.
    #[command(hide = true)]
    Exec {
        report: PathBuf,
        program: String,
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<String>,
    },
}

fn main() -> Result<ExitCode> {
    match Args::parse().command {
        Command::Run(options) => return measure::run(&options),
        Command::Corpus { dir, mb, seed, client, files, lean } => {
            let counts = corpus::write(&dir, Plan { client, bytes: mb << 20, seed, files, lean })?;
            println!("{}", counts.manifest());
        }
        Command::Shape { paths } => shape::measure(&paths)?.print(),
        Command::Values { paths } => baseline::values(&paths)?,
        Command::Exec { report, program, arguments } => return run::exec(&report, &program, &arguments),
    }
    Ok(ExitCode::SUCCESS)
}
