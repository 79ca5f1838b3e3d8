//! `cargo xtask serve`: from a checkout to a running Berth.

use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;

use anyhow::{Context, Result};
use clap::Args;

use crate::workspace::Workspace;
use crate::{guest, release, setup, web};

/// What to serve and where.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Adds simulated nodes with jobs coming and going, clearly marked as simulated.
    #[arg(long)]
    demo: bool,
    /// Serves the optimised binary with the small front end.
    #[arg(long)]
    release: bool,
    /// Where to listen.
    #[arg(long, default_value = "127.0.0.1:8080")]
    listen: String,
    /// The folder of the database and the users' files; `data` in the checkout if not given.
    #[arg(long)]
    data: Option<PathBuf>,
    /// Further arguments for `berth serve`, after `--`.
    #[arg(last = true)]
    further: Vec<String>,
}

/// Sets up, builds and becomes `berth serve`; returns only when it cannot be started.
pub(crate) fn run(workspace: &Workspace, options: &Options) -> Result<()> {
    let data = options.data.clone().unwrap_or_else(|| workspace.root.join("data"));
    setup::for_building(workspace)?;
    setup::for_serving(workspace, &data)?;
    let binary = if options.release {
        release::build(workspace)?
    } else {
        web::ensure(workspace, web::Form::Quick)?;
        release::build_quick(workspace)?
    };
    let guest = guest::ensure(workspace)?;
    let mut berth = workspace.command(&binary);
    berth.arg("serve").args(["--listen", &options.listen]).arg("--data").arg(&data);
    if options.demo {
        berth.arg("--demo");
    }
    berth.args(&options.further).env("BERTH_SITE", workspace.site());
    berth.env("BERTH_GUEST", guest);
    eprintln!("==> Berth at http://{}  (Ctrl-C ends it; jobs that run go on)", options.listen);
    // Becoming the server, not its parent, lets every signal reach it directly.
    let error = berth.exec();
    Err(error).with_context(|| format!("cannot start {}", binary.display()))
}
