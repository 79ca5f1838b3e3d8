//! The guest: the program that Berth puts into every container, static, so that it runs in any.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Result, bail};

use crate::process::run;
use crate::progress::step;
use crate::workspace::Workspace;

/// What it is built for: containers of these nodes.
const TARGET: &str = "x86_64-unknown-linux-gnu";

/// How it is built: small first.
const PROFILE: &str = "guest-release";

/// Static; and random numbers come from the kernel itself, because a static program looks in vain for
/// the library's function and would then need a file that an image may lack.
const FLAGS: &str = "-C target-feature=+crt-static --cfg getrandom_backend=\"linux_getrandom\"";

/// The program, built anew if anything it is made of has changed.
pub(crate) fn ensure(workspace: &Workspace) -> Result<PathBuf> {
    let folder = workspace.target.join("guest");
    let program = folder.join(TARGET).join(PROFILE).join("berth-guest");
    // Cargo knows within a second whether there is anything to do.
    step("guest, static", || run(&mut cargo(workspace, &folder)))?;
    if !program.is_file() {
        bail!("the build left no {}", program.display());
    }
    Ok(program)
}

/// A folder of its own, because its flags are its own: with others in between, both would be built
/// over and over.
fn cargo(workspace: &Workspace, folder: &Path) -> Command {
    let mut cargo = workspace.cargo();
    cargo
        .env("RUSTFLAGS", FLAGS)
        .env_remove("CARGO_ENCODED_RUSTFLAGS")
        .env_remove("CARGO_TARGET_DIR")
        .args(["build", "--quiet", "--package", "guest", "--bin", "berth-guest"])
        .args(["--profile", PROFILE, "--target", TARGET, "--target-dir"])
        .arg(folder);
    cargo
}
