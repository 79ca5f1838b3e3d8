use protocol::ids::JobId;
use protocol::time::Timestamp;
use sea_orm::entity::prelude::*;

use super::Attempt;
use crate::Result;
use crate::convert::{Row, moment};

#[sea_orm::model]
#[derive(Clone, Debug, DeriveEntityModel)]
#[sea_orm(table_name = "attempts")]
pub(crate) struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub job: i64,
    #[sea_orm(primary_key, auto_increment = false)]
    pub number: i64,
    pub state: String,
    pub borrowed: bool,
    pub placed_at: i64,
    pub started_at: Option<i64>,
    pub completed_at: Option<i64>,
    pub exit: Option<String>,
    pub lease: Option<i64>,
    pub weighed_milli: Option<i64>,
}

impl ActiveModelBehavior for ActiveModel {}

impl Model {
    pub(crate) fn into_attempt(self) -> Result<Attempt> {
        let key = format!("{}/{}", self.job, self.number);
        let row = Row::new("attempts", &key);
        Ok(Attempt {
            job: JobId(self.job),
            number: row.number(self.number)?,
            state: row.state(&self.state)?,
            borrowed: self.borrowed,
            placed_at: Timestamp(self.placed_at),
            started_at: moment(self.started_at),
            completed_at: moment(self.completed_at),
            exit: row.json_if(self.exit.as_ref())?,
            lease: row.number_if(self.lease)?,
            weighed_milli: row.number_if(self.weighed_milli)?,
        })
    }
}
