use async_trait::async_trait;
use sea_orm::DbErr;
use sea_orm_migration::{MigrationName, MigrationTrait, SchemaManager};

use super::statements::execute;

/// GPUs are counted in thousandths.
pub(crate) struct Migration;

impl MigrationName for Migration {
    fn name(&self) -> &str {
        "m0008_gpu_parts"
    }
}

#[async_trait]
impl MigrationTrait for Migration {
    /// A crash between two statements must not multiply twice.
    fn use_transaction(&self) -> Option<bool> {
        Some(true)
    }

    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        execute(manager.get_connection(), include_str!("m0008_gpu_parts.sql").trim()).await
    }
}
