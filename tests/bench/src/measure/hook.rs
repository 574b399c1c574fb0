//! The hook, as a client runs it: how long it takes, how many instructions, and how soon what it tells of is found.

use std::fs::{self, File, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread::{scope, sleep};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail, ensure};
use scrollback_store::{Access, Filter, Query, Sort, Store};
use serde_json::json;

use super::rows;
use super::search::Large;
use crate::place::Place;
use crate::run::percentile;
use crate::table::Table;

/// How often each is measured.
const TIMES: usize = 200;
/// How many hooks come at once, and how often.
const AT_ONCE: usize = 12;
const ROUNDS: usize = 50;
/// How many lines are waited for.
const LINES: u64 = 60;
/// The most instructions a hook may take.
const INSTRUCTIONS: u64 = 400_000;
/// How long anything is waited for before that is an error.
const PATIENCE: Duration = Duration::from_secs(30);

/// The shortest program that does what a hook does, in Python.
const PYTHON: &str = "\
import json, sys
told = json.load(sys.stdin)
with open(sys.argv[1], 'a') as spool:
    spool.write(json.dumps({'session': told['session_id'], 'path': told['transcript_path']}) + '\\n')
";

/// A machine with one client's transcript.
struct Client {
    /// The home directory of the user.
    user: PathBuf,
    /// Where scrollback keeps everything.
    data: PathBuf,
    id: &'static str,
    transcript: PathBuf,
    session: rows::Session,
    lines: u64,
}

impl Client {
    fn new(place: &Place, id: &'static str, data: &Path) -> Result<Self> {
        let user = place.fresh(&format!("user-{id}"))?;
        // Of another run another session, so that nothing of it is in the store.
        let number = std::time::UNIX_EPOCH.elapsed()?.as_micros() as u64 & 0xffff_ffff_ffff;
        let session = rows::Session::new(id, number);
        let name = session.id();
        let transcript = user.join(match id {
            "codex" => format!(".codex/sessions/2026/03/01/rollout-2026-03-01T10-00-00-{name}.jsonl"),
            _ => format!(".claude/projects/-home-dev-app/{name}.jsonl"),
        });
        fs::create_dir_all(transcript.parent().context("a folder")?)?;
        fs::write(&transcript, session.head())?;
        Ok(Self { user, data: data.to_owned(), id, transcript, session, lines: 0 })
    }

    /// Writes what the agent says to the transcript.
    fn says(&mut self, text: &str) -> Result<()> {
        self.lines += 1;
        let mut file = OpenOptions::new().append(true).open(&self.transcript)?;
        Ok(file.write_all(self.session.reply(self.lines, text).as_bytes())?)
    }

    /// Returns the payload of a turn's end at which the agent said this last.
    fn payload(&self, said: &str) -> String {
        json!({
            "session_id": self.session.id(),
            "transcript_path": self.transcript,
            "cwd": self.user,
            "hook_event_name": "Stop",
            "permission_mode": "default",
            "stop_hook_active": false,
            "last_assistant_message": said,
        })
        .to_string()
    }

    /// Gives a command the environment a client gives.
    fn within(&self, command: &mut Command) {
        command.env_clear().env("HOME", &self.user).env("USER", "dev").env("PATH", "/usr/bin:/bin");
        command.current_dir(&self.user);
    }

    /// Returns the hook's own command.
    fn hook(&self, place: &Place) -> Command {
        let mut command = Command::new(&place.scrollback);
        command.args(["hook", self.id, "Stop", "--home"]).arg(&self.data);
        command
    }

    /// Returns a line as it is installed, run by the shell.
    fn line(program: &Path, arguments: &str) -> Command {
        let mut command = Command::new("/bin/sh");
        let program = program.display();
        command.arg("-c").arg(format!("test -x {program} && exec {program} {arguments}; exit 0"));
        command
    }

    fn installed(&self, place: &Place) -> Command {
        Self::line(&place.scrollback, &format!("hook {} Stop --home {}", self.id, self.data.display()))
    }

