//! `expand`

use super::{Run, raw, tool, transcript};
use crate::args::Expand;
use crate::exit::Exit;
use crate::print::{self, Style};
use crate::text;
use anyhow::{Result, bail};
use scrollback_core::{AttachmentLine, EventLine, Line, LineBody};
use scrollback_store::{Store, StoredEvent};

/// The hexadecimal digits that name an event at least.
const DIGITS: usize = 4;

pub(super) fn run(run: &mut Run<'_>, args: &Expand) -> Result<Exit> {
    let store = run.store()?;
    let event = named(&store, &args.event)?;
    if args.raw {
        return raw::print(run, &store, &[event]);
    }
    if args.json {
        run.page.json(&Line::Event(event.line))?;
    } else {
        text(run, &event)?;
    }
    Ok(Exit::Done)
}

/// Returns the event whose id begins so. None or several are an error that says which.
fn named(store: &Store, prefix: &str) -> Result<StoredEvent> {
    let digits = prefix.chars().filter(|c| *c != '-').count();
    if !prefix.chars().all(|c| c == '-' || c.is_ascii_hexdigit()) || !(DIGITS..=32).contains(&digits) {
        bail!(
            "{prefix:?} is no event's id: it is a UUID, or at least {DIGITS} hexadecimal digits it begins with"
        );
    }
    let found = store.find_event(prefix)?;
    match found.as_slice() {
        [] => bail!("no event's id begins with {prefix:?}; `search --json` and `show --json` print ids"),
        [id] => match store.event(*id)? {
            Some((_, event)) => Ok(event),
            None => bail!("event {id} was taken away while it was read"),
        },
        several => {
            let ids: Vec<String> = several.iter().map(|id| format!("\n  {id}")).collect();
            bail!("several events' ids begin with {prefix:?}; give more of it:{}", ids.concat())
        }
    }
}

fn text(run: &mut Run<'_>, event: &StoredEvent) -> Result<()> {
    let line = &event.line;
    let mut facts = vec![
        ("event", line.id.to_string()),
        ("kind", kind(line)),
        ("session", format!("{}/{}", line.client, line.session)),
        ("place", format!("turn {}, event {} of the session", line.turn, line.seq)),
    ];
    facts.extend(line.at.map(|at| ("at", run.clock.exact(at))));
    facts.extend(line.actor.clone().map(|actor| ("actor", actor)));
    facts.extend(line.project.clone().map(|project| ("project", project)));
    facts.extend(line.model.clone().map(|model| ("model", model)));
    facts.extend(line.parent.map(|parent| ("parent", parent.to_string())));
    facts.extend(line.copied_from.clone().map(|from| ("copied from", from)));
    facts.extend(line.revision.map(|n| ("revision", n.to_string())));
    if event.withdrawn {
        facts.push(("withdrawn", "its client took it back".to_owned()));
    }
    if let LineBody::ToolCall { call_id, .. } | LineBody::ToolResult { call_id, .. } = &line.body {
        facts.push(("call", call_id.clone()));
    }
    if let LineBody::ToolResult { error, exit_status, .. } = &line.body {
        let status = exit_status.map(|status| format!(", exit status {status}")).unwrap_or_default();
        facts.push(("outcome", format!("{}{status}", if *error { "failed" } else { "went well" })));
    }
    facts.extend(line.data.as_ref().map(|data| ("data", data.get().to_owned())));
    if !event.path.as_os_str().is_empty() {
        let (from, length) = (print::number(event.offset), print::count(event.length, "byte"));
        facts.push(("read from", format!("{}, {length} at {from}", event.path.display())));
    }
    for attachment in attachments(&line.body) {
        facts.push(("attachment", attachment_line(attachment)));
    }
    for (name, value) in facts {
        let name = run.page.styled(Style::Faint, &text::fill(name, 11));
        run.page.line(format_args!("{name}  {}", text::one_line(&value)))?;
    }
    for words in words(&line.body) {
        run.page.line("")?;
        let words = text::clean(&words);
        for range in text::wrap(&words, run.page.prose()) {
            run.page.line(&words[range])?;
        }
    }
    Ok(())
}

/// Returns what an event is, with what its kind alone does not say.
fn kind(line: &EventLine) -> String {
    let more = match &line.body {
        LineBody::Message { role, .. } => transcript::named(role),
        LineBody::ToolCall { tool, .. } | LineBody::ToolResult { tool, .. } => tool.clone(),
        LineBody::Injected { injected_by, .. } => transcript::named(injected_by),
        LineBody::Notice { class, .. } => transcript::named(class),
        _ => return line.body.kind().to_owned(),
    };
    format!("{}, {more}", line.body.kind())
}

fn attachments(body: &LineBody) -> &[AttachmentLine] {
    match body {
        LineBody::Message { attachments, .. } | LineBody::ToolResult { attachments, .. } => attachments,
        _ => &[],
    }
}

fn attachment_line(attachment: &AttachmentLine) -> String {
    let name = attachment.name.as_ref().map(|name| format!("{name}, ")).unwrap_or_default();
    let bytes = print::count(attachment.bytes, "byte");
    format!("{name}{}, {bytes}, {}", attachment.media_type, attachment.digest)
}

/// Returns the words of an event, in full.
fn words(body: &LineBody) -> Vec<String> {
    match body {
        LineBody::ToolCall { input, .. } => tool::fields(input.get())
            .into_iter()
            .map(|(name, value)| if name.is_empty() { value } else { format!("{name}: {value}") })
            .collect(),
        LineBody::Decision { what, why, alternatives } => {
            let label =
                |name: &str, text: &Option<String>| text.as_ref().map(|text| format!("{name}: {text}"));
            [Some(what.clone()), label("Why", why), label("Alternatives", alternatives)]
                .into_iter()
                .flatten()
                .collect()
        }
        _ => vec![body.text().to_owned()].into_iter().filter(|text| !text.is_empty()).collect(),
    }
}
