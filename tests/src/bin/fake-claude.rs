//! Does what `claude mcp` was measured to do, on `$HOME/.claude.json`: a name that is there is not added, one that is
//! not there is not removed, and the file is written anew.

use serde_json::{Map, Value, json};
use std::path::PathBuf;

fn main() -> Result<(), String> {
    #[expect(clippy::disallowed_methods, reason = "the client reads its own environment")]
    let home = std::env::var("HOME").map_err(|error| error.to_string())?;
    let path = PathBuf::from(home).join(".claude.json");
    let mut state: Value = match std::fs::read(&path) {
        Ok(bytes) => serde_json::from_slice(&bytes).map_err(|error| error.to_string())?,
        Err(_) => json!({}),
    };
    let servers = state["mcpServers"].as_object().cloned().unwrap_or_default();
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    state["mcpServers"] = Value::Object(edited(servers, &args)?);
    #[expect(clippy::disallowed_methods, reason = "the client writes its own file")]
    std::fs::write(path, format!("{state:#}")).map_err(|error| error.to_string())
}

fn edited(mut servers: Map<String, Value>, args: &[&str]) -> Result<Map<String, Value>, String> {
    let ["mcp", verb, "-s", "user", rest @ ..] = args else {
        return Err(format!("not understood: {args:?}"));
    };
    let (name, entry) = match (*verb, rest) {
        ("remove", [name]) => {
            servers.remove(*name).ok_or("no such server")?;
            return Ok(servers);
        }
        ("add-json", [name, entry]) => {
            (name, serde_json::from_str(entry).map_err(|error| error.to_string())?)
        }
        ("add", ["-t", "http", name, url, headers @ ..]) => {
            let mut found = Map::new();
            for pair in headers.chunks(2) {
                let ["-H", header] = pair else { return Err(format!("not a header: {pair:?}")) };
                let (key, value) = header.split_once(": ").ok_or("not a header")?;
                found.insert(key.to_owned(), value.into());
            }
            (name, json!({"type": "http", "url": url, "headers": found}))
        }
        ("add", [name, "--", command, args @ ..]) => {
            (name, json!({"type": "stdio", "command": command, "args": args, "env": {}}))
        }
        _ => return Err(format!("not understood: {args:?}")),
    };
    if servers.insert((*name).to_owned(), entry).is_some() {
        return Err(format!("MCP server {name} already exists"));
    }
    Ok(servers)
}
