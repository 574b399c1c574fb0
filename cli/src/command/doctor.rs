//! `doctor`

use super::Run;
use crate::args::Doctor;
use crate::exit::Exit;
use crate::installed::{self, Installed};
use crate::print::{self, Style};
use anyhow::{Context as _, Result};
use scrollback_core::{Adapter, Env, StandingHook};
use scrollback_engine::{drain::TRIAL, log};
use scrollback_store::{Access, Store};
use serde::Serialize;
use std::io::Write as _;

use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

/// How long a trial may take to arrive: longer than a drain waits for a client that writes late.
const PATIENCE: Duration = Duration::from_secs(15);
/// Where a program is looked for that a line names without a path, if nothing says otherwise.
const PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// A line that was tried.
#[derive(Serialize)]
struct Tried<'r> {
    client: &'r str,
    level: &'static str,
    event: &'r str,
    arrived: bool,
    took_ms: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    problem: Option<String>,
}

pub(super) fn run(run: &mut Run<'_>, args: &Doctor) -> Result<Exit> {
    let mut wrong = false;
    let registry = run.registry;
    if registry.adapters().next().is_none() {
        run.complain("no adapter is linked into this program: there is nothing to try")?;
        wrong = true;
    }
    // What the drain will need, said here where somebody reads it.
    if let Err(error) = Store::open(&run.settings.store(), Access::Write) {
        run.complain(&format!("{}: {error}", run.settings.store().display()))?;
        wrong = true;
    }
    let mut tried = 0;
    for adapter in registry.adapters() {
        let of = Installed::of(adapter, run.env, run.name);
        if of.directory.is_none() && of.standing.is_empty() {
            continue;
        }
        for problem in &of.problems {
            run.complain(&format!("{}: {problem}", adapter.spec().name))?;
            wrong = true;
        }
        for at in of.standing.iter().filter(|at| !at.hooks.is_empty()) {
            let lines = each(run, adapter, &at.hooks, installed::level(at.level))?;
            tried += lines.len();
            wrong |= lines.iter().any(|line| line.problem.is_some());
            if args.json {
                lines.iter().try_for_each(|line| run.page.json(line))?;
            } else {
                tell(run, adapter, &lines)?;
            }
        }
    }
    if tried == 0 && !args.json {
        run.page.line(format_args!("No hook is installed here; `{} setup` puts them in.", run.name))?;
    }
    Ok(if wrong || tried == 0 { Exit::Missing } else { Exit::Done })
}

/// Runs every line, then waits until what they left is in the store.
fn each<'r>(
    run: &Run<'_>,
    adapter: &'r dyn Adapter,
    hooks: &'r [StandingHook],
    level: &'static str,
) -> Result<Vec<Tried<'r>>> {
    let began = run.env.now().micros();
    let session = |n: usize| format!("{TRIAL}{}-{began}-{n}-", adapter.spec().client);
    let mut tried = Vec::new();
    for (n, hook) in hooks.iter().enumerate() {
        let started = Instant::now();
        let output = fire(run.env, adapter, hook, &session(n))?;
        let took_ms = started.elapsed().as_secs_f64() * 1_000.0;
        let (client, event) = (&*adapter.spec().client, &*hook.event);
        // Its guard is silent, and there is nothing to wait for.
        let runs = hook.program.as_deref().is_some_and(|program| installed::find(run.env, program).is_some());
        let problem =
            if runs { amiss(&output) } else { Some("its program is not there or cannot be run".to_owned()) };
        tried.push(Tried { client, level, event, arrived: false, took_ms, problem });
    }
    let until = Instant::now() + PATIENCE;
    while tried.iter().any(|line| !line.arrived && line.problem.is_none()) && Instant::now() < until {
        std::thread::sleep(Duration::from_millis(10));
        let lines = log::lines(&run.settings.data);
        for (n, line) in tried.iter_mut().enumerate() {
            line.arrived |= lines.iter().any(|text| text.contains(&session(n)));
        }
    }
    for (line, hook) in tried.iter_mut().zip(hooks) {
        if !line.arrived && line.problem.is_none() {
            let (log, seconds) = (log::path(&run.settings.data), PATIENCE.as_secs());
            line.problem = Some(format!(
                "it did not arrive in {seconds} s; the line is `{}`, and {} may say why",
                hook.line,
                log.display()
            ));
        }
    }
    Ok(tried)
}

/// Runs a line as a client would: by a shell, with the payload on standard input, in an environment of little more
/// than what says where the client keeps its files.
fn fire(env: &dyn Env, adapter: &dyn Adapter, hook: &StandingHook, session: &str) -> Result<Output> {
    let here = env.current_dir().unwrap_or_else(|| "/".into());
    let payload = adapter.probe(session, &here);
    #[expect(clippy::disallowed_methods, reason = "the shell a client runs lines with")]
    let mut shell = Command::new("/bin/sh");
    shell.args(["-c", &hook.line]).env_clear().current_dir(&here);
    // A bare name is found by what the client's user has; a whole path needs nothing.
    let bare = hook.program.as_deref().is_some_and(|program| program.components().count() == 1);
    let path = env.var("PATH").filter(|_| bare).unwrap_or_else(|| PATH.to_owned());
    shell.env("PATH", path);
    for name in adapter.spec().variables.iter().chain(&["HOME"]) {
        if let Some(value) = env.var(name) {
            shell.env(name, value);
        }
    }
    shell.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = shell.spawn().context("/bin/sh could not be started")?;
    if let Some(mut stdin) = child.stdin.take() {
        // A line that reads nothing, as that of a missing program, closes it.
        let _written = stdin.write_all(payload.as_bytes());
    }
    Ok(child.wait_with_output()?)
}

/// Says what is wrong with what a line gave: clients expect nothing on either stream, and 0.
fn amiss(output: &Output) -> Option<String> {
    if !output.status.success() {
        return Some(format!("it ended with {}", output.status));
    }
    let said = [("standard output", &output.stdout), ("standard error", &output.stderr)];
    let (stream, bytes) = said.into_iter().find(|(_, bytes)| !bytes.is_empty())?;
    Some(format!("it wrote on {stream}: {}", crate::text::one_line(&String::from_utf8_lossy(bytes))))
}

fn tell(run: &mut Run<'_>, adapter: &dyn Adapter, lines: &[Tried<'_>]) -> Result<()> {
    let arrived = lines.iter().filter(|line| line.arrived).count() as u64;
    let took: Vec<f64> = lines.iter().map(|line| line.took_ms).collect();
    let (least, most) =
        (took.iter().copied().fold(f64::MAX, f64::min), took.iter().copied().fold(0.0, f64::max));
    let name = run.page.styled(Style::Strong, &adapter.spec().name);
    let level = lines.first().map_or("", |line| line.level);
    let of = print::count(lines.len() as u64, "hook");
    run.page.line(format_args!(
        "{name} ({level}): {arrived} of {of} arrived; each took {least:.0} to {most:.0} ms"
    ))?;
    for line in lines {
        if let Some(problem) = &line.problem {
            let problem = run.page.styled(Style::Wrong, &format!("{}: {problem}", line.event));
            run.page.line(format_args!("  {problem}"))?;
        }
    }
    Ok(())
}
