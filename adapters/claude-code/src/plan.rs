//! What must change so that hooks and server stand.

use crate::mcp;
use crate::places::{self, CLIENT};
use scrollback_core::{Env, Half, HookLine, Level, Memos, Plan, PlanError, Presence, Standing, Step, Wanted};
use scrollback_edit::hooks::{self, Handler, Place};
use scrollback_edit::{Json, Opened, shell};
use serde_json::Value;

/// What is registered. No tools: what they did is in the transcript.
const EVENTS: [&str; 7] =
    ["SessionStart", "UserPromptSubmit", "Stop", "StopFailure", "SubagentStop", "PreCompact", "SessionEnd"];
/// In seconds. Without one, all hooks of a session's end have 1.5 seconds together.
const TIMEOUT: u32 = 10;
/// Where the session started; the directory a hook runs in moves with the session.
const TAIL: &str = r#" --project "$CLAUDE_PROJECT_DIR""#;

/// Returns what of ours stands at each level.
pub(crate) fn standing(env: &dyn Env) -> Result<Vec<Standing>, PlanError> {
    let mut standing = Vec::new();
    for level in [Level::User, Level::Project] {
        let Some(path) = places::settings(env, level) else { continue };
        let settings = Opened::<Json>::read(env, path, &Memos::new())?;
        let places = hooks::ours(&settings.file, CLIENT);
        let servers = mcp::ours(env, level)?;
        if !places.is_empty() || !servers.is_empty() {
            standing.push(Standing {
                level,
                hooks: hooks::standing(&places),
                mcp: !servers.is_empty(),
                current: places.is_empty() || is_current(&places)?,
                hindered: if places.is_empty() { Vec::new() } else { hindered(&settings) },
            });
        }
    }
    Ok(standing)
}

/// Says whether the handlers are what this version would write for the program the first of them names.
fn is_current(places: &[Place]) -> Result<bool, PlanError> {
    match shell::read(&places[0].command, CLIENT, &places[0].event, TAIL) {
        Some(line) => Ok(hooks::stands(places, &handlers(&line)?)),
        None => Ok(false),
    }
}

fn handlers(line: &HookLine) -> Result<Vec<(&'static str, Handler)>, PlanError> {
    EVENTS
        .iter()
        .map(|event| Ok((*event, Handler::new(shell::line(line, CLIENT, event, TAIL)?, TIMEOUT))))
        .collect()
}

/// Returns what must change.
pub(crate) fn plan(env: &dyn Env, wanted: &Wanted<'_>) -> Result<Plan, PlanError> {
    let puts = matches!(wanted.hook, Half::Stand(_)) || matches!(wanted.mcp, Half::Stand(_));
    if puts {
        allowed(env, wanted)?;
    }
    let mut plan = Plan::default();
    match wanted.hook {
        Half::Leave => {}
        Half::Absent => hook_steps(env, wanted.level, None, wanted.memos, &mut plan)?,
        Half::Stand(line) => {
            hook_steps(env, wanted.level, Some(line), wanted.memos, &mut plan)?;
            if wanted.level == Level::User {
                let before = plan.steps.len();
                hook_steps(env, Level::Project, None, wanted.memos, &mut plan)?;
                note_taken(&mut plan, before);
            }
        }
    }
    mcp::steps(env, wanted, &mut plan)?;
    Ok(plan)
}

/// Tells that a project's entry goes, if there are steps since `before`.
pub(crate) fn note_taken(plan: &mut Plan, before: usize) {
    if let Some(Step::Edit { path, .. }) = plan.steps.get(before) {
        let note = format!(
            "{} had an entry of ours for this project; it goes, as one for the user comes",
            path.display()
        );
        plan.steps.push(Step::Note(note));
    }
}

/// Refuses an installation that would run everything twice, or that has no place.
fn allowed(env: &dyn Env, wanted: &Wanted<'_>) -> Result<(), PlanError> {
    if wanted.level == Level::User && places::detect(env) == Presence::Absent {
        return Err(PlanError::Refused(
            "Claude Code is not here: it has no configuration directory".to_owned(),
        ));
    }
    if wanted.level == Level::Project {
        places::needed(places::settings(env, Level::Project))?;
    }
    for level in [Level::User, Level::Project] {
        let Some(path) = places::settings(env, level) else { continue };
        let settings = Opened::<Json>::read(env, path, wanted.memos)?;
        if let Some(plugin) = plugin(&settings.file) {
            return Err(PlanError::Refused(format!(
                "the plugin {plugin} is enabled in {} and would record everything a second time; \
                 `claude plugin uninstall {plugin}` takes it out",
                settings.path().display()
            )));
        }
        if level == Level::User && wanted.level == Level::Project {
            let twice =
                !hooks::ours(&settings.file, CLIENT).is_empty() && matches!(wanted.hook, Half::Stand(_));
            let twice = twice || (!mcp::ours(env, level)?.is_empty() && matches!(wanted.mcp, Half::Stand(_)));
            if twice {
                return Err(PlanError::Refused(
                    "it is installed for the user, and so for this project too; uninstall that first"
                        .to_owned(),
                ));
            }
        }
    }
    Ok(())
}

/// Returns the enabled plugin that is this program in another form.
fn plugin(settings: &Json) -> Option<String> {
    let Value::Object(plugins) = settings.value(&["enabledPlugins"])? else { return None };
    let found = plugins.iter().find(|(name, on)| **on == true && name.starts_with("scrollback@"));
    found.map(|(name, _)| name.clone())
}

/// Says whether the client takes a file: 2.1.332 was seen to skip one with a comment, "Invalid or malformed JSON".
fn is_strict(settings: &[u8]) -> bool {
    serde_json::from_slice::<serde::de::IgnoredAny>(
        settings.strip_prefix(b"\xef\xbb\xbf").unwrap_or(settings),
    )
    .is_ok()
}

fn hook_steps(
    env: &dyn Env,
    level: Level,
    line: Option<&HookLine>,
    memos: &Memos,
    plan: &mut Plan,
) -> Result<(), PlanError> {
    let Some(path) = places::settings(env, level) else { return Ok(()) };
    let mut settings = Opened::<Json>::read(env, path, memos)?;
    let wanted = line.map(handlers).transpose()?.unwrap_or_default();
    let change = settings.edit(|file| hooks::stand(file, CLIENT, &wanted))?;
    let hindered = if change.put { hindered(&settings) } else { Vec::new() };
    plan.steps.extend(settings.step(env, line.is_some())?);
    plan.steps.extend(hindered.into_iter().map(Step::Tell));
    Ok(())
}

/// Returns what in the settings keeps hooks from running.
fn hindered(settings: &Opened<Json>) -> Vec<String> {
    let place = settings.path().display();
    let mut hindered = Vec::new();
    if settings.file.finish().is_some_and(|bytes| !is_strict(&bytes)) {
        hindered.push(format!(
            "{place} has comments or trailing commas; Claude Code skips such a file as a whole, and no hook runs until \
             they are out"
        ));
    }
    if settings.file.value(&["disableAllHooks"]) == Some(Value::Bool(true)) {
        hindered.push(format!("{place} has \"disableAllHooks\": true; no hook runs until you take that out"));
    }
    hindered
}
