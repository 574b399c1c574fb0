//! What can be set, each setting declared once.

use crate::config::Config;
use crate::exit::Ended;
use anyhow::{Result, anyhow};
use scrollback_core::Env;
use scrollback_engine::capture::Capture;
use scrollback_store::Mode;
use std::path::{Path, PathBuf};

/// An environment variable.
pub(crate) struct Variable {
    /// Its name.
    pub(crate) name: &'static str,
    /// The key in `config.toml` that sets the same, if there is one.
    pub(crate) key: Option<&'static str>,
    /// What it sets, for people.
    pub(crate) help: &'static str,
}

const HOME: Variable = Variable {
    name: "SCROLLBACK_HOME",
    key: None,
    help: "The directory of the store, of field maps (`parsers/*.toml` in it) and of everything else scrollback \
           keeps. Without it: the store is in `scrollback` in `$XDG_DATA_HOME`, else `~/.local/share/scrollback`; \
           field maps and `config.toml` are in `scrollback` in `$XDG_CONFIG_HOME`, else `~/.config/scrollback`.",
};
const RAW: Variable = Variable {
    name: "SCROLLBACK_RAW",
    key: Some("raw"),
    help: "Which records `tail` keeps as the client wrote them, except for redaction: `unknown` (the default), \
           those it did not understand; `all`, every one, for `show --raw`.",
};
const KEEP_BLOBS: Variable = Variable {
    name: "SCROLLBACK_BLOBS_KEEP",
    key: Some("blobs.keep"),
    help: "Whether `tail` keeps the bytes of images and documents: `true` (the default) or `false`, digest and \
           size only.",
};
const CAPTURE: Variable = Variable {
    name: "SCROLLBACK_CAPTURE",
    key: Some("capture.mode"),
    help: "How much is captured: `all` (the default); `bound`, only what lies in a project that `use` bound; `off`, \
           nothing. In the environment of a client it holds for the sessions of that client, in `config.toml` for \
           every session. What is left out stays left out when a later `tail` reads the transcript.",
};
const EXCLUDE: Variable = Variable {
    name: "SCROLLBACK_CAPTURE_EXCLUDE",
    key: Some("capture.exclude"),
    help: "Directories whose sessions are not captured, each with everything below it: patterns such as \
           `~/private` or `/srv/*/secret`, separated by colons (in `config.toml` a list).",
};
const PROJECT: Variable = Variable {
    name: "SCROLLBACK_PROJECT",
    key: None,
    help: "The project that sessions of a client started with it belong to, whatever `use` bound.",
};

const UNPERSISTED: Variable = Variable {
    name: "SCROLLBACK_CAPTURE_UNPERSISTED",
    key: Some("capture.unpersisted"),
    help: "Whether sessions of which the client keeps no transcript are recorded from what it tells its hooks: `true` \
           (the default) or `false`.",
};

/// Every variable of our own, in the order of the reference.
pub(crate) const VARIABLES: [Variable; 7] = [HOME, RAW, KEEP_BLOBS, CAPTURE, EXCLUDE, UNPERSISTED, PROJECT];

/// The words for yes and no.
const YES: [(&str, bool); 2] = [("true", true), ("false", false)];

/// Returns whether a hook's environment wants sessions recorded that have no transcript. A value that is not understood
/// says no, since whoever set it wanted less than everything.
pub(crate) fn unpersisted(env: &dyn Env) -> bool {
    env.var(UNPERSISTED.name).is_none_or(|value| value == "true")
}

/// Returns how much a hook's environment wants captured, if it says so. A value that is not understood is `off`, since
/// whoever set it wanted less than everything.
pub(crate) fn mode_of(env: &dyn Env) -> Option<Mode> {
    env.var(CAPTURE.name).map(|value| Mode::named(&value).unwrap_or(Mode::Off))
}

/// Returns the project the environment names.
pub(crate) fn project_of(env: &dyn Env) -> Option<String> {
    env.var(PROJECT.name)
}

