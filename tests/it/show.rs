//! What people read of a session that was recorded.

use crate::support::sandbox;
use scrollback_tests::{Sandbox, expect};

fn filled() -> Sandbox {
    let sandbox = sandbox();
    sandbox.put_recorded();
    sandbox.well(&["tail"]);
    sandbox
}

/// Asserts that an output fits on a page.
#[track_caller]
fn assert_narrow(output: &str) {
    for line in output.lines() {
        assert!(line.chars().count() <= 80, "wider than 80 columns: {line}");
        assert_eq!(line.trim_end(), line, "blanks at the end of a line");
    }
}

/// Compares an output with a file.
#[track_caller]
fn page(name: &str, output: &str) {
    assert_narrow(output);
    expect(format!("tests/expected/{name}"), output);
}

#[test]
fn sessions_and_what_was_said_in_them() {
    let sandbox = filled();
    // A list of sessions says the time of today's, the day of others: only its width is always the same.
    let sessions = sandbox.well(&["sessions"]);
    assert_eq!(sessions.lines().count(), 18, "{sessions}");
    assert_narrow(&sessions);
    page("show-claude-code.txt", &sandbox.well(&["show", "9f8ea63d-16ca-413c-a289-7019a50ed6a9"]));
    page("show-claude-code-subagent.txt", &sandbox.well(&["show", "acb9467d70f3509c5"]));
    page("show-claude-code-fork.txt", &sandbox.well(&["show", "fd652871"]));
    page("show-codex.txt", &sandbox.well(&["show", "01a22e35-adc4-7e23-a02d-3ce26c009c8c"]));
    page("search.txt", &sandbox.well(&["search", "sub-agent"]));
}

#[test]
fn everything_in_full_is_no_wider() {
    let sandbox = filled();
    for session in crate::support::values(&sandbox.well(&["sessions", "--json"])) {
        let name = crate::support::text(&session, "session");
        for line in sandbox.well(&["show", "--full", name]).lines() {
            assert!(line.chars().count() <= 80, "{name}: wider than 80 columns: {line}");
        }
    }
}
