//! What must change so that hooks and server stand.

use crate::mcp;
use crate::places::{self, CLIENT};
use crate::trust;
use scrollback_core::{Env, Half, HookLine, Level, Memos, Plan, PlanError, Presence, Standing, Step, Wanted};
use scrollback_edit::hooks::{self, Change, Handler, Place};
use scrollback_edit::{Json, Opened, Settings, Toml, shell};
use serde_json::Value;
use std::path::Path;

/// What is registered, and after how many seconds the client gives up: at the last two it takes 3 at most, and warns
/// of more. No tools: what they did is in the rollout.
const EVENTS: [(&str, u32); 7] = [
    ("SessionStart", 10),
    ("UserPromptSubmit", 10),
    ("Stop", 10),
    ("SubagentStop", 10),
    ("PreCompact", 10),
    ("SessionEnd", 3),
    ("Interrupt", 3),
];

/// The two files of a level that may hold hooks; the client runs those of both.
struct Files {
    hooks: Opened<Json>,
    config: Opened<Toml>,
}

impl Files {
    fn read(env: &dyn Env, level: Level, memos: &Memos) -> Result<Option<Self>, PlanError> {
        let Some(directory) = places::directory(env, level) else { return Ok(None) };
        Ok(Some(Self {
            hooks: Opened::read(env, directory.join("hooks.json"), memos)?,
            config: Opened::read(env, directory.join("config.toml"), memos)?,
        }))
    }

    fn ours(&self) -> Vec<Place> {
        let mut places = hooks::ours(&self.hooks.file, CLIENT);
        places.extend(hooks::ours(&self.config.file, CLIENT));
        places
    }

    /// Says whether hooks are kept in `config.toml` here: beside a second file the client warns at every start.
    fn inline(&self) -> bool {
        let Some(Value::Object(events)) = self.config.file.value(&["hooks"]) else { return false };
        !self.hooks.existed() && events.values().any(Value::is_array)
    }

    /// Refuses a file that the client ignores as a whole.
    fn check(&self) -> Result<(), PlanError> {
        let Some(Value::Object(keys)) = self.hooks.file.value(&[]) else { return Ok(()) };
        match keys.keys().find(|key| !["description", "hooks"].contains(&key.as_str())) {
            None => Ok(()),
            Some(key) => Err(PlanError::Refused(format!(
                "{} has the key {key:?}; Codex takes only \"description\" and \"hooks\" there, and ignores the file",
                self.hooks.path().display()
            ))),
        }
    }
}

/// Returns what of ours stands at each level.
pub(crate) fn standing(env: &dyn Env) -> Result<Vec<Standing>, PlanError> {
    let mut standing = Vec::new();
    let user = Files::read(env, Level::User, &Memos::new())?;
    for level in [Level::User, Level::Project] {
        let Some(files) = Files::read(env, level, &Memos::new())? else { continue };
        let (places, mcp) = (files.ours(), mcp::stands(&files.config.file));
        if !places.is_empty() || mcp {
            let current = places.is_empty() || is_current(&places)?;
            let hindered = match &user {
                Some(user) if !places.is_empty() => hindered(&user.config, &files),
                _ => Vec::new(),
            };
            standing.push(Standing { level, hooks: hooks::standing(&places), mcp, current, hindered });
        }
    }
    Ok(standing)
}

/// Returns what keeps the hooks of those files from running, as the user's file says.
fn hindered(user: &Opened<Toml>, files: &Files) -> Vec<String> {
    let mut hindered: Vec<String> = switched_off(user).into_iter().collect();
    hindered.extend(trust::hindered(&user.file, files.hooks.path(), &hooks::ours(&files.hooks.file, CLIENT)));
    hindered.extend(trust::hindered(
        &user.file,
        files.config.path(),
        &hooks::ours(&files.config.file, CLIENT),
    ));
    hindered
}

/// Says that the user's file switches hooks off, if it does.
fn switched_off(user: &Opened<Toml>) -> Option<String> {
    let off = |key| user.file.value(&["features", key]) == Some(Value::Bool(false));
    (off("hooks") || off("codex_hooks")).then(|| {
        format!(
            "{} switches hooks off under [features]; none runs until you take that out",
            user.path().display()
        )
    })
}

/// Says whether the handlers are what this version would write for the program the first of them names.
fn is_current(places: &[Place]) -> Result<bool, PlanError> {
    match shell::read(&places[0].command, CLIENT, &places[0].event, "") {
        Some(line) => Ok(hooks::stands(places, &handlers(&line)?)),
        None => Ok(false),
    }
}

fn handlers(line: &HookLine) -> Result<Vec<(&'static str, Handler)>, PlanError> {
    EVENTS
        .iter()
        .map(|(event, timeout)| Ok((*event, Handler::new(shell::line(line, CLIENT, event, "")?, *timeout))))
        .collect()
}

