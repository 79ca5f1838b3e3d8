//! The `berth` binary.

use std::path::PathBuf;

use anyhow::Result;

use crate::guest;
use crate::process::run;
use crate::progress::{note, step};
use crate::web;
use crate::workspace::Workspace;

/// The optimised, self-contained binary: the front end is in it.
pub(crate) fn build(workspace: &Workspace) -> Result<PathBuf> {
    web::ensure(workspace, web::Form::Small)?;
    let guest = guest::ensure(workspace)?;
    step("berth, optimised", || {
        let mut cargo = workspace.cargo();
        cargo.args(["build", "--release", "--package", "server", "--features", "embed"]);
        run(cargo.env("BERTH_SITE", workspace.site()).env("BERTH_GUEST", &guest))
    })?;
    let binary = workspace.berth("release");
    note(&format!("{}", binary.display()));
    Ok(binary)
}

/// The binary for trying things out; it reads the front end from the folder `BERTH_SITE`.
pub(crate) fn build_quick(workspace: &Workspace) -> Result<PathBuf> {
    step("berth", || run(workspace.cargo().args(["build", "--package", "server"])))?;
    Ok(workspace.berth("debug"))
}
