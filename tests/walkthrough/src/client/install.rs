//! Installing the pinned clients from the npm registry: the platform's packages alone, without install scripts.

use super::Client;
use crate::files;
use anyhow::{Context as _, Result, bail};
use serde_json::Value;
use std::fs;
use std::path::Path;

/// Installs what is not installed yet in the pinned version, and returns the packages that were.
///
/// # Errors
///
/// If npm is missing or fails, or a package does not hold the program it should.
pub(crate) fn install(clients: &[Client], into: &Path) -> Result<Vec<&'static str>> {
    let missing: Vec<&'static str> = clients
        .iter()
        .map(|client| client.pinned())
        .filter(|pinned| installed(into, pinned.manifest).as_deref() != Some(pinned.manifest_version))
        .map(|pinned| pinned.package)
        .collect();
    if !missing.is_empty() {
        fs::create_dir_all(into)?;
        let status = files::command("npm")
            .args(["install", "--ignore-scripts", "--no-audit", "--no-fund", "--silent", "--prefix"])
            .arg(into)
            .args(&missing)
            .status()
            .context("npm cannot be run; the clients come from its registry")?;
        if !status.success() {
            bail!("npm could not install {}", missing.join(" "));
        }
    }
    for client in clients {
        let program = into.join(client.pinned().program);
        if !program.is_file() {
            bail!("{} is not where its package had it", program.display());
        }
    }
    Ok(missing)
}

/// Returns the version of an installed package, by its manifest.
fn installed(into: &Path, manifest: &str) -> Option<String> {
    let manifest = fs::read(into.join(manifest)).ok()?;
    let manifest: Value = serde_json::from_slice(&manifest).ok()?;
    Some(manifest["version"].as_str()?.to_owned())
}
