//! The reference of the command line, out of its definition.

use crate::exit::Exit;
use crate::{args, settings};
use std::fmt::Write as _;

/// Returns `docs/cli.md`: every command with its flags, the exit codes, the environment variables.
pub fn reference() -> String {
    let mut root = args::definition(args::NAME, None).disable_help_subcommand(true);
    root.build();
    let mut page = String::from(
        "# Command line\n\n\
         <!-- Written by `SCROLLBACK_BLESS=1 cargo test -p scrollback-cli`; do not edit. -->\n\n",
    );
    paragraph(&mut page, &about(&root));
    page.push_str("| command | does |\n|---|---|\n");
    for command in root.get_subcommands() {
        let about = command.get_about().map(ToString::to_string).unwrap_or_default();
        let _ = writeln!(page, "| [`{0}`](#{0}) | {1} |", command.get_name(), cell(&about));
    }
    page.push_str(
        "\nTimes are RFC 3339 (`2026-11-30T20:00:00Z`), a date or a date and a time here (`2026-11-30`, \
         `2026-11-30 20:00`), `today`, `yesterday`, or how long ago: `30m`, `2h`, `3d`, `1w`. What people read \
         has local times, `--json` has RFC 3339 in UTC. Colour and progress bars are only for terminals; \
         `NO_COLOR` switches colour off.\n",
    );
    for command in root.get_subcommands_mut() {
        one(&mut page, command);
    }
    page.push_str("\n## Exit status\n\n| code | means |\n|---|---|\n");
    for exit in Exit::ALL {
        let _ = writeln!(page, "| {} | {} |", exit as u8, exit.meaning());
    }
    page.push_str("\n2 is never used.\n\n## Settings\n\nAn environment variable, or a key in `config.toml` in the configuration directory; \
         the environment goes before the file.\n\n| variable | key | sets |\n|---|---|---|\n");
    for variable in settings::VARIABLES {
        let key = variable.key.map_or_else(String::new, |key| format!("`{key}`"));
        let _ = writeln!(page, "| `{}` | {key} | {} |", variable.name, cell(variable.help));
    }
    page
}

fn one(page: &mut String, command: &mut clap::Command) {
    let usage = command.render_usage().to_string();
    let usage = usage.trim_start_matches("Usage:").split_whitespace().collect::<Vec<_>>().join(" ");
    let _ = write!(page, "\n## {}\n\n", command.get_name());
    paragraph(page, &about(command));
    let _ = write!(page, "```text\n{usage}\n```\n");
    let documented: Vec<_> =
        command.get_arguments().filter(|arg| !matches!(arg.get_id().as_str(), "help" | "version")).collect();
    if documented.is_empty() {
        return;
    }
    page.push_str("\n| argument | meaning |\n|---|---|\n");
    for arg in documented {
        let help = arg.get_help().map(ToString::to_string).unwrap_or_default();
        let mut help = format!("{}.", help.trim_end_matches('.'));
        let values = arg.get_possible_values();
        if !values.is_empty() && arg.get_action().takes_values() {
            let names: Vec<String> = values.iter().map(|value| format!("`{}`", value.get_name())).collect();
            let _ = write!(help, " One of {}.", names.join(", "));
        }
        let defaults: Vec<_> = arg.get_default_values().iter().map(|value| value.to_string_lossy()).collect();
        if !defaults.is_empty() && arg.get_action().takes_values() {
            let _ = write!(help, " Default: `{}`.", defaults.join(","));
        }
        let _ = writeln!(page, "| `{}` | {} |", cell(&flag(arg)), cell(&help));
    }
}

/// Returns an argument as it is written.
fn flag(arg: &clap::Arg) -> String {
    let value = arg.get_value_names().unwrap_or_default().join(" ");
    match arg.get_long() {
        Some(long) if arg.get_action().takes_values() => format!("--{long} {value}"),
        Some(long) => format!("--{long}"),
        None if arg.get_num_args().is_some_and(|n| n.max_values() > 1) => format!("{value}…"),
        None => value,
    }
}

fn about(command: &clap::Command) -> String {
    command.get_long_about().or_else(|| command.get_about()).map(ToString::to_string).unwrap_or_default()
}

fn paragraph(page: &mut String, text: &str) {
    for paragraph in text.split("\n\n") {
        let end = if paragraph.ends_with('.') { "" } else { "." };
        let _ = write!(page, "{paragraph}{end}\n\n");
    }
}

/// Returns a text as a cell of a table.
fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', " ")
}
