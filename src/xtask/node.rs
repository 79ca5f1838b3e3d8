//! npm packages of a folder, installed only when its lock file changed.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::process::{find_program, output};
use crate::progress::step;

/// The oldest Node that the front end's tools run on.
const OLDEST: u32 = 20;

/// Beside the packages: the lock file they were installed from.
const STAMP: &str = "node_modules/.installed-from";

/// Makes sure that the packages of the folder's lock file are installed.
pub(crate) fn ensure_packages(folder: &Path) -> Result<()> {
    let lock = fs::read(folder.join("package-lock.json"))
        .with_context(|| format!("{} has no package-lock.json", folder.display()))?;
    if fs::read(folder.join(STAMP)).is_ok_and(|installed| installed == lock) {
        return Ok(());
    }
    check_version()?;
    step(&format!("npm packages of {}", folder.display()), || {
        let mut npm = Command::new("npm");
        npm.current_dir(folder).args(["ci", "--ignore-scripts", "--no-audit", "--no-fund"]);
        output(&mut npm).context("npm needs its registry: see `npm config get registry`")?;
        fs::write(folder.join(STAMP), &lock)?;
        Ok(())
    })
}

/// Node, with a script of the folder to run.
pub(crate) fn node(folder: &Path) -> Command {
    let mut node = Command::new("node");
    node.current_dir(folder);
    node
}

fn check_version() -> Result<()> {
    if find_program("node").is_none() || find_program("npm").is_none() {
        bail!("Node {OLDEST} or newer with npm is needed (Debian: apt-get install nodejs npm)");
    }
    let version = output(Command::new("node").arg("--version"))?;
    let major = version.trim().trim_start_matches('v').split('.').next().unwrap_or_default();
    match major.parse::<u32>() {
        Ok(number) if number >= OLDEST => Ok(()),
        Ok(_) | Err(_) => bail!("Node {OLDEST} or newer is needed; this is {}", version.trim()),
    }
}
