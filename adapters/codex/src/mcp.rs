//! The client's servers: tables of `config.toml`, edited as text.

use scrollback_core::{Half, McpEntry, PlanError};
use scrollback_edit::{EditError, Opened, Toml, shell};
use serde_json::{Map, Value};
use std::path::Path;

/// What a server elsewhere of ours is called if nothing else says that it is ours.
const NAME: &str = "scrollback";
/// The keys of one kind of server that the client refuses in the other.
const OF_PROGRAMS: [&str; 5] = ["command", "args", "env", "env_vars", "cwd"];
const OF_ADDRESSES: [&str; 8] = [
    "url",
    "bearer_token_env_var",
    "http_headers",
    "env_http_headers",
    "http_headers_helper",
    "oauth",
    "oauth_resource",
    "auth",
];
/// The keys of an address that are ours to set.
const HEADERS: [&str; 3] = ["bearer_token_env_var", "http_headers", "env_http_headers"];

/// An entry as keys of its table, and which keys must not be beside them.
struct Entry<'e> {
    name: &'e str,
    keys: Vec<(&'static str, Value)>,
    without: Vec<&'static str>,
}

impl<'e> Entry<'e> {
    fn of(entry: &'e McpEntry) -> Result<Self, PlanError> {
        match entry {
            McpEntry::Program { name, command, args } => {
                let Some(command) = command.to_str() else {
                    return Err(PlanError::Refused(format!("the path {} is not Unicode", command.display())));
                };
                let keys = vec![("command", Value::from(command)), ("args", Value::from(args.clone()))];
                Ok(Self { name, keys, without: OF_ADDRESSES.to_vec() })
            }
            McpEntry::Http { name, url, headers } => {
                let mut keys = vec![("url", Value::from(&**url))];
                keys.extend(headers_of(headers));
                let unset = HEADERS.into_iter().filter(|header| keys.iter().all(|(key, _)| key != header));
                let without = OF_PROGRAMS.into_iter().chain(unset).collect();
                Ok(Self { name, keys, without })
            }
        }
    }

    fn is(&self, there: &Value) -> bool {
        self.keys.iter().all(|(key, value)| there.get(key) == Some(value))
            && self.without.iter().all(|key| there.get(key).is_none())
    }

    /// Puts the table in, or changes the keys of the one there: what the user set beside them stays.
    fn put(&self, file: &mut Toml) -> Result<(), EditError> {
        let table = ["mcp_servers", self.name];
        if file.value(&table).is_none() {
            return file.set(&table, &Table(&self.keys));
        }
        for key in &self.without {
            file.remove(&[&table[..], &[key]].concat())?;
        }
        self.keys.iter().try_for_each(|(key, value)| file.set(&[&table[..], &[key]].concat(), value))
    }
}

/// A table in the order of its keys.
struct Table<'t>(&'t [(&'static str, Value)]);

impl serde::Serialize for Table<'_> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(key, value)| (key, value)))
    }
}

/// Returns headers as the client has them: a value that is `${NAME}` comes from that variable.
fn headers_of(headers: &[(String, String)]) -> Vec<(&'static str, Value)> {
    let variable = |value: &str| Some(value.strip_prefix("${")?.strip_suffix('}')?.to_owned());
    let (mut plain, mut named, mut keys) = (Map::new(), Map::new(), Vec::new());
    for (name, value) in headers {
        let token = value.strip_prefix("Bearer ").and_then(variable);
        if let Some(token) = token.filter(|_| name.eq_ignore_ascii_case("authorization")) {
            keys.push(("bearer_token_env_var", Value::from(token)));
        } else if let Some(variable) = variable(value) {
            named.insert(name.clone(), variable.into());
        } else {
            plain.insert(name.clone(), (&**value).into());
        }
    }
    for (key, map) in [("http_headers", plain), ("env_http_headers", named)] {
        if !map.is_empty() {
            keys.push((key, map.into()));
        }
    }
    keys
}

/// Says whether an entry is one of ours: it runs our recall tools, or is a server elsewhere of our name. A proxy is
/// the user's own server.
fn is_ours(name: &str, entry: &Value) -> bool {
    match entry["command"].as_str() {
        Some(command) => {
            let arg = |at: usize| entry["args"].get(at).and_then(Value::as_str);
            shell::is_ours(command) && arg(0) == Some("mcp") && arg(1) != Some("proxy")
        }
        None => name == NAME && entry["url"].is_string(),
    }
}

fn servers(file: &Toml) -> Map<String, Value> {
    match file.value(&["mcp_servers"]) {
        Some(Value::Object(servers)) => servers,
        _ => Map::new(),
    }
}

/// Says whether an entry of ours is there.
pub(crate) fn stands(file: &Toml) -> bool {
    servers(file).iter().any(|(name, entry)| is_ours(name, entry))
}

/// Refuses to replace a server that is not ours.
fn held(replaceable: bool, name: &str, path: &Path) -> Result<(), PlanError> {
    if replaceable {
        return Ok(());
    }
    Err(PlanError::Refused(format!("{} has another server called {name}; it stays", path.display())))
}

/// Makes the wanted entry stand, and no other of ours.
pub(crate) fn edit(config: &mut Opened<Toml>, wanted: Half<&McpEntry>) -> Result<(), PlanError> {
    let wanted = match wanted {
        Half::Leave => return Ok(()),
        Half::Absent => None,
        Half::Stand(entry) => Some(Entry::of(entry)?),
    };
    for (name, there) in servers(&config.file) {
        match &wanted {
            Some(wanted) if wanted.name == name => {
                let replaceable = is_ours(&name, &there) || there["url"].is_string();
                held(replaceable, &name, config.path())?;
            }
            _ if is_ours(&name, &there) => {
                config.edit(|file| file.remove(&["mcp_servers", &name]))?;
            }
            _ => {}
        }
    }
    let Some(wanted) = wanted else { return Ok(()) };
    if config.file.value(&["mcp_servers", wanted.name]).is_some_and(|there| wanted.is(&there)) {
        return Ok(());
    }
    config.edit(|file| wanted.put(file))
}
