//! `config.toml` in the configuration directory: settings that hold until they are changed.

use crate::exit::Ended;
use anyhow::Result;
use scrollback_core::Env;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// What stands in the file, by dotted key.
#[derive(Debug, Default)]
pub(crate) struct Config {
    path: PathBuf,
    values: Vec<(String, toml::Value)>,
}

impl Config {
    /// Reads the file; none is an empty one. What is no TOML, and a key that is not among `known`, are errors.
    pub(crate) fn read(env: &dyn Env, path: &Path, known: &[&str]) -> Result<Self> {
        let wrong = |what: String| Ended::usage(format!("{}: {what}", path.display()));
        let bytes = match env.read(path) {
            Ok(bytes) => bytes,
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
                return Ok(Self::default());
            }
            Err(error) => return Err(wrong(error.to_string()).into()),
        };
        let text = String::from_utf8(bytes).map_err(|_| wrong("it is not UTF-8".to_owned()))?;
        let table: toml::Table =
            text.parse().map_err(|error: toml::de::Error| wrong(error.to_string().trim_end().to_owned()))?;
        let mut values = Vec::new();
        flatten("", table, &mut values);
        if let Some((key, _)) = values.iter().find(|(key, _)| !known.contains(&key.as_str())) {
            return Err(wrong(format!("{key:?} is no setting; there are {}", known.join(", "))).into());
        }
        Ok(Self { path: path.to_owned(), values })
    }

    /// Returns what is set as one word: a text, or `true` or `false`.
    pub(crate) fn word(&self, key: &str) -> Result<Option<String>> {
        match self.value(key) {
            None => Ok(None),
            Some(toml::Value::String(text)) => Ok(Some(text.clone())),
            Some(toml::Value::Boolean(is)) => Ok(Some(is.to_string())),
            Some(other) => Err(self.wrong(key, "a text, or true or false", other)),
        }
    }

    /// Returns what is set as a list of texts.
    pub(crate) fn words(&self, key: &str) -> Result<Vec<String>> {
        let expected = "a list of texts";
        match self.value(key) {
            None => Ok(Vec::new()),
            Some(toml::Value::Array(texts)) => texts
                .iter()
                .map(|text| text.as_str().map(str::to_owned).ok_or_else(|| self.wrong(key, expected, text)))
                .collect(),
            Some(other) => Err(self.wrong(key, expected, other)),
        }
    }

    /// Returns the name of a setting for a message: where it stands.
    pub(crate) fn place(&self, key: &str) -> String {
        format!("{}: {key}", self.path.display())
    }

    fn value(&self, key: &str) -> Option<&toml::Value> {
        self.values.iter().find(|(held, _)| held == key).map(|(_, value)| value)
    }

    fn wrong(&self, key: &str, expected: &str, found: &toml::Value) -> anyhow::Error {
        let found = found.type_str();
        Ended::usage(format!("{} is a {found} where {expected} is expected", self.place(key))).into()
    }
}

/// Puts what stands in a table behind what is there, each value by its dotted key.
fn flatten(before: &str, table: toml::Table, values: &mut Vec<(String, toml::Value)>) {
    for (name, value) in table {
        let key = if before.is_empty() { name } else { format!("{before}.{name}") };
        match value {
            toml::Value::Table(table) => flatten(&key, table, values),
            value => values.push((key, value)),
        }
    }
}