    /// Empties the spool, where no hook started a drain.
    fn empty(&self, place: &Place) -> Result<()> {
        let mut drain = Command::new(&place.scrollback);
        drain.args(["drain", "--home"]).arg(&self.data);
        self.within(&mut drain);
        run(drain, "")?;
        self.drained()
    }

    /// Waits until no drain runs and the spool is empty.
    fn drained(&self) -> Result<()> {
        let (began, spool) = (Instant::now(), self.data.join("spool"));
        loop {
            let is_left = |entry: fs::DirEntry| {
                entry.file_name() != "key" && entry.metadata().is_ok_and(|found| found.len() > 0)
            };
            let left =
                fs::read_dir(&spool).is_ok_and(|mut entries| entries.any(|entry| entry.is_ok_and(is_left)));
            let lock = File::open(self.data.join("drain.lock"));
            let runs = lock.is_ok_and(|lock| lock.try_lock_shared().is_err());
            if !left && !runs {
                return Ok(());
            }
            ensure!(began.elapsed() < PATIENCE, "the drain of {} does not end", self.data.display());
            sleep(Duration::from_millis(1));
        }
    }
}

/// Returns something to say that begins with a word, of about two thousand bytes and `more`.
fn speech(word: &str, more: usize) -> String {
    format!("{word} {}", "as was said before, and is said again ".repeat(45 + more / 39))
}

/// Runs a command with a payload, as a client does, and returns how long it took from its start to its end, in
/// milliseconds.
fn run(mut command: Command, payload: &str) -> Result<f64> {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let began = Instant::now();
    let mut child = command.spawn()?;
    // One that reads nothing closes it.
    let _taken = child.stdin.take().context("a pipe")?.write_all(payload.as_bytes());
    let status = child.wait()?;
    let took = began.elapsed();
    ensure!(status.success(), "{command:?} ended with {status}");
    Ok(took.as_secs_f64() * 1e3)
}

/// Runs each of some commands in turn, again and again, and returns how long each took, sorted.
fn in_turn<const N: usize>(
    client: &Client,
    payload: &str,
    commands: [&dyn Fn() -> Command; N],
    drains: bool,
) -> Result<[Vec<f64>; N]> {
    let mut took = [const { Vec::new() }; N];
    for n in 0..=TIMES {
        for (command, took) in commands.iter().zip(&mut took) {
            let mut command = command();
            client.within(&mut command);
            let ms = run(command, payload)?;
            // The first of each warms the system's caches.
            if n > 0 {
                took.push(ms);
            }
            if drains {
                client.drained()?;
            }
        }
    }
    for took in &mut took {
        took.sort_by(f64::total_cmp);
    }
    Ok(took)
}

/// Returns the program that does nothing, which is built beside this.
fn nothing(place: &Place) -> Result<PathBuf> {
    let path = place.own.with_file_name("scrollback-bench-nothing");
    ensure!(path.is_file(), "{} is not there: cargo build --release -p scrollback-bench", path.display());
    Ok(path)
}

fn ms(took: &[f64]) -> String {
    format!("{:.2} ms, p99 {:.2} ms", percentile(took, 50.0), percentile(took, 99.0))
}

pub(crate) fn rows(place: &Place, large: &Large, table: &mut Table) -> Result<()> {
    let small = place.fresh("hooked")?;
    let events = format!("a store of {} events", large.events);
    for (what, data) in [("a new store", &small), (events.as_str(), &large.home)] {
        alone(place, what, data, table)?;
        at_once(place, what, data, table)?;
        found(place, what, data, table)?;
    }
    instructions(place, table);
    Ok(())
}

