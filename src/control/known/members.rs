//! Who is in which group, as far as virtual clusters limit what groups have of them, or are shared by groups.

use std::collections::{BTreeMap, BTreeSet};

use database::ConnectionTrait;
use database::groups::Membership;
use protocol::cluster::VirtualClusterSettings;
use protocol::ids::{GroupName, UserName};
use scheduler::model::VirtualCluster;
use scheduler::model::groups::GroupShares;
use scheduler::model::limits::RunLimits;

/// Groups with their members.
pub(crate) type Members = BTreeMap<GroupName, BTreeSet<UserName>>;

/// Whether anybody has to know who is in which group.
fn matter(clusters: &[VirtualClusterSettings]) -> bool {
    let matter = |settings: &VirtualClusterSettings| {
        settings.limits.of_groups() || !settings.group_shares.is_empty()
    };
    clusters.iter().any(matter)
}

/// All groups, where they matter: whoever says that somebody is in one.
pub(crate) async fn read(
    conn: &impl ConnectionTrait,
    clusters: &[VirtualClusterSettings],
) -> Result<Members, database::Error> {
    let mut members = Members::new();
    if matter(clusters) {
        for Membership { user, group, source: _ } in database::groups::list(conn).await? {
            members.entry(group).or_default().insert(user);
        }
    }
    Ok(members)
}

/// A virtual cluster as the scheduler is told it.
pub(crate) fn scheduler_cluster(
    settings: &VirtualClusterSettings,
    members: &Members,
) -> VirtualCluster {
    let limits = RunLimits::new(settings, members);
    let groups = GroupShares::new(settings, members);
    VirtualCluster { limits, groups, ..VirtualCluster::from(settings) }
}

/// Whether a user is in other groups than is known, where that matters.
pub(crate) async fn differ(
    conn: &impl ConnectionTrait,
    (clusters, members): (&[VirtualClusterSettings], &Members),
    user: &UserName,
) -> Result<bool, database::Error> {
    if !matter(clusters) {
        return Ok(false);
    }
    let stored = database::groups::of_user(conn, user).await?;
    let stored: BTreeSet<&GroupName> = stored.iter().map(|membership| &membership.group).collect();
    let known = members.iter().filter(|(_, members)| members.contains(user));
    let known: BTreeSet<&GroupName> = known.map(|(group, _)| group).collect();
    Ok(stored != known)
}
