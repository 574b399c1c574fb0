//! What is played with every client, in print mode.

use super::expect::{Event, Play, Session, assistant, call, failed, notice, result, thinking, user};
use crate::client::{Client, Running, Sandbox, To, until};
use crate::model::SLOW;
use anyhow::{Result, ensure};

pub(super) const SCENARIOS: &[(&str, bool, Play)] = &[
    ("plain", false, plain),
    ("shell", false, shell),
    ("fail", false, fail),
    ("parallel", false, parallel),
    ("think", false, think),
    ("resume", false, resume),
    ("fork", false, fork),
    ("retry", false, retry),
    ("error", false, error),
    ("slow", false, slow),
    ("killed", false, killed),
    ("projects", false, projects),
    ("unpersisted", false, unpersisted),
];

/// Returns the name of a client's shell.
fn tool(client: Client) -> &'static str {
    match client {
        Client::ClaudeCode => "Bash",
        Client::Codex => "exec_command",
    }
}

/// Returns what becomes of a prompt with the marker `[[shell]]` that stands at a place in its session.
pub(super) fn greeting(client: Client, prompt: &'static str, at: usize) -> Vec<Event> {
    greeting_after(client, user(prompt), at)
}

/// Returns what becomes of such a prompt, which is given as it must be there.
pub(super) fn greeting_after(client: Client, prompt: Event, at: usize) -> Vec<Event> {
    vec![
        prompt,
        assistant("I greet."),
        call(tool(client), "echo hello-from-shell"),
        result(tool(client), at + 2, "hello-from-shell"),
        assistant("The shell greeted."),
    ]
}

fn plain(on: &Sandbox) -> Result<Vec<Session>> {
    on.prompt(To::New, "Say something. [[plain]]")?;
    Ok(vec![Session::new(vec![user("Say something. [[plain]]"), assistant("A plain answer.")])])
}

/// A session of which the client keeps nothing: only its hooks tell of it, what was asked and what was answered.
fn unpersisted(on: &Sandbox) -> Result<Vec<Session>> {
    let ran = on.run(&on.client.unpersisted("Greet me. [[shell]]"))?;
    ensure!(ran.code == Some(0), "the client left with {:?}\n{}", ran.code, ran.stderr);
    ensure!(on.transcripts()?.is_empty(), "the client kept a transcript");
    if !on.has_hooks() {
        return Ok(Vec::new());
    }
    let events = vec![user("Greet me. [[shell]]"), assistant("The shell greeted.")];
    Ok(vec![Session::new(events).responses(0)])
}

fn shell(on: &Sandbox) -> Result<Vec<Session>> {
    on.prompt(To::New, "Greet me. [[shell]]")?;
    Ok(vec![Session::new(greeting(on.client, "Greet me. [[shell]]", 0)).responses(2)])
}

fn fail(on: &Sandbox) -> Result<Vec<Session>> {
    on.prompt(To::New, "Fail. [[fail]]")?;
    let tool = tool(on.client);
    Ok(vec![
        Session::new(vec![
            user("Fail. [[fail]]"),
            call(tool, "exit 3"),
            failed(tool, 1, "this-is-an-error"),
            assistant("It failed, as it should."),
        ])
        .responses(2),
    ])
}

fn parallel(on: &Sandbox) -> Result<Vec<Session>> {
    on.prompt(To::New, "Two at once. [[parallel]]")?;
    let tool = tool(on.client);
    Ok(vec![
        Session::new(vec![
            user("Two at once. [[parallel]]"),
            call(tool, "echo first-of-two"),
            call(tool, "echo second-of-two"),
            result(tool, 1, "first-of-two"),
            result(tool, 2, "second-of-two"),
            assistant("Both are done."),
        ])
        .responses(2),
    ])
}

fn think(on: &Sandbox) -> Result<Vec<Session>> {
    on.prompt(To::New, "Think. [[think]]")?;
    Ok(vec![Session::new(vec![
        user("Think. [[think]]"),
        thinking("First I think it over."),
        assistant("Thought through."),
    ])])
}

fn resume(on: &Sandbox) -> Result<Vec<Session>> {
    on.prompt(To::New, "Say something. [[plain]]")?;
    on.prompt(To::Last, "Now greet me. [[shell]]")?;
    let mut events = vec![user("Say something. [[plain]]"), assistant("A plain answer.")];
    events.extend(greeting(on.client, "Now greet me. [[shell]]", 2));
    Ok(vec![Session::new(events).responses(3)])
}

fn fork(on: &Sandbox) -> Result<Vec<Session>> {
    on.prompt(To::New, "Say something. [[plain]]")?;
    on.prompt(To::Fork, "Now greet me. [[shell]]")?;
    Ok(vec![
        Session::new(vec![user("Say something. [[plain]]"), assistant("A plain answer.")]),
        Session::out_of(0, "fork", greeting(on.client, "Now greet me. [[shell]]", 0)).responses(2),
    ])
}

/// What is overloaded and then is not leaves no trace in a conversation.
fn retry(on: &Sandbox) -> Result<Vec<Session>> {
    on.prompt(To::New, "Try twice. [[retry]]")?;
    Ok(vec![Session::new(vec![user("Try twice. [[retry]]"), assistant("Said at the second try.")])])
}

fn error(on: &Sandbox) -> Result<Vec<Session>> {
    let ran = on.run(&on.client.print(To::New, None, "Fail. [[error]]"))?;
    ensure!(ran.code == Some(1), "the client left with {:?}", ran.code);
    Ok(vec![
        Session::new(vec![user("Fail. [[error]]"), notice("api_error", "refused on purpose")]).responses(0),
    ])
}

/// Gives a prompt that is answered slowly, and returns the client at work once the prompt is in the store.
fn talking(on: &Sandbox) -> Result<Running> {
    let running = on.start(&on.client.print(To::New, None, "Talk slowly. [[slow]]"))?;
    until("the prompt in the store", || on.holds("Talk slowly. [[slow]]"))?;
    Ok(running)
}

/// What is read in the middle of a turn and what is read after it are one session.
fn slow(on: &Sandbox) -> Result<Vec<Session>> {
    let running = talking(on)?;
    let ran = running.wait()?;
    ensure!(ran.code == Some(0), "the client left with {:?}", ran.code);
    Ok(vec![Session::new(vec![user("Talk slowly. [[slow]]"), assistant(SLOW)])])
}

/// What a killed client left is read, and so is what follows when the session goes on.
fn killed(on: &Sandbox) -> Result<Vec<Session>> {
    talking(on)?.kill()?;
    on.prompt(To::Last, "Say something. [[plain]]")?;
    Ok(vec![Session::new(vec![
        user("Talk slowly. [[slow]]"),
        user("Say something. [[plain]]"),
        assistant("A plain answer."),
    ])])
}

/// One set-up for the user serves every project.
fn projects(on: &Sandbox) -> Result<Vec<Session>> {
    on.prompt(To::New, "Say something. [[plain]]")?;
    on.prompt_in("other", "Greet me. [[shell]]")?;
    Ok(vec![
        Session::new(vec![user("Say something. [[plain]]"), assistant("A plain answer.")]),
        Session::new(greeting(on.client, "Greet me. [[shell]]", 0)).responses(2).in_project("other"),
    ])
}
