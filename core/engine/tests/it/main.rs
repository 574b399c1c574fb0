//! The engine over a real store, with a client made for it.
#![expect(clippy::unwrap_used, reason = "what a test lays out is there, or the test fails")]

mod again;
mod attachments;
mod bad;
mod client;
mod drain;
mod facts;
mod homes;
mod idle;
mod kill;
mod model;
mod packed;
mod parse;
mod revisions;
mod search;
mod store;
mod together;
mod withdrawals;
mod world;

#[test]
fn every_file_of_the_folder_is_a_module() {
    let here = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it");
    let main = std::fs::read_to_string(here.join("main.rs")).unwrap();
    for entry in std::fs::read_dir(here).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let module = name.strip_suffix(".rs").unwrap();
        assert!(module == "main" || main.contains(&format!("\nmod {module};\n")), "{name} is forgotten");
    }
}
