//! Which task, and how it is reached.

use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::str::FromStr;

use anyhow::Context;
use protocol::ids::JobKey;

use crate::commands::client::Client;
use crate::commands::jobs::full_name;
use crate::commands::outcome::CommandError;
use crate::commands::reach::login_file;
use crate::rest::ssh::{ContainerWire, SshWire};

/// A job, or one task of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct TaskName {
    pub(super) job: String,
    pub(super) task: Option<String>,
}

impl FromStr for TaskName {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (job, task) = match text.split_once('/') {
            Some((job, task)) => (job, Some(task)),
            None => (text, None),
        };
        if job.is_empty() || task.is_some_and(|task| task.is_empty() || task.contains('/')) {
            return Err("name a job, or a task as JOB/ROLE-INDEX".to_owned());
        }
        Ok(Self { job: job.to_owned(), task: task.map(str::to_owned) })
    }
}

/// How a task is reached.
#[derive(Debug)]
pub(super) struct Way {
    pub(super) job: JobKey,
    /// `worker-0`.
    pub(super) task: String,
    pub(super) port: u16,
    user: String,
    address: String,
    key: PathBuf,
    known_hosts: PathBuf,
}

impl Way {
    /// Asks the server and puts the keys where the clients find them. Of a job, the first task.
    pub(super) fn find(client: &Client, name: &TaskName) -> anyhow::Result<Self> {
        let job = full_name(client, &name.job)?;
        let access: SshWire = client.get(&format!("/api/v2/jobs/{job}/ssh"))?;
        let known: Vec<_> = access.containers.iter().map(|task| task.name.clone()).collect();
        let wanted =
            |task: &ContainerWire| name.task.as_ref().is_none_or(|name| *name == task.name);
        let Some(task) = access.containers.into_iter().find(wanted) else {
            let task = name.task.as_deref().unwrap_or_default();
            let said = client.words().task_absent;
            let message = said(&job.to_string(), task, &known.join(", "));
            return Err(CommandError::new(message).into());
        };
        let port = task.ssh_port.parse().context("the server names no port of this task")?;
        let folder = key_folder()?;
        let key = folder.join(job.to_string());
        let mut answer = client.open(&format!("/api/v2/jobs/{job}/ssh/key"))?;
        let text = answer.body_mut().with_config().limit(64 * 1024).read_to_string()?;
        keep(&key, &text).with_context(|| key.display().to_string())?;
        let known_hosts = folder.join(format!("{job}.{}.known", task.name));
        let line = format!("[{}]:{port} {}\n", task.ssh_ip, access.host_key);
        keep(&known_hosts, &line).with_context(|| known_hosts.display().to_string())?;
        let (user, address) = (access.user, task.ssh_ip);
        Ok(Self { job, task: task.name, port, user, address, key, known_hosts })
    }

    /// What `ssh` and `scp` are told alike; the port they are told each in its own way.
    pub(super) fn options(&self) -> Vec<String> {
        vec![
            format!("-oIdentityFile={}", quoted(&self.key)),
            format!("-oUserKnownHostsFile={}", quoted(&self.known_hosts)),
            "-oIdentitiesOnly=yes".to_owned(),
            "-oStrictHostKeyChecking=yes".to_owned(),
        ]
    }

    pub(super) fn destination(&self) -> String {
        format!("{}@{}", self.user, self.address)
    }
}

/// OpenSSH takes white space for the end of a value, and `%` for the beginning of a token.
fn quoted(path: &Path) -> String {
    format!("\"{}\"", path.display().to_string().replace('%', "%%"))
}

/// Keys lie beside the token of `berth login`, for nobody else to read.
fn key_folder() -> anyhow::Result<PathBuf> {
    let login = login_file().context("neither XDG_CONFIG_HOME nor HOME is set")?;
    let folder = login.with_file_name("keys");
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true).mode(0o700).create(&folder)?;
    Ok(folder)
}

fn keep(path: &Path, text: &str) -> io::Result<()> {
    let fresh = path.with_added_extension(format!("{}.new", std::process::id()));
    let _none_left_over = fs::remove_file(&fresh);
    let mut file = fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&fresh)?;
    file.write_all(text.as_bytes())?;
    fs::rename(&fresh, path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_task_is_named_after_its_job() {
        let name = |text: &str| text.parse::<TaskName>();
        let named = |job: &str, task: Option<&str>| TaskName {
            job: job.to_owned(),
            task: task.map(str::to_owned),
        };
        assert_eq!(name("train"), Ok(named("train", None)));
        assert_eq!(name("alice~train/ps-1"), Ok(named("alice~train", Some("ps-1"))));
        for bad in ["", "/ps-1", "train/", "a/b/c"] {
            assert!(name(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn paths_are_said_so_that_openssh_takes_them_whole() {
        assert_eq!(quoted(Path::new("/home/a b/100%")), "\"/home/a b/100%%\"");
    }
}
