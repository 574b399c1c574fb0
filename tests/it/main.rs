//! What more than one crate must keep, on the program as it is built.

#![expect(clippy::unwrap_used, reason = "a test stops where something is missing")]

mod capture;
mod copies;
mod coverage;
mod docs;
mod fallback;
mod follow;
mod guide;
mod hooked;
mod hooks;
mod ids;
mod injected;
mod install;
mod registry;
mod scaffold;
mod secrets;
mod setup;
mod show;
mod support;
mod tail;
mod unpersisted;
mod usage;

#[test]
fn no_file_is_forgotten() {
    let folder = scrollback_tests::root().join("tests/it");
    let named = std::fs::read_to_string(folder.join("main.rs")).unwrap();
    for entry in std::fs::read_dir(&folder).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let Some(module) = name.strip_suffix(".rs").filter(|module| *module != "main") else { continue };
        assert!(named.contains(&format!("\nmod {module};")), "tests/it/{name} is in no test");
    }
}
