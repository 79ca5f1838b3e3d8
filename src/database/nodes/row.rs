use sea_orm::entity::prelude::*;

use super::{NodeObserved, NodeRecord};
use crate::Result;
use crate::convert::{Row, moment};

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
    pub reachable: Option<bool>,
    pub problem: Option<String>,
    pub last_seen: Option<i64>,
    pub engine: Option<String>,
    pub capacity: Option<String>,
    pub tasks_address: Option<String>,
    pub taken: Option<String>,
}

impl ActiveModelBehavior for ActiveModel {}

impl Model {
    pub(crate) fn into_record(self) -> Result<NodeRecord> {
        let row = Row::new("nodes", &self.name);
        let observed = match self.reachable {
            Some(reachable) => Some(NodeObserved {
                reachable,
                problem: self.problem.clone(),
                last_seen: moment(self.last_seen),
                engine: self.engine.clone(),
                capacity: row.json_if(self.capacity.as_ref())?,
                tasks_address: row.name_if(self.tasks_address.as_deref())?,
                taken: row.json_if(self.taken.as_ref())?.unwrap_or_default(),
            }),
            None => None,
        };
        Ok(NodeRecord {
            settings: row.json(&self.settings)?,
            from_file: self.from_file,
            draining: self.draining,
            emptied: self.emptied,
            closed: row.json_if(self.closed.as_ref())?,
            observed,
        })
    }
}
