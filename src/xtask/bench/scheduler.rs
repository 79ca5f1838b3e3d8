//! The scheduler's simulator, which prints its figures itself.

use std::path::PathBuf;

use anyhow::Result;
use clap::Args;

use crate::process;
use crate::workspace::Workspace;

/// What the simulator replays.
#[derive(Debug, Args)]
pub(crate) struct Replay {
    /// `scheduler`: replay these nodes (CSV as openb's) instead of the traces.
    #[arg(long, requires_all = ["pods", "arrivals"])]
    nodes: Option<PathBuf>,
    /// `scheduler`: the tasks that may arrive.
    #[arg(long, requires = "nodes")]
    pods: Option<PathBuf>,
    /// `scheduler`: names of tasks in the order in which they arrive, one a line.
    #[arg(long, requires = "nodes")]
    arrivals: Option<PathBuf>,
    /// `scheduler`: replay the trace of Philly's form in this folder instead.
    #[arg(long, conflicts_with = "nodes")]
    philly: Option<PathBuf>,
    /// `scheduler`: replay the trace of Helios' form in this folder instead.
    #[arg(long, conflicts_with_all = ["nodes", "philly"])]
    helios: Option<PathBuf>,
    /// `scheduler`: what users had counts in the replay with this half-life, in hours.
    #[arg(long)]
    half_life: Option<u32>,
    /// `scheduler`: leave plots (SVG) in this folder.
    #[arg(long)]
    plots: Option<PathBuf>,
}

pub(super) fn run(workspace: &Workspace, options: &Replay) -> Result<()> {
    let mut command = workspace.cargo();
    command.args(["bench", "--quiet", "-p", "scheduler", "--bench", "simulator", "--"]);
    let paths = [
        ("--nodes", &options.nodes),
        ("--pods", &options.pods),
        ("--arrivals", &options.arrivals),
        ("--philly", &options.philly),
        ("--helios", &options.helios),
        ("--plots", &options.plots),
    ];
    for (name, path) in paths {
        if let Some(path) = path {
            command.arg(name).arg(std::path::absolute(path)?);
        }
    }
    if let Some(hours) = options.half_life {
        command.arg("--half-life").arg(hours.to_string());
    }
    process::run(&mut command)
}
