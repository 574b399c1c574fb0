//! What a decoder said, made ready to be kept: attachments put away, content digested, secrets taken out.

use crate::redact::Redactor;
use base64::Engine as _;
use base64::alphabet;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use scrollback_core::{Attachment, AttachmentLine, Body, By, Data, Event, Facts};
use sha2::{Digest as _, Sha256};
use std::borrow::Cow;
use std::fmt::Write as _;

/// Padding may be missing, and a last character may hold bits too many: clients are not strict.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &alphabet::STANDARD,
    GeneralPurposeConfig::new()
        .with_decode_padding_mode(DecodePaddingMode::Indifferent)
        .with_decode_allow_trailing_bits(true),
);

/// An event ready to be kept.
pub(crate) struct Prepared<'e> {
    /// The event, redacted, with markers where its attachments were.
    pub(crate) event: Event<'e>,
    /// The keyed digest of its content before redaction.
    pub(crate) content: [u8; 16],
    /// What its attachments became.
    pub(crate) attachments: Vec<AttachmentLine>,
    /// Their bytes.
    pub(crate) blobs: Vec<Blob>,
}

/// The bytes of an attachment.
pub(crate) struct Blob {
    pub(crate) digest: [u8; 32],
    pub(crate) media_type: String,
    pub(crate) bytes: Vec<u8>,
}

/// Makes an event ready to be kept; `key` is that of the content digests.
pub(crate) fn prepare<'e>(mut event: Event<'e>, redactor: &Redactor, key: &[u8; 32]) -> Prepared<'e> {
    let mut attachments = Vec::new();
    let mut blobs = Vec::new();
    if let Body::Message { text, attachments: held, .. }
    | Body::ToolResult { output: text, attachments: held, .. } = &mut event.body
    {
        put_away(text, std::mem::take(held), &mut attachments, &mut blobs);
    }
    let content = content(&event.body, &attachments, key);
    redact(&mut event, redactor);
    for attachment in &mut attachments {
        if let Some(name) = &mut attachment.name
            && let Cow::Owned(redacted) = redactor.text(name)
        {
            *name = redacted;
        }
    }
    Prepared { event, content, attachments, blobs }
}

/// Decodes attachments, and puts a marker into the text for each.
fn put_away(
    text: &mut Cow<'_, str>,
    held: Vec<Attachment<'_>>,
    lines: &mut Vec<AttachmentLine>,
    blobs: &mut Vec<Blob>,
) {
    let mut markers = Vec::new();
    for attachment in held {
        let place = attachment.place.filter(|place| text.is_char_boundary(*place)).unwrap_or(text.len());
        let media_type = attachment.media_type.into_owned();
        let marker = match attachment.data {
            Data::Elsewhere(address) => format!("[{media_type}, at {address}]"),
            Data::Base64(encoded) => {
                // What does not decode is kept as it was written: nothing is lost.
                let bytes = decode(&encoded).unwrap_or_else(|| encoded.as_bytes().to_vec());
                let digest: [u8; 32] = Sha256::digest(&bytes).into();
                let hex = hex(&digest);
                let marker =
                    format!("[{media_type}, {} bytes, sha256:{}…]", grouped(bytes.len()), &hex[..12]);
                lines.push(AttachmentLine {
                    digest: format!("sha256:{hex}"),
                    media_type: media_type.clone(),
                    bytes: bytes.len() as u64,
                    name: attachment.name.map(Cow::into_owned),
                });
                blobs.push(Blob { digest, media_type, bytes });
                marker
            }
        };
        markers.push((place, marker));
    }
    if markers.is_empty() {
        return;
    }
    markers.sort_by_key(|(place, _)| *place);
    let mut marked = String::with_capacity(text.len() + markers.len() * 64);
    let mut from = 0;
    for (place, marker) in markers {
        marked.push_str(&text[from..place]);
        if !marked.is_empty() && !marked.ends_with('\n') {
            marked.push('\n');
        }
        marked.push_str(&marker);
        from = place;
        if !text[from..].is_empty() && !text[from..].starts_with('\n') {
            marked.push('\n');
        }
    }
    marked.push_str(&text[from..]);
    *text = Cow::Owned(marked);
}

