//! Everything that must be there before Berth is built, served or tested.

use std::path::Path;

use anyhow::Result;
use clap::{Args, ValueEnum};

use crate::workspace::Workspace;
use crate::{base_image, docker, node, packages, rust_target};

/// What `cargo xtask setup` was asked for.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// What the machine is to be made ready for.
    #[arg(long = "for", value_enum, default_value_t = Purpose::Serve)]
    purpose: Purpose,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Purpose {
    /// To build and serve.
    Serve,
    /// To run all tests.
    Test,
}

/// Makes the machine ready.
pub(crate) fn run(workspace: &Workspace, options: &Options) -> Result<()> {
    match options.purpose {
        Purpose::Serve => {
            for_building(workspace)?;
            for_serving(workspace, &workspace.root.join("data")).map(drop)
        }
        Purpose::Test => {
            for_building(workspace)?;
            for_testing(workspace).map(drop)
        }
    }
}

/// The WASM target and the JavaScript packages.
pub(crate) fn for_building(workspace: &Workspace) -> Result<()> {
    rust_target::ensure(workspace, rust_target::WASM)?;
    node::ensure_packages(&workspace.javascript())
}

/// An engine that answers and has the base image.
pub(crate) fn for_serving(workspace: &Workspace, data: &Path) -> Result<docker::Engine> {
    let engine = docker::ensure_engine(data)?;
    base_image::ensure_loaded(workspace, &engine)?;
    Ok(engine)
}

/// What the tests start for themselves: programs, and the base image as an archive for their
/// engines. The machine's own engine is left alone. Gives the archive.
pub(crate) fn for_testing(workspace: &Workspace) -> Result<std::path::PathBuf> {
    packages::ensure(&packages::ENGINE)?;
    packages::ensure(&packages::CLIENT)?;
    packages::ensure(&packages::TESTS)?;
    node::ensure_packages(&workspace.test_provider())?;
    if let Some(archive) = base_image::archive(workspace) {
        return Ok(archive);
    }
    let folder = docker::PrivateEngine::folder();
    let engine = docker::PrivateEngine::start(&folder)?;
    base_image::ensure_archive(workspace, engine.engine())
}