/// The settings of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Settings {
    /// The directory of everything that is kept.
    pub(crate) data: PathBuf,
    /// The directory of what the user sets.
    pub(crate) config: PathBuf,
    /// Whether records that were understood are kept raw as well.
    pub(crate) raw_all: bool,
    /// Whether attachments' bytes are kept.
    pub(crate) keep_blobs: bool,
    /// Whether sessions are recorded that have no transcript.
    pub(crate) unpersisted: bool,
    /// What is captured.
    pub(crate) capture: Capture,
    /// How much `config.toml` wants captured, whatever the environment says: that of a drain is that of the client
    /// whose hook started it.
    pub(crate) configured: Mode,
}

impl Settings {
    /// Reads the settings; one that is not understood is an error.
    pub(crate) fn read(env: &dyn Env) -> Result<Self> {
        let directory_of_config = directory(env, "XDG_CONFIG_HOME", ".config")?;
        let keys: Vec<&str> = VARIABLES.iter().filter_map(|variable| variable.key).collect();
        let config = Config::read(env, &directory_of_config.join("config.toml"), &keys)?;
        let configured = config.word("capture.mode")?;
        let configured = choice(&config.place("capture.mode"), configured, &Mode::NAMES, Mode::All)?;
        let mut capture = Capture {
            mode: choice(CAPTURE.name, env.var(CAPTURE.name), &Mode::NAMES, configured)?,
            ..Capture::default()
        };
        let excluded = match env.var(EXCLUDE.name) {
            Some(patterns) => patterns.split(':').map(str::to_owned).collect(),
            None => config.words("capture.exclude")?,
        };
        for pattern in excluded.iter().filter(|pattern| !pattern.is_empty()) {
            capture.exclude(env, pattern).map_err(|what| {
                Ended::usage(format!("a directory that is excluded from capture, {pattern:?}: {what}"))
            })?;
        }
        Ok(Self {
            data: directory(env, "XDG_DATA_HOME", ".local/share")?,
            raw_all: one_of(env, &config, &RAW, &[("unknown", false), ("all", true)], false)?,
            keep_blobs: one_of(env, &config, &KEEP_BLOBS, &YES, true)?,
            unpersisted: one_of(env, &config, &UNPERSISTED, &YES, true)?,
            config: directory_of_config,
            capture,
            configured,
        })
    }

    /// Returns where everything is kept, and nothing else of them.
    pub(crate) fn data(env: &dyn Env) -> Result<PathBuf> {
        directory(env, "XDG_DATA_HOME", ".local/share")
    }

    /// Returns the data directory if the environment names it, as a line must that is run elsewhere.
    pub(crate) fn named(&self, env: &dyn Env) -> Option<String> {
        let named = ["XDG_DATA_HOME", HOME.name].iter().any(|name| env.var(name).is_some());
        named.then(|| self.data.to_string_lossy().into_owned())
    }

    /// Returns where the store is.
    pub(crate) fn store(&self) -> PathBuf {
        self.data.join("store.db")
    }

    /// Returns where field maps are.
    pub(crate) fn maps(&self) -> PathBuf {
        self.config.join("parsers")
    }

    /// Returns the settings with everything kept elsewhere.
    pub(crate) fn in_directory(&self, data: &Path) -> Self {
        Self { data: data.to_owned(), ..self.clone() }
    }
}

/// Returns our directory: the one the user names for everything, else the one below what `xdg` names, else the one
/// below `usual` in the home directory.
fn directory(env: &dyn Env, xdg: &str, usual: &str) -> Result<PathBuf> {
    let absolute = |name: &str| env.var(name).map(PathBuf::from).filter(|path| path.is_absolute());
    if let Some(home) = env.var(HOME.name).map(PathBuf::from) {
        return Ok(match env.current_dir() {
            Some(here) if home.is_relative() => here.join(home),
            _ => home,
        });
    }
    // A relative path is to be ignored there, says the XDG specification.
    if let Some(base) = absolute(xdg) {
        return Ok(base.join("scrollback"));
    }
    let home = env.home().ok_or_else(|| {
        anyhow!("there is no home directory: set HOME, or {} to where the store is to be", HOME.name)
    })?;
    Ok(home.join(usual).join("scrollback"))
}

