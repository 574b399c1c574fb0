//! `new`

use super::Run;
use crate::args::{New, Thing};
use crate::exit::{Ended, Exit};
use anyhow::{Context as _, Result, bail};
use scrollback_core::EventId;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The files of a parser's crate: where each stands, and what is in it for a client called Acme.
static PARSER: [(&str, &str); 9] = [
    ("Cargo.toml", include_str!("../../new/parser/Cargo.toml.template")),
    ("README.md", include_str!("../../new/parser/README.md")),
    (".gitignore", include_str!("../../new/parser/gitignore.template")),
    ("src/lib.rs", include_str!("../../new/parser/src/lib.rs")),
    ("src/main.rs", include_str!("../../new/parser/src/main.rs")),
    ("tests/laws.rs", include_str!("../../new/parser/tests/laws.rs")),
    ("fixtures/PROVENANCE.md", include_str!("../../new/parser/fixtures/PROVENANCE.md")),
    ("fixtures/1.0/hello.jsonl", include_str!("../../new/parser/fixtures/1.0/hello.jsonl")),
    ("fixtures/1.0/hello.events.jsonl", include_str!("../../new/parser/fixtures/1.0/hello.events.jsonl")),
];

/// The records of the fixture that give an event, as its ids name them.
const NAMED: [[&str; 3]; 4] =
    [["hello", "2", "0"], ["hello", "3", "0"], ["hello", "4", "0"], ["hello", "6", "0"]];

/// The longest name: with the prefix it stays a name that a registry takes.
const LONGEST: usize = 40;

pub(super) fn run(run: &mut Run<'_>, args: &New) -> Result<Exit> {
    let Thing::Parser = args.what;
    let name = name(run, &args.name)?;
    let checkout = args.scrollback.as_deref().map(checkout).transpose()?;
    let at = args.path.as_path();
    free(at)?;
    for (file, text) in PARSER {
        let text = filled(text, name, checkout.as_deref());
        let path = at.join(file);
        write(&path, &text).with_context(|| format!("cannot write {}", path.display()))?;
    }
    run.page.line(format_args!("Made the crate scrollback-parser-{name} in {}:", at.display()))?;
    for (file, _) in PARSER {
        run.page.line(format_args!("  {file}"))?;
    }
    run.page.line("")?;
    match &checkout {
        Some(checkout) => run.page.line(format_args!("It is built with the checkout in {checkout}."))?,
        None => run.page.line(format_args!(
            "It is built with version {} of scrollback's crates from the registry; `--scrollback DIR` takes them \
             from a checkout.",
            env!("CARGO_PKG_VERSION")
        ))?,
    }
    run.page.line("Next:")?;
    run.page.line(format_args!("  cd {}", quoted(at)))?;
    run.page.line("  cargo test")?;
    run.page.line("  cargo run -- tail --path fixtures/1.0/hello.jsonl --dry-run")?;
    run.page.line("Its README.md says what to change first.")?;
    Ok(Exit::Done)
}

/// Returns the name, if a client may be called so and no other is.
fn name<'n>(run: &Run<'_>, name: &'n str) -> Result<&'n str> {
    let word =
        |word: &str| !word.is_empty() && word.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit());
    let kebab = name.split('-').all(word) && name.starts_with(|first: char| first.is_ascii_lowercase());
    if !kebab || name.len() > LONGEST {
        let what = format!(
            "{name:?} is no name for a client: lower-case words of letters and digits, a hyphen between them, at \
             most {LONGEST} characters (`acme`, `acme-code`)"
        );
        return Err(Ended::usage(what).into());
    }
    if run.registry.parser(name).is_ok() {
        let what = format!("this program has a parser called {name} already; `plugins` lists them");
        return Err(Ended::usage(what).into());
    }
    Ok(name)
}

/// Returns the whole path of a checkout of scrollback.
fn checkout(path: &Path) -> Result<String> {
    let manifest = path.join("core/Cargo.toml");
    let ours = fs::read_to_string(&manifest).is_ok_and(|text| text.contains("name = \"scrollback-core\""));
    if !ours {
        bail!(
            "{} is no checkout of scrollback: it has no core/Cargo.toml of scrollback-core",
            path.display()
        );
    }
    let whole = path.canonicalize().with_context(|| format!("cannot find {}", path.display()))?;
    match whole.into_os_string().into_string() {
        Ok(whole) => Ok(whole),
        Err(whole) => bail!("{} is not UTF-8, as a manifest must be", PathBuf::from(whole).display()),
    }
}

/// Says whether a crate can be made there: nothing is overwritten.
fn free(at: &Path) -> Result<()> {
    match fs::read_dir(at) {
        Ok(mut entries) => match entries.next() {
            None => Ok(()),
            Some(_) => bail!("{} is not empty; nothing was written", at.display()),
        },
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::NotADirectory => {
            bail!("{} is a file; nothing was written", at.display())
        }
        Err(error) => Err(error).with_context(|| format!("cannot look into {}", at.display())),
    }
}

/// Writes a file that is not there yet.
fn write(path: &Path, text: &str) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    let mut file = fs::File::create_new(path)?;
    io::Write::write_all(&mut file, text.as_bytes())
}

