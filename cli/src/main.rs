//! The program `scrollback`.

fn main() -> std::process::ExitCode {
    scrollback_cli::main()
}
