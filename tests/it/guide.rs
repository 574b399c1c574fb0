//! The guide for authors of parsers: what it shows is compiled, and what it says the laws say, they say.

mod broken;
mod relay;

use crate::docs::{blocks, excerpt};
use scrollback_core::{Parser, Registry, Timestamp};
use scrollback_engine::TailOptions;
use scrollback_store::{Picked, SessionFilter, Store};
use scrollback_testkit::World;
use scrollback_tests::{page, root};
use std::fmt::Write as _;
use std::panic::{AssertUnwindSafe, catch_unwind};

scrollback_testkit::parser_laws!(relay::Relay, "fixtures/relay");

/// The documents with code of parsers in them.
const DOCUMENTS: [&str; 2] = ["README.md", "docs/adding-a-parser.md"];

/// Returns what is compiled: examples of the documentation, the crate that `new parser` writes, and the parser beside
/// this file.
fn compiled() -> Vec<String> {
    let documentation = |path: &str| -> String {
        let page = page(path);
        page.lines().filter_map(|line| line.strip_prefix("//!")).collect::<Vec<_>>().join("\n")
    };
    let mut compiled: Vec<String> = ["src/lib.rs", "src/main.rs", "tests/laws.rs"]
        .into_iter()
        .map(|file| page(format!("cli/new/parser/{file}")))
        .collect();
    compiled.push(page("tests/it/guide/relay.rs"));
    compiled.push(page("cli/examples/own-binary.rs"));
    compiled.extend(["core/src/lib.rs", "core/testkit/src/lib.rs"].map(documentation));
    compiled
}

/// Says whether `part` stands in `whole`, line after line, however far indented.
pub(crate) fn holds(whole: &str, part: &str) -> bool {
    let lines = |text: &str| -> Vec<String> {
        text.lines().map(|line| line.trim().to_owned()).filter(|line| !line.is_empty()).collect()
    };
    let (whole, part) = (lines(whole), lines(part));
    whole.windows(part.len().max(1)).any(|window| window == part)
}

#[test]
fn code_in_the_documents_is_compiled() {
    let compiled = compiled();
    let mut checked = 0;
    for document in DOCUMENTS {
        for (_, block) in blocks(&page(document)).0.iter().filter(|(language, _)| language == "rust") {
            checked += 1;
            assert!(
                compiled.iter().any(|whole| holds(whole, block)),
                "{document}: this is nowhere compiled:\n{block}"
            );
        }
    }
    assert!(checked >= 15, "{checked} blocks");
}

#[test]
fn the_transcript_in_the_guide_is_the_one_that_is_read() {
    let transcript = page("tests/fixtures/relay/main.jsonl");
    let shown = blocks(&page("docs/adding-a-parser.md")).0;
    let lines: Vec<&str> = shown
        .iter()
        .filter(|(language, _)| language == "json")
        .flat_map(|(_, block)| block.lines())
        .collect();
    assert!(!lines.is_empty());
    assert_eq!(excerpt(&lines, &transcript), Ok(()));
}

/// Where the transcript of a new crate lies.
fn folder() -> String {
    root().join("cli/new/parser/fixtures").to_str().unwrap().to_owned()
}

/// Returns what a law says of a parser, if it is broken.
fn says(law: fn(&dyn Parser, &str), parser: &dyn Parser) -> Option<String> {
    let folder = folder();
    let error = catch_unwind(AssertUnwindSafe(|| law(parser, &folder))).err()?;
    let said = match error.downcast::<String>() {
        Ok(said) => *said,
        Err(other) => (*other.downcast::<&str>().unwrap()).to_owned(),
    };
    Some(said.replace(&folder, "fixtures"))
}