/// Returns a file's text for the client of that name.
fn filled(text: &str, name: &str, checkout: Option<&str>) -> String {
    let repository = env!("CARGO_PKG_REPOSITORY");
    let (crates, guide) = match checkout {
        Some(checkout) => (
            format!("scrollback's crates are taken from the checkout in `{checkout}`."),
            format!("{checkout}/docs/adding-a-parser.md"),
        ),
        None => (
            "scrollback's crates are taken from the registry. To build with a checkout, give each of the three in\n\
             `Cargo.toml` a path: `{ path = \"…/core\" }`, `…/cli`, `…/core/testkit`."
                .to_owned(),
            format!("{repository}/blob/main/docs/adding-a-parser.md"),
        ),
    };
    let mut text = text
        .replace("{core}", &dependency("core", checkout, ""))
        .replace("{cli}", &dependency("cli", checkout, ", default-features = false, optional = true"))
        .replace("{testkit}", &dependency("core/testkit", checkout, ""))
        .replace("{crates}", &crates)
        .replace("{guide}", &guide)
        .replace("{repository}", repository)
        .replace("{rust-version}", env!("CARGO_PKG_RUST_VERSION"));
    for parts in NAMED {
        let id = |client| EventId::of(client, &parts).to_string();
        text = text.replace(&id("acme"), &id(name));
    }
    text.replace("scrollback_parser_acme", &format!("scrollback_parser_{}", name.replace('-', "_")))
        .replace("Acme", &title(name))
        .replace("acme", name)
}

/// Returns a crate of scrollback as a manifest names it.
fn dependency(folder: &str, checkout: Option<&str>, more: &str) -> String {
    match checkout {
        Some(checkout) => {
            // A string of JSON is one of TOML.
            let path = serde_json::Value::from(format!("{checkout}/{folder}"));
            format!("{{ path = {path}{more} }}")
        }
        None if more.is_empty() => format!("{:?}", env!("CARGO_PKG_VERSION")),
        None => format!("{{ version = {:?}{more} }}", env!("CARGO_PKG_VERSION")),
    }
}

/// Returns a name as people write it: "acme-code" is "Acme Code".
fn title(name: &str) -> String {
    let mut title = String::with_capacity(name.len());
    for word in name.split('-') {
        if !title.is_empty() {
            title.push(' ');
        }
        let mut letters = word.chars();
        title.extend(letters.next().map(|first| first.to_ascii_uppercase()));
        title.push_str(letters.as_str());
    }
    title
}

/// Returns a path as one word of a shell.
fn quoted(path: &Path) -> String {
    let path = path.display().to_string();
    let plain = |c: char| c.is_alphanumeric() || matches!(c, '/' | '.' | '-' | '_' | '+' | ',' | '@');
    if !path.is_empty() && path.chars().all(plain) {
        path
    } else {
        format!("'{}'", path.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_is_about_the_client_that_was_named() {
        for (file, text) in PARSER {
            let filled = filled(text, "road-runner", None);
            assert!(!filled.to_lowercase().contains("acme"), "{file}: {filled}");
            let left =
                ["{core}", "{cli}", "{testkit}", "{crates}", "{guide}", "{repository}", "{rust-version}"];
            assert!(!left.iter().any(|token| filled.contains(token)), "{file}: {filled}");
        }
        let lib = PARSER.iter().find(|(file, _)| *file == "src/lib.rs").unwrap().1;
        assert!(
            filled(lib, "road-runner", None).contains(r#"ParserSpec::new("road-runner", "Road Runner","#)
        );
        let laws = PARSER.iter().find(|(file, _)| *file == "tests/laws.rs").unwrap().1;
        assert!(
            filled(laws, "road-runner", None).contains("parser_laws!(scrollback_parser_road_runner::PARSER,")
        );
    }

    #[test]
    fn the_golden_has_the_ids_of_the_client_that_was_named() {
        let golden = PARSER.iter().find(|(file, _)| file.ends_with(".events.jsonl")).unwrap().1;
        let filled = filled(golden, "road-runner", None);
        let ids = |text: &str| -> Vec<String> {
            let events = text.lines().filter(|line| line.starts_with(r#"{"type":"event","id":""#));
            events.map(|line| line[r#"{"type":"event","id":""#.len()..][..36].to_owned()).collect()
        };
        for (client, text) in [("acme", golden), ("road-runner", &filled)] {
            let expected: Vec<String> =
                NAMED.iter().map(|parts| EventId::of(client, parts).to_string()).collect();
            assert_eq!(ids(text), expected, "{client}");
        }
    }

    #[test]
    fn a_checkout_stands_in_the_manifest_as_a_path() {
        assert_eq!(dependency("core", Some(r#"/a "b""#), ""), r#"{ path = "/a \"b\"/core" }"#);
        assert_eq!(dependency("core", None, ""), format!("{:?}", env!("CARGO_PKG_VERSION")));
    }

    #[test]
    fn a_path_is_one_word() {
        assert_eq!(quoted(Path::new("../acme")), "../acme");
        assert_eq!(quoted(Path::new("it's here")), r"'it'\''s here'");
    }
}
