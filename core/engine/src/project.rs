//! The project that a directory belongs to.

use std::fs;
use std::io::Read;
use std::path::{Component, Path, PathBuf};

/// Returns the project of a session that started in `dir`: the root of the repository it is in, else `dir` itself.
///
/// - The file system's root and the home directory are no project, and no repository either: below a home
///   directory that is one, `dir` itself is the project.
/// - A worktree belongs to its repository; a submodule is one of its own.
/// - Where `dir` no longer exists: `word`, the client's own; else the longest of the `known` roots above it; else
///   `dir`.
/// - A path of another system (`C:\…`) never exists here and is returned as it is.
///
/// Links are followed to find the repository only: where a path the client wrote leads to its root, that is
/// returned.
pub fn project_of(
    dir: &Path,
    word: Option<&Path>,
    known: &[PathBuf],
    home: Option<&Path>,
) -> Option<PathBuf> {
    if is_foreign(dir) {
        return Some(dir.to_owned());
    }
    let barred = Barred::of(home);
    if let Ok(real) = fs::canonicalize(dir)
        && dir.is_absolute()
    {
        let root = repository_root(dir, &real, &barred);
        return root.or_else(|| Some(tidy(dir, &real))).filter(|project| !barred.bars(project));
    }
    let above = known.iter().filter(|root| dir.starts_with(root) && !barred.bars(root));
    let longest = above.max_by_key(|root| root.components().count());
    let candidates = [word, longest.map(PathBuf::as_path), Some(dir)];
    let mut projects = candidates.into_iter().flatten().map(|path| path.components().collect::<PathBuf>());
    projects.find(|path| !path.as_os_str().is_empty() && !barred.bars(path))
}

/// Returns a path with its links followed, as far as it exists; one that does not is returned as it is.
pub(crate) fn real(path: &Path) -> PathBuf {
    fs::canonicalize(path).unwrap_or_else(|_| path.components().collect())
}

/// What is never a project.
struct Barred {
    homes: Vec<PathBuf>,
}

impl Barred {
    fn of(home: Option<&Path>) -> Self {
        let real = home.and_then(|home| fs::canonicalize(home).ok());
        Self { homes: home.map(Path::to_owned).into_iter().chain(real).collect() }
    }

    fn bars(&self, path: &Path) -> bool {
        path == Path::new("/") || self.homes.iter().any(|home| home == path)
    }
}

/// Says whether a path is written as another system writes it.
fn is_foreign(path: &Path) -> bool {
    let bytes = path.as_os_str().as_encoded_bytes();
    matches!(bytes, [drive, b':', b'\\' | b'/', ..] if drive.is_ascii_alphabetic())
        || bytes.starts_with(b"\\\\")
}

/// Returns the root of the repository that `dir` is in; `real` is where `dir` really is.
fn repository_root(dir: &Path, real: &Path, barred: &Barred) -> Option<PathBuf> {
    let mut holders = real.ancestors().filter(|holder| !barred.bars(holder));
    let holder = holders.find(|holder| fs::metadata(holder.join(".git")).is_ok())?;
    match repository_of_worktree(holder) {
        Some(root) if !barred.bars(&root) => Some(root),
        _ => Some(as_written(dir, holder)),
    }
}

/// Returns the root of the repository that the worktree at `holder` belongs to, if that is what it is and its
/// repository lies where it usually does.
fn repository_of_worktree(holder: &Path) -> Option<PathBuf> {
    let link = holder.join(".git");
    if !fs::metadata(&link).ok()?.is_file() {
        return None;
    }
    let mut text = String::new();
    fs::File::open(link).ok()?.take(1 << 14).read_to_string(&mut text).ok()?;
    let own = normal(&holder.join(text.strip_prefix("gitdir:")?.lines().next()?.trim()));
    let worktrees = own.parent().filter(|path| path.ends_with("worktrees"))?;
    let repository = worktrees.parent().filter(|path| path.ends_with(".git"))?;
    repository.parent().map(Path::to_owned)
}