/// Hooks that come one after the other.
fn alone(place: &Place, what: &str, data: &Path, table: &mut Table) -> Result<()> {
    let empty = nothing(place)?;
    let mut client = Client::new(place, "claude-code", data)?;
    client.says(&speech("begin", 0))?;
    let payload = client.payload(&speech("begin", 0));
    let spool = client.user.join("spool");
    let python = || {
        let mut command = Command::new("/usr/bin/python3");
        command.args(["-I", "-S", "-c", PYTHON]).arg(&spool);
        command
    };
    let has_python = Path::new("/usr/bin/python3").exists();
    for (how, drains) in [("a drain started", true), ("a drain at work", false)] {
        client.drained()?;
        // As long as this is held, a drain is at work.
        let lock = if drains { None } else { Some(File::create(data.join("drain.lock"))?) };
        if let Some(lock) = &lock {
            lock.lock()?;
        }
        let (own, none) = (|| client.hook(place), || Command::new(&empty));
        let (line, empty_line) = (|| client.installed(place), || Client::line(&empty, ""));
        let [own, none, line, empty_line] =
            in_turn(&client, &payload, [&own, &none, &line, &empty_line], drains)?;
        let times = percentile(&own, 50.0) / percentile(&none, 50.0);
        table.target(
            format!("hook, {what}, {how}: of an empty program's time"),
            "≤ 3 ×",
            format!("{times:.1} ×: {} ({})", ms(&own), ms(&none)),
            times <= 3.0,
            json!({"hook": own, "nothing": none}),
        );
        table.beside(
            "– as installed, by a shell (an empty program so)",
            format!("{} ({})", ms(&line), ms(&empty_line)),
            json!({"hook": line, "nothing": empty_line}),
        );
        if drains {
            continue;
        }
        if has_python {
            let [own, python] = in_turn(&client, &payload, [&|| client.hook(place), &python], false)?;
            let share = percentile(&own, 50.0) / percentile(&python, 50.0);
            table.target(
                format!("hook, {what}: of the time of `python3 -I -S` doing json and append"),
                "≤ 0.10",
                format!("{share:.2}: {} ({})", ms(&own), ms(&python)),
                share <= 0.1,
                json!({"hook": own, "python": python}),
            );
        } else {
            table.missing(
                format!("hook, {what}: of the time of `python3 -I -S` doing json and append"),
                "≤ 0.10",
                "there is no /usr/bin/python3",
            );
        }
        let large = client.payload(&speech("begin", 1 << 20));
        let [own] = in_turn(&client, &large, [&|| client.hook(place)], false)?;
        table.beside("– with a payload of a megabyte", ms(&own), json!({"hook": own}));
        drop(lock);
        client.empty(place)?;
    }
    Ok(())
}

/// Hooks that come a dozen at once, each with a transcript of its own.
fn at_once(place: &Place, what: &str, data: &Path, table: &mut Table) -> Result<()> {
    let mut client = Client::new(place, "claude-code", data)?;
    client.says(&speech("begin", 0))?;
    let payload = client.payload(&speech("begin", 0));
    let mut took = Vec::new();
    for _ in 0..ROUNDS {
        let round: Vec<Result<f64>> = scope(|scope| {
            let threads: Vec<_> = (0..AT_ONCE)
                .map(|_| {
                    let mut command = client.installed(place);
                    client.within(&mut command);
                    let payload = &payload;
                    scope.spawn(move || run(command, payload))
                })
                .collect();
            threads
                .into_iter()
                .map(|thread| thread.join().unwrap_or_else(|_| bail!("a measurement failed")))
                .collect()
        });
        took.extend(round.into_iter().collect::<Result<Vec<f64>>>()?);
        client.drained()?;
    }
    took.sort_by(f64::total_cmp);
    let p99 = percentile(&took, 99.0);
    table.target(
        format!("hook as installed, {what}, {AT_ONCE} at once"),
        "p99 ≤ 10 ms",
        ms(&took),
        p99 <= 10.0,
        json!({"ms": took}),
    );
    Ok(())
}

