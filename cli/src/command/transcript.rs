//! Events as a conversation.

use super::{Run, tool};
use crate::print::{self, Style};
use crate::text;
use anyhow::Result;
use scrollback_core::{EventId, EventLine, LineBody, Role, Timestamp};
use scrollback_store::StoredEvent;
use std::collections::HashMap;

/// How many lines of a result are printed unless everything is.
const RESULT_LINES: usize = 3;

/// Among how many lines a client's own head of a result is looked for.
const HEAD_LINES: usize = 6;

/// Prints events by turn: a result below its call, everything in full if `full`. `launched` has a line to print
/// below the calls of those ids.
pub(super) fn print(
    run: &mut Run<'_>,
    events: &[StoredEvent],
    full: bool,
    launched: &HashMap<String, String>,
) -> Result<()> {
    Transcript { run, full, launched, turn: None, before: None, spaced: true }.all(events)
}

struct Transcript<'t, 'r> {
    run: &'t mut Run<'r>,
    full: bool,
    launched: &'t HashMap<String, String>,
    /// The turn printed last.
    turn: Option<u64>,
    /// The time printed last.
    before: Option<Timestamp>,
    /// Whether an empty line stands above.
    spaced: bool,
}

impl Transcript<'_, '_> {
    fn all(&mut self, events: &[StoredEvent]) -> Result<()> {
        let calls: HashMap<EventId, usize> = events
            .iter()
            .enumerate()
            .filter(|(_, event)| matches!(event.line.body, LineBody::ToolCall { .. }))
            .map(|(at, event)| (event.line.id, at))
            .collect();
        // Results by the call they are printed below; one whose call is not printed stands where it is.
        let mut results: HashMap<usize, Vec<usize>> = HashMap::new();
        let mut below = vec![false; events.len()];
        for (at, event) in events.iter().enumerate() {
            let call = event.line.parent.and_then(|parent| calls.get(&parent));
            if let (LineBody::ToolResult { .. }, Some(call)) = (&event.line.body, call) {
                results.entry(*call).or_default().push(at);
                below[at] = true;
            }
        }
        let mut injected = Vec::new();
        for (at, event) in events.iter().enumerate().filter(|(at, _)| !below[*at]) {
            let is_injected = !self.full && matches!(event.line.body, LineBody::Injected { .. });
            if !is_injected || self.turn != Some(event.line.turn) {
                self.injected(&std::mem::take(&mut injected))?;
            }
            if self.turn != Some(event.line.turn) {
                self.turn(&event.line)?;
            }
            if is_injected {
                injected.push(event);
                continue;
            }
            let results: Vec<&StoredEvent> =
                results.get(&at).into_iter().flatten().filter_map(|result| events.get(*result)).collect();
            self.event(event, &results)?;
        }
        self.injected(&injected)
    }

    /// Prints one line for injected passages that follow each other.
    fn injected(&mut self, events: &[&StoredEvent]) -> Result<()> {
        let characters: usize = events.iter().map(|event| event.line.body.text().chars().count()).sum();
        let size = print::count(characters as u64, "character");
        let mut by: Vec<String> = Vec::new();
        for event in events {
            if let LineBody::Injected { injected_by, .. } = &event.line.body {
                let name = named(injected_by);
                if !by.contains(&name) {
                    by.push(name);
                }
            }
        }
        let by = by.join(", ");
        let line = match events {
            [] => return Ok(()),
            [one] => {
                let back = if one.withdrawn { "taken back, " } else { "" };
                format!("({back}injected: {by}, {size}; expand {})", short(one.line.id))
            }
            several => format!("({} injected: {by}; {size}; --full shows them)", several.len()),
        };
        for range in text::wrap(&line, self.run.page.prose()) {
            self.small(&self.faint(&line[range]))?;
        }
        Ok(())
    }

