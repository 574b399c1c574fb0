//! What the documents say is so.

use crate::support::{sandbox, text, values};
use scrollback_tests::{page, root};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Returns the documents, below the root.
fn documents() -> Vec<PathBuf> {
    let mut found =
        vec![PathBuf::from("README.md"), PathBuf::from("CONTRIBUTING.md"), PathBuf::from("CHANGELOG.md")];
    let mut ahead = vec![PathBuf::from("docs")];
    while let Some(folder) = ahead.pop() {
        for entry in std::fs::read_dir(root().join(&folder)).unwrap() {
            let path = folder.join(entry.unwrap().file_name());
            if root().join(&path).is_dir() {
                ahead.push(path);
            } else if path.extension().is_some_and(|extension| extension == "md") {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

/// Returns the blocks of code of a document, each with its language; and the text around them.
pub(crate) fn blocks(document: &str) -> (Vec<(String, String)>, String) {
    let (mut blocks, mut around) = (Vec::new(), String::new());
    let mut open: Option<(String, String)> = None;
    for line in document.lines() {
        match (line.trim_start().strip_prefix("```"), &mut open) {
            (Some(language), None) => open = Some((language.trim().to_owned(), String::new())),
            (Some(_), Some(_)) => blocks.extend(open.take()),
            (None, Some((_, block))) => {
                block.push_str(line);
                block.push('\n');
            }
            (None, None) => {
                around.push_str(line);
                around.push('\n');
            }
        }
    }
    assert!(open.is_none(), "a block of code is not closed");
    (blocks, around)
}

/// Says whether lines stand in a text in that order, others perhaps between them; the error is the first that does
/// not. Blanks are not compared, and a `…` at the end of a line stands for what follows there.
pub(crate) fn excerpt<'l>(lines: &[&'l str], text: &str) -> Result<(), &'l str> {
    let plain = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut there = text.lines().map(plain);
    for line in lines.iter().filter(|line| !line.trim().is_empty()) {
        let wanted = plain(line);
        let found = match wanted.strip_suffix('…') {
            Some(begin) => there.any(|line| line.starts_with(begin.trim_end())),
            None => there.any(|line| line == wanted),
        };
        if !found {
            return Err(line);
        }
    }
    Ok(())
}

/// Returns the words of a command line, quotes undone, the comment left out.
fn words(line: &str) -> Vec<String> {
    let (mut words, mut word, mut quote) = (Vec::new(), None::<String>, None);
    for character in line.chars() {
        match (quote, character) {
            (Some(mark), _) if character == mark => quote = None,
            (None, '"' | '\'') => {
                quote = Some(character);
                word.get_or_insert_default();
            }
            (None, '#') if word.is_none() => break,
            (None, ' ' | '\t') => words.extend(word.take()),
            _ => word.get_or_insert_default().push(character),
        }
    }
    words.extend(word);
    words
}

/// Returns the commands in the blocks of a document: lines of a shell, and those behind a `$`.
fn commands(document: &str) -> Vec<Vec<String>> {
    let mut commands = Vec::new();
    for (language, block) in blocks(document).0 {
        for line in block.lines() {
            let command = match language.as_str() {
                "sh" | "console" | "bash" => line.strip_prefix("$ ").unwrap_or(line),
                "text" => match line.strip_prefix("$ ") {
                    Some(command) => command,
                    None => continue,
                },
                _ => continue,
            };
            let command = words(command);
            if command.first().is_some_and(|program| matches!(program.as_str(), "scrollback" | "cargo")) {
                commands.push(command);
            }
        }
    }
    commands
}

/// The flags of each command, as its help has them.
fn flags() -> BTreeMap<String, BTreeSet<String>> {
    let sandbox = sandbox();
    let help = sandbox.well(&["--help"]);
    let list = help.split_once("Commands:\n").unwrap().1;
    let names =
        list.lines().take_while(|line| !line.is_empty()).filter_map(|line| line.split_whitespace().next());
    names
        .filter(|name| *name != "help")
        .map(|name| {
            let help = sandbox.well(&[name, "--help"]);
            let words = help.split(|c: char| !(c.is_ascii_alphanumeric() || c == '-'));
            (name.to_owned(), words.filter(|word| word.starts_with("--")).map(str::to_owned).collect())
        })
        .collect()
}

fn assert_ours(command: &[String], flags: &BTreeMap<String, BTreeSet<String>>) {
    let Some((name, rest)) = command.split_first() else { return };
    if name.starts_with("--") {
        assert!(["--help", "--version"].contains(&name.as_str()), "{command:?}");
        return;
    }
    let known = flags.get(name).unwrap_or_else(|| panic!("there is no `scrollback {name}`: {command:?}"));
    for flag in rest.iter().filter(|word| word.starts_with("--")) {
        let flag = flag.split('=').next().unwrap_or(flag);
        assert!(known.contains(flag), "`{name}` has no {flag}: {command:?}");
    }
}

#[test]
fn commands_in_the_documents_exist() {
    let flags = flags();
    assert!(flags.len() >= 8, "{flags:?}");
    let mut checked = 0;
    for document in documents() {
        for command in commands(&page(&document)) {
            checked += 1;
            let arguments = &command[1..];
            if command[0] == "scrollback" {
                assert_ours(arguments, &flags);
                continue;
            }
            // What follows `--` in `cargo run` is ours, unless it is another program that is run.
            if arguments[0] == "run"
                && !arguments.iter().any(|word| word == "-p" || word == "--package")
                && let Some(at) = arguments.iter().position(|word| word == "--")
            {
                assert_ours(&arguments[at + 1..], &flags);
            }
            for (at, flag) in arguments.iter().enumerate() {
                let value = arguments.get(at + 1).map(String::as_str).unwrap_or_default();
                match flag.as_str() {
                    "-p" | "--package" => {
                        let folder = package_folder(value);
                        assert!(folder.is_some(), "no package {value}: {command:?}");
                    }
                    "--path" if arguments[0] == "install" => {
                        assert!(root().join(value).join("Cargo.toml").exists(), "{command:?}");
                    }
                    _ => {}
                }
            }
        }
    }
    assert!(checked >= 8, "{checked} commands");
}

/// Returns where a package of the workspace is.
fn package_folder(name: &str) -> Option<PathBuf> {
    let short = name.strip_prefix("scrollback-")?;
    let folders = ["core", "cli", "tests"].map(PathBuf::from).into_iter().chain([
        Path::new("core").join(short),
        Path::new("tests").join(short),
        Path::new("parsers").join(short.strip_prefix("parser-").unwrap_or(short)),
    ]);
    folders.into_iter().map(|folder| root().join(folder)).find(|folder| {
        std::fs::read_to_string(folder.join("Cargo.toml"))
            .is_ok_and(|manifest| manifest.contains(&format!("name = \"{name}\"\n")))
    })
}

#[test]
fn the_reference_of_the_command_line_is_what_the_program_says() {
    scrollback_tests::expect("docs/cli.md", &scrollback_cli::reference());
}

/// Returns the anchor of a heading.
fn anchor(heading: &str) -> String {
    let kept = heading.trim_start_matches('#').trim().to_lowercase();
    kept.chars()
        .filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'))
        .map(|c| if c == ' ' { '-' } else { c })
        .collect()
}

#[test]
fn links_lead_somewhere() {
    let mut checked = 0;
    for document in documents() {
        let (_, around) = blocks(&page(&document));
        for (at, _) in around.match_indices("](") {
            let target = around[at + 2..].split(')').next().unwrap();
            let target = target.split_whitespace().next().unwrap_or_default();
            if target.contains("://") || target.starts_with("mailto:") {
                continue;
            }
            checked += 1;
            let (file, heading) = target.split_once('#').unwrap_or((target, ""));
            let path = if file.is_empty() { document.clone() } else { document.parent().unwrap().join(file) };
            assert!(root().join(&path).exists(), "{}: {target} leads nowhere", document.display());
            if !heading.is_empty() {
                let headings: Vec<String> =
                    blocks(&page(&path)).1.lines().filter(|line| line.starts_with('#')).map(anchor).collect();
                assert!(headings.iter().any(|it| it == heading), "{}: no {target}", document.display());
            }
        }
    }
    assert!(checked >= 8, "{checked} links");
}

/// Returns the first cells of the rows of the table that follows `heading`.
fn first_cells(document: &str, heading: &str) -> BTreeSet<String> {
    let (_, after) = document.split_once(heading).unwrap_or_else(|| panic!("no {heading:?}"));
    let rows =
        after.lines().skip_while(|line| !line.starts_with('|')).take_while(|line| line.starts_with('|'));
    rows.skip(2).filter_map(|row| Some(row.split('|').nth(1)?.trim().to_owned())).collect()
}

#[test]
fn the_tables_of_clients_are_what_is_linked() {
    let plugins = values(&sandbox().well(&["plugins", "--json"]));
    let linked: BTreeSet<String> = plugins
        .iter()
        .filter(|plugin| plugin["plugin"] == "parser")
        .map(|plugin| text(plugin, "name").to_owned())
        .collect();
    assert_eq!(first_cells(&page("docs/clients.md"), "# Clients"), linked, "docs/clients.md");
    assert_eq!(first_cells(&page("README.md"), "## Clients"), linked, "README.md");
}

#[test]
fn what_the_readme_shows_of_the_samples_is_what_they_give() {
    let shown = blocks(&page("README.md")).0;
    let shown: Vec<&(String, String)> = shown.iter().filter(|(language, _)| language == "text").collect();
    let [(_, block)] = shown[..] else { panic!("{} blocks", shown.len()) };
    let lines: Vec<&str> = block.lines().collect();
    let told = sandbox().well(&["demo"]);
    assert_eq!(excerpt(&lines, &told), Ok(()), "{told}");
}
