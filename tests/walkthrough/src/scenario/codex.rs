//! What is played with Codex alone.

use super::both::{greeting, greeting_after};
use super::expect::{Play, Session, assistant, call, notice, result, summary, task, user};
use crate::client::{Sandbox, Terminal, To, until};
use crate::model::{COMPACTED, SLOW_BEGIN};
use anyhow::{Result, ensure};
use std::ffi::OsString;

pub(super) const SCENARIOS: &[(&str, bool, Play)] = &[
    ("agent", false, agent),
    ("autocompact", false, autocompact),
    ("compact", true, compact),
    ("interrupt", true, interrupt),
    ("kill", true, kill),
    ("new", true, new),
    ("review", true, review),
];

/// What is on the screen when a session waits for a prompt.
const READY: &str = "Ask Codex to do anything";

fn agent(on: &Sandbox) -> Result<Vec<Session>> {
    on.prompt(To::New, "Let another greet. [[agent]]")?;
    let task = task("Greet me from below. [[shell]]");
    Ok(vec![
        Session::new(vec![
            user("Let another greet. [[agent]]"),
            call("multi_agent_v1.spawn_agent", "Greet me from below."),
            result("multi_agent_v1.spawn_agent", 1, "agent_id"),
            call("multi_agent_v1.wait_agent", "targets"),
            result("multi_agent_v1.wait_agent", 3, "The shell greeted."),
            assistant("The sub-agent greeted."),
        ])
        .responses(3),
        Session::out_of(0, "subagent", greeting_after(on.client, task, 0)).launched_by(1).responses(2),
    ])
}

/// Codex sums up by itself when a turn begins beyond a limit of tokens.
fn autocompact(on: &Sandbox) -> Result<Vec<Session>> {
    on.prompt(To::New, "Greet me. [[shell]]")?;
    let mut args: Vec<OsString> = vec!["-c".into(), "model_auto_compact_token_limit=100".into()];
    args.extend(on.client.print(To::Last, None, "Say something. [[plain]]"));
    let ran = on.run(&args)?;
    ensure!(ran.code == Some(0), "the client left with {:?}\n{}", ran.code, ran.stderr);
    let mut events = greeting(on.client, "Greet me. [[shell]]", 0);
    events.extend([summary(COMPACTED), user("Say something. [[plain]]"), assistant("A plain answer.")]);
    Ok(vec![Session::new(events).responses(4)])
}

fn compact(on: &Sandbox) -> Result<Vec<Session>> {
    let terminal = Terminal::start(on)?;
    terminal.see(READY)?;
    terminal.ask("Greet me. [[shell]]", "The shell greeted.")?;
    terminal.ask("/compact", "compacted")?;
    terminal.ask("Say something. [[plain]]", "A plain answer.")?;
    terminal.enter("/quit")?;
    terminal.gone()?;
    let mut events = greeting(on.client, "Greet me. [[shell]]", 0);
    events.extend([summary(COMPACTED), user("Say something. [[plain]]"), assistant("A plain answer.")]);
    Ok(vec![Session::new(events).responses(4)])
}

fn interrupt(on: &Sandbox) -> Result<Vec<Session>> {
    let terminal = Terminal::start(on)?;
    terminal.see(READY)?;
    terminal.ask("Talk slowly. [[slow]]", SLOW_BEGIN)?;
    terminal.press("Escape")?;
    terminal.see("interrupted")?;
    terminal.enter("/quit")?;
    terminal.gone()?;
    Ok(vec![Session::new(vec![user("Talk slowly. [[slow]]"), notice("interrupted", "")]).responses(0)])
}

fn kill(on: &Sandbox) -> Result<Vec<Session>> {
    let terminal = Terminal::start(on)?;
    terminal.see(READY)?;
    terminal.ask("Talk slowly. [[slow]]", SLOW_BEGIN)?;
    until("the prompt in the store", || on.holds("Talk slowly. [[slow]]"))?;
    terminal.kill()?;
    // Nothing tells of its end: the next session's hooks find it, or a `tail`.
    on.prompt(To::New, "Say something. [[plain]]")?;
    Ok(vec![
        Session::new(vec![user("Talk slowly. [[slow]]")]).responses(0),
        Session::new(vec![user("Say something. [[plain]]"), assistant("A plain answer.")]),
    ])
}

fn new(on: &Sandbox) -> Result<Vec<Session>> {
    let terminal = Terminal::start(on)?;
    terminal.see(READY)?;
    terminal.ask("Greet me. [[shell]]", "The shell greeted.")?;
    terminal.enter("/new")?;
    terminal.miss("The shell greeted.")?;
    terminal.ask("Say something. [[plain]]", "A plain answer.")?;
    terminal.enter("/quit")?;
    terminal.gone()?;
    Ok(vec![
        Session::new(greeting(on.client, "Greet me. [[shell]]", 0)).responses(2),
        Session::new(vec![user("Say something. [[plain]]"), assistant("A plain answer.")]),
    ])
}

/// Hooks are reviewed once, as a person does at the first start; afterwards they run, in print mode too.
fn review(on: &Sandbox) -> Result<Vec<Session>> {
    let terminal = Terminal::start_reviewed(on)?;
    if on.has_hooks() {
        terminal.see("Hooks need review")?;
        // The question is on the screen before it takes keys.
        until("the second answer", || {
            terminal.press("Down")?;
            std::thread::sleep(std::time::Duration::from_millis(300));
            Ok(terminal.screen()?.contains("› 2. Trust all"))
        })?;
        terminal.press("Enter")?;
    }
    terminal.see(READY)?;
    terminal.ask("Greet me. [[shell]]", "The shell greeted.")?;
    terminal.enter("/quit")?;
    terminal.gone()?;
    let args = on.client.print(To::New, None, "Say something. [[plain]]");
    let ran = on.run_reviewed(&args)?;
    ensure!(ran.code == Some(0), "the client left with {:?}\n{}", ran.code, ran.stderr);
    Ok(vec![
        Session::new(greeting(on.client, "Greet me. [[shell]]", 0)).responses(2),
        Session::new(vec![user("Say something. [[plain]]"), assistant("A plain answer.")]),
    ])
}
