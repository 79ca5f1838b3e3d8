//! `cargo xtask bench`.
use crate::workspace::Workspace;
use anyhow::Result;
use clap::Args;

/// Which measurements to take.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// One measurement; all if not given.
    name: Option<String>,
}
pub(crate) fn run(_workspace: &Workspace, _options: &Options) -> Result<()> {
    anyhow::bail!("x")
}
