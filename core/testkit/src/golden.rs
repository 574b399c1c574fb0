//! Goldens: the lines a fixture must give.

use crate::World;
use crate::reading::fixtures;
use scrollback_core::{Line, Parser};
use std::path::Path;

/// Compares each fixture of a folder with its golden; with `SCROLLBACK_BLESS=1` writes the goldens.
///
/// # Panics
///
/// If one differs, or is missing.
pub fn check(parser: &dyn Parser, folder: &str) {
    let bless = blessing();
    let world = World::new(folder);
    let mut wrong = Vec::new();
    for path in fixtures(folder) {
        let golden = path.with_extension("events.jsonl");
        let found = lines(parser, &world, &path);
        if bless {
            #[expect(clippy::disallowed_methods, reason = "goldens are written when a person asks for it")]
            std::fs::write(&golden, &found).unwrap_or_else(|error| panic!("{}: {error}", golden.display()));
            continue;
        }
        let expected = std::fs::read_to_string(&golden).unwrap_or_default();
        if expected != found {
            let at = expected.lines().zip(found.lines()).take_while(|(a, b)| a == b).count();
            let show = |text: &str| text.lines().nth(at).unwrap_or("(nothing)").to_owned();
            wrong.push(format!(
                "{}, line {}:\n  golden: {}\n  found:  {}",
                golden.display(),
                at + 1,
                show(&expected),
                show(&found)
            ));
        }
    }
    assert!(
        wrong.is_empty(),
        "goldens differ; SCROLLBACK_BLESS=1 writes them anew, to be read as a diff:\n{}",
        wrong.join("\n")
    );
}

/// Says whether goldens are to be written.
pub(crate) fn blessing() -> bool {
    #[expect(clippy::disallowed_methods, reason = "how a person asks a test to write goldens")]
    std::env::var_os("SCROLLBACK_BLESS").is_some_and(|value| value == "1")
}

/// Returns the lines that `scrollback parse` gives for a fixture.
fn lines(parser: &dyn Parser, world: &World, path: &Path) -> String {
    let mut out = String::new();
    let report = scrollback_engine::parse_with(world, path, parser, &mut |line: &Line| {
        out.push_str(&serde_json::to_string(line).map_err(std::io::Error::other)?);
        out.push('\n');
        Ok(())
    });
    if let Err(error) = report {
        panic!("{}: {error}", path.display());
    }
    out
}
