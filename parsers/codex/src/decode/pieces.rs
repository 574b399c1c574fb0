//! A message's parts: what was said in it, and what the client put there.

use super::pen::Pen;
use crate::injected::{self, Class};
use crate::wire::{Part, Passthrough};
use scrollback_core::{Attachment, Data, InjectedBy};
use std::borrow::Cow;

/// A piece of a message.
pub(super) enum Piece<'r> {
    /// What was said: one piece, however many parts it is of.
    Said(Said<'r>),
    /// A passage put there.
    Injected { part: usize, text: Cow<'r, str>, by: InjectedBy },
    /// A shell command of the person's with its output.
    Shell { part: usize, text: Cow<'r, str> },
}

/// What was said in a message.
pub(super) struct Said<'r> {
    /// Its first part.
    pub(super) part: usize,
    pub(super) text: Cow<'r, str>,
    pub(super) attachments: Vec<Attachment<'r>>,
    /// Of how many texts it is.
    pub(super) texts: usize,
}

/// Cuts a message into what was said, as one piece, and each passage put there.
pub(super) fn pieces<'r>(
    pen: &mut Pen<'_, 'r>,
    role: &str,
    parts: Vec<Part<'r>>,
    passthrough: Option<&Passthrough<'_>>,
) -> Vec<Piece<'r>> {
    let mut pieces: Vec<Piece<'r>> = Vec::new();
    // What was said, and before which other piece.
    let mut said: Option<(usize, Said<'r>)> = None;
    let open = |part: usize, before: usize| {
        (before, Said { part, text: Cow::Borrowed(""), attachments: Vec::new(), texts: 0 })
    };
    let mut path: Option<String> = None;
    let pictures: Vec<bool> = parts.iter().map(|part| part.kind.is("input_image")).collect();
    let is_picture = |at: Option<usize>| at.and_then(|at| pictures.get(at)) == Some(&true);
    for (at, mut part) in parts.into_iter().enumerate() {
        match part.kind.get().unwrap_or("text") {
            "input_text" | "output_text" | "text" => {
                let Some(text) = part.text.take() else { continue };
                let by_picture = is_picture(at.checked_sub(1)) || is_picture(Some(at + 1));
                if by_picture && injected::is_image_tag(&text) {
                    path = injected::image_path(&text).map(str::to_owned);
                    continue;
                }
                let kind = passthrough.and_then(|pass| pass.content_item_kinds.0.get(at)?.get());
                let provenance =
                    passthrough.and_then(|pass| pass.content_item_metadata.0.get(at)?.provenance.0.as_ref());
                let text = text.into_inner();
                match injected::class(role, &text, kind, provenance) {
                    Class::Said => {
                        let (_, said) = said.get_or_insert_with(|| open(at, pieces.len()));
                        said.texts += 1;
                        join(&mut said.text, text);
                    }
                    Class::Injected(by) => pieces.push(Piece::Injected { part: at, text, by }),
                    Class::Shell => pieces.push(Piece::Shell { part: at, text }),
                }
            }
            "input_image" | "input_audio" | "image" | "audio" => {
                let Some(mut picture) = attachment(part) else { continue };
                if let Some(path) = path.take() {
                    picture.name = path.rsplit(['/', '\\']).next().map(|name| Cow::Owned(name.to_owned()));
                }
                let (_, said) = said.get_or_insert_with(|| open(at, pieces.len()));
                picture.place = Some(said.text.len());
                said.attachments.push(picture);
            }
            "encrypted_content" => {}
            other => {
                let kind = format!("message part {other}");
                pen.unknown(kind);
            }
        }
    }
    if let Some((before, said)) = said {
        pieces.insert(before, Piece::Said(said));
    }
    pieces
}

/// Adds a text to what is held, a blank line between.
pub(super) fn join<'r>(held: &mut Cow<'r, str>, text: Cow<'r, str>) {
    if held.is_empty() {
        *held = text;
    } else if !text.is_empty() {
        let held = held.to_mut();
        held.push_str("\n\n");
        held.push_str(&text);
    }
}

/// Returns the image or sound of a part.
pub(super) fn attachment(part: Part<'_>) -> Option<Attachment<'_>> {
    let media_type = part.mime_type.take();
    if let Some(data) = part.data.take() {
        let media_type = media_type.unwrap_or(Cow::Borrowed("application/octet-stream"));
        return Some(Attachment { media_type, name: None, data: Data::Base64(data), place: None });
    }
    let address = part.image_url.take().or(part.audio_url.take()).or(part.file_id.take())?;
    Some(linked(address))
}

/// Returns the attachment at an address; a `data:` address holds it.
pub(super) fn linked(address: Cow<'_, str>) -> Attachment<'_> {
    let elsewhere = |address| Attachment {
        media_type: Cow::Borrowed("application/octet-stream"),
        name: None,
        data: Data::Elsewhere(address),
        place: None,
    };
    let cut = address.strip_prefix("data:").and_then(|rest| {
        let (head, _) = rest.split_once(',')?;
        let media_type = head.strip_suffix(";base64")?;
        let media_type = media_type.split_once(';').map_or(media_type, |(plain, _)| plain);
        Some((media_type.to_owned(), "data:".len() + head.len() + 1))
    });
    let Some((media_type, start)) = cut else { return elsewhere(address) };
    let data = match address {
        Cow::Borrowed(text) => Cow::Borrowed(text.get(start..).unwrap_or_default()),
        Cow::Owned(mut text) => {
            text.drain(..start);
            Cow::Owned(text)
        }
    };
    let media_type = if media_type.is_empty() {
        Cow::Borrowed("application/octet-stream")
    } else {
        Cow::Owned(media_type)
    };
    Attachment { media_type, name: None, data: Data::Base64(data), place: None }
}
