//! Field maps: clients that the user declared, a TOML file each in the configuration directory.

use scrollback_core::Registry;
use std::path::{Path, PathBuf};

/// The plugins of a run: those that are linked, and a parser for each field map.
pub(crate) struct Maps {
    /// All of them.
    pub(crate) registry: Registry,
    /// Those that are linked.
    pub(crate) linked: Registry,
    /// Where the field maps are that were read: the parser's id and the file.
    pub(crate) read: Vec<(String, PathBuf)>,
    /// Those that were not.
    pub(crate) refused: Vec<Refused>,
}

/// A field map that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Refused {
    /// The file, or the directory.
    pub(crate) path: PathBuf,
    /// Line and column, if they are known.
    pub(crate) at: Option<(usize, usize)>,
    /// What is wrong, and what to do.
    pub(crate) what: String,
}

impl Refused {
    /// Returns it as one line: the file, the place, what is wrong.
    pub(crate) fn line(&self) -> String {
        let path = self.path.display();
        match self.at {
            Some((line, column)) => format!("{path}:{line}:{column}: {}", self.what),
            None => format!("{path}: {}", self.what),
        }
    }

    /// Returns what is wrong, with its place in the file.
    pub(crate) fn placed(&self) -> String {
        match self.at {
            Some((line, column)) => format!("line {line}, column {column}: {}", self.what),
            None => self.what.clone(),
        }
    }
}

impl Maps {
    /// Returns what is linked, and nothing else.
    pub(crate) fn none(linked: &Registry) -> Self {
        Self { registry: linked.clone(), linked: linked.clone(), read: Vec::new(), refused: Vec::new() }
    }

    /// Reads the field maps in a directory. One that is wrong costs only itself; no directory is no map.
    #[cfg(feature = "parser-jsonl")]
    pub(crate) fn load(registry: &Registry, directory: &Path) -> Self {
        use std::io::ErrorKind;
        let mut maps = Self::none(registry);
        let files = match crate::world::list(directory) {
            Ok(files) => files,
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
                return maps;
            }
            Err(error) => {
                maps.refused.push(Refused { path: directory.to_owned(), at: None, what: error.to_string() });
                return maps;
            }
        };
        for path in files.into_iter().filter(|path| path.extension().is_some_and(|it| it == "toml")) {
            match one(&maps, &path) {
                Ok((registry, id)) => {
                    maps.registry = registry;
                    maps.read.push((id, path));
                }
                Err(refused) => maps.refused.push(refused),
            }
        }
        maps
    }

    /// This program was built without field maps.
    #[cfg(not(feature = "parser-jsonl"))]
    pub(crate) fn load(registry: &Registry, _directory: &Path) -> Self {
        Self::none(registry)
    }
}

/// Returns the registry with the field map at `path`, and its id.
#[cfg(feature = "parser-jsonl")]
fn one(maps: &Maps, path: &Path) -> Result<(Registry, String), Refused> {
    use scrollback_core::Parser as _;
    use scrollback_parser_jsonl::FieldMap;
    use std::sync::Arc;
    const REMEDY: &str = "mend the file or move it away (`docs/field-maps.md` has the keys)";
    let refused = |at, what: String| Refused { path: path.to_owned(), at, what: format!("{what}; {REMEDY}") };
    let bytes = crate::world::read(path).map_err(|error| refused(None, error.to_string()))?;
    let text = String::from_utf8(bytes).map_err(|_| refused(None, "is not UTF-8".to_owned()))?;
    let map = FieldMap::read(&text).map_err(|error| {
        let what = error.what.trim().replace('\n', " ");
        refused(Some((error.line, error.column)), what)
    })?;
    let id = map.spec().id.to_string();
    if maps.registry.parser(&id).is_ok() {
        let other = maps.read.iter().find(|(held, _)| *held == id);
        let other =
            other.map_or("a parser of this program".to_owned(), |(_, path)| path.display().to_string());
        return Err(refused(None, format!("the id {id:?} is that of {other}")));
    }
    let registry = maps.registry.clone().with_loaded_parser(Arc::new(map));
    Ok((registry.map_err(|error| refused(None, error.to_string()))?, id))
}
