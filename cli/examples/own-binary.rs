//! A program of one's own: everything `scrollback` does, with one parser more and another name.

// use acme_parser as _;
fn main() -> std::process::ExitCode {
    scrollback_cli::Cli::new().name("acme-scrollback").run()
}
