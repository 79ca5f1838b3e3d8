use async_trait::async_trait;
use sea_orm::DbErr;
use sea_orm_migration::{MigrationName, MigrationTrait, SchemaManager};

use super::statements::execute;

/// Jobs by which nodes are tried are ended and deleted, whatever becomes of who tries.
pub(crate) struct Migration;

impl MigrationName for Migration {
    fn name(&self) -> &str {
        "m0041_trials"
    }
}

#[async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        execute(manager.get_connection(), include_str!("m0041_trials.sql").trim()).await
    }
}
