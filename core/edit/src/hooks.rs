//! The object of hooks that Claude Code, Codex and others share:
//! `{"hooks": {"Stop": [{"matcher": …, "hooks": [{"type": "command", "command": …, "timeout": …}]}]}}`.

use crate::{EditError, Settings, shell};
use scrollback_core::StandingHook;
use serde::Serialize;
use serde_json::Value;

/// A handler as we write it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Handler {
    r#type: &'static str,
    command: String,
    timeout: u32,
}

impl Handler {
    /// Returns the handler of a line; the client gives up on it after `timeout` seconds.
    pub fn new(command: String, timeout: u32) -> Self {
        Self { r#type: "command", command, timeout }
    }

    fn is(&self, there: &Value) -> bool {
        there["type"] == self.r#type
            && there["command"] == *self.command
            && there["timeout"] == self.timeout
            && CHANGING.iter().all(|key| there.get(key).is_none())
    }
}

/// Keys of a handler that change what its line does.
const CHANGING: [&str; 2] = ["args", "async"];

#[derive(Serialize)]
struct Group<'h> {
    hooks: [&'h Handler; 1],
}

/// A handler of ours in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The event.
    pub event: String,
    /// The group's index in the event's array.
    pub group: usize,
    /// The handler's index in the group.
    pub handler: usize,
    /// The line.
    pub command: String,
    /// The handler as it stands there.
    pub value: Value,
}

/// Returns the handlers of ours for a client, in the order of events, groups and handlers.
pub fn ours(file: &impl Settings, client: &str) -> Vec<Place> {
    let mut places = Vec::new();
    let Some(Value::Object(events)) = file.value(&["hooks"]) else { return places };
    for (event, groups) in events {
        for (group, value) in groups.as_array().into_iter().flatten().enumerate() {
            let handlers = value["hooks"].as_array().map_or(&[][..], Vec::as_slice);
            for (handler, value) in handlers.iter().enumerate() {
                let command = line_of(value);
                if shell::calls(&command, client) {
                    let (event, value) = (event.clone(), value.clone());
                    places.push(Place { event, group, handler, command, value });
                }
            }
        }
    }
    places
}

/// Returns handlers of ours as an adapter tells of them.
pub fn standing(places: &[Place]) -> Vec<StandingHook> {
    let hook = |place: &Place| StandingHook {
        event: place.event.clone(),
        line: place.command.clone(),
        program: shell::program(&place.command),
    };
    places.iter().map(hook).collect()
}

/// Returns what a handler runs: its command, and the arguments of one that no shell runs.
fn line_of(handler: &Value) -> String {
    let command = handler["command"].as_str().unwrap_or_default();
    let Some(args) = handler["args"].as_array() else { return command.to_owned() };
    let words = std::iter::once(command).chain(args.iter().filter_map(Value::as_str));
    words.map(shell::quote).collect::<Vec<_>>().join(" ")
}

/// Says whether the handlers of ours are these, one an event and no other.
pub fn stands(places: &[Place], wanted: &[(&str, Handler)]) -> bool {
    places.len() == wanted.len()
        && wanted
            .iter()
            .all(|(event, handler)| places.iter().any(|at| at.event == *event && handler.is(&at.value)))
}

/// What became of the handlers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Change {
    /// Whether a handler of ours was put in or changed.
    pub put: bool,
    /// Whether one was taken out.
    pub taken: bool,
    /// Whether somebody else's handler has another index now.
    pub moved: bool,
}

/// Makes `wanted` stand, one handler an event, and no other of ours.
///
/// The first handler of ours of an event is changed where it stands; where none is, a group of its own becomes the
/// last of the event's array, so that nobody's index changes. Nothing is touched that is right already.
///
/// Something at `hooks` that is no object, or at an event that is no array, is an error.
pub fn stand(
    file: &mut impl Settings,
    client: &str,
    wanted: &[(&str, Handler)],
) -> Result<Change, EditError> {
    let mut change = Change::default();
    let places = ours(file, client);
    let mut kept: Vec<&str> = Vec::new();
    let mut extra = Vec::new();
    for place in &places {
        let handler = wanted.iter().find(|(event, _)| *event == place.event && !kept.contains(event));
        let Some((event, handler)) = handler else {
            extra.push(place);
            continue;
        };
        kept.push(event);
        if !handler.is(&place.value) {
            replace(file, place, handler)?;
            change.put = true;
        }
    }
    // From the last to the first: what is before keeps its index.
    for place in extra.into_iter().rev() {
        change.moved |= take(file, place)?;
        change.taken = true;
    }
    for (event, handler) in wanted.iter().filter(|(event, _)| !kept.contains(event)) {
        file.append(&["hooks", event], &Group { hooks: [handler] })?;
        change.put = true;
    }
    Ok(change)
}

