//! `api::ssh`.

use std::collections::BTreeMap;
use std::sync::Arc;

use api::audit::AuditAction;
use api::ssh::{PublicKeyView, Ssh, SshAccess, SshTask};
use api::{Actor, Error, ErrorCode, Result};
use async_trait::async_trait;
use database::public_keys::PublicKeyRecord;
use database::tasks::Task;
use protocol::environment::application_id;
use protocol::ids::JobKey;

use super::jobs;
use crate::accounts::rights::owner_only;
use crate::container::public_keys;
use crate::records::audit::{self, Note};
use crate::secrets::keys::{self, Pair};
use crate::shared::Shared;
use crate::wake::now;

/// The user name in all containers.
const USER: &str = "root";
/// The most public keys a user has.
const MOST_KEYS: usize = 50;

#[derive(Debug)]
pub(crate) struct Ops(pub(crate) Arc<Shared>);

#[async_trait]
impl Ssh for Ops {
    async fn access(&self, actor: &Actor, key: &JobKey) -> Result<SshAccess> {
        let found = database::jobs::by_key(self.0.store.database.read(), key).await;
        let job = found?.ok_or_else(|| jobs::missing(key))?.row;
        owner_only(actor, &job.key.user, "enter this job")?;
        let about = (AuditAction::KeyRead, key.to_string(), String::new());
        audit::looked(&self.0.store, actor, &key.user, about).await?;
        let Some(attempt) = job.attempt else {
            let message = format!("{key} has not been given a place yet");
            return Err(Error::new(ErrorCode::NoJobSshInfoError, message));
        };
        let tasks = database::tasks::of_job(self.0.store.database.read(), job.id).await;
        let mut latest = BTreeMap::new();
        for task in tasks?.into_iter().filter(|t| t.key.attempt == attempt) {
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

    async fn public_keys(&self, actor: &Actor) -> Result<Vec<PublicKeyView>> {
        let keys = database::public_keys::list_of(self.0.store.database.read(), &actor.user).await;
        Ok(keys?.into_iter().map(view).collect())
    }

    async fn add_public_key(&self, actor: &Actor, label: &str, key: &str) -> Result<PublicKeyView> {
        let mut record = public_keys::read(label, key, now())?;
        let known = database::public_keys::list_of(self.0.store.database.read(), &actor.user).await;
        if known?.len() >= MOST_KEYS {
            return Err(invalid(format!("{MOST_KEYS} keys are enough: remove one first")));
        }
        let entry = note(AuditAction::PublicKeyAdded, actor, &record.fingerprint).by(actor);
        let stored = self.0.store.write(async |t| {
            let id = database::public_keys::insert(t, &actor.user, &record).await?;
            database::audit::insert(t, &entry).await?;
            Ok(id)
        });
        let stored = stored.await;
        record.id = match stored {
            Err(database::Error::Conflict { .. }) => {
                return Err(invalid("you have this key already".to_owned()));
            }
            other => other?,
        };
        public_keys::tell_tasks(&self.0, &actor.user).await?;
        Ok(view(record))
    }

    async fn remove_public_key(&self, actor: &Actor, id: i64) -> Result<()> {
        let entry = note(AuditAction::PublicKeyRemoved, actor, &id.to_string()).by(actor);
        let removed = self.0.store.write(async |t| {
            let removed = database::public_keys::remove(t, &actor.user, id).await?;
            if removed {
                database::audit::insert(t, &entry).await?;
            }
            Ok(removed)
        });
        if !removed.await? {
            return Err(invalid("you have no such key".to_owned()));
        }
        public_keys::tell_tasks(&self.0, &actor.user).await
    }
}

fn note(action: AuditAction, actor: &Actor, detail: &str) -> Note {
    Note { action, object: actor.user.to_string(), detail: detail.to_owned(), address: None }
}

fn view(key: PublicKeyRecord) -> PublicKeyView {
    PublicKeyView {
        id: key.id,
        label: key.label,
        kind: key.line.split(' ').next().unwrap_or_default().to_owned(),
        fingerprint: key.fingerprint,
        created_at: key.created_at,
    }
}

fn invalid(message: String) -> Error {
    Error::new(ErrorCode::InvalidParametersError, message)
}

impl Ops {
    /// As the documents have it: `/Container/<user>/<job>/ssh/<application id>/.ssh`.
    fn folder(&self, key: &JobKey, application: &str) -> String {
        let uri = self.0.store.storage.uri();
        format!("{uri}/Container/{}/{}/ssh/{application}/.ssh", key.user, key.name)
    }

    fn task(&self, task: Task) -> Option<SshTask> {
        Some(SshTask {
            port: task.placement.ssh_port()?,
            container: task.key.container_name(&self.0.identity.installation),
            role: task.role_name,
            index: task.key.index,
            address: task.placement.address,
            state: task.state,
        })
    }
}
