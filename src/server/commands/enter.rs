//! `berth ssh`, `cp` and `port-forward`: the ways into tasks, through the OpenSSH clients of this
//! machine. The job's key and its host key are fetched, so that nothing is asked and nobody else
//! is taken for the task.

mod copy;
mod forward;
mod replace;
mod task;

use std::process::Command;

use clap::Args;

use super::client::Client;
use super::outcome::Outcome;
use super::reach::Common;
pub(super) use copy::Copy;
pub(super) use forward::Forward;
use replace::replace;
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
        let client = Client::signed_in(&self.common)?;
        let way = Way::find(&client, &self.task)?;
        let mut ssh = Command::new("ssh");
        ssh.args(way.options()).arg(format!("-oPort={}", way.port)).arg(way.destination());
        replace(ssh.arg("--").args(self.command), client.words())
    }
}