    fn event(&mut self, event: &StoredEvent, results: &[&StoredEvent]) -> Result<()> {
        let line = &event.line;
        let back = if event.withdrawn { "(taken back) " } else { "" };
        match &line.body {
            LineBody::Message { role: Role::User, text, .. } => {
                let by = line.actor.as_deref().filter(|actor| !actor.starts_with("user:"));
                let by = by.map(|actor| format!("({actor}) ")).unwrap_or_default();
                self.words("❯", Style::Person, &format!("{back}{by}{text}"), None)
            }
            LineBody::Message { text, .. } => self.words("●", Style::Strong, &format!("{back}{text}"), None),
            LineBody::Thinking { text } => {
                self.words("∴", Style::Faint, &format!("{back}{text}"), Some(Style::Faint))
            }
            LineBody::ToolCall { call_id, tool, input } => {
                self.call(tool, input.get(), back, results)?;
                if let Some(session) = self.launched.get(call_id) {
                    self.run.page.line(self.faint(&format!("  {session}")))?;
                }
                results.iter().try_for_each(|result| self.result(result))
            }
            LineBody::ToolResult { tool, .. } => {
                let head = format!("⚙ {}", self.run.page.styled(Style::Tool, &text::one_line(tool)));
                self.small(format!("{head}  {back}{}", self.outcome(line)).trim_end())?;
                self.result(event)
            }
            LineBody::Injected { injected_by, text } => {
                let by = named(injected_by);
                let back = if event.withdrawn { "taken back, " } else { "" };
                self.small(&self.faint(&format!("({back}injected: {by})")))?;
                self.indented(text, 2, Some(Style::Faint))
            }
            LineBody::Decision { what, why, alternatives } => {
                let mut text = format!("{back}Decided: {what}");
                for (label, more) in [("Why", why), ("Alternatives", alternatives)] {
                    if let Some(more) = more {
                        text = format!("{text}\n{label}: {more}");
                    }
                }
                self.words("◆", Style::Strong, &text, None)
            }
            LineBody::Note { text } => self.words("✎", Style::Strong, &format!("{back}{text}"), None),
            LineBody::Notice { class, text } => {
                let text = format!("{back}{}: {text}", named(class).replace('_', " "));
                self.words("!", Style::Wrong, text.trim_end_matches(": "), Some(Style::Wrong))
            }
        }
    }

    fn turn(&mut self, line: &EventLine) -> Result<()> {
        let when =
            line.at.map(|at| format!(" {} ─", self.run.clock.since(at, self.before))).unwrap_or_default();
        let mut rule = format!("── {} ─{}{when}", line.turn, if when.is_empty() { "" } else { "─" });
        let columns = self.run.page.prose();
        rule.push_str(&"─".repeat(columns.saturating_sub(text::width(&rule))));
        self.run.page.line(format_args!("\n{}", self.run.page.styled(Style::Faint, &rule)))?;
        self.turn = Some(line.turn);
        self.before = line.at.or(self.before);
        self.spaced = false;
        Ok(())
    }

    /// Prints what somebody said, behind a sign, with empty lines around it.
    fn words(&mut self, sign: &str, style: Style, words: &str, all: Option<Style>) -> Result<()> {
        self.run.page.line("")?;
        let sign = self.run.page.styled(style, sign);
        let words = text::clean(words.trim());
        for (at, range) in text::wrap(&words, self.run.page.prose() - 2).into_iter().enumerate() {
            let line = match all {
                Some(style) => self.run.page.styled(style, &words[range]),
                None => words[range].to_owned(),
            };
            let before = if at == 0 { sign.as_str() } else { " " };
            self.run.page.line(format_args!("{before} {line}").to_string().trim_end())?;
        }
        self.spaced = false;
        Ok(())
    }

    /// Prints one line of something that is not said; those stand together.
    fn small(&mut self, line: &str) -> Result<()> {
        if !self.spaced {
            self.run.page.line("")?;
            self.spaced = true;
        }
        self.run.page.line(line)?;
        Ok(())
    }

