use async_trait::async_trait;
use sea_orm::DbErr;
use sea_orm_migration::{MigrationName, MigrationTrait, SchemaManager};

use super::statements::execute;

/// What jobs have used is counted once they have ended, and outlives them.
pub(crate) struct Migration;

impl MigrationName for Migration {
    fn name(&self) -> &str {
        "m0017_retention"
    }
}

#[async_trait]
impl MigrationTrait for Migration {
    /// A crash between two statements must not leave a column that is then added once more.
    fn use_transaction(&self) -> Option<bool> {
        Some(true)
    }

    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        execute(manager.get_connection(), include_str!("m0017_retention.sql").trim()).await
    }
}
