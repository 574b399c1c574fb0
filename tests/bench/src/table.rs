//! The table: what was measured beside what is wanted.

use serde_json::{Value, json};

/// A line of the table.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    pub(crate) what: String,
    /// What is wanted, or nothing for a figure that stands for comparison.
    pub(crate) target: String,
    pub(crate) measured: String,
    /// Whether the target holds; nothing where there is none or it was not measured.
    pub(crate) holds: Option<bool>,
    /// The figures behind it.
    pub(crate) figures: Value,
}

/// Lines as they come.
#[derive(Debug, Default)]
pub(crate) struct Table {
    rows: Vec<Row>,
}

impl Table {
    pub(crate) fn push(&mut self, row: Row) {
        say(&format!("{}: {} ({}) {}", row.what, row.measured, row.target, verdict(row.holds)));
        self.rows.push(row);
    }

    /// Adds a line with a target.
    pub(crate) fn target(
        &mut self,
        what: impl Into<String>,
        target: impl Into<String>,
        measured: impl Into<String>,
        holds: bool,
        figures: Value,
    ) {
        self.push(Row {
            what: what.into(),
            target: target.into(),
            measured: measured.into(),
            holds: Some(holds),
            figures,
        });
    }

    /// Adds a line for comparison.
    pub(crate) fn beside(&mut self, what: impl Into<String>, measured: impl Into<String>, figures: Value) {
        self.push(Row {
            what: what.into(),
            target: String::new(),
            measured: measured.into(),
            holds: None,
            figures,
        });
    }

    /// Adds a line that could not be measured, with the reason.
    pub(crate) fn missing(
        &mut self,
        what: impl Into<String>,
        target: impl Into<String>,
        why: impl std::fmt::Display,
    ) {
        self.push(Row {
            what: what.into(),
            target: target.into(),
            measured: format!("not measured: {why}"),
            holds: None,
            figures: Value::Null,
        });
    }

    /// Adds a line for what could not be measured to its end, which is a fault.
    pub(crate) fn failed(&mut self, what: impl Into<String>, why: &anyhow::Error) {
        let why = format!("{why:#}").replace('\n', " ");
        self.push(Row {
            what: what.into(),
            target: String::new(),
            measured: format!("failed: {why}"),
            holds: Some(false),
            figures: Value::Null,
        });
    }

    /// Returns how many targets do not hold.
    pub(crate) fn missed(&self) -> usize {
        self.rows.iter().filter(|row| row.holds == Some(false)).count()
    }

    /// Returns the table in Markdown.
    pub(crate) fn markdown(&self) -> String {
        let mut out = String::from("| what | target | measured | holds |\n|---|---|---|---|\n");
        for row in &self.rows {
            out.push_str(&format!(
                "| {} | {} | {} | {} |\n",
                row.what,
                row.target,
                row.measured,
                verdict(row.holds)
            ));
        }
        out
    }

    /// Returns the table for people at a terminal.
    pub(crate) fn text(&self) -> String {
        let width = |text: fn(&Row) -> &str| {
            self.rows.iter().map(|row| text(row).chars().count()).max().unwrap_or_default()
        };
        let (what, target, measured) =
            (width(|row| &row.what), width(|row| &row.target), width(|row| &row.measured));
        let mut out = String::new();
        for row in &self.rows {
            out.push_str(&format!(
                "{:what$}  {:target$}  {:measured$}  {}\n",
                row.what,
                row.target,
                row.measured,
                verdict(row.holds)
            ));
        }
        out
    }

    /// Returns the table in JSON.
    pub(crate) fn json(&self) -> Value {
        let rows: Vec<Value> = self
            .rows
            .iter()
            .map(|row| json!({"what": row.what, "target": row.target, "measured": row.measured, "holds": row.holds, "figures": row.figures}))
            .collect();
        Value::Array(rows)
    }
}

fn verdict(holds: Option<bool>) -> &'static str {
    match holds {
        Some(true) => "yes",
        Some(false) => "no",
        None => "",
    }
}

#[expect(clippy::print_stderr, reason = "measuring takes minutes: each line is said when it is there")]
fn say(line: &str) {
    eprintln!("{line}");
}