fn decode(encoded: &str) -> Option<Vec<u8>> {
    if let Ok(bytes) = BASE64.decode(encoded) {
        return Some(bytes);
    }
    let joined: String = encoded.chars().filter(|c| !c.is_ascii_whitespace()).collect();
    BASE64.decode(joined).ok()
}

/// Returns the keyed digest of an event's content: kind, role, text, input, output, tool, error, exit status,
/// attachments. Which session it is in, and when, is no part of it.
fn content(body: &Body<'_>, attachments: &[AttachmentLine], key: &[u8; 32]) -> [u8; 16] {
    let mut hasher = blake3::Hasher::new_keyed(key);
    let mut put = |part: &str| {
        hasher.update(&(part.len() as u64).to_le_bytes());
        hasher.update(part.as_bytes());
    };
    put(body.kind());
    match body {
        Body::Message { role, text, .. } => {
            put(if *role == scrollback_core::Role::User { "user" } else { "assistant" });
            put(text);
        }
        Body::Thinking { text } | Body::Note { text } => put(text),
        Body::ToolCall { call_id, tool, input } => {
            for part in [call_id, tool, input] {
                put(part);
            }
        }
        Body::ToolResult { call_id, tool, output, error, exit_status, .. } => {
            put(call_id);
            put(tool.as_deref().unwrap_or_default());
            put(output);
            put(if *error { "error" } else { "" });
            put(&exit_status.map(|status| status.to_string()).unwrap_or_default());
        }
        Body::Injected { by, text } => {
            put(&(*by as u8).to_string());
            put(text);
        }
        Body::Notice { class, text } => {
            put(&(*class as u8).to_string());
            put(text);
        }
        Body::Decision { what, why, alternatives } => {
            put(what);
            put(why.as_deref().unwrap_or_default());
            put(alternatives.as_deref().unwrap_or_default());
        }
    }
    for attachment in attachments {
        put(&attachment.digest);
        put(attachment.name.as_deref().unwrap_or_default());
    }
    short(hasher.finalize())
}

/// Returns the first half of a digest.
pub(crate) fn short(digest: blake3::Hash) -> [u8; 16] {
    let mut half = [0; 16];
    half.copy_from_slice(&digest.as_bytes()[..16]);
    half
}

fn redact(event: &mut Event<'_>, redactor: &Redactor) {
    if let Some(model) = &mut event.model {
        replace(model, |model| redactor.text(model));
    }
    if let Body::ToolCall { call_id, tool, .. } = &mut event.body {
        replace(call_id, |id| redactor.text(id));
        replace(tool, |tool| redactor.text(tool));
    }
    if let Body::ToolResult { call_id, tool, .. } = &mut event.body {
        replace(call_id, |id| redactor.text(id));
        if let Some(tool) = tool {
            replace(tool, |tool| redactor.text(tool));
        }
    }
    match &mut event.body {
        Body::Message { text, .. }
        | Body::Thinking { text }
        | Body::Note { text }
        | Body::Injected { text, .. }
        | Body::Notice { text, .. }
        | Body::ToolResult { output: text, .. } => replace(text, |text| redactor.text(text)),
        Body::ToolCall { input, .. } => {
            if input.contains(['\n', '\r']) {
                // A line break outside a string is a blank; the line format has one value a line.
                *input = Cow::Owned(input.replace(['\n', '\r'], " "));
            }
            replace(input, |input| redactor.json(input));
        }
        Body::Decision { what, why, alternatives } => {
            for text in [Some(what), why.as_mut(), alternatives.as_mut()].into_iter().flatten() {
                replace(text, |text| redactor.text(text));
            }
        }
    }
    if let Some(data) = &mut event.data {
        replace(data, |data| redactor.json(data));
    }
}

/// Takes secrets out of what is known of a session.
pub(crate) fn redact_facts(facts: &mut Facts<'_>, redactor: &Redactor) {
    let title = facts.title.as_mut().map(|(_, title)| title);
    for text in [
        title,
        facts.model.as_mut(),
        facts.client_version.as_mut(),
        facts.agent.as_mut(),
        facts.launched_by.as_mut(),
        facts.pull_request.as_mut(),
        facts.summary.as_mut(),
        facts.status.as_mut(),
        facts.end_reason.as_mut(),
        facts.branch.as_mut(),
    ]
    .into_iter()
    .flatten()
    {
        replace(text, |text| redactor.text(text));
    }
}

