//! Walkthroughs: the real clients, run against a scripted model, recorded, and the store compared with what was
//! said. Needs npm for the clients and tmux for sessions in a terminal; Linux on `x86_64`.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "it reports to a person")]

mod client;
mod docs;
mod files;
mod isolate;
mod model;
mod scenario;

use anyhow::{Context as _, Result};
use clap::Parser;
use client::{Client, How, Sandbox, Terminal, install};
use model::Model;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

/// Runs the real clients against a scripted model and compares what was recorded with what was said.
#[derive(Debug, Parser)]
struct Args {
    /// Only this client.
    #[arg(long)]
    client: Option<Client>,
    /// Only the scenarios with this name.
    #[arg(long, value_name = "NAME")]
    scenario: Option<String>,
    /// How it is recorded.
    #[arg(long, value_name = "HOW", default_value = "tail")]
    how: How,
    /// If everything is well, write the versions and the date into docs/clients.md.
    #[arg(long, conflicts_with = "scenario")]
    write_docs: bool,
    /// Keep each machine below that directory, with what the model was asked.
    #[arg(long, value_name = "DIR")]
    keep: Option<PathBuf>,
    /// The program to record with; else the one beside this, which is built.
    #[arg(long, value_name = "FILE")]
    program: Option<PathBuf>,
    /// Stay in the namespaces this is started in.
    #[arg(long, hide = true)]
    inside: bool,
}

fn main() -> ExitCode {
    match walk(&Args::parse()) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn walk(args: &Args) -> Result<ExitCode> {
    let target = target()?;
    let clients: Vec<Client> = args.client.map_or_else(|| Client::ALL.to_vec(), |client| vec![client]);
    let installed = target.join("walkthrough/clients");
    let program = match &args.program {
        Some(program) => program.canonicalize().with_context(|| program.display().to_string())?,
        None => beside()?,
    };
    if !args.inside {
        prepare(args, &clients, &installed)?;
        match isolate::again() {
            Ok(code) => return Ok(code),
            Err(why) => println!("not isolated, clients can reach the network: {why:#}"),
        }
    }
    let failures = play(args, &clients, &installed, &program)?;
    if failures > 0 {
        println!("{failures} failed");
        return Ok(ExitCode::FAILURE);
    }
    if args.write_docs {
        docs::write(&clients)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Installs the clients and builds the program.
fn prepare(args: &Args, clients: &[Client], installed: &Path) -> Result<()> {
    let began = Instant::now();
    for package in install::install(clients, installed)? {
        println!("installed {package}");
    }
    if args.program.is_none() {
        build()?;
    }
    println!("prepared in {:.1} s", began.elapsed().as_secs_f64());
    Ok(())
}

/// Plays the scenarios, prints a row for each, and returns how many failed.
fn play(args: &Args, clients: &[Client], installed: &Path, program: &Path) -> Result<usize> {
    let began = Instant::now();
    let model = Model::start()?;
    let terminal = Terminal::available();
    if !terminal {
        println!("no tmux: sessions in a terminal fail; install it (apt-get install tmux)");
    }
    let mut failures = 0;
    let mut played = 0;
    for client in clients {
        let sides = model.sides();
        let mut alone = true;
        for scenario in scenario::all(*client) {
            if args.scenario.as_deref().is_some_and(|name| name != scenario.name) {
                continue;
            }
            let keep = args.keep.as_deref().map(|kept| scenario.directory(kept));
            let start = Instant::now();
            let ran = Sandbox::new(*client, args.how, installed, program, &model.base(), keep.as_deref())
                .and_then(|sandbox| {
                    if args.keep.is_some() {
                        model.log_to(&sandbox.root().join("requests.jsonl"));
                    }
                    if scenario.terminal && !terminal {
                        anyhow::bail!("there is no tmux");
                    }
                    scenario.run(&sandbox)
                });
            played += 1;
            alone &= !scenario.terminal || ran.is_err();
            let verdict = if ran.is_ok() { "pass" } else { "FAIL" };
            let seconds = start.elapsed().as_secs_f64();
            println!("{verdict}  {:<12} {:<12} {seconds:>5.1} s", client.pinned().id, scenario.name);
            if let Err(error) = ran {
                failures += 1;
                println!("{error:#}");
            }
        }
        // In a terminal each client has a title made. Without that request, that it leaves nothing shows nothing.
        if !alone && model.sides() == sides {
            failures += 1;
            println!("FAIL  {:<12} no side request came", client.pinned().id);
        }
    }
    anyhow::ensure!(played > 0, "no scenario has that name");
    println!("{played} played in {:.1} s, {} requests", began.elapsed().as_secs_f64(), model.requests());
    Ok(failures)
}

/// Returns the directory of what is built, which this program is in.
fn target() -> Result<PathBuf> {
    let program = std::env::current_exe()?;
    Ok(program.ancestors().nth(2).context("this program is in no target directory")?.to_owned())
}

/// Returns the program beside this one.
fn beside() -> Result<PathBuf> {
    Ok(std::env::current_exe()?.with_file_name("scrollback"))
}

/// Builds the program beside this one, in the same profile.
fn build() -> Result<()> {
    let release = std::env::current_exe()?.parent().is_some_and(|folder| folder.ends_with("release"));
    let mut command = files::command("cargo");
    command.args(["build", "--quiet", "-p", "scrollback-cli", "--bin", "scrollback"]);
    if release {
        command.arg("--release");
    }
    command.current_dir(docs::root());
    anyhow::ensure!(command.status()?.success(), "the program could not be built");
    Ok(())
}
