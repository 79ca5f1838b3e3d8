//! The tables' history: append-only, one file a step, the same steps on both databases.

use sea_orm::{ConnectionTrait, DatabaseConnection, DatabaseTransaction, DbBackend};
use sea_orm_migration::{MigrationTrait, MigratorTrait};

use crate::transaction::begin_writing;
use crate::{Error, Result, settings};

mod half_done;
mod m0001_first_tables;
mod m0002_public_keys;
mod m0003_audit;
mod m0004_borrowed;
mod m0005_images;
mod m0006_queue;
mod m0007_emptied;
mod m0008_gpu_parts;
mod m0009_waiting;
mod m0010_names_and_tokens;
mod m0011_groups;
mod m0012_private_images;
mod m0014_tasks_address;
mod m0015_list_indices;
mod m0017_retention;
mod m0018_identity;
mod m0019_closed_nodes;
mod m0020_lease;
mod m0021_gpu_report;
mod m0025_storages;
mod m0026_groups_and_tags;
mod m0027_first_passwords;
mod m0034_kept_jobs;
mod m0035_health_and_usage;
mod m0036_saved_views;
mod m0037_notifications;
mod m0038_templates;
mod m0039_asked_hours;
mod m0040_times;
mod m0041_trials;
mod m0042_weighed;
mod m0043_time_limits;
mod m0044_engine_ids;
mod statements;

pub(crate) struct Migrator;

impl MigratorTrait for Migrator {
    fn migrations() -> Vec<Box<dyn MigrationTrait>> {
        vec![
            Box::new(m0001_first_tables::Migration),
            Box::new(m0002_public_keys::Migration),
            Box::new(m0003_audit::Migration),
            Box::new(m0004_borrowed::Migration),
            Box::new(m0005_images::Migration),
            Box::new(m0006_queue::Migration),
            Box::new(m0007_emptied::Migration),
            Box::new(m0008_gpu_parts::Migration),
            Box::new(m0009_waiting::Migration),
            Box::new(m0010_names_and_tokens::Migration),
            Box::new(m0011_groups::Migration),
            Box::new(m0012_private_images::Migration),
            Box::new(m0014_tasks_address::Migration),
            Box::new(m0015_list_indices::Migration),
            Box::new(m0017_retention::Migration),
            Box::new(m0018_identity::Migration),
            Box::new(m0019_closed_nodes::Migration),
            Box::new(m0020_lease::Migration),
            Box::new(m0021_gpu_report::Migration),
            Box::new(m0025_storages::Migration),
            Box::new(m0026_groups_and_tags::Migration),
            Box::new(m0027_first_passwords::Migration),
            Box::new(m0034_kept_jobs::Migration),
            Box::new(m0035_health_and_usage::Migration),
            Box::new(m0036_saved_views::Migration),
            Box::new(m0037_notifications::Migration),
            Box::new(m0038_templates::Migration),
            Box::new(m0039_asked_hours::Migration),
            Box::new(m0040_times::Migration),
            Box::new(m0041_trials::Migration),
            Box::new(m0042_weighed::Migration),
            Box::new(m0043_time_limits::Migration),
            Box::new(m0044_engine_ids::Migration),
        ]
    }
}

/// The version that is being built.
const VERSION: &str = env!("CARGO_PKG_VERSION");
/// The setting that says which version last used the tables.
const USED_BY: &str = "version";

/// Applies the steps that are missing, all of them in one transaction: whatever ends it on the way
/// leaves the database as it was. Of several servers that start together on PostgreSQL, one does and
/// the others wait.
pub(crate) async fn run(connection: &DatabaseConnection) -> Result<()> {
    let turn = begin_writing(connection).await?;
    if turn.get_database_backend() == DbBackend::Postgres {
        // A large table takes its time, and who waits for it waits as long.
        for limit in ["statement_timeout", "lock_timeout"] {
            turn.execute_unprepared(&format!("SET LOCAL {limit} = 0")).await?;
        }
        // Any number will do, if only every Berth takes the same.
        turn.execute_unprepared("SELECT pg_advisory_xact_lock(4919246510)").await?;
    }
    let unknown = unknown(&turn).await?;
    if !unknown.is_empty() {
        return Err(newer(&turn, &unknown).await);
    }
    Migrator::up(&turn, None).await?;
    if settings::get(&turn, USED_BY).await?.as_deref() != Some(VERSION) {
        settings::set(&turn, USED_BY, VERSION).await?;
    }
    Ok(turn.commit().await?)
}

/// The steps that were applied and that this version does not have.
async fn unknown(turn: &DatabaseTransaction) -> Result<Vec<String>> {
    let known = Migrator::migrations();
    let is_known = |step: &String| known.iter().any(|known| known.name() == step);
    let applied = Migrator::get_migration_models(turn).await?;
    let applied = applied.into_iter().map(|step| step.version);
    Ok(applied.filter(|step| !is_known(step)).collect())
}

/// Of a database with steps of another version: which one that is, and what to do.
async fn newer(turn: &DatabaseTransaction, unknown: &[String]) -> Error {
    // Where even that cannot be read, it is not said.
    let version = settings::get(turn, USED_BY).await.ok().flatten();
    let version = version.filter(|version| version != VERSION);
    let version =
        version.map_or_else(|| "a newer version".to_owned(), |of| format!("version {of}"));
    Error::unavailable(format!(
        "{version} of Berth has used it, and this is version {VERSION}, which does not know its \
         tables ({}): start that version or a newer one, or restore the backup that was made before \
         the upgrade",
        unknown.join(", ")
    ))
}

#[cfg(test)]
mod tests;
