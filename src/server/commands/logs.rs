//! `berth logs`.

use std::io::Write;

use clap::Args;

use super::client::Client;
use super::jobs::full_name;
use super::outcome::{CommandError, Outcome};
use super::reach::Common;

#[derive(Debug, Args)]
pub(super) struct Logs {
    /// Goes on until the task has ended
    #[arg(short, long)]
    follow: bool,
    /// The job: its name, or `user~name`
    name: String,
    /// The task, as `worker-0` [default: the first]
    #[arg(value_name = "ROLE-INDEX")]
    task: Option<String>,
    /// An earlier attempt, from 0
    #[arg(long)]
    attempt: Option<u32>,
    #[command(flatten)]
    common: Common,
}

impl Logs {
    pub(super) fn run(self) -> Outcome {
        let client = Client::signed_in(&self.common)?;
        let mut query = vec![("follow", self.follow.to_string())];
        if let Some(task) = &self.task {
            let (role, index) = task.rsplit_once('-').unwrap_or((task, "0"));
            if index.parse::<u32>().is_err() {
                return Err(CommandError::new((client.words().no_such_task)(task)).into());
            }
            query.push(("role", role.to_owned()));
            query.push(("index", index.to_owned()));
        }
        query.extend(self.attempt.map(|attempt| ("attempt", attempt.to_string())));
        let name = full_name(&client, &self.name)?;
        let query = serde_urlencoded::to_string(query)?;
        let response = client.open(&format!("/api/v2/jobs/{name}/logs?{query}"))?;
        copy(response.into_body().into_reader())
    }
}

/// Prints as it comes. A reader that goes away (`| head`) is no error.
fn copy(mut from: impl std::io::Read) -> Outcome {
    let mut out = std::io::stdout().lock();
    let mut buffer = [0_u8; 16 * 1024];
    loop {
        let count = from.read(&mut buffer)?;
        if count == 0 {
            return Ok(());
        }
        match out.write_all(&buffer[..count]).and_then(|()| out.flush()) {
            Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => return Ok(()),
            other => other?,
        }
    }
}
