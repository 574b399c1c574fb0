//! What people read: on a terminal in its width and in colour, in a pipe in 80 columns and without.

use scrollback_core::Env;
use std::fmt::Display;
use std::io::{self, IsTerminal as _, Write};

/// The columns where there is no terminal to ask.
const COLUMNS: usize = 80;
/// The columns that running text takes at most: longer lines are hard to read.
const PROSE: usize = 100;

/// How a piece of text stands out on a terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Style {
    /// A title, a speaker.
    Strong,
    /// What is read last.
    Faint,
    /// What was searched for.
    Found,
    /// What a person said.
    Person,
    /// A tool.
    Tool,
    /// What went wrong.
    Wrong,
}

impl Style {
    const fn code(self) -> &'static str {
        match self {
            Self::Strong => "1",
            Self::Faint => "2",
            Self::Found => "1;33",
            Self::Person => "1;36",
            Self::Tool => "34",
            Self::Wrong => "31",
        }
    }
}

/// Where a command prints what was asked for.
pub(crate) struct Page {
    out: Box<dyn Write>,
    columns: usize,
    colour: bool,
}

impl Page {
    /// Returns standard output as it is.
    pub(crate) fn stdout(env: &dyn Env) -> Self {
        let out = io::stdout();
        let terminal = out.is_terminal();
        let columns = if terminal {
            terminal_size::terminal_size().map_or(COLUMNS, |(width, _)| usize::from(width.0).max(40))
        } else {
            COLUMNS
        };
        let colour =
            terminal && env.var("NO_COLOR").is_none() && env.var("TERM").is_none_or(|term| term != "dumb");
        Self { out: Box::new(io::BufWriter::with_capacity(1 << 16, out)), columns, colour }
    }

    /// Returns the columns there are.
    pub(crate) const fn columns(&self) -> usize {
        self.columns
    }

    /// Returns the columns for running text.
    pub(crate) fn prose(&self) -> usize {
        self.columns.min(PROSE)
    }

    /// Prints a line.
    pub(crate) fn line(&mut self, line: impl Display) -> io::Result<()> {
        writeln!(self.out, "{line}")
    }

    /// Returns the text so that it stands out, if this is a terminal.
    pub(crate) fn styled(&self, style: Style, text: &str) -> String {
        if self.colour && !text.is_empty() {
            format!("\u{1b}[{}m{text}\u{1b}[0m", style.code())
        } else {
            text.to_owned()
        }
    }

    /// Prints one JSON value on a line.
    pub(crate) fn json(&mut self, value: &impl serde::Serialize) -> io::Result<()> {
        json_line(&mut self.out, value)
    }

    /// Prints bytes as they are.
    pub(crate) fn bytes(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.out.write_all(bytes)
    }

    /// Hands over what was printed so far.
    pub(crate) fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// Writes one JSON value and a newline.
pub(crate) fn json_line(out: &mut dyn Write, value: &impl serde::Serialize) -> io::Result<()> {
    serde_json::to_writer(&mut *out, value).map_err(io::Error::from)?;
    out.write_all(b"\n")
}

/// Says something beside the output, on standard error.
pub(crate) fn complain(name: &str, what: &str) {
    // There is no one left to tell when standard error is closed.
    let _told = writeln!(io::stderr().lock(), "{name}: {what}");
}

/// Returns a count with its noun: "1 event", "4,210 events".
pub(crate) fn count(n: u64, noun: &str) -> String {
    let plural = if n == 1 { "" } else { "s" };
    format!("{} {noun}{plural}", number(n))
}

/// Returns a number with a comma after each three digits.
pub(crate) fn number(n: u64) -> String {
    let digits = n.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Returns a number in at most six columns or so: in full below 100,000, then in thousands, millions and so on.
pub(crate) fn short(n: u64) -> String {
    if n < 100_000 { number(n) } else { scaled(n, &["", " k", " M", " G", " T", " P", " E"]) }
}

/// Returns a number of bytes: "512 B", "1.2 MB".
pub(crate) fn size(n: u64) -> String {
    scaled(n, &[" B", " kB", " MB", " GB", " TB", " PB", " EB"])
}

/// Returns a number to three digits, in the unit in which it has at most three before the point.
fn scaled(n: u64, units: &[&str]) -> String {
    let n = u128::from(n);
    let mut scale = 1;
    for unit in units {
        // Rounded, 999,950 is a million.
        let tenths = (n * 10 + scale / 2) / scale;
        if scale == 1 && n < 1000 {
            return format!("{n}{unit}");
        }
        if scale > 1 && tenths < 1000 {
            return format!("{}.{}{unit}", tenths / 10, tenths % 10);
        }
        if scale > 1 && (n + scale / 2) / scale < 1000 {
            return format!("{}{unit}", (n + scale / 2) / scale);
        }
        scale *= 1000;
    }
    number(u64::try_from(n).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_have_commas_and_plurals() {
        assert_eq!(count(1, "event"), "1 event");
        assert_eq!(count(0, "event"), "0 events");
        assert_eq!(count(999, "record"), "999 records");
        assert_eq!(count(1_234_567, "record"), "1,234,567 records");
        assert_eq!(number(1000), "1,000");
    }

    #[test]
    fn large_numbers_are_short() {
        let cases = [
            (0, "0", "0 B"),
            (999, "999", "999 B"),
            (1_234, "1,234", "1.2 kB"),
            (99_949, "99,949", "99.9 kB"),
            (99_950, "99,950", "100 kB"),
            (123_456, "123 k", "123 kB"),
            (999_499, "999 k", "999 kB"),
            (999_500, "1.0 M", "1.0 MB"),
            (1_250_000, "1.3 M", "1.3 MB"),
            (u64::MAX, "18.4 E", "18.4 EB"),
        ];
        for (n, expected, bytes) in cases {
            assert_eq!((short(n).as_str(), size(n).as_str()), (expected, bytes));
        }
    }
}
