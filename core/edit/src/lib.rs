//! Settings edits that leave every other byte alone.
//!
//! An adapter reads a client's settings with [`Json`] (comments and trailing commas are taken) or [`Toml`], asks for
//! a [`value`](Json::value), and calls [`set`](Json::set), [`append`](Json::append) and [`remove`](Json::remove);
//! [`finish`](Json::finish) gives the bytes for the plan. Nothing is written here. What is put in is written as the
//! file is: its indentation, line endings, spacing and trailing commas, on one line where its surroundings are.
//!
//! # Taking out again
//!
//! Installing and then uninstalling gives the same bytes, given the [`Memo`] of the install: which containers were
//! missing, and which were there with nothing in them. Without one, a container that is left with nothing goes too,
//! and one that was there empty with it. Two things only are not put back: what [`set`](Json::set) replaced, and the
//! file's own white space inside an empty container, if the memo is lost or somebody wrote there since. A comment is
//! never taken out, but one inside a value, or in a TOML block or on a line, that goes as a whole.
//!
//! # For adapters
//!
//! [`Opened`] reads a file through the machine a plugin sees and gives the step of a plan; [`hooks`] edits the object of
//! hooks that several clients share, and [`shell`] writes the line they run and knows it again.
//!
//! # Errors
//!
//! An [`EditError`] has line and column: of the byte that does not parse, of the second of two equal keys, of the
//! value that is in the way. Settings are refused whole: no edit is made of a file that is not understood.
//!
//! # Example
//!
//! ```
//! use scrollback_edit::{Json, Toml};
//! use serde::Serialize;
//!
//! #[derive(Serialize)]
//! struct Command<'c> {
//!     r#type: &'c str,
//!     command: &'c str,
//! }
//!
//! #[derive(Serialize)]
//! struct Group<'c> {
//!     hooks: [Command<'c>; 1],
//! }
//!
//! let group = Group { hooks: [Command { r#type: "command", command: "scrollback hook" }] };
//! let before = b"{\n  // mine\n  \"model\": \"opus\"\n}\n";
//!
//! // Install.
//! let mut settings = Json::parse(Some(before))?;
//! settings.append(&["hooks", "Stop"], &group)?;
//! let memo = settings.memo().clone();
//! let after = settings.finish();
//! assert_eq!(
//!     String::from_utf8(after.clone().unwrap_or_default())?,
//!     r#"{
//!   // mine
//!   "model": "opus",
//!   "hooks": {
//!     "Stop": [
//!       {
//!         "hooks": [
//!           {
//!             "type": "command",
//!             "command": "scrollback hook"
//!           }
//!         ]
//!       }
//!     ]
//!   }
//! }
//! "#
//! );
//!
//! // Uninstall: the elements are looked at with `value`, and ours goes by its index.
//! let mut settings = Json::parse(after.as_deref())?.with_memo(memo);
//! assert!(settings.remove(&["hooks", "Stop", "0"])?);
//! assert_eq!(settings.finish().as_deref(), Some(&before[..]));
//!
//! // TOML has the same methods; a table that is not there becomes a block.
//! let mut config = Toml::parse(Some(b"model = \"o4\""))?;
//! config.set(&["mcp_servers", "scrollback"], &serde_json::json!({ "command": "scrollback" }))?;
//! let after = b"model = \"o4\"\n\n[mcp_servers.scrollback]\ncommand = \"scrollback\"";
//! assert_eq!(config.finish().as_deref(), Some(&after[..]));
//!
//! // What is not understood is refused, with its place.
//! let twice = Json::parse(Some(b"{\"a\": 1,\n \"\\u0061\": 2}")).unwrap_err();
//! assert_eq!(twice.to_string(), "2:2: the key \"a\" is there twice");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod error;
mod given;
pub mod hooks;
mod json;
mod list;
mod memo;
mod node;
mod project;
mod settings;
pub mod shell;
mod style;
mod text;
mod toml;
mod value;

pub use error::EditError;
pub use json::Json;
pub use memo::Memo;
pub use project::project;
pub use settings::{Opened, Settings};
pub use toml::Toml;
