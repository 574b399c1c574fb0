//! Which hooks the client was told to trust: a digest of each handler in the user's `config.toml`, under a key made of
//! its place.

use scrollback_edit::Toml;
use scrollback_edit::hooks::Place;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use std::fmt::Write as _;
use std::path::Path;

/// The path to what the client keeps of hooks.
const STATE: [&str; 2] = ["hooks", "state"];

/// Returns the key the client keeps a handler's trust under: by its place.
pub(crate) fn key(path: &Path, place: &Place) -> String {
    format!("{}:{}:{}:{}", path.display(), snake(&place.event), place.group, place.handler)
}

/// Takes the trust in a handler out of the user's file.
pub(crate) fn path(key: &str) -> [&str; 3] {
    [STATE[0], STATE[1], key]
}

fn snake(event: &str) -> String {
    let mut snake = String::new();
    for char in event.chars() {
        if char.is_ascii_uppercase() && !snake.is_empty() {
            snake.push('_');
        }
        snake.push(char.to_ascii_lowercase());
    }
    snake
}

/// Returns the digest that the client compares: SHA-256 of the compact JSON, its keys sorted, of a group with the one
/// handler (Codex 0.171.0). Ours have neither matcher nor status message.
fn digest_of(place: &Place) -> String {
    let handler = json!({
        "async": false,
        "command": place.value["command"],
        "timeout": place.value["timeout"],
        "type": "command",
    });
    // `Value` sorts the keys of objects.
    let group = json!({"event_name": snake(&place.event), "hooks": [handler]});
    let mut digest = "sha256:".to_owned();
    for byte in Sha256::digest(group.to_string()) {
        let _ = write!(digest, "{byte:02x}");
    }
    digest
}

/// Returns what keeps handlers of one file from running, in words for the user.
pub(crate) fn hindered(config: &Toml, path: &Path, places: &[Place]) -> Vec<String> {
    let state = |place: &Place| config.value(&self::path(&key(path, place))).unwrap_or(Value::Null);
    let off = places.iter().filter(|place| state(place)["enabled"] == false).count();
    let unseen = places.iter().filter(|place| state(place)["trusted_hash"] != *digest_of(place)).count();
    let mut hindered = Vec::new();
    if off > 0 {
        hindered.push(format!(
            "hooks of {} are switched off ({off}); /hooks in codex switches them on",
            path.display()
        ));
    }
    if unseen > 0 {
        hindered.push(format!(
            "hooks of {} wait for your review ({unseen}): start codex and trust them there, or type /hooks",
            path.display()
        ));
    }
    hindered
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_digest_is_the_one_the_client_wrote() {
        // What Codex 0.171.0 wrote when its user trusted these, `config.toml` of a recorded machine; it takes no more
        // than three seconds at a session's end.
        for (event, timeout, digest) in [
            ("PreCompact", 20, "sha256:46926ed0350dd0b63b293d43499da31a2f267d2c3c13c7a6a9cf9a54fe35941f"),
            ("SessionEnd", 3, "sha256:a41ca33d79a3d9070e16f5852aa96d6693b7dad9eb35d020b0cf9f7e062f3274"),
        ] {
            let command = format!("/usr/bin/python3 /opt/probe/record_hook.py codex {event}");
            let value = json!({"type": "command", "command": command, "timeout": timeout});
            let place = Place { event: event.to_owned(), group: 0, handler: 0, command, value };
            assert_eq!(digest_of(&place), digest, "{event}");
        }
    }

    #[test]
    fn what_waits_for_a_review_is_said() {
        let command = "scrollback hook codex Stop".to_owned();
        let value = json!({"type": "command", "command": command, "timeout": 10});
        let place = Place { event: "SubagentStop".to_owned(), group: 1, handler: 0, command, value };
        let path = Path::new("/c/hooks.json");
        let said = |text: &str| {
            let config = Toml::parse(Some(text.as_bytes())).unwrap();
            hindered(&config, path, std::slice::from_ref(&place))
        };
        let row = |rest: &str| {
            format!(
                "[hooks.state.'/c/hooks.json:subagent_stop:1:0']\ntrusted_hash = \"{}\"\n{rest}",
                digest_of(&place)
            )
        };
        assert_eq!(said(&row("")), Vec::<String>::new());
        assert!(said("")[0].contains("hooks of /c/hooks.json wait for your review (1)"));
        assert_eq!(said(&row("").replace("sha256:", "sha256:0")).len(), 1);
        assert!(said(&row("enabled = false"))[0].contains("switched off"));
    }
}
