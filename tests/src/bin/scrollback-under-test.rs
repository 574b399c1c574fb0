//! The command line with everything built in, for the tests of this crate.

fn main() -> std::process::ExitCode {
    scrollback_cli::main()
}
