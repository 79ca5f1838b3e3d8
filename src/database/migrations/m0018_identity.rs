use async_trait::async_trait;
use sea_orm::DbErr;
use sea_orm_migration::{MigrationName, MigrationTrait, SchemaManager};

use super::statements::execute;

/// Each run of a task says in which life of the database it was given, and a node what on it is no
/// job's. Runs of before say nothing.
pub(crate) struct Migration;

impl MigrationName for Migration {
    fn name(&self) -> &str {
        "m0018_identity"
    }
}

#[async_trait]
impl MigrationTrait for Migration {
    /// A crash between two statements must not add a column twice.
    fn use_transaction(&self) -> Option<bool> {
        Some(true)
    }

    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        execute(manager.get_connection(), include_str!("m0018_identity.sql").trim()).await
    }
}
