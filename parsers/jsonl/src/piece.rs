//! What a content is made of: words, thinking, calls, results.

use crate::map::{FieldMap, has};
use crate::node::{Node, within};
use crate::path::Paths;
use scrollback_core::{Attachment, Data};
use std::borrow::Cow;

/// A piece of a record.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Piece {
    /// Words, and what came along.
    Words { text: String, attachments: Vec<Attachment<'static>> },
    /// Thinking that was written down.
    Thinking(String),
    /// A tool, asked for; `input` is the text of one JSON value.
    Call { id: Option<String>, tool: String, input: String },
    /// What a tool gave back.
    Result(Output),
    /// Known to carry nothing.
    Nothing,
    /// Not understood, and what it is called.
    Unknown(String),
}

/// What a tool gave back.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Output {
    pub(crate) call: Option<String>,
    pub(crate) tool: Option<String>,
    pub(crate) text: String,
    pub(crate) error: bool,
    pub(crate) exit_status: Option<i64>,
    pub(crate) attachments: Vec<Attachment<'static>>,
}

/// A piece, with the part of its record that it is: the block's index, as ids have it.
pub(crate) type Part = (String, Piece);

/// Returns the pieces of a content: of a string one, of a list one a block, words that follow each other as one.
pub(crate) fn content(map: &FieldMap, node: &Node<'_>) -> Vec<Part> {
    let mut parts = Vec::new();
    if node.is_list() {
        for (at, item) in node.items().iter().enumerate() {
            join(&mut parts, (at.to_string(), block(map, item)));
        }
    } else {
        parts.push(("0".to_owned(), block(map, node)));
    }
    parts
}

/// Puts a piece behind others; words behind words become one message.
fn join(parts: &mut Vec<Part>, (part, piece): Part) {
    if let Piece::Words { text, attachments } = &piece
        && let Some((_, Piece::Words { text: held, attachments: all })) = parts.last_mut()
    {
        if !held.is_empty() && !text.is_empty() {
            held.push('\n');
        }
        let at = held.len();
        held.push_str(text);
        let moved = attachments
            .iter()
            .cloned()
            .map(|it| Attachment { place: it.place.map(|place| at + place), ..it });
        all.extend(moved);
        return;
    }
    parts.push((part, piece));
}

/// Returns what a block is: by its kind, else, if it has none, by what stands in it.
fn block(map: &FieldMap, node: &Node<'_>) -> Piece {
    if let Some(text) = node.text() {
        return Piece::Words { text, attachments: Vec::new() };
    }
    if !node.is_object() {
        return Piece::Unknown("a content that is neither text nor blocks".to_owned());
    }
    let (fields, kinds) = (&map.block, &map.block.kinds);
    let words = || fields.text.all(node).find_map(Node::text);
    let Some(kind) = fields.kind.word(node) else {
        if fields.thought.find(node).is_some_and(Node::is_set) {
            return thinking(map, node);
        }
        return match words() {
            Some(text) => Piece::Words { text, attachments: Vec::new() },
            None if map.call.name.word(node).is_some() => call(map, node),
            None if map.result.call.word(node).is_some() => Piece::Result(result(map, node, None)),
            None if fields.thinking.find(node).is_some() => thinking(map, node),
            None => Piece::Unknown("block without a kind".to_owned()),
        };
    };
    match kind.as_str() {
        kind if has(&kinds.text, kind) => match words() {
            Some(_) if fields.thought.find(node).is_some_and(Node::is_set) => thinking(map, node),
            Some(text) => Piece::Words { text, attachments: Vec::new() },
            None => Piece::Unknown(format!("block {kind}: no text")),
        },
        kind if has(&kinds.thinking, kind) => thinking(map, node),
        kind if has(&kinds.call, kind) => call(map, node),
        kind if has(&kinds.result, kind) => Piece::Result(result(map, node, None)),
        kind if has(&kinds.attachment, kind) => match attachment(map, node) {
            Some(attachment) => Piece::Words { text: String::new(), attachments: vec![attachment] },
            None => Piece::Unknown(format!("block {kind}: no data and no address")),
        },
        kind if has(&kinds.nothing, kind) => Piece::Nothing,
        kind => Piece::Unknown(format!("block {kind}")),
    }
}

/// Returns the thinking in a block or a record. Encrypted thinking has no words, and is nothing.
pub(crate) fn thinking(map: &FieldMap, node: &Node<'_>) -> Piece {
    let words = map.block.thinking.all(node).map(|node| plain(map, node)).find(|text| !text.is_empty());
    words.map_or(Piece::Nothing, Piece::Thinking)
}