    fn call(&mut self, tool: &str, input: &str, back: &str, results: &[&StoredEvent]) -> Result<()> {
        let tool = text::one_line(tool);
        let outcomes: Vec<String> = results.iter().map(|result| self.outcome(&result.line)).collect();
        let plain: usize = results.iter().map(|result| text::width(&outcome(&result.line)) + 2).sum();
        let summary = if self.full { String::new() } else { tool::summary(input) };
        let room = self.run.page.columns().saturating_sub(text::width(&tool) + 4 + plain + text::width(back));
        let mut head = format!("⚙ {}", self.run.page.styled(Style::Tool, &tool));
        for piece in [text::clip(&summary, room.max(8)).into_owned(), back.trim().to_owned()]
            .into_iter()
            .chain(outcomes)
        {
            if !piece.is_empty() {
                head.push_str("  ");
                head.push_str(&piece);
            }
        }
        self.small(&head)?;
        if self.full {
            for (name, value) in tool::fields(input) {
                let field = if name.is_empty() { value } else { format!("{name}: {value}") };
                self.indented(&field, 4, None)?;
            }
        }
        Ok(())
    }

    /// Prints what a tool gave back: the first lines, or all of it.
    fn result(&mut self, event: &StoredEvent) -> Result<()> {
        let output = text::clean(event.line.body.text());
        let output = output.trim_matches('\n').trim_end();
        if output.is_empty() {
            return Ok(());
        }
        if self.full {
            let sign = self.faint("  →");
            self.run.page.line(sign)?;
            return self.indented(output, 4, None);
        }
        let mut lines = printed(output).lines().filter(|line| !line.trim().is_empty());
        let room = self.run.page.columns() - 4;
        let mut clipped = false;
        for (at, line) in lines.by_ref().take(RESULT_LINES).enumerate() {
            let shown = text::clip(line.trim_end(), room);
            clipped |= shown.len() != line.trim_end().len();
            let sign = if at == 0 { "→" } else { " " };
            let line = self.faint(&format!("  {sign} {shown}"));
            self.run.page.line(line)?;
        }
        let more = lines.count();
        let id = short(event.line.id);
        if more > 0 {
            let line = self.faint(&format!("    … {} (expand {id})", print::count(more as u64, "more line")));
            self.run.page.line(line)?;
        } else if clipped {
            let line = self.faint(&format!("    … (expand {id})"));
            self.run.page.line(line)?;
        }
        Ok(())
    }

    fn indented(&mut self, text: &str, columns: usize, style: Option<Style>) -> Result<()> {
        let text = text::clean(text);
        for range in text::wrap(&text, self.run.page.prose() - columns) {
            let line = format!("{:columns$}{}", "", &text[range]);
            let line = style.map_or_else(|| line.clone(), |style| self.run.page.styled(style, &line));
            self.run.page.line(line.trim_end())?;
        }
        Ok(())
    }

    fn faint(&self, text: &str) -> String {
        self.run.page.styled(Style::Faint, text)
    }

    fn outcome(&self, result: &EventLine) -> String {
        self.run.page.styled(Style::Wrong, &outcome(result))
    }
}

/// Returns what a command printed, without what a client puts above it: a few lines, the last of them `Output:`.
fn printed(output: &str) -> &str {
    let mut from = 0;
    for line in output.split_inclusive('\n').take(HEAD_LINES) {
        from += line.len();
        if line.trim_end() == "Output:" {
            return &output[from..];
        }
    }
    output
}

/// Returns how a call ended, if it did not end well.
fn outcome(result: &EventLine) -> String {
    match &result.body {
        LineBody::ToolResult { exit_status: Some(status), .. } if *status != 0 => format!("✗ exit {status}"),
        LineBody::ToolResult { error: true, .. } => "✗ failed".to_owned(),
        _ => String::new(),
    }
}

/// Returns the beginning of an event's id.
pub(super) fn short(id: EventId) -> String {
    id.to_string().chars().take(8).collect()
}

/// Returns the name that the line format has for a value.
pub(super) fn named(value: &impl serde::Serialize) -> String {
    serde_json::to_string(value).unwrap_or_default().trim_matches('"').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_client_puts_above_an_output_is_left_out() {
        assert_eq!(printed("Chunk ID: 1\nProcess exited with code 0\nOutput:\na\nb"), "a\nb");
        assert_eq!(printed("Wall time: 5 seconds\nOutput:"), "");
        assert_eq!(printed("1\n2\n3\n4\n5\n6\nOutput:\n7"), "1\n2\n3\n4\n5\n6\nOutput:\n7");
        assert_eq!(printed("plain"), "plain");
    }
}