fn one_of<T: Copy>(
    env: &dyn Env,
    config: &Config,
    variable: &Variable,
    values: &[(&str, T)],
    default: T,
) -> Result<T> {
    let configured = match variable.key {
        Some(key) => choice(&config.place(key), config.word(key)?, values, default)?,
        None => default,
    };
    choice(variable.name, env.var(variable.name), values, configured)
}

/// Returns what a word stands for, which was set at `place`.
fn choice<T: Copy>(place: &str, set: Option<String>, values: &[(&str, T)], default: T) -> Result<T> {
    let Some(set) = set else { return Ok(default) };
    values.iter().find(|(name, _)| *name == set).map(|(_, value)| *value).ok_or_else(|| {
        let names: Vec<String> = values.iter().map(|(name, _)| format!("`{name}`")).collect();
        Ended::usage(format!("{place}={set:?} is not understood: it is {}", names.join(" or "))).into()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::world::testing::Machine;

    #[test]
    fn the_store_is_where_the_environment_says() {
        let cases: [(&[(&str, &str)], &str); 5] = [
            (&[("HOME", "/home/dev")], "/home/dev/.local/share/scrollback/store.db"),
            (&[("HOME", "/home/dev"), ("XDG_DATA_HOME", "/data")], "/data/scrollback/store.db"),
            (
                &[("HOME", "/home/dev"), ("XDG_DATA_HOME", "data")],
                "/home/dev/.local/share/scrollback/store.db",
            ),
            (&[("XDG_DATA_HOME", "/data"), ("SCROLLBACK_HOME", "/own")], "/own/store.db"),
            (&[("SCROLLBACK_HOME", "own")], "/srv/here/own/store.db"),
        ];
        for (variables, expected) in cases {
            let settings = Settings::read(&Machine::of(variables)).unwrap();
            assert_eq!(settings.store(), Path::new(expected), "{variables:?}");
        }
        assert!(Settings::read(&Machine::of(&[])).is_err());
    }

    #[test]
    fn field_maps_are_where_the_environment_says() {
        let cases: [(&[(&str, &str)], &str); 3] = [
            (&[("HOME", "/home/dev"), ("XDG_DATA_HOME", "/data")], "/home/dev/.config/scrollback/parsers"),
            (&[("HOME", "/home/dev"), ("XDG_CONFIG_HOME", "/set")], "/set/scrollback/parsers"),
            (
                &[("HOME", "/home/dev"), ("XDG_CONFIG_HOME", "/set"), ("SCROLLBACK_HOME", "/own")],
                "/own/parsers",
            ),
        ];
        for (variables, expected) in cases {
            let settings = Settings::read(&Machine::of(variables)).unwrap();
            assert_eq!(settings.maps(), Path::new(expected), "{variables:?}");
        }
    }

    #[test]
    fn a_value_that_is_not_understood_says_which_are() {
        let machine = Machine::of(&[("HOME", "/home/dev"), ("SCROLLBACK_RAW", "some")]);
        let error = Settings::read(&machine).unwrap_err();
        assert_eq!(error.to_string(), "SCROLLBACK_RAW=\"some\" is not understood: it is `unknown` or `all`");
        let machine = Machine::of(&[
            ("HOME", "/home/dev"),
            ("SCROLLBACK_RAW", "all"),
            ("SCROLLBACK_BLOBS_KEEP", "false"),
        ]);
        let settings = Settings::read(&machine).unwrap();
        assert!(settings.raw_all && !settings.keep_blobs);
    }
}