fn replace(file: &mut impl Settings, place: &Place, handler: &Handler) -> Result<(), EditError> {
    let (group, index) = (place.group.to_string(), place.handler.to_string());
    let path = ["hooks", &place.event, &group, "hooks", &index];
    for key in CHANGING {
        file.remove(&[&path[..], &[key]].concat())?;
    }
    file.set(&[&path[..], &["type"]].concat(), handler.r#type)?;
    file.set(&[&path[..], &["command"]].concat(), &handler.command)?;
    file.set(&[&path[..], &["timeout"]].concat(), &handler.timeout)
}

/// Takes a handler out, with its group if that holds nothing else now; says whether something stood behind it.
fn take(file: &mut impl Settings, place: &Place) -> Result<bool, EditError> {
    let (group, index) = (place.group.to_string(), place.handler.to_string());
    let handlers = ["hooks", &place.event, &group, "hooks"];
    let groups = &handlers[..2];
    let count = |file: &mut _, path: &[&str]| {
        Settings::value(file, path).and_then(|value| value.as_array().map(Vec::len)).unwrap_or_default()
    };
    let (all, in_group) = (count(file, groups), count(file, &handlers));
    if in_group == 1 {
        file.remove(&handlers[..3])?;
        return Ok(place.group + 1 < all);
    }
    file.remove(&[&handlers[..], &[&index]].concat())?;
    Ok(place.handler + 1 < in_group)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Json, Memo, Toml};
    use serde_json::json;

    fn handler(command: &str) -> Value {
        json!({"type": "command", "command": command})
    }

    fn all() -> Value {
        let ours = handler("scrollback hook acme");
        json!({"hooks": {
            "Stop": [
                {"hooks": [ours, ours]},
                {"hooks": [handler("a"), ours, handler("b"), ours]},
                {"matcher": "x", "hooks": [handler("c")]},
                {"hooks": [ours]},
                {"hooks": "not an array"},
            ],
            "Prompt": [{"hooks": [ours]}],
            "Other": "not an array either",
        }})
    }

    #[test]
    fn all_of_ours_go_and_nothing_else() {
        let mut file = Json::parse(Some(all().to_string().as_bytes())).unwrap();
        assert_eq!(ours(&file, "acme").len(), 6);
        let change = stand(&mut file, "acme", &[]).unwrap();
        assert_eq!(change, Change { put: false, taken: true, moved: true });
        let left = json!({"hooks": {
            "Stop": [
                {"hooks": [handler("a"), handler("b")]},
                {"matcher": "x", "hooks": [handler("c")]},
                {"hooks": "not an array"},
            ],
            "Other": "not an array either",
        }});
        assert_eq!(file.value(&[]), Some(left));
        assert_eq!(stand(&mut file, "acme", &[]), Ok(Change::default()));
        // It is known that no install made the arrays: they stay, but no group without handlers.
        let text = all().to_string();
        let mut file = Json::parse(Some(text.as_bytes())).unwrap().with_memo(Memo::default());
        stand(&mut file, "acme", &[]).unwrap();
        assert_eq!(file.value(&["hooks", "Prompt"]), Some(json!([])));
        assert_eq!(file.value(&["hooks", "Stop"]).unwrap().as_array().unwrap().len(), 3);
    }

    #[test]
    fn one_an_event_is_left_in_either_language() {
        let wanted = [("Stop", Handler::new("scrollback hook acme Stop".into(), 10))];
        let text = "[[hooks.Stop]]\nhooks = [{ type = \"command\", command = \"a\" }]\n";
        let mut toml = Toml::parse(Some(text.as_bytes())).unwrap();
        let mut json = Json::parse(Some(all().to_string().as_bytes())).unwrap();
        assert!(stand(&mut toml, "acme", &wanted).unwrap().put);
        assert!(stand(&mut json, "acme", &wanted).unwrap().put);
        for (places, at) in [(ours(&toml, "acme"), 1), (ours(&json, "acme"), 0)] {
            assert!(stands(&places, &wanted), "{places:?}");
            assert_eq!((places[0].group, places[0].handler), (at, 0));
        }
        assert_eq!(stand(&mut toml, "acme", &wanted), Ok(Change::default()));
        stand(&mut toml, "acme", &[]).unwrap();
        assert_eq!(toml.finish().as_deref(), Some(text.as_bytes()));
    }

    #[test]
    fn what_is_in_the_way_is_refused() {
        let wanted = [("Stop", Handler::new("scrollback hook acme Stop".into(), 10))];
        for text in ["{\"hooks\": []}", "{\"hooks\": {\"Stop\": {}}}", "[]", "{\"hooks\": null}"] {
            let mut file = Json::parse(Some(text.as_bytes())).unwrap();
            let error = stand(&mut file, "acme", &wanted).unwrap_err();
            assert!(error.line == 1 && error.column > 0, "{text}: {error}");
        }
    }
}