fn replace(text: &mut Cow<'_, str>, redacted: impl FnOnce(&str) -> Cow<'_, str>) {
    if let Cow::Owned(changed) = redacted(text) {
        *text = Cow::Owned(changed);
    }
}

/// Returns who caused an event, as the line format has it; `None` where nothing is known.
pub(crate) fn actor(by: &By<'_>, client: &str, login: Option<&str>) -> Option<String> {
    match by {
        By::Person => login.map(|login| format!("user:{login}")),
        By::Agent(None) => Some(format!("agent:{client}")),
        By::Agent(Some(name)) => Some(format!("agent:{client}/{name}")),
        By::Harness => Some(format!("system:{client}")),
        By::Nobody => None,
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut hex, byte| {
        let _infallible = write!(hex, "{byte:02x}");
        hex
    })
}

/// Returns a number with a comma before every three digits.
fn grouped(number: usize) -> String {
    let digits = number.to_string();
    let mut grouped = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

#[cfg(test)]
mod tests {
    use super::*;
    use scrollback_core::{EventId, Role};

    fn message(text: &'static str, attachments: Vec<Attachment<'static>>) -> Prepared<'static> {
        let body = Body::Message { role: Role::User, text: text.into(), attachments };
        prepare(Event::new(EventId::of("acme", &["1", "0"]), "s", body), &Redactor::new(), &[7; 32])
    }

    fn text_of(prepared: &Prepared<'_>) -> String {
        match &prepared.event.body {
            Body::Message { text, .. } => text.to_string(),
            other => panic!("{other:?}"),
        }
    }

    fn png(place: Option<usize>) -> Attachment<'static> {
        Attachment {
            media_type: "image/png".into(),
            name: None,
            data: Data::Base64("aGVsbG8=".into()),
            place,
        }
    }

    #[test]
    fn an_attachment_is_decoded_and_marked_where_it_stood() {
        let prepared = message("look: here", vec![png(Some(5)), png(None)]);
        let marker = "[image/png, 5 bytes, sha256:2cf24dba5fb0…]";
        assert_eq!(text_of(&prepared), format!("look:\n{marker}\n here\n{marker}"));
        assert_eq!(prepared.blobs[0].bytes, b"hello");
        assert_eq!(
            prepared.attachments[0].digest,
            "sha256:2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"
        );
    }

    #[test]
    fn base64_that_is_none_is_kept_as_written() {
        let odd = Attachment { data: Data::Base64("§§".into()), ..png(None) };
        let prepared = message("", vec![odd]);
        assert_eq!(prepared.blobs[0].bytes, "§§".as_bytes());
    }

    #[test]
    fn content_is_digested_before_redaction() {
        // Pieced together, so that no scanner of repositories takes it for a key.
        let key = concat!(
            "sk-ant-",
            "api03-",
            "q7Xb2VnRk9TzLw4HsMd8YcJf1GpKe6Uo3IaQtN5vBxWr0ZyEhCjSuPlDmFgOi2Aq9Rw7Tx4Vb6Nk8Lz1Hs3Yc",
            "-KpWmZrAA"
        );
        let (one, other) = (message("a secret", Vec::new()), message("another", Vec::new()));
        assert_ne!(one.content, other.content);
        let body = Body::message(Role::User, key);
        let with_key =
            prepare(Event::new(EventId::of("acme", &["1"]), "s", body), &Redactor::new(), &[7; 32]);
        assert!(!text_of(&with_key).contains("q7Xb2VnR"), "{}", text_of(&with_key));
        let marked = prepare(
            Event::new(EventId::of("acme", &["1"]), "s", Body::message(Role::User, text_of(&with_key))),
            &Redactor::new(),
            &[7; 32],
        );
        assert_ne!(with_key.content, marked.content);
    }

    #[test]
    fn numbers_are_grouped() {
        for (number, text) in
            [(0, "0"), (999, "999"), (1000, "1,000"), (48_213, "48,213"), (1_234_567, "1,234,567")]
        {
            assert_eq!(grouped(number), text);
        }
    }
}