/// From a line written to a line found, by way of a hook.
fn found(place: &Place, what: &str, data: &Path, table: &mut Table) -> Result<()> {
    let mut client = Client::new(place, "claude-code", data)?;
    let mut took = Vec::new();
    for n in 0..=LINES {
        let word = format!("q{:x}z{n}q", std::time::UNIX_EPOCH.elapsed()?.as_micros());
        let query = Query::parse(&word)?;
        let written = Instant::now();
        let said = speech(&word, 0);
        client.says(&said)?;
        let mut command = client.installed(place);
        client.within(&mut command);
        run(command, &client.payload(&said))?;
        let mut store = None;
        loop {
            if store.is_none() {
                store = Store::open(&data.join("store.db"), Access::Read).ok();
            }
            if let Some(store) = &store
                && !store.search(&query, &Filter::default(), Sort::Newest, 1)?.hits.is_empty()
            {
                break;
            }
            ensure!(written.elapsed() < PATIENCE, "a line was not found in {PATIENCE:?}");
            sleep(Duration::from_millis(1));
        }
        if n > 0 {
            took.push(written.elapsed().as_secs_f64() * 1e3);
        }
        client.drained()?;
    }
    took.sort_by(f64::total_cmp);
    let (p50, p99) = (percentile(&took, 50.0), percentile(&took, 99.0));
    table.target(
        format!("a line to a hit by way of a hook, {what}"),
        "≤ 250 ms",
        format!("p50 {p50:.0} ms, p99 {p99:.0} ms"),
        p99 <= 250.0,
        json!({"ms": took}),
    );
    Ok(())
}

/// Counts a hook's instructions, which no other load changes: those beyond what the empty program beside it takes, since
/// what the system does to start a program of many libraries is not the hook's.
pub(crate) fn instructions(place: &Place, table: &mut Table) {
    for (id, how) in
        [("claude-code", "a drain at work"), ("claude-code", "a drain started"), ("codex", "a drain at work")]
    {
        let what = format!("hook of {id}, {how}: instructions beyond an empty program's");
        match counted(place, id, how == "a drain at work") {
            Ok((all, none)) => {
                let own = all.saturating_sub(none);
                table.target(
                    what,
                    "≤ 400,000",
                    format!("{own} ({all} in all)"),
                    own <= INSTRUCTIONS,
                    json!({"hook": all, "nothing": none}),
                );
            }
            Err(why) => table.failed(what, &why),
        }
    }
}

/// Returns how many instructions a hook took, and how many an empty program.
fn counted(place: &Place, id: &'static str, drain: bool) -> Result<(u64, u64)> {
    let data = place.fresh("counted")?;
    let mut client = Client::new(place, id, &data)?;
    client.says(&speech("begin", 0))?;
    let payload = client.payload(&speech("begin", 0));
    // The first makes the spool and its key.
    let mut first = client.hook(place);
    client.within(&mut first);
    run(first, &payload)?;
    client.drained()?;
    let lock = File::create(data.join("drain.lock"))?;
    if drain {
        lock.lock()?;
    }
    let hook = count(place, &client, &client.hook(place), &payload)?;
    drop(lock);
    client.empty(place)?;
    Ok((hook, count(place, &client, &Command::new(nothing(place)?), "")?))
}

/// Returns how many instructions a command takes, as valgrind counts them; those of what it starts are not counted.
fn count(place: &Place, client: &Client, counted: &Command, payload: &str) -> Result<u64> {
    let report = place.root.join("counted.out");
    let mut command = Command::new("valgrind");
    command.args(["--tool=callgrind", "--trace-children=no"]);
    command.arg(format!("--callgrind-out-file={}", report.display()));
    command.arg(counted.get_program()).args(counted.get_args());
    client.within(&mut command);
    command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut child = command.spawn().context("valgrind (apt-get install valgrind)")?;
    // One that reads nothing closes it.
    let _taken = child.stdin.take().context("a pipe")?.write_all(payload.as_bytes());
    let done = child.wait_with_output()?;
    let said = String::from_utf8_lossy(&done.stderr);
    ensure!(done.status.success(), "valgrind ended with {}: {said}", done.status);
    let count =
        said.lines().find_map(|line| line.split_once("Collected :")).context("what valgrind counted")?;
    Ok(count.1.trim().parse()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_timed_from_its_start_to_its_end() {
        let mut command = Command::new("/bin/sh");
        command.args(["-c", "cat >/dev/null; sleep 0.05"]);
        assert!(run(command, "payload").unwrap() >= 50.0);
        let mut command = Command::new("/bin/sh");
        command.args(["-c", "exit 3"]);
        assert!(run(command, "payload").is_err());
    }
}