/// Returns the words of a string, or of a list of strings and of what has words, a line each.
pub(crate) fn plain(map: &FieldMap, node: &Node<'_>) -> String {
    let one = |node: &Node<'_>| node.text().or_else(|| map.block.text.all(node).find_map(Node::text));
    if node.is_list() {
        return node.items().iter().filter_map(one).collect::<Vec<_>>().join("\n");
    }
    one(node).unwrap_or_default()
}

/// Returns a call; one without a tool's name is not understood.
pub(crate) fn call(map: &FieldMap, node: &Node<'_>) -> Piece {
    let fields = &map.call;
    let Some(tool) = fields.name.word(node) else {
        return Piece::Unknown("a call without a tool's name".to_owned());
    };
    let input = match fields.input.find(node) {
        // Some clients write the input as a string of JSON.
        Some(input) => match input.text() {
            Some(text) => within(&text).map_or_else(|| input.raw().to_owned(), str::to_owned),
            None => input.raw().to_owned(),
        },
        None => "null".to_owned(),
    };
    Piece::Call { id: fields.id.word(node), tool, input }
}

/// Returns the calls in a list, or the one where no list stands.
pub(crate) fn calls(map: &FieldMap, node: &Node<'_>) -> Vec<Part> {
    let one = std::slice::from_ref(node);
    let all = if node.is_list() { node.items() } else { one };
    all.iter().enumerate().map(|(at, node)| (format!("call.{at}"), call(map, node))).collect()
}

/// Returns a result; its output stands in it, else is `content`.
pub(crate) fn result<'t>(map: &FieldMap, node: &Node<'t>, content: Option<&Node<'t>>) -> Output {
    let fields = &map.result;
    let mut output = Output {
        call: fields.call.word(node),
        tool: fields.name.word(node),
        error: fields.error.find(node).is_some_and(Node::is_set),
        exit_status: fields.exit_status.all(node).find_map(|node| node.raw().parse().ok()),
        ..Output::default()
    };
    if let Some(node) = fields.output.find(node).or(content) {
        put_output(map, node, &mut output);
    }
    if output.text.is_empty()
        && output.attachments.is_empty()
        && let Some(error) = fields.error.all(node).find_map(Node::text)
    {
        // What went wrong is all there is.
        output.text = error;
    }
    output
}

/// Puts what the model was given: words and attachments; anything else as it is written.
fn put_output(map: &FieldMap, node: &Node<'_>, output: &mut Output) {
    if let Some(text) = node.text() {
        output.text = text;
        return;
    }
    if node.is_list() && !node.items().is_empty() {
        let mut parts = Vec::new();
        for item in node.items() {
            join(&mut parts, (String::new(), block(map, item)));
        }
        if let [(_, Piece::Words { text, attachments })] = parts.as_slice() {
            output.text.clone_from(text);
            output.attachments.clone_from(attachments);
            return;
        }
    }
    node.raw().clone_into(&mut output.text);
}

fn attachment(map: &FieldMap, node: &Node<'_>) -> Option<Attachment<'static>> {
    let fields = &map.attachment;
    let string = |paths: &Paths| paths.all(node).find_map(Node::text).filter(|text| !text.is_empty());
    let media_type = fields.media_type.word(node);
    let name = fields.name.word(node).map(Cow::Owned);
    let (media_type, data) = match (string(&fields.data), string(&fields.address)) {
        (Some(data), _) if !data.starts_with("data:") => (media_type, Data::Base64(Cow::Owned(data))),
        (Some(url), _) | (None, Some(url)) => match inline(&url) {
            Some((kind, data)) => {
                (media_type.or_else(|| Some(kind.to_owned())), Data::Base64(Cow::Owned(data.to_owned())))
            }
            None => (media_type, Data::Elsewhere(Cow::Owned(url))),
        },
        (None, None) => return None,
    };
    let media_type = media_type.filter(|kind| !kind.is_empty());
    let media_type = Cow::Owned(media_type.unwrap_or_else(|| "application/octet-stream".to_owned()));
    Some(Attachment { media_type, name, data, place: Some(0) })
}

/// Returns media type and base64 of an address that holds its data.
fn inline(url: &str) -> Option<(&str, &str)> {
    let (head, data) = url.strip_prefix("data:")?.split_once(',')?;
    Some((head.strip_suffix(";base64")?.split(';').next()?, data))
}
