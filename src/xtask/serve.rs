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
    /// Serves a simulated cluster to look at, from a data folder of its own: jobs come and go there
    /// or, with `still`, nothing begins or ends by itself.
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "living")]
    demo: Option<String>,
    /// Serves the optimised binary with the small front end.
    #[arg(long)]
    release: bool,
    /// Where to listen.
    #[arg(long, default_value = "127.0.0.1:8080")]
    listen: String,
    /// The folder of the database and the users' files; `data` in the checkout if not given, and
    /// `data/demo` for the simulated cluster.
    #[arg(long)]
    data: Option<PathBuf>,
    /// Further arguments for `berth serve`, after `--`.
    #[arg(last = true)]
    further: Vec<String>,
}

/// Sets up, builds and becomes `berth serve`; returns only when it cannot be started.
pub(crate) fn run(workspace: &Workspace, options: &Options) -> Result<()> {
    let usual = if options.demo.is_some() { "data/demo" } else { "data" };
    let data = options.data.clone().unwrap_or_else(|| workspace.root.join(usual));
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
    if let Some(mood) = &options.demo {
        berth.arg(format!("--demo={mood}"));
    }
    berth.args(&options.further).env("BERTH_SITE", workspace.site());
    berth.env("BERTH_GUEST", guest);
    eprintln!("==> Berth at http://{}  (Ctrl-C ends it; jobs that run go on)", options.listen);
    // Becoming the server, not its parent, lets every signal reach it directly.
    let error = berth.exec();
    Err(error).with_context(|| format!("cannot start {}", binary.display()))
}