/// Returns the part of `dir` that leads to `real`, or `real` if none does.
fn as_written(dir: &Path, real: &Path) -> PathBuf {
    let leads = |path: &&Path| path == &real || fs::canonicalize(path).is_ok_and(|path| path == real);
    match dir.ancestors().find(leads) {
        Some(path) => tidy(path, real),
        None => real.to_owned(),
    }
}

/// Returns `path` without what is superfluous in it; where it goes up again, `real`.
fn tidy(path: &Path, real: &Path) -> PathBuf {
    if path.components().any(|component| component == Component::ParentDir) {
        return real.to_owned();
    }
    path.components().collect()
}

/// Returns `path` with each `..` taken as written.
fn normal(path: &Path) -> PathBuf {
    path.components().fold(PathBuf::new(), |mut path, component| {
        if component == Component::ParentDir {
            path.pop();
        } else {
            path.push(component);
        }
        path
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use std::os::unix::fs::symlink;
    use tempfile::TempDir;

    /// A home directory with repositories, all by real paths.
    struct World {
        _dir: TempDir,
        home: PathBuf,
    }

    impl World {
        fn new() -> Self {
            let dir = TempDir::new().unwrap();
            let home = fs::canonicalize(dir.path()).unwrap().join("home/dev");
            fs::create_dir_all(&home).unwrap();
            Self { _dir: dir, home }
        }

        fn at(&self, path: &str) -> PathBuf {
            self.home.join(path)
        }

        fn dir(&self, path: &str) -> PathBuf {
            fs::create_dir_all(self.at(path)).unwrap();
            self.at(path)
        }

        fn file(&self, path: &str, text: &str) {
            fs::create_dir_all(self.at(path).parent().unwrap()).unwrap();
            fs::File::create(self.at(path)).unwrap().write_all(text.as_bytes()).unwrap();
        }

        fn of(&self, dir: &Path) -> Option<PathBuf> {
            project_of(dir, None, &[], Some(&self.home))
        }
    }

    #[test]
    fn a_directory_in_a_repository_belongs_to_its_root() {
        let world = World::new();
        world.dir("app/.git/hooks");
        let deep = world.dir("app/src/deep");
        for dir in [
            deep,
            world.at("app"),
            world.at("app/.git/hooks"),
            world.at("app/./src/"),
            world.at("app/src/../src"),
        ] {
            assert_eq!(world.of(&dir), Some(world.at("app")), "{dir:?}");
        }
        // The client's word and the known roots do not matter to what exists.
        let known = [world.at("app/src")];
        let other = world.at("elsewhere");
        let project = project_of(&world.at("app/src"), Some(&other), &known, Some(&world.home));
        assert_eq!(project, Some(world.at("app")));
    }

    #[test]
    fn a_directory_in_no_repository_is_its_own_project() {
        let world = World::new();
        let dir = world.dir("notes/today");
        assert_eq!(world.of(&dir), Some(dir));
        assert_eq!(world.of(&world.at("notes/today/../")), Some(world.at("notes")));
    }

    #[test]
    fn the_home_directory_and_the_root_are_no_project() {
        let world = World::new();
        assert_eq!(world.of(&world.home), None);
        assert_eq!(world.of(&world.at("")), None);
        assert_eq!(world.of(Path::new("/")), None);
        assert_eq!(project_of(Path::new("/"), Some(Path::new("/x")), &[], None), None);
        // A home directory kept in a repository is none either.
        world.dir(".git");
        assert_eq!(world.of(&world.home), None);
        let dir = world.dir("notes");
        assert_eq!(world.of(&dir), Some(dir));
        symlink(&world.home, world.at("../me")).unwrap();
        assert_eq!(project_of(&world.home, None, &[], Some(&world.home.parent().unwrap().join("me"))), None);
    }

    #[test]
    fn a_worktree_belongs_to_its_repository() {
        let world = World::new();
        world.dir("app/.git/worktrees/fix");
        world.dir("app/.claude/worktrees/fix/src");
        let link = format!(
            "gitdir: {}
",
            world.at("app/.git/worktrees/fix").display()
        );
        for (place, link) in [
            ("app/.claude/worktrees/fix", link.as_str()),
            ("fix", link.as_str()),
            (
                "fix2",
                "gitdir: ../app/.git/worktrees/fix2
",
            ),
            ("fix3", "gitdir: ../app/.git/worktrees/fix3"),
        ] {
            let dir = world.dir(&format!("{place}/src"));
            world.file(&format!("{place}/.git"), link);
            assert_eq!(world.of(&dir), Some(world.at("app")), "{place}");
        }
    }

    #[test]
    fn a_worktree_of_a_home_directory_is_a_project_of_its_own() {
        let world = World::new();
        let dir = world.dir("dots");
        world.file(
            "dots/.git",
            "gitdir: ../.git/worktrees/dots
",
        );
        assert_eq!(world.of(&dir), Some(dir));
    }

    #[test]
    fn submodules_and_unusual_layouts_belong_to_where_their_git_is() {
        let world = World::new();
        world.dir("app/.git");
        for (n, link) in [
            "gitdir: ../.git/modules/lib
",
            "gitdir: ../.git/modules/lib/worktrees/x
",
            "gitdir: ../.bare/worktrees/main
",
            "gitdir: /srv/app.git/worktrees/main
",
            "gitdir: /srv/app.git
",
            "gitdir:
",
            "",
            "nonsense",
        ]
        .into_iter()
        .enumerate()
        {
            let dir = world.dir(&format!("app/lib{n}/src"));
            world.file(&format!("app/lib{n}/.git"), link);
            assert_eq!(world.of(&dir), Some(world.at(&format!("app/lib{n}"))), "{link}");
        }
    }

    #[test]
    fn what_no_longer_exists_is_named_by_who_knows() {
        let world = World::new();
        world.dir("app/.git");
        let gone = world.at("app/old/src");
        let known = [world.at("app"), world.at("app/old"), world.at("app/o"), world.home.clone(), "/".into()];
        let said = world.at("word/");
        let of = |word, known| project_of(&gone, word, known, Some(&world.home));
        assert_eq!(of(Some(said.as_path()), &known), Some(world.at("word")));
        assert_eq!(of(None, &known), Some(world.at("app/old")));
        assert_eq!(of(None, &known[3..]), Some(gone.clone()));
        assert_eq!(of(Some(Path::new("/")), &[]), Some(gone.clone()));
        assert_eq!(project_of(Path::new(""), None, &known, None), None);
        assert_eq!(project_of(Path::new("app"), Some(&said), &known, None), Some(world.at("word")));
    }

    #[test]
    fn links_stay_as_they_were_written() {
        let world = World::new();
        world.dir("disk/app/.git");
        world.dir("disk/app/src");
        world.dir("disk/loose");
        symlink(world.at("disk/app"), world.at("app")).unwrap();
        symlink(world.at("disk/app/src"), world.at("src")).unwrap();
        symlink(world.at("disk/loose"), world.at("loose")).unwrap();
        assert_eq!(world.of(&world.at("app/src")), Some(world.at("app")));
        assert_eq!(world.of(&world.at("loose")), Some(world.at("loose")));
        assert_eq!(world.of(&world.at("src")), Some(world.at("disk/app")));
        // Not the repository around the link, but the one it leads to.
        world.dir("other/.git");
        symlink(world.at("disk/app/src"), world.at("other/src")).unwrap();
        assert_eq!(world.of(&world.at("other/src")), Some(world.at("disk/app")));
        symlink(world.at("loop"), world.at("loop")).unwrap();
        assert_eq!(world.of(&world.at("loop")), Some(world.at("loop")));
    }

    #[test]
    fn paths_of_another_system_stay_as_they_are() {
        for path in [r"C:\dev\app", "C:/dev/app", r"d:\", r"\\server\share\app"] {
            assert_eq!(project_of(Path::new(path), Some(Path::new("/w")), &[], None), Some(path.into()));
        }
    }
}
