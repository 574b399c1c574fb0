//! The client's servers: the user's through its own command, a project's in its file.

use crate::places;
use crate::plan::note_taken;
use scrollback_core::{Env, Half, Level, McpEntry, Memos, Plan, PlanError, Step, Wanted};
use scrollback_edit::{Json, Opened, shell};
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;

/// What a server elsewhere of ours is called if nothing else says that it is ours.
const NAME: &str = "scrollback";

/// An entry as the client writes it.
#[derive(Serialize)]
#[serde(untagged)]
enum Entry<'e> {
    Program {
        r#type: &'static str,
        command: &'e str,
        args: &'e [String],
        env: BTreeMap<&'e str, &'e str>,
    },
    Http {
        r#type: &'static str,
        url: &'e str,
        #[serde(skip_serializing_if = "BTreeMap::is_empty")]
        headers: BTreeMap<&'e str, &'e str>,
    },
}

impl<'e> Entry<'e> {
    fn of(entry: &'e McpEntry) -> Result<(&'e str, Self), PlanError> {
        match entry {
            McpEntry::Program { name, command, args } => {
                let Some(command) = command.to_str() else {
                    return Err(PlanError::Refused(format!("the path {} is not Unicode", command.display())));
                };
                Ok((name, Self::Program { r#type: "stdio", command, args, env: BTreeMap::new() }))
            }
            McpEntry::Http { name, url, headers } => {
                let headers = headers.iter().map(|(name, value)| (&**name, &**value)).collect();
                Ok((name, Self::Http { r#type: "http", url, headers }))
            }
        }
    }

    /// Says whether an entry means this; one without a type is a program, one may have variables of its own.
    fn is(&self, there: &Value) -> bool {
        match self {
            Self::Program { command, args, .. } => {
                let there_args = there["args"].as_array().map_or(&[][..], Vec::as_slice);
                matches!(there["type"].as_str(), None | Some("stdio"))
                    && there["command"] == **command
                    && there_args.iter().map(Value::as_str).eq(args.iter().map(|arg| Some(&**arg)))
            }
            Self::Http { r#type, url, headers } => {
                let there_headers = there["headers"].as_object().into_iter().flatten();
                let there_headers: BTreeMap<_, _> = there_headers.map(|(k, v)| (&**k, v.as_str())).collect();
                let headers: BTreeMap<_, _> = headers.iter().map(|(k, v)| (*k, Some(*v))).collect();
                there["type"] == *r#type && there["url"] == **url && there_headers == headers
            }
        }
    }
}

/// Says whether an entry is one of ours: it runs our recall tools, or is a server elsewhere of our name. A proxy is
/// the user's own server.
fn is_ours(name: &str, entry: &Value) -> bool {
    match entry["command"].as_str() {
        Some(command) => {
            let arg = |at: usize| entry["args"].get(at).and_then(Value::as_str);
            shell::is_ours(command) && arg(0) == Some("mcp") && arg(1) != Some("proxy")
        }
        None => name == NAME && entry["url"].is_string(),
    }
}

fn file(env: &dyn Env, level: Level) -> Option<PathBuf> {
    match level {
        Level::User => places::state(env),
        Level::Project => places::project_servers(env),
    }
}

fn servers_of(file: &Json) -> serde_json::Map<String, Value> {
    match file.value(&["mcpServers"]) {
        Some(Value::Object(servers)) => servers,
        _ => serde_json::Map::new(),
    }
}

/// Returns the names of the entries of ours at a level.
pub(crate) fn ours(env: &dyn Env, level: Level) -> Result<Vec<String>, PlanError> {
    let Some(path) = file(env, level) else { return Ok(Vec::new()) };
    let opened = Opened::<Json>::read(env, path, &Memos::new())?;
    let servers = servers_of(&opened.file);
    Ok(servers.into_iter().filter(|(name, entry)| is_ours(name, entry)).map(|(name, _)| name).collect())
}

/// Adds what must change.
pub(crate) fn steps(env: &dyn Env, wanted: &Wanted<'_>, plan: &mut Plan) -> Result<(), PlanError> {
    let entry = match wanted.mcp {
        Half::Leave => return Ok(()),
        Half::Absent => None,
        Half::Stand(entry) => Some(entry),
    };
    match wanted.level {
        Level::User => {
            user(env, entry, plan)?;
            if entry.is_some() {
                let before = plan.steps.len();
                project(env, None, wanted.memos, plan)?;
                note_taken(plan, before);
            }
            Ok(())
        }
        Level::Project => project(env, entry, wanted.memos, plan),
    }
}

fn held(name: &str, path: &std::path::Path) -> PlanError {
    PlanError::Refused(format!("{} has another server called {name}; it stays", path.display()))
}

/// The user's entry: the client's own command writes it, and the file anew.
fn user(env: &dyn Env, entry: Option<&McpEntry>, plan: &mut Plan) -> Result<(), PlanError> {
    let Some(path) = places::state(env) else { return Ok(()) };
    let opened = Opened::<Json>::read(env, path, &Memos::new())?;
    let servers = servers_of(&opened.file);
    let wanted = entry.map(Entry::of).transpose()?;
    let mut stands = false;
    for (name, there) in &servers {
        let same_name = wanted.as_ref().is_some_and(|(wanted, _)| wanted == name);
        if same_name && wanted.as_ref().is_some_and(|(_, wanted)| wanted.is(there)) {
            stands = true;
        } else if is_ours(name, there) || (same_name && there["url"].is_string()) {
            let back = ["mcp", "add-json", "-s", "user", name, &there.to_string()].map(OsString::from);
            plan.steps.push(run(["mcp", "remove", "-s", "user", name], back.to_vec(), opened.path().into()));
        } else if same_name {
            return Err(held(name, opened.path()));
        }
    }
    let Some((name, entry)) = wanted.filter(|_| !stands) else { return Ok(()) };
    let undo = ["mcp", "remove", "-s", "user", name].map(OsString::from).to_vec();
    // The client's `add` takes everything after a name for the program; its options take several values each.
    let step = match &entry {
        Entry::Program { command, args, .. } => {
            let line = ["mcp", "add", "-s", "user", name, "--", command];
            run(line.into_iter().chain(args.iter().map(String::as_str)), undo, opened.path().into())
        }
        Entry::Http { url, headers, .. } => {
            let headers: Vec<String> =
                headers.iter().map(|(name, value)| format!("{name}: {value}")).collect();
            let line = ["mcp", "add", "-s", "user", "-t", "http", name, url];
            let headers = headers.iter().flat_map(|header| ["-H", header]);
            run(line.into_iter().chain(headers), undo, opened.path().into())
        }
    };
    plan.steps.push(step);
    Ok(())
}

fn run<'a>(args: impl IntoIterator<Item = &'a str>, undo: Vec<OsString>, rewrites: PathBuf) -> Step {
    let args: Vec<&str> = args.into_iter().collect();
    let line = args.iter().map(|arg| shell::quote(arg)).collect::<Vec<_>>().join(" ");
    Step::Run {
        program: "claude",
        args: args.iter().map(OsString::from).collect(),
        undo,
        rewrites: vec![rewrites],
        else_tell: format!("claude is not on PATH; where it is, run: claude {line}"),
    }
}

/// A project's entry: an edit of its file.
fn project(env: &dyn Env, entry: Option<&McpEntry>, memos: &Memos, plan: &mut Plan) -> Result<(), PlanError> {
    let Some(path) = places::project_servers(env) else { return Ok(()) };
    let mut opened = Opened::<Json>::read(env, path, memos)?;
    let wanted = entry.map(Entry::of).transpose()?;
    let mut put = wanted.is_some();
    for (name, there) in servers_of(&opened.file) {
        match &wanted {
            Some((wanted, entry)) if *wanted == name => {
                if !is_ours(&name, &there) && !there["url"].is_string() {
                    return Err(held(&name, opened.path()));
                }
                put = !entry.is(&there);
            }
            _ if is_ours(&name, &there) => {
                opened.edit(|file| file.remove(&["mcpServers", &name]))?;
            }
            _ => {}
        }
    }
    if let Some((name, entry)) = wanted.as_ref().filter(|_| put) {
        opened.edit(|file| file.set(&["mcpServers", name], entry))?;
    }
    let place = opened.path().display().to_string();
    plan.steps.extend(opened.step(env, wanted.is_some())?);
    if let Some((name, _)) = wanted.filter(|_| put) {
        plan.steps.push(Step::Tell(format!(
            "Claude Code asks each user once whether to start the server {name} of {place}; say yes"
        )));
    }
    Ok(())
}
