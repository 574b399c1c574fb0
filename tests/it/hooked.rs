//! The guide for authors of adapters: what it shows is compiled, and what it says the laws say, they say.

mod acme;
mod broken;

use crate::docs::{blocks, excerpt};
use crate::guide::holds;
use broken::{Broken, Wrong};
use scrollback_core::Adapter;
use scrollback_testkit::adapter as law;
use scrollback_tests::{page, root};
use std::panic::{AssertUnwindSafe, catch_unwind};

scrollback_testkit::adapter_laws!(acme::Acme, "fixtures/acme");

/// A law.
type Law = fn(&dyn Adapter, &str);

const GUIDE: &str = "docs/adding-an-adapter.md";

#[test]
fn code_in_the_guide_is_compiled() {
    let compiled = [
        page("tests/it/hooked/acme.rs"),
        page("adapters/codex/tests/laws.rs"),
        page("adapters/codex/src/lib.rs"),
    ];
    let shown = blocks(&page(GUIDE)).0;
    let code = shown.iter().filter(|(language, _)| language == "rust");
    let mut lines = 0;
    for (_, block) in code {
        lines += block.lines().count();
        assert!(compiled.iter().any(|whole| holds(whole, block)), "this is nowhere compiled:\n{block}");
    }
    assert!(lines > 100, "{lines} lines of code");
}

#[test]
fn what_the_guide_shows_of_settings_and_payloads_is_what_the_laws_are_tried_on() {
    let files = ["homes/plain/.acme/settings.json", "payloads/stop.json"];
    let texts = files.map(|file| page(format!("tests/fixtures/acme/{file}"))).concat();
    let shown = blocks(&page(GUIDE)).0;
    let lines: Vec<&str> = shown
        .iter()
        .filter(|(language, _)| language == "json")
        .flat_map(|(_, block)| block.lines())
        .collect();
    assert!(!lines.is_empty());
    assert_eq!(excerpt(&lines, &texts), Ok(()));
}

#[test]
fn each_law_is_in_the_guide_and_says_what_it_says_there() {
    let guide = page(GUIDE);
    let testkit = page("core/testkit/src/lib.rs");
    let (_, laws) = testkit.split_once("macro_rules! adapter_laws").unwrap();
    let (laws, _) = laws.split_once(");").unwrap();
    let (_, laws) = laws.split_once("$fixtures,").unwrap();
    let laws: Vec<&str> = laws.split(',').map(str::trim).collect();
    assert!(laws.len() > 10, "{laws:?}");
    for law in laws {
        assert!(guide.contains(&format!("\n| `{law}` |")), "the guide has no row for {law}");
    }
    let cases: [(&str, Law, Wrong); 4] = [
        ("an_uninstall_gives_the_bytes_back", law::an_uninstall_gives_the_bytes_back, Wrong::Stays),
        ("a_second_install_changes_nothing", law::a_second_install_changes_nothing, Wrong::Insists),
        ("payloads_never_panic", law::payloads_never_panic, Wrong::Lenient),
        ("replies_are_what_the_client_takes", law::replies_are_what_the_client_takes, Wrong::Chatty),
    ];
    let folder = root().join("tests/fixtures/acme").to_str().unwrap().to_owned();
    for (name, law, wrong) in cases {
        let error = catch_unwind(AssertUnwindSafe(|| law(&Broken(wrong), &folder))).err();
        let error = error.unwrap_or_else(|| panic!("{name} is not broken"));
        let said = error.downcast::<String>().unwrap().replace(&folder, "fixtures");
        let (_, section) = guide
            .split_once(&format!("\n### `{name}`\n"))
            .unwrap_or_else(|| panic!("the guide has nothing of {name}; it says:\n{said}"));
        let shown = blocks(section.split("\n##").next().unwrap()).0;
        let [(_, shown)] = &shown[..] else { panic!("{name}: the guide shows {}", shown.len()) };
        let lines: Vec<&str> = shown.lines().collect();
        if let Err(line) = excerpt(&lines, &said) {
            panic!("{name} does not say {line:?}, in that order:\n{said}");
        }
    }
}
