//! Running other programs and saying what they used.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use nix::sys::resource::{Usage, UsageWho, getrusage};
use nix::sys::time::TimeValLike as _;
use nix::time::{ClockId, clock_gettime};
use serde_json::{Value, json};

/// What a process used from its start to its end.
#[derive(Clone, Debug, Default)]
pub(crate) struct Used {
    pub(crate) wall: Duration,
    /// User and system time together.
    pub(crate) cpu: Duration,
    /// The most memory it held.
    pub(crate) peak: u64,
    /// What it printed, unless that went elsewhere.
    pub(crate) printed: String,
}

/// Where what a process prints goes.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Output {
    Kept,
    Nowhere,
}

/// A program with its arguments and environment.
#[derive(Clone, Debug)]
pub(crate) struct Job {
    program: PathBuf,
    arguments: Vec<String>,
    environment: Vec<(String, String)>,
}

impl Job {
    pub(crate) fn new(program: &Path) -> Self {
        Self { program: program.to_owned(), arguments: Vec::new(), environment: Vec::new() }
    }

    pub(crate) fn arg(mut self, argument: impl Into<String>) -> Self {
        self.arguments.push(argument.into());
        self
    }

    pub(crate) fn args<I: IntoIterator<Item = S>, S: Into<String>>(mut self, arguments: I) -> Self {
        self.arguments.extend(arguments.into_iter().map(Into::into));
        self
    }

    pub(crate) fn env(mut self, name: &str, value: &Path) -> Self {
        self.environment.push((name.to_owned(), value.display().to_string()));
        self
    }

    /// Returns the command itself, with no environment but `PATH` and what was given.
    pub(crate) fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        command.args(&self.arguments).env_clear().stdin(Stdio::null());
        if let Some(path) = std::env::var_os("PATH") {
            command.env("PATH", path);
        }
        command.envs(self.environment.iter().map(|(name, value)| (name, value)));
        command
    }

    /// Runs it to its end. It is started by a process of its own, which then asks what its only child used.
    pub(crate) fn run(&self, scratch: &Path, output: Output) -> Result<Used> {
        let report = scratch.join("used.json");
        let mut command = Command::new(std::env::current_exe()?);
        command.arg("exec").arg(&report).arg(&self.program).args(&self.arguments).env_clear();
        if let Some(path) = std::env::var_os("PATH") {
            command.env("PATH", path);
        }
        command.envs(self.environment.iter().map(|(name, value)| (name, value))).stdin(Stdio::null());
        match output {
            Output::Kept => command.stdout(Stdio::piped()),
            Output::Nowhere => command.stdout(Stdio::null()),
        };
        let done = command.stderr(Stdio::piped()).spawn()?.wait_with_output()?;
        let name = self.program.display();
        if !done.status.success() {
            bail!(
                "{name} {:?}: {}\n{}",
                self.arguments.first(),
                done.status,
                String::from_utf8_lossy(&done.stderr)
            );
        }
        let used: Value =
            serde_json::from_slice(&fs::read(&report).with_context(|| format!("what {name} used"))?)?;
        let micros = |key: &str| Duration::from_micros(used[key].as_u64().unwrap_or_default());
        Ok(Used {
            wall: micros("wall"),
            cpu: micros("cpu"),
            peak: used["peak"].as_u64().unwrap_or_default(),
            printed: String::from_utf8_lossy(&done.stdout).into_owned(),
        })
    }
}

/// The subcommand behind [`Job::run`]: starts a program and writes down what it used.
pub(crate) fn exec(report: &Path, program: &str, arguments: &[String]) -> Result<ExitCode> {
    let began = Instant::now();
    let status =
        Command::new(program).args(arguments).status().with_context(|| format!("starting {program}"))?;
    let wall = began.elapsed();
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN)?;
    let unit = if cfg!(target_os = "macos") { 1 } else { 1_024 };
    let peak = u64::try_from(usage.max_rss()).unwrap_or_default() * unit;
    fs::write(
        report,
        json!({"wall": wall.as_micros() as u64, "cpu": cpu(&usage).as_micros() as u64, "peak": peak})
            .to_string(),
    )?;
    Ok(if status.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Returns what this process has used of the processor so far.
pub(crate) fn own_cpu() -> Duration {
    getrusage(UsageWho::RUSAGE_SELF).map_or(Duration::ZERO, |usage| cpu(&usage))
}

/// Returns what this thread has used of the processor so far: what a wall clock shows and this does not, others took.
pub(crate) fn thread_cpu() -> Result<Duration> {
    Ok(Duration::from(clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID)?))
}

fn cpu(usage: &Usage) -> Duration {
    let micros = usage.user_time().num_microseconds() + usage.system_time().num_microseconds();
    Duration::from_micros(u64::try_from(micros).unwrap_or_default())
}

/// Returns the middle one of `values`.
pub(crate) fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    percentile(&values, 50.0)
}

/// Returns the value below which `percent` of the sorted `values` lie.
pub(crate) fn percentile(values: &[f64], percent: f64) -> f64 {
    let last = values.len().saturating_sub(1);
    values.get((last as f64 * percent / 100.0).ceil() as usize).copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_of_what_was_measured() {
        let values: Vec<f64> = (1..=100).map(f64::from).collect();
        assert!(
            (percentile(&values, 99.0) - 100.0).abs() < 1.5 && (percentile(&values, 50.0) - 50.0).abs() < 1.5
        );
        assert!((median(vec![3.0, 1.0, 2.0]) - 2.0).abs() < f64::EPSILON);
        assert!((percentile(&[], 50.0)).abs() < f64::EPSILON);
    }

    #[test]
    fn what_a_program_used_is_its_own() {
        let scratch = std::env::temp_dir();
        let report = scratch.join(format!("scrollback-used-{}", std::process::id()));
        exec(&report, "true", &[]).unwrap();
        let told: Value = serde_json::from_slice(&fs::read(&report).unwrap()).unwrap();
        fs::remove_file(report).unwrap();
        assert!(told["peak"].as_u64().unwrap() > 0 && told["wall"].as_u64().unwrap() > 0, "{told}");
    }
}
