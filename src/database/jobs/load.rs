use protocol::ids::{UserName, VirtualClusterName};
use protocol::state::State;
use protocol::time::Timestamp;
use sea_orm::Select;
use sea_orm::entity::prelude::*;

use super::row;
use crate::convert::{ROWS_A_STATEMENT, filled};
use crate::{ConnectionTrait, Result};

/// What somebody asks of a virtual cluster.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Load {
    /// Jobs that wait.
    pub waiting: u64,
    /// Jobs that were submitted lately, whatever has become of them.
    pub submitted: u64,
}

/// How many jobs of these users wait in a virtual cluster, and how many they submitted there since a
/// moment.
///
/// # Errors
/// See [`crate::Error`].
pub async fn load(
    conn: &impl ConnectionTrait,
    users: &[UserName],
    cluster: &VirtualClusterName,
    since: Timestamp,
) -> Result<Load> {
    let mut load = Load::default();
    for users in users.chunks(ROWS_A_STATEMENT) {
        let waiting = of(users, cluster).filter(row::Column::State.eq(State::Waiting.as_str()));
        load.waiting += waiting.count(conn).await?;
        load.submitted += submitted(users, cluster, since).count(conn).await?;
    }
    Ok(load)
}

fn submitted(
    users: &[UserName],
    cluster: &VirtualClusterName,
    since: Timestamp,
) -> Select<row::Entity> {
    of(users, cluster).filter(row::Column::SubmittedAt.gt(since.0))
}

fn of(users: &[UserName], cluster: &VirtualClusterName) -> Select<row::Entity> {
    row::Entity::find()
        .filter(row::Column::VirtualCluster.eq(cluster.as_str()))
        .filter(row::Column::UserName.is_in(filled(users).map(UserName::as_str)))
}

#[cfg(test)]
mod tests {
    use sea_orm::{DbBackend, QueryTrait};

    use super::*;
    use crate::plan;

    #[tokio::test]
    async fn what_somebody_submitted_of_late_is_found_by_an_index() {
        let (user, cluster) = ("ada".parse().unwrap(), VirtualClusterName::default());
        let query = submitted(&[user], &cluster, Timestamp(1));
        let steps = plan::of(query.build(DbBackend::Sqlite)).await;
        assert!(steps[0].contains("USING INDEX jobs_submitted_by"), "{steps:?}");
    }
}
