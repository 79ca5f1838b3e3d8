//! `berth ssh`, `cp` and `port-forward`: the ways into tasks, through the OpenSSH clients of this
//! machine. The job's key and its host key are fetched, so that nothing is asked and nobody else
//! is taken for the task.

mod copy;
mod forward;
mod task;

use std::os::unix::process::CommandExt;
use std::process::Command;

use anyhow::Context;
use clap::Args;

use super::client::Client;
use super::{Common, Outcome};
pub(super) use copy::Copy;
pub(super) use forward::Forward;
use task::{TaskName, Way};

#[derive(Debug, Args)]
pub(super) struct Ssh {
    /// The job, or one of its tasks: `train`, `train/worker-0`, `alice~train/worker-0`
    task: TaskName,
    /// What to run there; without it, a shell
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    command: Vec<String>,
    #[command(flatten)]
    common: Common,
}

impl Ssh {
    pub(super) fn run(self) -> Outcome {
        let way = Way::find(&Client::signed_in(&self.common)?, &self.task)?;
        let mut ssh = Command::new("ssh");
        ssh.args(way.options()).arg(format!("-oPort={}", way.port)).arg(way.destination());
        replace(ssh.arg("--").args(self.command))
    }
}

/// Goes on as another program, which gets the terminal and gives the exit code.
fn replace(command: &mut Command) -> Outcome {
    let error = command.exec();
    let program = command.get_program().to_string_lossy().into_owned();
    Err(error).with_context(|| format!("`{program}` cannot be started; is OpenSSH installed?"))
}
