//! What TOML cannot say of a field map: names, patterns, values with two meanings.

use super::{MapError, Wire, Words};
use std::collections::HashMap;
use std::ops::Range;
use toml::Spanned;

/// Returns an error at a place of the text.
pub(super) fn error(text: &str, at: Range<usize>, what: impl Into<String>) -> MapError {
    let before = text.get(..at.start).unwrap_or(text);
    let line_start = before.rfind('\n').map_or(0, |at| at + 1);
    MapError {
        line: before.matches('\n').count() + 1,
        column: before.get(line_start..).unwrap_or_default().chars().count() + 1,
        what: what.into(),
    }
}

/// Checks what the types do not.
pub(super) fn all(text: &str, wire: &Wire) -> Result<(), MapError> {
    let wrong = |at: &Spanned<String>, what: String| Err(error(text, at.span(), what));
    for id in [Some(&wire.id), wire.client.as_ref()].into_iter().flatten() {
        if !is_id(id.get_ref()) {
            let what = "is no id: lower-case letters, digits and single hyphens, such as \"acme-agent\"";
            return wrong(id, format!("{:?} {what}", id.get_ref()));
        }
    }
    if wire.name.get_ref().trim().is_empty() {
        return wrong(&wire.name, "the name is empty: how people write the client's".to_owned());
    }
    for pattern in wire.homes.iter().chain(&wire.exclude) {
        if !pattern.get_ref().starts_with("~/") && !pattern.get_ref().starts_with('/') {
            let what = "begins nowhere: a pattern of files begins with `~/` or `/`";
            return wrong(pattern, format!("{:?} {what}", pattern.get_ref()));
        }
    }
    let record = wire.record.get_ref();
    let kinds = &wire.kinds;
    let listed =
        [&kinds.user, &kinds.assistant, &kinds.instructions, &kinds.thinking, &kinds.call, &kinds.result];
    if record.kind.is_empty()
        && let Some(first) = listed.into_iter().chain([&kinds.nothing, &wire.session.kinds]).flatten().next()
    {
        return wrong(
            first,
            "there are values of a kind, but `kind` in [record] is no path to it".to_owned(),
        );
    }
    if record.role.is_empty() && listed.iter().all(|words| words.is_empty()) {
        let what = "nothing tells who speaks: [record] wants `role`, or `kind` with values in [kinds]";
        return Err(error(text, wire.record.span(), what));
    }
    if let Some(recognise) = &wire.recognise {
        let rule = recognise.get_ref();
        if rule.names.is_empty() && rule.keys.is_none() && !rule.messages {
            let what = "[recognise] recognises nothing: it wants `names`, `keys` or `messages = true`";
            return Err(error(text, recognise.span(), what));
        }
    }
    once(text, "kinds", listed.into_iter().chain([&kinds.nothing, &wire.session.kinds]))?;
    if let Some(roles) = &wire.roles {
        once(text, "roles", [&roles.user, &roles.assistant, &roles.instructions, &roles.result])?;
    }
    if let Some(block) = &wire.block {
        let kinds = &block.kinds;
        let lists =
            [&kinds.text, &kinds.thinking, &kinds.call, &kinds.result, &kinds.attachment, &kinds.nothing];
        once(text, "block.kinds", lists)?;
    }
    Ok(())
}

/// Checks that no value stands in two lists.
fn once<'w>(text: &str, table: &str, lists: impl IntoIterator<Item = &'w Words>) -> Result<(), MapError> {
    let mut held: HashMap<&str, &Spanned<String>> = HashMap::new();
    for word in lists.into_iter().flatten() {
        if let Some(other) = held.insert(word.get_ref(), word) {
            // The later of the two in the file is the one that is wrong.
            let at = word.span().start.max(other.span().start);
            let what = format!("{:?} has two meanings in [{table}]", word.get_ref());
            return Err(error(text, at..at, what));
        }
    }
    Ok(())
}

fn is_id(id: &str) -> bool {
    let part = |part: &str| {
        !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
    };
    id.split('-').all(part)
}

#[cfg(test)]
mod tests {
    use crate::FieldMap;

    /// Returns line, column and what is wrong.
    fn refused(text: &str) -> (usize, usize, String) {
        let error = FieldMap::read(text).unwrap_err();
        (error.line, error.column, error.what)
    }

    const HEAD: &str = "id = \"acme\"\nname = \"Acme\"\n";

    #[test]
    fn what_is_wrong_is_named_with_its_place() {
        let cases = [
            ("id = \"acme\"\n", 1, 1, "missing field `name`"),
            ("id = \"acme\"\nname = 3\n[record]\nrole = \"r\"\n", 2, 8, "expected a string"),
            ("id = \"Acme\"\nname = \"A\"\n[record]\nrole = \"r\"\n", 1, 6, "\"Acme\" is no id"),
            ("id = \"acme\"\nname = \" \"\n[record]\nrole = \"r\"\n", 2, 8, "the name is empty"),
            ("id = \"acme\"\nname = \"A\n", 2, 0, ""),
            ("id = \"acme\"\nname = \"A\"\n[record]\nrle = \"r\"\n", 4, 1, "unknown field `rle`"),
            ("id = \"acme\"\nname = \"A\"\n[record]\nrole = 7\n", 4, 8, "expected a path such as"),
            ("id = \"acme\"\nname = \"A\"\n[record]\nrole = \"a..b\"\n", 4, 8, "a name that is empty"),
            (
                "id = \"acme\"\nname = \"A\"\nhomes = [\"logs/*.jsonl\"]\n[record]\nrole = \"r\"\n",
                3,
                10,
                "begins nowhere",
            ),
            ("id = \"acme\"\nname = \"A\"\n[record]\ncontent = \"c\"\n", 3, 1, "nothing tells who speaks"),
            (
                "id = \"acme\"\nname = \"A\"\n[record]\nrole = \"r\"\n[kinds]\nuser = [\"u\"]\n",
                6,
                9,
                "`kind` in [record]",
            ),
            (
                "id = \"acme\"\nname = \"A\"\n[record]\nrole = \"r\"\n[recognise]\n",
                5,
                1,
                "[recognise] recognises nothing",
            ),
            (
                "id = \"acme\"\nname = \"A\"\n[record]\nrole = \"r\"\n[roles]\nuser = [\"u\"]\nassistant = [\"a\", \"u\"]\n",
                7,
                19,
                "\"u\" has two meanings in [roles]",
            ),
        ];
        for (text, line, column, what) in cases {
            let found = refused(text);
            assert!(found.0 == line && found.2.contains(what), "{text}\n{found:?}");
            assert!(column == 0 || found.1 == column, "{text}\n{found:?}");
        }
        assert!(FieldMap::read(&format!("{HEAD}[record]\nrole = \"r\"\n")).is_ok());
    }

    #[test]
    fn a_column_counts_characters() {
        let text = format!("{HEAD}[record]\nrole = [\"über\", \"a..b\"]\n");
        assert_eq!(refused(&text).0, 4);
        let text = "id = \"acme\"\nname = \"Ä\"\nhomes = [\"~/ä\", \"ö\"]\n[record]\nrole = \"r\"\n";
        let (line, column, _) = refused(text);
        assert_eq!((line, column), (3, 17));
    }
}
