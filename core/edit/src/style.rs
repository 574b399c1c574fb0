//! How a file is written, so that what is put in looks the same.

use crate::json;
use crate::node::{Kind, Node, Part};
use crate::text::{line_indent, newline};

/// What the text is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Language {
    /// JSON, perhaps with comments and trailing commas.
    Json,
    /// TOML.
    Toml,
}

/// How a file is written.
#[derive(Debug, Clone)]
pub(crate) struct Style {
    pub(crate) language: Language,
    pub(crate) newline: &'static str,
    /// One level of indentation.
    pub(crate) unit: String,
    /// What stands between a key and its value.
    colon: String,
    /// What stands after a comma on one line.
    pub(crate) gap: String,
    /// What stands inside the braces of an object on one line.
    pad: String,
}

impl Style {
    /// Returns the style of TOML: its spacing is the usual one, its line ending the file's.
    pub(crate) fn toml(text: &str) -> Self {
        Self {
            language: Language::Toml,
            newline: newline(text),
            unit: "    ".to_owned(),
            colon: " = ".to_owned(),
            gap: " ".to_owned(),
            pad: " ".to_owned(),
        }
    }

    /// Returns the style of a JSON text: for each trait what the file shows first, else two blanks of indentation
    /// and one after colons and commas.
    pub(crate) fn json(text: &str, root: Option<&Node>) -> Self {
        let mut seen = Seen::default();
        if let Some(root) = root {
            seen.look(text, root, line_indent(text, root.span.start));
        }
        let colon = seen.colon.unwrap_or_else(|| ": ".to_owned());
        let gap = if colon.ends_with(' ') { " " } else { "" };
        Self {
            language: Language::Json,
            newline: newline(text),
            unit: seen.unit.unwrap_or_else(|| "  ".to_owned()),
            gap: seen.gap.unwrap_or_else(|| gap.to_owned()),
            pad: seen.pad.unwrap_or_default(),
            colon,
        }
    }

    /// Returns what a comment that ends with its line starts with.
    pub(crate) fn line_comment(&self) -> &'static str {
        match self.language {
            Language::Json => "//",
            Language::Toml => "#",
        }
    }

    /// Returns what stands inside the braces of an object on one line.
    pub(crate) fn pad(&self) -> &str {
        &self.pad
    }

    /// Writes a value of the JSON text `source`: on one line, or, given the indentation of the
    /// line it starts on, over several.
    pub(crate) fn value(&self, source: &str, node: &Node, indent: Option<&str>) -> String {
        let (open, close, parts) = match &node.kind {
            Kind::Scalar => return self.scalar(&source[node.span.clone()]),
            Kind::Array(parts) => ('[', ']', parts),
            Kind::Object(parts) => ('{', '}', parts),
        };
        if parts.is_empty() {
            return format!("{open}{close}");
        }
        let inner = indent.map(|indent| format!("{indent}{}", self.unit));
        let written: Vec<String> =
            parts.iter().map(|part| self.part(source, part, inner.as_deref())).collect();
        let (Some(indent), Some(inner)) = (indent, inner) else {
            let pad = if open == '{' { self.pad.as_str() } else { "" };
            return format!("{open}{pad}{}{pad}{close}", written.join(&format!(",{}", self.gap)));
        };
        let newline = self.newline;
        let body = written.join(&format!(",{newline}{inner}"));
        format!("{open}{newline}{inner}{body}{newline}{indent}{close}")
    }

    /// Writes a member or an element of the JSON text `source`.
    pub(crate) fn part(&self, source: &str, part: &Part, indent: Option<&str>) -> String {
        let value = self.value(source, &part.node, indent);
        if part.name.is_empty() {
            return value;
        }
        let keys: Vec<&str> = part.name.iter().map(String::as_str).collect();
        format!("{}{}{value}", self.key(&keys), self.colon)
    }

    /// Writes a key; in TOML, a path is a dotted one.
    pub(crate) fn key(&self, path: &[&str]) -> String {
        let written: Vec<String> = path.iter().map(|key| self.one_key(key)).collect();
        written.join(".")
    }

    fn one_key(&self, key: &str) -> String {
        let bare = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        match self.language {
            Language::Toml if !key.is_empty() && key.chars().all(bare) => key.to_owned(),
            Language::Toml => quoted(key),
            Language::Json => serde_json::Value::from(key).to_string(),
        }
    }

    fn scalar(&self, raw: &str) -> String {
        match self.language {
            Language::Toml if raw.starts_with('"') => quoted(&json::decode(raw)),
            _ => raw.to_owned(),
        }
    }
}

/// Writes a basic string of TOML.
fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\0'..'\u{20}' | '\u{7f}' => out.extend(format!("\\u{:04X}", u32::from(c)).chars()),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

/// What a file shows of its style; the first of each counts.
#[derive(Default)]
struct Seen {
    unit: Option<String>,
    colon: Option<String>,
    gap: Option<String>,
    pad: Option<String>,
}

impl Seen {
    /// Looks at a value on a line with that indentation.
    fn look(&mut self, text: &str, node: &Node, outer: &str) {
        let mut before = node.span.start + 1;
        let mut indent = outer;
        for (index, part) in node.parts().iter().enumerate() {
            let space = &text[before..part.span.start];
            before = part.end();
            if blank(space)
                && let Some((_, own)) = space.rsplit_once('\n')
            {
                indent = own;
                if let Some(unit) = own.strip_prefix(outer).filter(|unit| !unit.is_empty()) {
                    self.unit.get_or_insert_with(|| unit.to_owned());
                }
            } else if blank(space) && index > 0 {
                self.gap.get_or_insert_with(|| space.to_owned());
            } else if blank(space) && matches!(node.kind, Kind::Object(_)) {
                self.pad.get_or_insert_with(|| space.to_owned());
            }
            let colon = &text[part.key_end..part.node.span.start];
            if !part.name.is_empty() && colon.trim_matches([' ', '\t']) == ":" {
                self.colon.get_or_insert_with(|| colon.to_owned());
            }
            self.look(text, &part.node, indent);
        }
    }
}

/// Says whether there is only white space.
pub(crate) fn blank(text: &str) -> bool {
    text.bytes().all(|byte| matches!(byte, b' ' | b'\t' | b'\n' | b'\r'))
}
