//! `hook`: what an installed line calls. The first branch of the program, before the command line is defined:
//! it opens no store, asks nobody, and ends with 0, or with 1 if what it leaves could not be written. Nothing
//! else, whatever happens.

use crate::exit::Exit;
use crate::settings::{self, Settings};
use crate::world::World;
use scrollback_core::{Call, Env as _, Level, Registry, Reply};
use scrollback_engine::hook::{HookCall, Hooked, hook};
use scrollback_engine::{drain, log};
use std::ffi::OsString;
use std::io::{self, Read as _, Write as _};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::time::Instant;

/// The most of a payload that is read; of a longer one nothing is understood.
const LIMIT: u64 = 64 << 20;

/// What an installed line says.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Line {
    client: String,
    event: Option<String>,
    json: Option<String>,
    project: Option<String>,
    home: Option<PathBuf>,
    level: Option<Level>,
}

impl Line {
    /// Reads the arguments behind `hook` or `drain`. What is not understood is passed: an old program may stand behind a
    /// newer line.
    pub(crate) fn of(args: impl Iterator<Item = OsString>) -> Self {
        let mut line = Self::default();
        let mut args = args.map(|arg| arg.to_string_lossy().into_owned());
        while let Some(arg) = args.next() {
            match arg.as_str() {
                "--project" => line.project = args.next().filter(|value| !value.is_empty()),
                "--home" => line.home = args.next().filter(|value| !value.is_empty()).map(PathBuf::from),
                "--level" => {
                    line.level = match args.next().as_deref() {
                        Some("user") => Some(Level::User),
                        Some("project") => Some(Level::Project),
                        _ => None,
                    };
                }
                _ if arg.trim_start().starts_with('{') => line.json = Some(arg),
                _ if arg.starts_with('-') => {}
                _ if line.client.is_empty() => line.client = arg,
                _ => line.event = Some(arg),
            }
        }
        line
    }

    /// Returns the directory of everything that is kept; none if nothing names one.
    pub(crate) fn data(&self) -> Option<PathBuf> {
        self.home.clone().or_else(|| Settings::data(&World).ok())
    }
}

/// Runs a hook with the arguments behind the word.
pub(crate) fn run(registry: Option<&Registry>, args: impl Iterator<Item = OsString>, began: Instant) -> Exit {
    // A panic's message would be the client's to show.
    std::panic::set_hook(Box::new(|_| {}));
    let line = Line::of(args);
    let done = catch_unwind(AssertUnwindSafe(|| with(registry, |registry| one(registry, &line, began))));
    let failed = done.unwrap_or_else(|_| {
        trouble(line.data().as_deref(), "the hook failed (please report it)");
        false
    });
    if failed { Exit::Failed } else { Exit::Done }
}

/// Runs one hook; says whether it failed.
fn one(registry: &Registry, line: &Line, began: Instant) -> bool {
    let data = line.data();
    let Some(data) = data.as_deref() else { return false };
    if line.client.is_empty() {
        trouble(Some(data), "the line names no client: expected `hook CLIENT [EVENT]`");
        return false;
    }
    let payload = line.json.clone().map_or_else(payload, |json| Ok(json.into_bytes()));
    let payload = match payload {
        Ok(payload) => payload,
        Err(error) => {
            trouble(Some(data), &format!("standard input: {error}"));
            return false;
        }
    };
    let project = settings::project_of(&World);
    let call = HookCall {
        client: &line.client,
        call: Call { event: line.event.as_deref(), level: line.level, payload: &payload },
        directory: line.project.as_deref(),
        began,
        capture: settings::mode_of(&World),
        project: project.as_deref(),
        unpersisted: settings::unpersisted(&World),
    };
    let Hooked { reply, ring, trouble: what } = hook(&World, registry, data, &call);
    if let Some(what) = what {
        trouble(Some(data), &what);
    }
    let failed = print(&reply);
    if ring {
        drain::ring(data);
    }
    failed
}

