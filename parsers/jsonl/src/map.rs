//! Field maps: TOML to a parser's facts, with the place of whatever is wrong.

mod check;

use crate::path::Paths;
use scrollback_core::{Homes, ParserSpec, Shape};
use serde::Deserialize;
use std::borrow::Cow;
use std::sync::LazyLock;
use thiserror::Error;
use toml::Spanned;

/// What is wrong with a field map, and where.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("line {line}, column {column}: {what}")]
pub struct MapError {
    /// The line, from 1.
    pub line: usize,
    /// The character in it, from 1.
    pub column: usize,
    /// What was expected and what was found, as a lower-case fragment.
    pub what: String,
}

/// A parser that a TOML file describes: where in a record what stands.
#[derive(Debug, Clone)]
pub struct FieldMap {
    pub(crate) spec: ParserSpec,
    pub(crate) homes: Homes,
    pub(crate) recognise: Option<Recognise>,
    pub(crate) session: SessionFields,
    pub(crate) record: RecordFields,
    pub(crate) kinds: Kinds,
    pub(crate) roles: Roles,
    pub(crate) block: BlockFields,
    pub(crate) call: CallFields,
    pub(crate) result: ResultFields,
    pub(crate) attachment: AttachmentFields,
}

/// A list of values, each with its place.
pub(crate) type Words = Vec<Spanned<String>>;

/// The file as it is written.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Wire {
    id: Spanned<String>,
    name: Spanned<String>,
    client: Option<Spanned<String>>,
    #[serde(default)]
    homes: Words,
    #[serde(default)]
    exclude: Words,
    recognise: Option<Spanned<Recognise>>,
    #[serde(default)]
    session: SessionFields,
    record: Spanned<RecordFields>,
    #[serde(default)]
    kinds: Kinds,
    roles: Option<Roles>,
    block: Option<BlockFields>,
    call: Option<CallFields>,
    result: Option<ResultFields>,
    attachment: Option<AttachmentFields>,
}

/// What of a file's name and first lines says that it is one.
#[derive(Debug, Clone, Deserialize, Default)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Recognise {
    pub(crate) names: Vec<String>,
    pub(crate) keys: Option<Paths>,
    pub(crate) messages: bool,
}

/// Records that say something of their session.
#[derive(Debug, Clone, Deserialize, Default)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct SessionFields {
    pub(crate) kinds: Words,
    pub(crate) id: Paths,
    pub(crate) started: Paths,
    pub(crate) cwd: Paths,
    pub(crate) branch: Paths,
    pub(crate) title: Paths,
    pub(crate) model: Paths,
    pub(crate) version: Paths,
}

/// Where in a record its own facts are.
#[derive(Debug, Clone, Deserialize, Default)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct RecordFields {
    pub(crate) kind: Paths,
    pub(crate) role: Paths,
    pub(crate) content: Paths,
    pub(crate) thinking: Paths,
    pub(crate) calls: Paths,
    pub(crate) time: Paths,
    pub(crate) id: Paths,
    pub(crate) session: Paths,
    pub(crate) model: Paths,
    pub(crate) cwd: Paths,
    pub(crate) branch: Paths,
    pub(crate) title: Paths,
    pub(crate) version: Paths,
}

/// What the values of a record's kind mean.
#[derive(Debug, Clone, Deserialize, Default)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Kinds {
    pub(crate) user: Words,
    pub(crate) assistant: Words,
    pub(crate) instructions: Words,
    pub(crate) thinking: Words,
    pub(crate) call: Words,
    pub(crate) result: Words,
    pub(crate) nothing: Words,
}

/// What the values of a record's role mean.
#[derive(Debug, Clone, Deserialize, Default)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Roles {
    pub(crate) user: Words,
    pub(crate) assistant: Words,
    pub(crate) instructions: Words,
    pub(crate) result: Words,
}

/// Where in a block of a content what stands.
#[derive(Debug, Clone, Deserialize, Default)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct BlockFields {
    pub(crate) kind: Paths,
    pub(crate) text: Paths,
    pub(crate) thinking: Paths,
    pub(crate) thought: Paths,
    pub(crate) kinds: BlockKinds,
}

/// What the values of a block's kind mean.
#[derive(Debug, Clone, Deserialize, Default)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct BlockKinds {
    pub(crate) text: Words,
    pub(crate) thinking: Words,
    pub(crate) call: Words,
    pub(crate) result: Words,
    pub(crate) attachment: Words,
    pub(crate) nothing: Words,
}

/// Where in a call what stands: a record, a block, or an element of `calls`.
#[derive(Debug, Clone, Deserialize, Default)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct CallFields {
    pub(crate) id: Paths,
    pub(crate) name: Paths,
    pub(crate) input: Paths,
}

