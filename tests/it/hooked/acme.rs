//! The adapter of `docs/adding-an-adapter.md`, for a client called Acme that does not exist.

use scrollback_core::{
    Adapter, AdapterSpec, Call, Env, Half, Hook, HookLine, Host, Level, Limit, McpEntry, Memos, Moment,
    Outcome, PayloadError, Plan, PlanError, Presence, Read, Reply, Seen, Standing, Text, Unit, Wanted,
};
use scrollback_edit::hooks::{self, Handler};
use scrollback_edit::{Json, Opened, shell};
use serde::Deserialize;
use serde_json::{Value, json};
use std::borrow::Cow;
use std::path::{Path, PathBuf};

static SPEC: AdapterSpec = AdapterSpec::new("acme", "Acme", &[Level::User]).variables(&["ACME_HOME"]);

/// The moments of a session that the client runs hooks at, and we need.
const EVENTS: [&str; 3] = ["SessionStart", "Prompt", "Stop"];

/// Where the server of ours stands in the settings.
const SERVER: [&str; 2] = ["mcpServers", "scrollback"];

fn directory(env: &dyn Env) -> Option<PathBuf> {
    env.var("ACME_HOME").map(PathBuf::from).or_else(|| Some(env.home()?.join(".acme")))
}

fn settings(env: &dyn Env, memos: &Memos) -> Result<Opened<Json>, PlanError> {
    let nowhere = || PlanError::Refused("there is no home directory".to_owned());
    Opened::read(env, directory(env).ok_or_else(nowhere)?.join("settings.json"), memos)
}

fn handlers(line: &HookLine) -> Result<Vec<(&'static str, Handler)>, PlanError> {
    let handler = |event| Ok((event, Handler::new(shell::line(line, "acme", event, "")?, 10)));
    EVENTS.into_iter().map(handler).collect()
}

fn entry(server: &McpEntry) -> Value {
    match server {
        McpEntry::Program { command, args, .. } => json!({ "command": command, "args": args }),
        McpEntry::Http { url, headers, .. } => {
            let headers: serde_json::Map<_, _> =
                headers.iter().map(|(name, value)| (name.clone(), json!(value))).collect();
            json!({ "url": url, "headers": headers })
        }
    }
}

/// What the client gives a hook.
#[derive(Deserialize)]
struct Payload<'p> {
    #[serde(borrow)]
    event: Option<Text<'p>>,
    #[serde(borrow)]
    session: Option<Text<'p>>,
    #[serde(borrow)]
    transcript: Option<Text<'p>>,
    #[serde(borrow)]
    cwd: Option<Text<'p>>,
    #[serde(borrow)]
    said: Option<Text<'p>>,
}

fn moment(event: Option<&str>) -> Moment {
    match event {
        Some("SessionStart") => Moment::SessionStart,
        Some("Prompt") => Moment::Prompt,
        Some("Stop") => Moment::Stop,
        _ => Moment::Other,
    }
}

/// The adapter of Acme.
pub(super) struct Acme;

impl Adapter for Acme {
    fn spec(&self) -> &AdapterSpec {
        &SPEC
    }

    fn detect(&self, env: &dyn Env) -> Presence {
        match directory(env).filter(|directory| env.list(directory).is_ok()) {
            Some(directory) => Presence::Found { directory },
            None => Presence::Absent,
        }
    }

    fn standing(&self, env: &dyn Env) -> Result<Vec<Standing>, PlanError> {
        let settings = settings(env, &Memos::new())?;
        let places = hooks::ours(&settings.file, "acme");
        let mcp = settings.file.value(&SERVER).is_some();
        if places.is_empty() && !mcp {
            return Ok(Vec::new());
        }
        // Whether it is what this version would write for the program that stands there.
        let line = places.first().and_then(|at| shell::read(&at.command, "acme", &at.event, ""));
        let current = match line {
            Some(line) => hooks::stands(&places, &handlers(&line)?),
            None => places.is_empty(),
        };
        let hooks = hooks::standing(&places);
        Ok(vec![Standing { level: Level::User, hooks, mcp, current, hindered: Vec::new() }])
    }

    fn plan(&self, env: &dyn Env, wanted: &Wanted<'_>) -> Result<Plan, PlanError> {
        let puts = matches!(wanted.hook, Half::Stand(_)) || matches!(wanted.mcp, Half::Stand(_));
        if puts && self.detect(env) == Presence::Absent {
            return Err(PlanError::Refused("Acme is not here".to_owned()));
        }
        let mut settings = settings(env, wanted.memos)?;
        let line = match wanted.hook {
            Half::Stand(line) => Some(handlers(line)?),
            Half::Absent => Some(Vec::new()),
            Half::Leave => None,
        };
        if let Some(line) = line {
            settings.edit(|file| hooks::stand(file, "acme", &line))?;
        }
        match wanted.mcp {
            Half::Stand(server) => settings.edit(|file| file.set(&SERVER, &entry(server)))?,
            Half::Absent => settings.edit(|file| file.remove(&SERVER)).map(drop)?,
            Half::Leave => {}
        }
        let ours = settings.file.value(&SERVER).is_some() || !hooks::ours(&settings.file, "acme").is_empty();
        Ok(Plan { steps: settings.step(env, ours)?.into_iter().collect() })
    }

    fn hook<'p>(&self, _env: &dyn Env, call: &Call<'p>) -> Result<Hook<'p>, PayloadError> {
        let payload: Payload<'p> = serde_json::from_slice(call.payload)
            .map_err(|error| PayloadError::new(format!("expected one JSON object: {error}")))?;
        let moment = moment(payload.event.as_deref().or(call.event));
        let said = payload.said.map(|said| said.0);
        Ok(Hook {
            moment,
            host: Host::Own,
            session: payload.session.map(|id| id.0),
            cwd: payload.cwd.map(|cwd| Cow::Owned(PathBuf::from(&*cwd))),
            read: payload
                .transcript
                .map(|at| Read::Path(Cow::Owned(PathBuf::from(&*at))))
                .into_iter()
                .collect(),
            expect: None,
            seen: match moment {
                Moment::Prompt => said.map(Seen::Prompt).into_iter().collect(),
                Moment::Stop => said.map(Seen::Reply).into_iter().collect(),
                _ => Vec::new(),
            },
        })
    }

    fn probe(&self, session: &str, cwd: &Path) -> String {
        json!({ "event": "SessionStart", "session": session, "cwd": cwd }).to_string()
    }

    fn reply<'c>(&self, call: &Call<'_>, outcome: Outcome<'c>) -> Reply<'c> {
        let failed = matches!(outcome, Outcome::Failed(_));
        let payload = serde_json::from_slice::<Payload<'_>>(call.payload).ok();
        let event = payload.and_then(|payload| payload.event.map(|event| event.0.into_owned()));
        match outcome {
            // The client puts it before the model, at a session's start alone.
            Outcome::Context(text) if moment(event.as_deref()) == Moment::SessionStart => {
                Reply { stdout: Cow::Owned(json!({ "context": text }).to_string()), ..Reply::default() }
            }
            _ => Reply { failed, ..Reply::default() },
        }
    }

    fn limit(&self, moment: Moment) -> Limit {
        Limit(if moment == Moment::SessionStart { 8_000 } else { 0 }, Unit::Chars)
    }
}
