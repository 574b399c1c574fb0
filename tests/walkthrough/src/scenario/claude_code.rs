//! What is played with Claude Code alone.

use super::both::{greeting, greeting_after};
use super::expect::{Play, Session, assistant, call, cut, notice, result, summary, task, user};
use crate::client::{Sandbox, Terminal, To, until};
use crate::model::{COMPACTED, SLOW, SLOW_BEGIN};
use anyhow::Result;

pub(super) const SCENARIOS: &[(&str, bool, Play)] = &[
    ("agent", false, agent),
    ("compact", false, compact),
    ("clear", true, clear),
    ("interrupt", true, interrupt),
    ("kill", true, kill),
];

/// What is on the screen when a session waits for a prompt.
const READY: &str = "? for shortcuts";

fn agent(on: &Sandbox) -> Result<Vec<Session>> {
    on.prompt(To::New, "Let another greet. [[agent]]")?;
    let task = task("Greet me from below. [[shell]]");
    Ok(vec![
        Session::new(vec![
            user("Let another greet. [[agent]]"),
            call("Agent", "Greet me from below."),
            result("Agent", 1, "The shell greeted."),
            assistant("The sub-agent greeted."),
        ])
        .responses(2),
        Session::out_of(0, "subagent", greeting_after(on.client, task, 0))
            .launched_by(1)
            .responses(2)
            .by("general-purpose"),
    ])
}

fn compact(on: &Sandbox) -> Result<Vec<Session>> {
    on.prompt(To::New, "Greet me. [[shell]]")?;
    on.prompt(To::Last, "/compact")?;
    on.prompt(To::Last, "Say something. [[plain]]")?;
    let mut events = greeting(on.client, "Greet me. [[shell]]", 0);
    events.extend([summary(COMPACTED), user("Say something. [[plain]]"), assistant("A plain answer.")]);
    // What summing up cost stands in no transcript.
    Ok(vec![Session::new(events).responses(3)])
}

fn clear(on: &Sandbox) -> Result<Vec<Session>> {
    let terminal = Terminal::start(on)?;
    terminal.see(READY)?;
    terminal.ask("Greet me. [[shell]]", "The shell greeted.")?;
    terminal.enter("/clear")?;
    terminal.miss("The shell greeted.")?;
    terminal.ask("Say something. [[plain]]", "A plain answer.")?;
    terminal.enter("/exit")?;
    terminal.gone()?;
    Ok(vec![
        Session::new(greeting(on.client, "Greet me. [[shell]]", 0)).responses(2),
        Session::new(vec![user("Say something. [[plain]]"), assistant("A plain answer.")]),
    ])
}

fn interrupt(on: &Sandbox) -> Result<Vec<Session>> {
    let terminal = Terminal::start(on)?;
    terminal.see(READY)?;
    terminal.ask("Talk slowly. [[slow]]", SLOW_BEGIN)?;
    terminal.press("Escape")?;
    terminal.see("Interrupted")?;
    terminal.enter("/exit")?;
    terminal.gone()?;
    Ok(vec![Session::new(vec![
        user("Talk slowly. [[slow]]"),
        cut(SLOW_BEGIN, SLOW),
        notice("interrupted", ""),
    ])])
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
