//! The table `jobs`: narrow, so that lists of very many jobs are quick.

use protocol::amount::Amount;
use protocol::ids::{JobId, JobKey};
use protocol::jobs::{Hold, Retries};
use protocol::spec::{Priority, TimeLimit};
use protocol::time::Timestamp;
use sea_orm::entity::prelude::*;

use super::job::{JobRow, StopRequest};
use crate::Result;
use crate::convert::{Row, moment};

#[sea_orm::model]
#[derive(Clone, Debug, DeriveEntityModel)]
#[sea_orm(table_name = "jobs")]
pub(crate) struct Model {
    #[sea_orm(primary_key)]
    pub id: i64,
    pub user_name: String,
    pub name: String,
    pub state: String,
    pub stop_by: Option<String>,
    pub stop_at: Option<i64>,
    pub virtual_cluster: String,
    pub priority: i64,
    pub tasks: i64,
    pub roles: i64,
    pub gpu_milli: i64,
    pub gpu_types: String,
    pub user_retries: i64,
    pub platform_retries: i64,
    pub submitted_at: i64,
    pub started_at: Option<i64>,
    pub completed_at: Option<i64>,
    pub exit: Option<String>,
    pub attempt: Option<i64>,
    pub not_before: Option<i64>,
    pub avoid: String,
    pub held_by: Option<String>,
    pub held_at: Option<i64>,
    pub held_by_administrator: bool,
    pub moved_ms: i64,
    pub most_priority: Option<i64>,
    pub counted: bool,
    pub time_limit: Option<i64>,
}

impl ActiveModelBehavior for ActiveModel {}

impl Model {
    pub(crate) fn into_row(self) -> Result<JobRow> {
        let row = Row::new("jobs", &self.id);
        let stop = match (&self.stop_by, self.stop_at) {
            (Some(by), Some(at)) => {
                Some(Box::new(StopRequest { by: row.name(by)?, at: Timestamp(at) }))
            }
            _ => None,
        };
        let administrator = self.held_by_administrator;
        let held = match (&self.held_by, self.held_at) {
            (Some(by), Some(at)) => {
                Some(Box::new(Hold { by: row.name(by)?, at: Timestamp(at), administrator }))
            }
            _ => None,
        };
        Ok(JobRow {
            id: JobId(self.id),
            key: JobKey { user: row.name(&self.user_name)?, name: row.name(&self.name)? },
            state: row.state(&self.state)?,
            stop,
            virtual_cluster: row.name(&self.virtual_cluster)?,
            priority: Priority(row.number(self.priority)?),
            tasks: row.number(self.tasks)?,
            roles: row.number(self.roles)?,
            gpus: Amount::from_milli(row.number(self.gpu_milli)?),
            gpu_types: row.json(&self.gpu_types)?,
            retries: Retries {
                user: row.number(self.user_retries)?,
                platform: row.number(self.platform_retries)?,
            },
            submitted_at: Timestamp(self.submitted_at),
            started_at: moment(self.started_at),
            completed_at: moment(self.completed_at),
            exit: row.json_if(self.exit.as_ref())?,
            attempt: row.number_if(self.attempt)?,
            not_before: moment(self.not_before),
            avoid: row.json(&self.avoid)?,
            held,
            moved_ms: self.moved_ms,
            most_priority: row.number_if(self.most_priority)?.map(Priority),
            time_limit: row.number_if(self.time_limit)?.and_then(TimeLimit::of_seconds),
        })
    }
}