#[test]
fn each_law_says_what_the_guide_says_it_does() {
    use broken::{AHEAD, Counting, GREEDY, Keeps, MISTAKEN, NUMBERED, ONE_NAME, SILENT};
    use scrollback_testkit::parser as law;
    static IN_DECODER: Counting = Counting::new(Keeps::Decoder);
    static IN_STATE: Counting = Counting::new(Keeps::State);
    // One each: what the parser keeps in itself lasts.
    static IN_PARSER: Counting = Counting::new(Keeps::Parser);
    type Law = fn(&dyn Parser, &str);
    let laws: [(&str, Law, &dyn Parser); 10] = [
        ("resuming_changes_nothing", law::resuming_changes_nothing, &IN_DECODER),
        ("cutting_changes_nothing", law::cutting_changes_nothing, &IN_DECODER),
        ("names_are_stable", law::names_are_stable, &ONE_NAME),
        ("every_record_is_accounted_for", law::every_record_is_accounted_for, &SILENT),
        ("order_is_kept", law::order_is_kept, &AHEAD),
        ("rubbish_passes", law::rubbish_passes, &NUMBERED),
        ("files_come_in_any_order", law::files_come_in_any_order, &IN_PARSER),
        ("it_knows_its_own", law::it_knows_its_own, &GREEDY),
        ("the_state_is_small", law::the_state_is_small, &IN_STATE),
        ("goldens_are_true", law::goldens_are_true, &MISTAKEN),
    ];
    let guide = page("docs/adding-a-parser.md");
    for (name, law, parser) in laws {
        let said = says(law, parser).unwrap_or_else(|| panic!("{name} is not broken"));
        let (_, section) = guide
            .split_once(&format!("\n### `{name}`\n"))
            .unwrap_or_else(|| panic!("the guide has nothing of {name}; it says:\n{said}"));
        let section = section.split("\n##").next().unwrap();
        let shown = blocks(section).0;
        let [(_, shown)] = &shown[..] else { panic!("{name}: the guide shows {}", shown.len()) };
        let lines: Vec<&str> = shown.lines().collect();
        if let Err(line) = excerpt(&lines, &said) {
            panic!("{name} does not say {line:?}, in that order:\n{said}");
        }
        if name != "goldens_are_true" {
            assert_eq!(says(law, &broken::SOUND), None, "{name}");
        }
    }
}

/// Reads Relay's transcripts into a store, and returns what is in it: a line a session and an event.
fn stored(files: &[&str]) -> String {
    let registry = Registry::default().with_parser(&relay::Relay).unwrap();
    // Before any file was changed, so that none is idle.
    let world = World::new(root()).now(Timestamp::from_micros(0).unwrap());
    let mut store = Store::open_in_memory().unwrap();
    for file in files {
        let path = root().join(format!("tests/fixtures/relay/{file}.jsonl"));
        let paths = vec![path.into_os_string().into_string().unwrap()];
        let options = TailOptions { paths, ..TailOptions::default() };
        let report = scrollback_engine::tail(&world, &registry, &mut store, &options, &mut |_| {}).unwrap();
        assert_eq!(report.problems, []);
    }
    let mut told = String::new();
    let mut sessions = store.sessions(&SessionFilter::default()).unwrap();
    sessions.sort_by(|a, b| a.line.session.cmp(&b.line.session));
    for session in sessions {
        let line = &session.line;
        let lineage =
            line.lineage.map(|lineage| format!("  {lineage:?} of {}", line.parent_session.as_ref().unwrap()));
        writeln!(told, "{}{}", line.session, lineage.unwrap_or_default().to_lowercase()).unwrap();
        for event in store.events(&session, &Picked { withdrawn: true, ..Picked::ALL }).unwrap() {
            let (turn, body) = (event.line.turn, &event.line.body);
            let mark = if event.withdrawn { "  (taken back)" } else { "" };
            writeln!(told, "  {turn}  {:9}  {}{mark}", body.kind(), body.text()).unwrap();
        }
    }
    told
}

#[test]
fn a_store_holds_what_the_guide_says() {
    let told = stored(&["main", "fork", "painter"]);
    let guide = page("docs/adding-a-parser.md");
    let shown = blocks(&guide).0.into_iter().find(|(_, block)| block.starts_with("r1\n"));
    assert_eq!(shown.unwrap_or_else(|| panic!("the guide does not show\n{told}")).1, told);
    assert_eq!(stored(&["painter", "fork", "main"]), told, "read the other way round");
}
