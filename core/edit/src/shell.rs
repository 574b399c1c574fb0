//! The line a client runs: written, and known again.
//!
//! A line with an absolute program is `test -x BIN && exec BIN hook CLIENT EVENT …; exit 0`; one with a bare name, for
//! files that are read on other machines, asks `command -v` instead. Both are silent and succeed where the program is
//! missing. They hold in sh, bash, dash, zsh, ksh and fish.

use scrollback_core::{HookLine, PlanError};
use std::borrow::Cow;
use std::path::PathBuf;

/// What ends a line, whatever became of the program before it.
const END: &str = "; exit 0";

/// Returns a word as a shell reads it back: in single quotes where it has more than plain characters.
pub fn quote(word: &str) -> Cow<'_, str> {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-./=:,@%+".contains(&byte);
    if !word.is_empty() && word.bytes().all(plain) {
        return Cow::Borrowed(word);
    }
    Cow::Owned(format!("'{}'", word.replace('\'', r"'\''")))
}

/// Returns the line for a client's event. `tail` stands after the arguments as it is, for what the client's shell shall
/// expand; it is empty or begins with a space.
///
/// A program whose path is not Unicode cannot stand in settings: an error.
pub fn line(hook: &HookLine, client: &str, event: &str, tail: &str) -> Result<String, PlanError> {
    let Some(program) = hook.program.to_str() else {
        return Err(PlanError::Refused(format!("the path {} is not Unicode", hook.program.display())));
    };
    let guard = if program.contains(['/', '\\']) { "test -x {}" } else { "command -v {} >/dev/null" };
    let program = quote(program);
    let guard = guard.replacen("{}", &program, 1);
    let words = [&*program, "hook", client, event].into_iter().map(Cow::Borrowed);
    let words: Vec<_> = words.chain(hook.args.iter().map(|arg| quote(arg))).collect();
    Ok(format!("{guard} && exec {}{tail}{END}", words.join(" ")))
}

/// Returns the hook line that [`line`](fn@line) makes `text` of, if there is one: then this version would write the same.
pub fn read(text: &str, client: &str, event: &str, tail: &str) -> Option<HookLine> {
    let words = words(text.strip_suffix(END)?.strip_suffix(tail)?);
    let exec = words.iter().position(|word| word == "exec")?;
    let hook = HookLine { program: words.get(exec + 1)?.into(), args: words.get(exec + 5..)?.to_vec() };
    (line(&hook, client, event, tail).ok()? == text).then_some(hook)
}

/// Says whether a line is one of ours for this client, whatever program, store or project it names: it runs
/// `hook CLIENT` of a program called scrollback, or of the one it guards.
pub fn calls(text: &str, client: &str) -> bool {
    let words = words(text);
    let guarded = words.get(2).filter(|_| {
        let guard = (words[0].as_str(), words[1].as_str());
        guard == ("test", "-x") || guard == ("command", "-v")
    });
    words.windows(3).any(|three| {
        let [program, hook, of] = three else { return false };
        hook == "hook" && of == client && (is_ours(program) || Some(program) == guarded)
    })
}

/// Returns the program a line of ours runs, as the line names it.
pub fn program(text: &str) -> Option<PathBuf> {
    let words = words(text);
    let hook = words.iter().position(|word| word == "hook")?;
    words.get(hook.checked_sub(1)?).map(PathBuf::from)
}

/// Says whether a program is called scrollback, or something with it.
pub fn is_ours(program: &str) -> bool {
    program.rsplit(['/', '\\']).next().is_some_and(|name| name.contains("scrollback"))
}

/// Splits a line into words, as far as a guard and a call need it: quotes and backslashes; an operator ends a word.
fn words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut chars = line.chars();
    while let Some(char) = chars.next() {
        match char {
            '\'' => word.get_or_insert_default().extend(chars.by_ref().take_while(|char| *char != '\'')),
            '"' => {
                let word = word.get_or_insert_default();
                while let Some(char) = chars.next().filter(|char| *char != '"') {
                    word.extend(if char == '\\' { chars.next() } else { Some(char) });
                }
            }
            '\\' => word.get_or_insert_default().extend(chars.next()),
            ' ' | '\t' | '\n' | ';' | '&' | '|' | '>' => words.extend(word.take()),
            char => word.get_or_insert_default().push(char),
        }
    }
    words.extend(word);
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hook(program: &str, args: &[&str]) -> HookLine {
        HookLine { program: program.into(), args: args.iter().map(ToString::to_string).collect() }
    }

    #[test]
    fn lines_are_guarded_and_read_back() {
        let plain = line(&hook("/opt/scrollback", &[]), "codex", "Stop", "").unwrap();
        assert_eq!(plain, "test -x /opt/scrollback && exec /opt/scrollback hook codex Stop; exit 0");
        let shared = line(&hook("scrollback", &[]), "codex", "Stop", "").unwrap();
        assert_eq!(shared, "command -v scrollback >/dev/null && exec scrollback hook codex Stop; exit 0");
        for program in ["/a b/scrollback", "/it's/$HOME/scrollback", "/q\"`x`\\/acme", "/ü/\n/x", "acme"] {
            for tail in ["", " --project \"$DIR\""] {
                let wanted = hook(program, &["--home", "/x y", ""]);
                let text = line(&wanted, "codex", "Stop", tail).unwrap();
                assert_eq!(read(&text, "codex", "Stop", tail), Some(wanted), "{text}");
                assert!(calls(&text, "codex"), "{text}");
                assert_eq!(super::program(&text), Some(program.into()), "{text}");
                assert!(!calls(&text, "claude-code"), "{text}");
                assert_eq!(read(&text, "codex", "SessionEnd", tail), None);
                assert_eq!(read(&text.replace("exit 0", "exit 1"), "codex", "Stop", tail), None);
            }
        }
    }

    #[test]
    fn a_shell_gives_the_program_what_was_meant() {
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("it's $HOME \"x\" `y` \\ scrollback");
        let script = "#!/bin/sh\nfor arg; do printf '[%s]' \"$arg\"; done; exit 7\n";
        #[expect(clippy::disallowed_methods, reason = "the program the line runs")]
        std::fs::write(&program, script).unwrap();
        let text =
            line(&hook(program.to_str().unwrap(), &["$HOME", "a'b"]), "codex", "Stop", " \"$DIR\"").unwrap();
        #[expect(clippy::disallowed_methods, reason = "the shell a client runs")]
        let run = || {
            let mut shell = std::process::Command::new("/bin/sh");
            shell.args(["-c", &text]).env("DIR", "/p q").output().unwrap()
        };
        let missing = run();
        assert_eq!((missing.status.code(), missing.stdout, missing.stderr), (Some(0), vec![], vec![]));
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
            let there = run();
            assert_eq!(String::from_utf8_lossy(&there.stdout), "[hook][codex][Stop][$HOME][a'b][/p q]");
            assert_eq!(there.status.code(), Some(7));
        }
    }

    #[test]
    fn only_ours_is_ours() {
        for ours in [
            "scrollback hook codex",
            "/old/place/scrollback hook codex Stop --home '/x y'",
            "FOO=1 \"/a b/scrollback-dev\" hook codex Stop >/dev/null 2>&1 || true",
            "test -x '/usr/bin/acme' && exec '/usr/bin/acme' hook codex Stop; exit 0",
        ] {
            assert!(calls(ours, "codex"), "{ours}");
        }
        for other in
            ["", "echo scrollback hook", "acme hook codex", "scrollback tail", "echo 'scrollback hook codex'"]
        {
            assert!(!calls(other, "codex"), "{other}");
        }
    }
}
