//! The Debian package: the optimised binary, its unit for systemd, and what makes its user. What is in
//! it is written in `src/server/Cargo.toml` and `src/server/debian/`.

use anyhow::Result;

use crate::process::run;
use crate::progress::step;
use crate::workspace::Workspace;
use crate::{packages, release};

/// The version of cargo-deb that makes it.
const VERSION: &str = "3.8.0";

/// Leaves the package in `debian/` of the target folder.
pub(crate) fn build(workspace: &Workspace) -> Result<()> {
    release::build(workspace)?;
    packages::ensure(&packages::DEB)?;
    let tools = workspace.target.join("tools");
    let cargo_deb = tools.join("bin/cargo-deb");
    if !cargo_deb.is_file() {
        step("cargo-deb", || {
            let mut install = workspace.cargo();
            install.args(["install", "cargo-deb", "--locked", "--version", VERSION, "--root"]);
            run(install.arg(&tools))
        })?;
    }
    step("the Debian package", || {
        // The binary is as small as it gets, and stays as it was tested.
        let arguments = ["--package", "server", "--no-build", "--no-strip"];
        run(workspace.command(&cargo_deb).args(arguments))
    })
}
