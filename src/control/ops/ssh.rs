//! `api::ssh`.

use std::collections::BTreeMap;
use std::sync::Arc;

use api::ssh::{Ssh, SshAccess, SshTask};
use api::{Actor, Error, ErrorCode, Result};
use async_trait::async_trait;
use database::tasks::Task;
use protocol::environment::application_id;
use protocol::ids::JobKey;

use super::{jobs, owner_only};
use crate::error::database;
use crate::keys::{self, Pair};
use crate::shared::Shared;

/// The user name in all containers.
const USER: &str = "root";

#[derive(Debug)]
pub(crate) struct Ops(pub(crate) Arc<Shared>);

#[async_trait]
impl Ssh for Ops {
    async fn access(&self, actor: &Actor, key: &JobKey) -> Result<SshAccess> {
        let found = database::jobs::by_key(self.0.database.read(), key).await;
        let job = found.map_err(database)?.ok_or_else(|| jobs::missing(key))?.row;
        owner_only(actor, &job.key.user, "enter this job")?;
        let Some(attempt) = job.attempt else {
            let message = format!("{key} has not been given a place yet");
            return Err(Error::new(ErrorCode::NoJobSshInfoError, message));
        };
        let tasks = database::tasks::of_job(self.0.database.read(), job.id).await;
        let mut latest = BTreeMap::new();
        for task in tasks.map_err(database)?.into_iter().filter(|t| t.key.attempt == attempt) {
            // They come by key, so that of two runs of a task the later one stays.
            latest.insert((task.key.role, task.key.index), task);
        }
        let host = keys::private_key(&self.0.seal, job.id, key, Pair::Host);
        Ok(SshAccess {
            user: USER.to_owned(),
            keys: keys::pair(&self.0.seal, job.id, key),
            folder: self.folder(key, &application_id(job.id, attempt)),
            tasks: latest.into_values().filter_map(|task| self.task(task)).collect(),
            host_key: keys::host_line(&host),
        })
    }
}

impl Ops {
    /// As the documents have it: `/Container/<user>/<job>/ssh/<application id>/.ssh`.
    fn folder(&self, key: &JobKey, application: &str) -> String {
        let uri = self.0.storage.uri();
        format!("{uri}/Container/{}/{}/ssh/{application}/.ssh", key.user, key.name)
    }

    fn task(&self, task: Task) -> Option<SshTask> {
        Some(SshTask {
            port: task.placement.ssh_port()?,
            container: task.key.container_name(&self.0.installation),
            role: task.role_name,
            index: task.key.index,
            address: task.placement.address,
            state: task.state,
        })
    }
}
