//! The program that installed lines name.

use anyhow::{Context as _, Result, bail};
use scrollback_core::{Env, Level};
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

/// The program that lines name, and what it is copied from if it lies where things do not last.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Program {
    named: PathBuf,
    from: Option<PathBuf>,
}

impl Program {
    /// Returns the program for a level. For the user it is this very program by its absolute path, or a copy in the data
    /// directory of one that lies in a build, cache or temporary folder; in a project's files, which others read, it is
    /// the bare name. Looks nothing up on `PATH` and writes nothing.
    pub(crate) fn of(env: &dyn Env, name: &str, data: &Path, level: Level) -> Result<Self> {
        if level == Level::Project {
            return Ok(Self { named: name.into(), from: None });
        }
        let this = std::env::current_exe().context("this program cannot be found")?;
        Self::at(env, this, data)
    }

    fn at(env: &dyn Env, this: PathBuf, data: &Path) -> Result<Self> {
        if !this.is_absolute() || !this.exists() {
            bail!("{}: this program is not there any more; start it again", this.display());
        }
        let own = data.join("bin");
        if this.starts_with(&own) || !passes(env, &this) {
            return Ok(Self { named: this, from: None });
        }
        let Some(name) = this.file_name() else { bail!("{}: expected a file", this.display()) };
        Ok(Self { named: std::path::absolute(own.join(name))?, from: Some(this) })
    }

    /// Returns the program as lines name it.
    pub(crate) fn named(&self) -> &Path {
        &self.named
    }

    /// Returns what it is copied from, or is.
    pub(crate) fn from(&self) -> &Path {
        self.from.as_deref().unwrap_or(&self.named)
    }

    /// Says whether a copy is to be made: there is none, or it is another program.
    pub(crate) fn is_stale(&self) -> bool {
        self.from.as_ref().is_some_and(|from| !same(from, &self.named))
    }

    /// Makes the copy, in one step: a hook that runs meanwhile finds the old one or the new one.
    pub(crate) fn copy(&self) -> Result<()> {
        let Some(from) = &self.from else { return Ok(()) };
        let copy = || -> std::io::Result<()> {
            let folder = self.named.parent().unwrap_or(Path::new("/"));
            let mut builder = fs::DirBuilder::new();
            #[cfg(unix)]
            std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
            builder.recursive(true).create(folder)?;
            let mut file = tempfile::NamedTempFile::new_in(folder)?;
            file.write_all(&fs::read(from)?)?;
            file.as_file().set_permissions(fs::metadata(from)?.permissions())?;
            file.as_file().sync_all()?;
            file.persist(&self.named).map_err(|error| error.error)?;
            Ok(())
        };
        copy().with_context(|| format!("{} could not be copied to {}", from.display(), self.named.display()))
    }
}

/// Says whether two programs are the same and may be run alike.
fn same(one: &Path, other: &Path) -> bool {
    let looks = |path: &Path| fs::metadata(path).map(|found| (found.len(), found.permissions())).ok();
    looks(one).is_some() && looks(one) == looks(other) && fs::read(one).ok() == fs::read(other).ok()
}

/// Says whether a program lies where things do not last: in a temporary folder, a cache (by its place or by the tag that
/// marks one, `bford.info/cachedir`), a build folder, or one that a package manager fills anew.
fn passes(env: &dyn Env, program: &Path) -> bool {
    let home = env.home();
    let mut folders: Vec<PathBuf> =
        vec!["/tmp".into(), "/var/tmp".into(), "/dev/shm".into(), "/private/tmp".into()];
    folders.extend(["TMPDIR", "XDG_CACHE_HOME"].iter().filter_map(|name| env.var(name)).map(PathBuf::from));
    folders.extend(home.iter().flat_map(|home| [home.join(".cache"), home.join("Library/Caches")]));
    if folders.iter().any(|folder| folder.is_absolute() && program.starts_with(folder)) {
        return true;
    }
    let names: Vec<_> = program.components().map(std::path::Component::as_os_str).collect();
    let builds =
        |pair: &[&std::ffi::OsStr]| pair[0] == "target" && (pair[1] == "debug" || pair[1] == "release");
    names.windows(2).any(builds)
        || names.iter().any(|name| *name == "node_modules" || *name == "_npx")
        || program.ancestors().skip(1).any(|folder| folder.join("CACHEDIR.TAG").exists())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::world::testing::Machine;

    #[test]
    fn a_program_that_does_not_stay_is_copied() {
        let machine = Machine::of(&[("HOME", "/home/dev"), ("XDG_CACHE_HOME", "/c")]);
        for (program, expected) in [
            ("/usr/local/bin/scrollback", false),
            ("/home/dev/.cargo/bin/scrollback", false),
            ("/home/dev/targets/release/scrollback", false),
            ("/home/dev/src/scrollback/target/release/scrollback", true),
            ("/home/dev/src/target/debug/deps/scrollback", true),
            ("/home/dev/.cache/uv/x/scrollback", true),
            ("/c/x/scrollback", true),
            ("/tmp/x/scrollback", true),
            ("/home/dev/node_modules/.bin/scrollback", true),
        ] {
            assert_eq!(passes(&machine, Path::new(program)), expected, "{program}");
        }
    }

    #[test]
    fn the_copy_is_made_once_and_again_for_another_program() {
        let machine = Machine::of(&[("HOME", "/home/dev")]);
        let folder = tempfile::tempdir().unwrap();
        let (this, data) = (folder.path().join("scrollback"), folder.path().join("data"));
        #[expect(clippy::disallowed_methods, reason = "a program of the test")]
        let write = |text: &str| fs::write(&this, text).unwrap();
        write("one");
        let program = Program::at(&machine, this.clone(), &data).unwrap();
        assert_eq!(program.named(), data.join("bin/scrollback"));
        assert!(program.is_stale() && !data.exists());
        program.copy().unwrap();
        assert!(!program.is_stale());
        write("two");
        assert!(program.is_stale());
        program.copy().unwrap();
        assert_eq!(fs::read(program.named()).unwrap(), b"two");
        fs::set_permissions(program.named(), std::os::unix::fs::PermissionsExt::from_mode(0o100)).unwrap();
        assert!(program.is_stale(), "it cannot be run as it was");
        // The copy itself is no copy.
        let own = Program::at(&machine, program.named().to_owned(), &data).unwrap();
        assert_eq!((own.named(), own.is_stale()), (program.named(), false));
        assert!(Program::at(&machine, folder.path().join("gone"), &data).is_err());
    }
}
