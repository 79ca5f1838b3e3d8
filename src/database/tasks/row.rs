use protocol::amount::Amount;
use protocol::ids::{JobId, TaskKey};
use protocol::placement::TaskPlacement;
use protocol::resources::Resources;
use sea_orm::entity::prelude::*;

use super::{Intent, Task};
use crate::Result;
use crate::convert::{Row, moment};

#[sea_orm::model]
#[derive(Clone, Debug, DeriveEntityModel)]
#[sea_orm(table_name = "tasks")]
pub(crate) struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub job: i64,
    #[sea_orm(primary_key, auto_increment = false)]
    pub attempt: i64,
    #[sea_orm(primary_key, auto_increment = false)]
    pub role: i64,
    #[sea_orm(primary_key, auto_increment = false)]
    pub task_index: i64,
    #[sea_orm(primary_key, auto_increment = false)]
    pub retry: i64,
    pub role_name: String,
    pub state: String,
    pub node: String,
    pub address: String,
    pub gpu_indices: String,
    pub ports: String,
    pub cpus: i64,
    pub memory_mb: i64,
    pub gpu_milli: i64,
    pub disk_gb: i64,
    pub container: Option<String>,
    pub progress: Option<String>,
    pub intent: Option<String>,
    pub started_at: Option<i64>,
    pub completed_at: Option<i64>,
    pub exit: Option<String>,
    pub epoch: Option<String>,
}

impl ActiveModelBehavior for ActiveModel {}

impl Model {
    pub(crate) fn into_task(self) -> Result<Task> {
        let key = format!(
            "{}/{}/{}/{}/{}",
            self.job, self.attempt, self.role, self.task_index, self.retry
        );
        let row = Row::new("tasks", &key);
        let key = TaskKey {
            job: JobId(self.job),
            attempt: row.number(self.attempt)?,
            role: row.number(self.role)?,
            index: row.number(self.task_index)?,
            retry: row.number(self.retry)?,
        };
        let placement = TaskPlacement {
            role: key.role,
            index: key.index,
            node: row.name(&self.node)?,
            address: self.address.clone(),
            gpus: row.json(&self.gpu_indices)?,
            ports: row.json(&self.ports)?,
        };
        let resources = Resources {
            cpus: row.number(self.cpus)?,
            memory_mb: row.number(self.memory_mb)?,
            gpus: Amount::from_milli(row.number(self.gpu_milli)?),
            disk_gb: row.number(self.disk_gb)?,
        };
        let intent = match &self.intent {
            Some(word) => Some(row.word(word, Intent::from_word)?),
            None => None,
        };
        Ok(Task {
            key,
            epoch: row.name_if(self.epoch.as_deref())?.unwrap_or_default(),
            role_name: row.name(&self.role_name)?,
            state: row.state(&self.state)?,
            placement,
            resources,
            intent,
            started_at: moment(self.started_at),
            completed_at: moment(self.completed_at),
            exit: row.json_if(self.exit.as_ref())?,
            container: self.container,
            progress: self.progress,
        })
    }
}
