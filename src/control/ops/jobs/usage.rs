//! What jobs have used.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use api::usage::{Day, UsageOfDay, UsageQuery};
use api::{Actor, Result};
use database::groups::Membership;
use database::usage::{Usage, UsageKey};
use protocol::amount::Amount;
use protocol::ids::{GpuType, GroupName, UserName};

use crate::accounts::rights::owner_only;
use crate::known::nodes::KnownNodes;
use crate::known::settings::Settings;
use crate::records::meanwhile;
use crate::records::store::Store;
use crate::wake::now;

/// Milliseconds of an hour.
const HOUR: u128 = 3_600_000;

pub(super) async fn usage(
    settings: &Settings,
    (store, nodes): (&Store, &KnownNodes),
    actor: &Actor,
    query: &UsageQuery,
) -> Result<Vec<UsageOfDay>> {
    let days = query.days(now())?;
    let user = match &query.username {
        Some(user) => Some(user),
        None if actor.admin => None,
        None => Some(&actor.user),
    };
    if let Some(user) = user {
        owner_only(actor, user, "see what was used")?;
    }
    let days = days.start().0..=days.end().0;
    let used = database::usage::list(store.database.read(), &days, user).await?;
    let mut used: BTreeMap<UsageKey, Usage> = used.into_iter().collect();
    for (key, usage) in meanwhile::not_counted(store, nodes, user, now()).await? {
        if days.contains(&key.day) {
            used.entry(key).or_default().add(usage);
        }
    }
    let memberships = match user {
        Some(user) => database::groups::of_user(store.database.read(), user).await,
        None => database::groups::list(store.database.read()).await,
    };
    let groups = groups(memberships?);
    let prices = &settings.of_nodes.gpus.prices;
    let views = used.into_iter().map(|used| {
        let groups = groups.get(&used.0.user).into_iter().flatten().cloned().collect();
        UsageOfDay { groups, ..view(used, prices) }
    });
    Ok(views.collect())
}

/// The groups of each user, each once whoever says so.
fn groups(memberships: Vec<Membership>) -> HashMap<UserName, BTreeSet<GroupName>> {
    let mut groups: HashMap<UserName, BTreeSet<GroupName>> = HashMap::new();
    for Membership { user, group, source: _ } in memberships {
        groups.entry(user).or_default().insert(group);
    }
    groups
}

fn view((key, usage): (UsageKey, Usage), prices: &BTreeMap<GpuType, Amount>) -> UsageOfDay {
    let UsageKey { day, user, virtual_cluster, gpu_type } = key;
    let Usage { jobs, gpu_ms, used_ms, measured_ms, .. } = usage;
    let Usage { preempted_ms, wasted_ms, queue_ms, asked_ms, .. } = usage;
    let price = gpu_type.as_ref().and_then(|gpu_type| prices.get(gpu_type));
    let cost = price.map(|price| Amount::from_milli(cost(price.milli(), gpu_ms)));
    UsageOfDay {
        day: Day(day),
        username: user,
        virtual_cluster,
        gpu_type,
        jobs,
        gpu_seconds: gpu_ms / 1_000,
        used_gpu_seconds: used_ms / 1_000,
        measured_gpu_seconds: measured_ms / 1_000,
        preempted_gpu_seconds: preempted_ms / 1_000,
        wasted_gpu_seconds: wasted_ms / 1_000,
        queue_seconds: queue_ms / 1_000,
        cost,
        groups: Vec::new(),
        asked_gpu_seconds: asked_ms / 1_000,
    }
}

/// What so many milliseconds cost by the price of an hour.
fn cost(price: u64, gpu_ms: u64) -> u64 {
    let cost = u128::from(price) * u128::from(gpu_ms) / HOUR;
    u64::try_from(cost).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_user_is_in_each_group_once() {
        let said = |user: &str, group: &str, source: &str| Membership {
            user: user.parse().unwrap(),
            group: group.parse().unwrap(),
            source: source.parse().unwrap(),
        };
        let all = [("ada", "vision", "local"), ("ada", "vision", "ldap"), ("bo", "nlp", "local")];
        let groups = groups(all.map(|(user, group, source)| said(user, group, source)).to_vec());
        let of = |user: &str| {
            let groups = groups[&user.parse::<UserName>().unwrap()].iter();
            groups.map(ToString::to_string).collect::<Vec<_>>()
        };
        assert_eq!((of("ada"), of("bo")), (vec!["vision".to_owned()], vec!["nlp".to_owned()]));
    }

    #[test]
    fn an_hour_costs_its_price() {
        assert_eq!(
            [cost(12_500, 3_600_000), cost(12_500, 1_800_000), cost(1, 1)],
            [12_500, 6_250, 0]
        );
        assert_eq!(cost(u64::MAX, u64::MAX), u64::MAX);
    }
}
