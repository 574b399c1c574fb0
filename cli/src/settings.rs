//! What can be set, each setting declared once.

use crate::exit::Ended;
use anyhow::{Result, anyhow};
use scrollback_core::Env;
use std::path::{Path, PathBuf};

/// An environment variable.
pub(crate) struct Variable {
    /// Its name.
    pub(crate) name: &'static str,
    /// What it sets, for people.
    pub(crate) help: &'static str,
}

const HOME: Variable = Variable {
    name: "SCROLLBACK_HOME",
    help: "The directory of the store, of field maps (`parsers/*.toml` in it) and of everything else scrollback \
           keeps. Without it: the store is in `scrollback` in `$XDG_DATA_HOME`, else `~/.local/share/scrollback`; \
           field maps are in `scrollback/parsers` in `$XDG_CONFIG_HOME`, else `~/.config/scrollback/parsers`.",
};
const RAW: Variable = Variable {
    name: "SCROLLBACK_RAW",
    help: "Which records `tail` keeps as the client wrote them, except for redaction: `unknown` (the default), \
           those it did not understand; `all`, every one, for `show --raw`.",
};
const KEEP_BLOBS: Variable = Variable {
    name: "SCROLLBACK_BLOBS_KEEP",
    help: "Whether `tail` keeps the bytes of images and documents: `true` (the default) or `false`, digest and \
           size only.",
};

const CAPTURE: Variable = Variable {
    name: "SCROLLBACK_CAPTURE",
    help: "`off`: hooks of a client started with it record nothing and have nothing read. A later `tail` reads what \
           the client wrote.",
};

/// Every variable of our own, in the order of the reference.
pub(crate) const VARIABLES: [Variable; 4] = [HOME, RAW, KEEP_BLOBS, CAPTURE];

/// Says whether hooks are to record nothing; a value that is not understood says so too, since whoever set it wanted
/// less than everything.
pub(crate) fn is_off(env: &dyn Env) -> bool {
    env.var(CAPTURE.name).is_some_and(|value| value != "all")
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
}

impl Settings {
    /// Reads the settings; one that is not understood is an error.
    pub(crate) fn read(env: &dyn Env) -> Result<Self> {
        Ok(Self {
            data: directory(env, "XDG_DATA_HOME", ".local/share")?,
            config: directory(env, "XDG_CONFIG_HOME", ".config")?,
            raw_all: one_of(env, &RAW, [("unknown", false), ("all", true)], false)?,
            keep_blobs: one_of(env, &KEEP_BLOBS, [("true", true), ("false", false)], true)?,
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

fn one_of(env: &dyn Env, variable: &Variable, values: [(&str, bool); 2], default: bool) -> Result<bool> {
    let Some(set) = env.var(variable.name) else { return Ok(default) };
    values.iter().find(|(name, _)| *name == set).map(|(_, value)| *value).ok_or_else(|| {
        let [(one, _), (other, _)] = values;
        Ended::usage(format!("{}={set:?} is not understood: it is `{one}` or `{other}`", variable.name))
            .into()
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