fn print(reply: &Reply<'_>) -> bool {
    // A client that closed the pipe wants to hear nothing.
    let _written = io::stdout().write_all(reply.stdout.as_bytes()).and_then(|()| io::stdout().flush());
    let _written = io::stderr().write_all(reply.stderr.as_bytes());
    reply.failed
}

fn payload() -> io::Result<Vec<u8>> {
    let mut payload = Vec::new();
    let mut stdin = io::stdin().lock();
    stdin.by_ref().take(LIMIT).read_to_end(&mut payload)?;
    // The client may wait until all of it is read.
    io::copy(&mut stdin, &mut io::sink())?;
    Ok(payload)
}

fn trouble(data: Option<&Path>, what: &str) {
    if let Some(data) = data {
        log::line(data, World.now(), "hook", what);
    }
}

/// Does something with the plugins that were given, or with those that are linked.
pub(crate) fn with<T>(registry: Option<&Registry>, done: impl FnOnce(&Registry) -> T) -> T {
    match registry {
        Some(registry) => done(registry),
        None => done(&Registry::linked().unwrap_or_default()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use scrollback_core::{
        Adapter, AdapterSpec, Env, Limit, Moment, Outcome, PayloadError, Plan, PlanError, Presence, Standing,
        Wanted,
    };

    fn line(args: &[&str]) -> Line {
        Line::of(args.iter().map(OsString::from))
    }

    #[test]
    fn a_line_is_read_whatever_stands_in_it() {
        let read = line(&["codex", "Stop", "--home", "/d", "--project", "/p", "--level", "user"]);
        assert_eq!(
            read,
            Line {
                client: "codex".into(),
                event: Some("Stop".into()),
                json: None,
                project: Some("/p".into()),
                home: Some("/d".into()),
                level: Some(Level::User),
            }
        );
        assert_eq!(line(&["codex", "{\"type\":\"x\"}"]).json.as_deref(), Some("{\"type\":\"x\"}"));
        // What a newer version may have written, and what a shell may have left empty.
        assert_eq!(
            line(&["--new-flag", "codex", "--project", ""]),
            Line { client: "codex".into(), ..Line::default() }
        );
        assert_eq!(line(&[]), Line::default());
        assert_eq!(line(&["--home"]), Line::default());
    }

    /// An adapter that fails at whatever it is asked.
    struct Panics;

    static SPEC: AdapterSpec = AdapterSpec::new("panics", "Panics", &[Level::User]);

    impl Adapter for Panics {
        fn spec(&self) -> &AdapterSpec {
            &SPEC
        }

        fn detect(&self, _env: &dyn Env) -> Presence {
            panic!("detect")
        }

        fn standing(&self, _env: &dyn Env) -> Result<Vec<Standing>, PlanError> {
            panic!("standing")
        }

        fn plan(&self, _env: &dyn Env, _wanted: &Wanted<'_>) -> Result<Plan, PlanError> {
            panic!("plan")
        }

        fn hook<'p>(
            &self,
            _env: &dyn Env,
            _call: &Call<'p>,
        ) -> Result<scrollback_core::Hook<'p>, PayloadError> {
            panic!("hook")
        }

        fn probe(&self, _session: &str, _cwd: &Path) -> String {
            panic!("probe")
        }

        fn reply<'c>(&self, _call: &Call<'_>, _outcome: Outcome<'c>) -> Reply<'c> {
            panic!("reply")
        }

        fn limit(&self, _moment: Moment) -> Limit {
            panic!("limit")
        }
    }

    #[test]
    fn a_panic_is_logged_and_the_client_goes_on() {
        static PANICS: Panics = Panics;
        let registry = Registry::default().with_adapter(&PANICS).unwrap();
        let data = tempfile::tempdir().unwrap();
        let args = ["panics", "Stop", "{}", "--home", data.path().to_str().unwrap()].map(OsString::from);
        let told = std::panic::take_hook();
        let exit = run(Some(&registry), args.into_iter(), Instant::now());
        std::panic::set_hook(told);
        assert_eq!(exit, Exit::Done);
        let lines = log::lines(data.path());
        assert!(lines.len() == 1 && lines[0].contains("the hook failed"), "{lines:?}");
    }
}
