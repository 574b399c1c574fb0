//! JSON as the clients write it: compact, characters beyond ASCII as they are.

/// A value of a row.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Json<'a> {
    /// A string, to be escaped.
    Text(&'a str),
    /// JSON that is ready.
    Raw(&'a str),
    /// A number.
    Number(u64),
    /// True or false.
    Bool(bool),
    /// `null`.
    Null,
}

/// Returns an object of `fields`, in their order.
pub(crate) fn object(fields: &[(&str, Json<'_>)]) -> String {
    let mut out = String::with_capacity(512);
    out.push('{');
    for (index, (key, value)) in fields.iter().enumerate() {
        if index > 0 {
            out.push(',');
        }
        out.push('"');
        out.push_str(key);
        out.push_str("\":");
        push(&mut out, *value);
    }
    out.push('}');
    out
}

/// Returns an array of `items`, each ready JSON.
pub(crate) fn array<S: AsRef<str>>(items: &[S]) -> String {
    let mut out = String::from("[");
    for (index, item) in items.iter().enumerate() {
        if index > 0 {
            out.push(',');
        }
        out.push_str(item.as_ref());
    }
    out.push(']');
    out
}

/// Returns `text` as a JSON string.
pub(crate) fn text(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + text.len() / 16 + 2);
    push_text(&mut out, text);
    out
}

fn push(out: &mut String, value: Json<'_>) {
    match value {
        Json::Text(value) => push_text(out, value),
        Json::Raw(value) => out.push_str(value),
        Json::Number(value) => out.push_str(&value.to_string()),
        Json::Bool(value) => out.push_str(if value { "true" } else { "false" }),
        Json::Null => out.push_str("null"),
    }
}

fn push_text(out: &mut String, text: &str) {
    out.push('"');
    let mut rest = text;
    while let Some(at) = rest.find(|c: char| c < ' ' || c == '"' || c == '\\') {
        out.push_str(&rest[..at]);
        let found = rest.as_bytes()[at];
        match found {
            b'"' => out.push_str("\\\""),
            b'\\' => out.push_str("\\\\"),
            b'\n' => out.push_str("\\n"),
            b'\t' => out.push_str("\\t"),
            b'\r' => out.push_str("\\r"),
            other => out.push_str(&format!("\\u{other:04x}")),
        }
        rest = &rest[at + 1..];
    }
    out.push_str(rest);
    out.push('"');
}
