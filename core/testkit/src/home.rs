//! Home directories to install into.

use crate::World;
use scrollback_core::{Adapter, Half, HookLine, Level, McpEntry, Plan, PlanError, Step, Wanted};
use scrollback_engine::apply::{Applied, apply, memos};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// How the text of settings is changed before they are tried.
pub(crate) type Variant = (&'static str, fn(&str) -> String);

/// The ways people's files differ without meaning something else.
pub(crate) const VARIANTS: [Variant; 5] = [
    ("as it is", str::to_owned),
    ("with CRLF", |text| text.replace('\n', "\r\n")),
    ("with a byte-order mark", |text| format!("\u{feff}{text}")),
    ("without a final newline", |text| text.trim_end_matches('\n').to_owned()),
    ("with tabs", |text| text.replace("  ", "\t")),
];

/// A copy of a home of the fixtures, with a project in it, and a data directory outside.
pub(crate) struct Home {
    pub(crate) name: String,
    pub(crate) world: World,
    root: TempDir,
}

impl Home {
    /// Copies every home in `homes`, in every variant.
    pub(crate) fn all(folder: &str) -> Vec<Self> {
        let homes = Path::new(folder).join("homes");
        let mut folders: Vec<PathBuf> = entries(&homes);
        folders.sort();
        assert!(!folders.is_empty(), "{}: no home", homes.display());
        let copy = |(folder, (how, change)): (&PathBuf, &Variant)| {
            let name = format!("{}, {how}", folder.file_name().unwrap_or_default().display());
            Self::copy(name, Some(folder), *change)
        };
        folders
            .iter()
            .flat_map(|folder| VARIANTS.iter().map(move |variant| (folder, variant)))
            .map(copy)
            .collect()
    }

    /// Makes a home with nothing in it but an empty project.
    pub(crate) fn empty() -> Self {
        Self::copy("an empty home".to_owned(), None, str::to_owned)
    }

    fn copy(name: String, from: Option<&Path>, change: fn(&str) -> String) -> Self {
        let root = tempfile::tempdir().unwrap_or_else(|error| panic!("no temporary directory: {error}"));
        let home = root.path().join("home");
        let project = home.join("project");
        done(&project, fs::create_dir_all(project.join(".git")));
        let home_of =
            |path: &Path| home.join(from.and_then(|from| path.strip_prefix(from).ok()).unwrap_or(path));
        for path in from.map(files).unwrap_or_default() {
            let to = home_of(&path);
            let text = done(&path, fs::read_to_string(&path));
            let settings = path.extension().is_some_and(|is| is == "json" || is == "toml");
            let text = if settings { change(&text) } else { text };
            done(&to, fs::create_dir_all(to.parent().unwrap_or(&home)));
            write(&to, &text);
        }
        Self { name, world: World::new(&home).current_dir(&project), root }
    }

    pub(crate) fn data(&self) -> PathBuf {
        self.root.path().join("data")
    }

    /// Returns the bytes of every file; directories too.
    pub(crate) fn tree(&self) -> BTreeMap<PathBuf, Option<Vec<u8>>> {
        fn walk(folder: &Path, tree: &mut BTreeMap<PathBuf, Option<Vec<u8>>>) {
            for path in entries(folder) {
                if path.is_dir() {
                    walk(&path, tree);
                    tree.insert(path, None);
                } else {
                    let bytes = done(&path, fs::read(&path));
                    tree.insert(path, Some(bytes));
                }
            }
        }
        let mut tree = BTreeMap::new();
        walk(&self.root.path().join("home"), &mut tree);
        // Backups are meant to stay.
        tree.retain(|path, _| !path.file_name().is_some_and(|name| name.to_string_lossy().contains(".bak")));
        tree
    }

    pub(crate) fn try_plan(
        &self,
        adapter: &dyn Adapter,
        level: Level,
        hook: Half<&HookLine>,
        mcp: Half<&McpEntry>,
    ) -> Result<Plan, PlanError> {
        let memos = memos(&self.data()).unwrap_or_else(|error| panic!("{}: {error}", self.name));
        adapter.plan(&self.world, &Wanted { level, hook, mcp, memos: &memos })
    }

    pub(crate) fn plan(
        &self,
        adapter: &dyn Adapter,
        level: Level,
        hook: Half<&HookLine>,
        mcp: Half<&McpEntry>,
    ) -> Plan {
        let plan = self.try_plan(adapter, level, hook, mcp);
        plan.unwrap_or_else(|error| panic!("{}, {level:?}: {error}", self.name))
    }

    pub(crate) fn apply(&self, plan: &Plan) -> Applied {
        apply(plan, &self.world, &self.data()).unwrap_or_else(|error| panic!("{}: {error}", self.name))
    }

    pub(crate) fn install(
        &self,
        adapter: &dyn Adapter,
        level: Level,
        hook: &HookLine,
        mcp: &McpEntry,
    ) -> Applied {
        self.apply(&self.plan(adapter, level, Half::Stand(hook), Half::Stand(mcp)))
    }

    pub(crate) fn uninstall(&self, adapter: &dyn Adapter, level: Level) -> Applied {
        self.apply(&self.plan(adapter, level, Half::Absent, Half::Absent))
    }
}

/// Returns the steps that are still to do: commands whose program is not here always are.
pub(crate) fn edits(plan: &Plan) -> Vec<&Step> {
    plan.steps.iter().filter(|step| !matches!(step, Step::Run { .. })).collect()
}

pub(crate) fn done<T>(path: &Path, result: std::io::Result<T>) -> T {
    result.unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

pub(crate) fn write(path: &Path, text: &str) {
    use std::io::Write as _;
    done(path, fs::File::create(path).and_then(|mut file| file.write_all(text.as_bytes())));
}

pub(crate) fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = done(folder, fs::read_dir(folder));
    entries.map(|entry| done(folder, entry).path()).collect()
}

/// Returns every file below a folder.
fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = entries(folder).into_iter();
    entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}