/// Returns what must change.
pub(crate) fn plan(env: &dyn Env, wanted: &Wanted<'_>) -> Result<Plan, PlanError> {
    let puts = matches!(wanted.hook, Half::Stand(_)) || matches!(wanted.mcp, Half::Stand(_));
    let mut user = Files::read(env, Level::User, wanted.memos)?;
    let mut project = Files::read(env, Level::Project, wanted.memos)?;
    if puts {
        allowed(env, wanted, user.as_ref(), project.as_ref())?;
    }
    let mut plan = Plan::default();
    let mut trust = Vec::new();
    let (mine, other) = match wanted.level {
        Level::User => (&mut user, &mut project),
        Level::Project => (&mut project, &mut user),
    };
    let (mut tells, mut notes) = (Vec::new(), Vec::new());
    if let Some(files) = mine {
        let change = edit_hooks(files, wanted.hook, &mut trust)?;
        mcp::edit(&mut files.config, wanted.mcp)?;
        if change.put {
            tells.push(
                "Codex runs a new or changed hook once you have reviewed it: start codex and trust it there, or type /hooks"
                    .to_owned(),
            );
        }
        if change.moved {
            tells.push(
                "hooks of others stood behind ours and have another place now; Codex asks to review them again"
                    .to_owned(),
            );
        }
    }
    // One for the user holds in every project: here there is one too many.
    if let Some(files) = other.as_mut().filter(|_| wanted.level == Level::User) {
        let absent = |stands: bool| if stands { Half::Absent } else { Half::Leave };
        let change = edit_hooks(files, absent(matches!(wanted.hook, Half::Stand(_))), &mut trust)?;
        let servers = mcp::stands(&files.config.file);
        mcp::edit(
            &mut files.config,
            match wanted.mcp {
                Half::Stand(_) => Half::Absent,
                _ => Half::Leave,
            },
        )?;
        if change.taken || servers != mcp::stands(&files.config.file) {
            let directory = files.config.path().parent().unwrap_or(Path::new("."));
            notes.push(format!(
                "{} had an entry of ours for this project; it goes, as one for the user comes",
                directory.display()
            ));
        }
    }
    if let Some(user) = &mut user {
        for key in &trust {
            user.config.edit(|file| file.remove(&trust::path(key)))?;
        }
        if !tells.is_empty() && matches!(wanted.hook, Half::Stand(_)) {
            tells.extend(switched_off(&user.config));
        }
    }
    for files in [user, project].into_iter().flatten() {
        let ours = !hooks::ours(&files.hooks.file, CLIENT).is_empty();
        plan.steps.extend(files.hooks.step(env, ours)?);
        let ours = !hooks::ours(&files.config.file, CLIENT).is_empty() || mcp::stands(&files.config.file);
        plan.steps.extend(files.config.step(env, ours)?);
    }
    // Two files of a new directory: the first step makes it.
    plan.steps.extend(notes.into_iter().map(Step::Note));
    plan.steps.extend(tells.into_iter().map(Step::Tell));
    Ok(plan)
}

/// Refuses an installation that would run everything twice, or that has no place or no effect.
fn allowed(
    env: &dyn Env,
    wanted: &Wanted<'_>,
    user: Option<&Files>,
    project: Option<&Files>,
) -> Result<(), PlanError> {
    if wanted.level == Level::User && places::detect(env) == Presence::Absent {
        return Err(PlanError::Refused("Codex is not here: it has no configuration directory".to_owned()));
    }
    if wanted.level == Level::Project {
        if project.is_none() {
            let text = "there is no project here; go to one, or install for the user";
            return Err(PlanError::Refused(text.to_owned()));
        }
        let hook = matches!(wanted.hook, Half::Stand(_)) && user.is_some_and(|user| !user.ours().is_empty());
        let mcp =
            matches!(wanted.mcp, Half::Stand(_)) && user.is_some_and(|user| mcp::stands(&user.config.file));
        if hook || mcp {
            return Err(PlanError::Refused(
                "it is installed for the user, and so for this project too; uninstall that first".to_owned(),
            ));
        }
    }
    for files in [user, project].into_iter().flatten() {
        if let Some(plugin) = plugin(&files.config.file) {
            return Err(PlanError::Refused(format!(
                "the plugin {plugin} is enabled in {} and would record everything a second time; take it out first",
                files.config.path().display()
            )));
        }
    }
    let files = if wanted.level == Level::User { user } else { project };
    files.filter(|_| matches!(wanted.hook, Half::Stand(_))).map_or(Ok(()), Files::check)
}

/// Returns the enabled plugin that is this program in another form.
fn plugin(config: &Toml) -> Option<String> {
    let Value::Object(plugins) = config.value(&["plugins"])? else { return None };
    let found =
        plugins.iter().find(|(name, entry)| name.starts_with("scrollback@") && entry["enabled"] != false);
    found.map(|(name, _)| name.clone())
}

/// Makes the wanted handlers stand in one of the files, and none in the other; adds the keys of the trust that goes.
fn edit_hooks(
    files: &mut Files,
    wanted: Half<&HookLine>,
    trust: &mut Vec<String>,
) -> Result<Change, PlanError> {
    let handlers = match wanted {
        Half::Leave => return Ok(Change::default()),
        Half::Absent => Vec::new(),
        Half::Stand(line) => handlers(line)?,
    };
    let (inline, none) = (files.inline(), Vec::new());
    let (json, toml) = if inline { (&none, &handlers) } else { (&handlers, &none) };
    let one = edit_file(&mut files.hooks, json, trust)?;
    let two = edit_file(&mut files.config, toml, trust)?;
    Ok(Change { put: one.put || two.put, taken: one.taken || two.taken, moved: one.moved || two.moved })
}

fn edit_file<F: Settings>(
    opened: &mut Opened<F>,
    handlers: &[(&str, Handler)],
    trust: &mut Vec<String>,
) -> Result<Change, PlanError> {
    let before = hooks::ours(&opened.file, CLIENT);
    let change = opened.edit(|file| hooks::stand(file, CLIENT, handlers))?;
    if change.taken {
        let after = hooks::ours(&opened.file, CLIENT);
        let gone = before.iter().filter(|place| {
            !after
                .iter()
                .any(|it| (&it.event, it.group, it.handler) == (&place.event, place.group, place.handler))
        });
        trust.extend(gone.map(|place| trust::key(opened.path(), place)));
    }
    Ok(change)
}
