//! The table of clients in `docs/clients.md`.

use crate::client::Client;
use crate::files;
use anyhow::{Context as _, Result};
use std::fs;
use std::path::{Path, PathBuf};

/// The column that runs are written into.
const COLUMN: &str = "last walkthrough";

/// Returns the root of the repository.
pub(crate) fn root() -> PathBuf {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR"));
    manifest.ancestors().nth(2).unwrap_or(manifest).to_owned()
}

/// Writes the versions and the day of a run that went well into the clients' rows.
pub(crate) fn write(clients: &[Client]) -> Result<()> {
    let path = root().join("docs/clients.md");
    let mut page = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
    let day = jiff::Timestamp::now().strftime("%Y-%m-%d").to_string();
    for client in clients {
        let pinned = client.pinned();
        page = set(&page, pinned.name, &format!("{}, {day}", pinned.version)).with_context(|| {
            format!("{}: no row of {} with a column {COLUMN}", path.display(), pinned.name)
        })?;
    }
    files::write(&path, page)
}

/// Returns a page with a cell of its first table replaced: in the row that begins with `name`, below [`COLUMN`].
fn set(page: &str, name: &str, value: &str) -> Option<String> {
    let mut column = None;
    let mut done = false;
    let mut lines = Vec::new();
    for line in page.split('\n') {
        let mut cells: Vec<&str> = line.split('|').collect();
        if column.is_none() {
            column = cells.iter().position(|cell| cell.trim() == COLUMN);
        }
        let row = !done && cells.get(1).is_some_and(|cell| cell.trim() == name);
        let cell = format!(" {value} ");
        match column.and_then(|column| cells.get_mut(column)) {
            Some(old) if row => {
                *old = &cell;
                done = true;
                lines.push(cells.join("|"));
            }
            _ => lines.push(line.to_owned()),
        }
    }
    done.then(|| lines.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::set;

    const PAGE: &str = "# Clients\n\n| client | last walkthrough | grade |\n|---|---|---|\n| One | none | a |\n\
                        | Two | 1.0, 2026-01-01 | b |\n\n| One | other table |\n";

    #[test]
    fn a_run_changes_one_cell() {
        let page = set(PAGE, "Two", "1.1, 2026-02-02").unwrap();
        assert_eq!(page, PAGE.replace("1.0, 2026-01-01", "1.1, 2026-02-02"));
    }

    #[test]
    fn a_client_without_a_row_or_a_table_without_the_column_is_no_page() {
        assert_eq!(set(PAGE, "Three", "1"), None);
        assert_eq!(set(&PAGE.replace("last walkthrough", "versions"), "One", "1"), None);
    }
}
