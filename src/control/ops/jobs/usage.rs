//! What jobs have used.

use api::usage::{Day, UsageOfDay, UsageQuery};
use api::{Actor, Result};
use database::usage::{Usage, UsageKey};

use crate::accounts::rights::owner_only;
use crate::error::database;
use crate::shared::Shared;
use crate::wake::now;

pub(super) async fn usage(
    shared: &Shared,
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
    let used = database::usage::list(shared.database.read(), &days, user).await;
    Ok(used.map_err(database)?.into_iter().map(view).collect())
}

fn view((key, usage): (UsageKey, Usage)) -> UsageOfDay {
    let UsageKey { day, user, virtual_cluster, gpu_type } = key;
    let Usage { jobs, gpu_ms } = usage;
    UsageOfDay {
        day: Day(day),
        username: user,
        virtual_cluster,
        gpu_type,
        jobs,
        gpu_seconds: gpu_ms / 1_000,
    }
}
