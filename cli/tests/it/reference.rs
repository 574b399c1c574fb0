//! `docs/cli.md` is what the program says of itself.

use std::fs;
use std::path::Path;

#[expect(clippy::disallowed_methods, reason = "how a person asks for the files to be written")]
pub(crate) fn blessing() -> bool {
    std::env::var_os("SCROLLBACK_BLESS").is_some_and(|value| value == "1")
}

#[expect(clippy::disallowed_methods, reason = "an expected output that a person asked for")]
pub(crate) fn write(path: &Path, text: &str) {
    fs::write(path, text).unwrap();
}

#[test]
fn the_reference_is_up_to_date() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/cli.md");
    let reference = scrollback_cli::reference();
    if blessing() {
        write(&path, &reference);
        return;
    }
    let written = fs::read_to_string(&path).unwrap_or_default();
    assert!(
        written == reference,
        "docs/cli.md is not what the program says: SCROLLBACK_BLESS=1 writes it anew"
    );
}