/// Where in a result what stands: a record or a block.
#[derive(Debug, Clone, Deserialize, Default)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct ResultFields {
    pub(crate) call: Paths,
    pub(crate) name: Paths,
    pub(crate) output: Paths,
    pub(crate) error: Paths,
    pub(crate) exit_status: Paths,
}

/// Where in a block of an image or a document what stands.
#[derive(Debug, Clone, Deserialize, Default)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct AttachmentFields {
    pub(crate) media_type: Paths,
    pub(crate) data: Paths,
    pub(crate) address: Paths,
    pub(crate) name: Paths,
}

impl FieldMap {
    /// Says whether it is the map that is built in.
    pub(crate) fn is_built_in(&self) -> bool {
        self.spec.id == default().spec.id
    }

    /// Reads a field map. What it leaves out of `roles`, `block`, `call`, `result` and `attachment`, each as a
    /// whole, is the default map's. An unknown key, a path that is none and a value with two meanings are errors.
    pub fn read(text: &str) -> Result<Self, MapError> {
        let wire: Wire = toml::from_str(text)
            .map_err(|error| check::error(text, error.span().unwrap_or_default(), error.message()))?;
        check::all(text, &wire)?;
        Ok(Self::of(wire, Some(default())))
    }

    fn of(wire: Wire, default: Option<&Self>) -> Self {
        let id = wire.id.into_inner();
        let mut spec = ParserSpec::new("", "", Shape::Lines).labelled();
        spec.client = Cow::Owned(wire.client.map_or_else(|| id.clone(), Spanned::into_inner));
        spec.id = Cow::Owned(id);
        spec.name = Cow::Owned(wire.name.into_inner());
        let words = |words: Words| words.into_iter().map(Spanned::into_inner);
        Self {
            spec,
            homes: Homes::of(words(wire.homes)).without(words(wire.exclude)),
            recognise: wire.recognise.map(Spanned::into_inner),
            session: wire.session,
            record: wire.record.into_inner(),
            kinds: wire.kinds,
            roles: wire.roles.or_else(|| Some(default?.roles.clone())).unwrap_or_default(),
            block: wire.block.or_else(|| Some(default?.block.clone())).unwrap_or_default(),
            call: wire.call.or_else(|| Some(default?.call.clone())).unwrap_or_default(),
            result: wire.result.or_else(|| Some(default?.result.clone())).unwrap_or_default(),
            attachment: wire.attachment.or_else(|| Some(default?.attachment.clone())).unwrap_or_default(),
        }
    }
}

/// Says whether a value is in a list.
pub(crate) fn has(words: &Words, word: &str) -> bool {
    words.iter().any(|held| held.get_ref() == word)
}

/// The map that is built in, as it is documented.
pub(crate) const DEFAULT: &str = include_str!("default.toml");

/// Returns the map that is built in.
pub(crate) fn default() -> &'static FieldMap {
    static MAP: LazyLock<FieldMap> = LazyLock::new(|| {
        // A test reads it; a map of nothing understands nothing.
        let wire = toml::from_str(DEFAULT).unwrap_or_else(|_| Wire {
            id: Spanned::new(0..0, "jsonl".to_owned()),
            name: Spanned::new(0..0, String::new()),
            client: None,
            homes: Vec::new(),
            exclude: Vec::new(),
            recognise: None,
            session: SessionFields::default(),
            record: Spanned::new(0..0, RecordFields::default()),
            kinds: Kinds::default(),
            roles: None,
            block: None,
            call: None,
            result: None,
            attachment: None,
        });
        FieldMap::of(wire, None)
    });
    &MAP
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_map_is_one_and_leaves_nothing_out() {
        let map = FieldMap::read(DEFAULT).unwrap();
        assert_eq!((&*map.spec.id, &*map.spec.name), (&*crate::SPEC.id, &*crate::SPEC.name));
        assert!(!default().record.role.is_empty() && !default().roles.user.is_empty());
        for table in ["[roles]", "[block]", "[block.kinds]", "[call]", "[result]", "[attachment]"] {
            assert!(DEFAULT.contains(&format!("\n{table}\n")), "{table}");
        }
    }

    #[test]
    fn what_is_left_out_is_as_in_the_default_map() {
        let map =
            FieldMap::read("id='a'\nname='A'\nrecord={role='who',content='said'}\ncall={name='x'}").unwrap();
        assert!(has(&map.roles.user, "human") && has(&map.block.kinds.call, "tool_use"));
        assert!(map.kinds.user.is_empty() && map.call.input.is_empty() && map.recognise.is_none());
    }
}
