use protocol::image::ImageState;
use protocol::time::Timestamp;
use sea_orm::entity::prelude::*;

use super::ImageRecord;
use crate::Result;
use crate::convert::Row;

#[sea_orm::model]
#[derive(Clone, Debug, DeriveEntityModel)]
#[sea_orm(table_name = "images")]
pub(crate) struct Model {
    #[sea_orm(primary_key)]
    pub id: i64,
    pub owner: String,
    pub image: String,
    pub node: String,
    pub bytes: i64,
    pub job_name: String,
    pub task: String,
    pub container: String,
    pub made_by: String,
    pub created_at: i64,
    pub state: String,
    pub problem: Option<String>,
    pub registry: Option<String>,
    pub auth_file: Option<String>,
}

impl ActiveModelBehavior for ActiveModel {}

impl Model {
    pub(crate) fn into_record(self) -> Result<ImageRecord> {
        let row = Row::new("images", &self.id);
        Ok(ImageRecord {
            id: self.id,
            owner: row.name(&self.owner)?,
            node: row.name(&self.node)?,
            bytes: row.number(self.bytes)?,
            job: row.name(&self.job_name)?,
            container: row.json(&self.container)?,
            made_by: row.name(&self.made_by)?,
            created_at: Timestamp(self.created_at),
            state: row.word(&self.state, ImageState::from_word)?,
            image: self.image,
            task: self.task,
            problem: self.problem,
            registry: self.registry,
            auth_file: self.auth_file,
        })
    }
}
