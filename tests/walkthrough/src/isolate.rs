//! Namespaces of one's own, with nothing but loopback: what a client would send elsewhere goes nowhere, and what
//! it leaves behind ends with the run.

use crate::files;
use anyhow::{Result, bail};
use std::process::{Command, ExitCode};

/// Brings loopback up and goes on as the program it is given.
const LOOPBACK: &str = r#"ip link set lo up && exec "$@""#;

/// Runs this program again in namespaces of its own, with `--inside`, and returns how it left.
///
/// # Errors
///
/// If there can be none: `unshare` or `ip` is missing, or the rights are.
pub(crate) fn again() -> Result<ExitCode> {
    let flags = flags()?;
    let status = unshare(&flags)
        .arg(std::env::current_exe()?)
        .args(std::env::args_os().skip(1))
        .arg("--inside")
        .status()?;
    Ok(status.code().and_then(|code| u8::try_from(code).ok()).map_or(ExitCode::FAILURE, ExitCode::from))
}

/// Returns the flags of `unshare` that work here: as they are for root, else as root of a user namespace.
fn flags() -> Result<Vec<&'static str>> {
    let plain = vec!["--net", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc"];
    let mapped: Vec<&str> = ["--user", "--map-root-user"].into_iter().chain(plain.clone()).collect();
    let mut why = String::new();
    for flags in [plain, mapped] {
        match unshare(&flags).arg("true").output() {
            Ok(output) if output.status.success() => return Ok(flags),
            Ok(output) => String::from_utf8_lossy(&output.stderr).trim().clone_into(&mut why),
            Err(error) => why = error.to_string(),
        }
    }
    bail!("unshare: {why}")
}

fn unshare(flags: &[&str]) -> Command {
    let mut command = files::command("unshare");
    command.args(flags).args(["--", "sh", "-c", LOOPBACK, "sh"]);
    command
}
