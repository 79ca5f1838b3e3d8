use std::sync::Arc;

use sea_orm::entity::prelude::*;

use super::{NodeObserved, NodeRecord};
use crate::Result;
use crate::convert::{Row, moment, readable};

#[sea_orm::model]
#[derive(Clone, Debug, DeriveEntityModel)]
#[sea_orm(table_name = "nodes")]
pub(crate) struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub name: String,
    pub settings: String,
    pub from_file: bool,
    pub draining: bool,
    pub emptied: bool,
    pub closed: Option<String>,
    pub health: Option<String>,
    pub reachable: Option<bool>,
    pub problem: Option<String>,
    pub last_seen: Option<i64>,
    pub engine: Option<String>,
    pub engine_id: Option<String>,
    pub capacity: Option<String>,
    pub tasks_address: Option<String>,
    pub gpu_report: Option<String>,
    pub taken: Option<String>,
}

impl ActiveModelBehavior for ActiveModel {}

impl Model {
    pub(crate) fn into_record(self) -> Result<NodeRecord> {
        Ok(NodeRecord {
            settings: self.row().json(&self.settings)?,
            from_file: self.from_file,
            draining: self.draining,
            emptied: self.emptied,
            // Who is open that was closed, is closed again where nothing starts.
            closed: readable([self.row().json_if(self.closed.as_ref())]).pop().flatten(),
            // What is wrong with it is soon found again.
            health: readable([self.row().json_if(self.health.as_ref())])
                .pop()
                .flatten()
                .unwrap_or_default(),
            // What was seen of it is soon seen again.
            observed: readable([self.observed()]).pop().flatten().map(Arc::new),
        })
    }

    fn observed(&self) -> Result<Option<NodeObserved>> {
        let Some(reachable) = self.reachable else { return Ok(None) };
        Ok(Some(NodeObserved {
            reachable,
            problem: self.problem.clone(),
            last_seen: moment(self.last_seen),
            engine: self.engine.clone(),
            engine_id: self.engine_id.clone(),
            capacity: self.row().json_if(self.capacity.as_ref())?,
            tasks_address: self.row().name_if(self.tasks_address.as_deref())?,
            gpus: self.row().json_if(self.gpu_report.as_ref())?,
            taken: self.row().json_if(self.taken.as_ref())?.unwrap_or_default(),
        }))
    }

    fn row(&self) -> Row<'_> {
        Row::new("nodes", &self.name)
    }
}
