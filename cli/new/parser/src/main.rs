//! All of scrollback, with the parser of Acme in it. A crate that no code names is not linked: hence the `use`.

use scrollback_parser_acme as _;

fn main() -> std::process::ExitCode {
    scrollback_cli::Cli::new().name("acme-scrollback").run()
}
