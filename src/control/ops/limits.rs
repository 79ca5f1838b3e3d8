//! Who may submit one job more: what virtual clusters limit of each user and group.

use std::collections::HashMap;
use std::sync::Arc;

use api::{Actor, Error, ErrorCode, Result};
use database::ConnectionTrait;
use database::jobs::Load;
use protocol::amount::Amount;
use protocol::cluster::VirtualClusterSettings;
use protocol::ids::{GroupName, UserName, VirtualClusterName};
use protocol::limits::Limit;
use protocol::spec::JobSpec;
use protocol::time::Timestamp;
use protocol::words::counted;
use scheduler::model::Demand;

use crate::known::cluster::Cluster;
use crate::known::members::{self, Members};
use crate::shared::Shared;
use crate::wake::now;

/// For so long a submission counts.
const MINUTE_MS: i64 = 60_000;

/// Whose jobs are counted together.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Whose {
    User(UserName),
    Group(GroupName),
}

/// Somebody with his limits, and all whose jobs count.
struct Limited {
    whose: Whose,
    limit: Limit,
    users: Vec<UserName>,
}

/// Lets jobs in one after the other, at one moment: each counts against the next.
pub(super) struct Door {
    cluster: Arc<Cluster>,
    since: Timestamp,
    /// Who is in which group, once that was needed.
    members: Option<Members>,
    loads: HashMap<(VirtualClusterName, Whose), Load>,
}

/// Refuses a job that would be one too many now.
pub(super) async fn check(shared: &Shared, actor: &Actor, spec: &JobSpec) -> Result<()> {
    follow(shared, &actor.user).await?;
    let mut door = Door::new(shared.nodes.cluster(), now());
    let refusal = door.refusal(shared.store.database.read(), &actor.user, spec).await;
    refusal?.map_or(Ok(()), Err)
}

/// Has the scheduler know who is in which group, where that matters and a user is in others than before.
pub(super) async fn follow(
    shared: &Shared,
    user: &UserName,
) -> std::result::Result<(), database::Error> {
    if shared.nodes.cluster.follow_groups(&shared.store.database, user).await? {
        shared.live.wakeups.schedule.wake();
    }
    Ok(())
}

impl Door {
    pub(super) fn new(cluster: Arc<Cluster>, at: Timestamp) -> Self {
        let since = at.plus_millis(-MINUTE_MS);
        Self { cluster, since, members: None, loads: HashMap::new() }
    }

    /// Why a user's job is not let in, if it is not; else it counts from now on.
    pub(super) async fn refusal(
        &mut self,
        conn: &impl ConnectionTrait,
        user: &UserName,
        spec: &JobSpec,
    ) -> std::result::Result<Option<Error>, database::Error> {
        let cluster = Arc::clone(&self.cluster);
        let settings = cluster.virtual_cluster(&spec.virtual_cluster);
        let Some(settings) = settings.filter(|settings| !settings.limits.is_empty()) else {
            return Ok(None);
        };
        let mut counted = Vec::new();
        for Limited { whose, limit, users } in self.limited(conn, settings, user).await? {
            let key = (settings.name.clone(), whose);
            let counts = limit.waiting_jobs.is_some() || limit.submissions_per_minute.is_some();
            let load = match self.loads.get(&key) {
                Some(load) => *load,
                None if !counts => Load::default(),
                None => database::jobs::load(conn, &users, &settings.name, self.since).await?,
            };
            if let Some(error) = refused(&key, limit, load, spec) {
                return Ok(Some(error));
            }
            let Load { waiting, submitted } = load;
            counted.push((key, Load { waiting: waiting + 1, submitted: submitted + 1 }));
        }
        self.loads.extend(counted);
        Ok(None)
    }

    /// The user and those of his groups that are limited.
    async fn limited(
        &mut self,
        conn: &impl ConnectionTrait,
        settings: &VirtualClusterSettings,
        user: &UserName,
    ) -> std::result::Result<Vec<Limited>, database::Error> {
        let whose = Whose::User(user.clone());
        let (limit, users) = (settings.limit_of_user(user), vec![user.clone()]);
        let mut all = vec![Limited { whose, limit, users }];
        if settings.limits.of_groups() {
            let members = match self.members.take() {
                Some(members) => members,
                None => members::read(conn, &self.cluster.virtual_clusters).await?,
            };
            let members = self.members.insert(members);
            let own = members.iter().filter(|(_, members)| members.contains(user));
            all.extend(own.map(|(group, members)| Limited {
                whose: Whose::Group(group.clone()),
                limit: settings.limit_of_group(group),
                users: members.iter().cloned().collect(),
            }));
        }
        all.retain(|limited| !limited.limit.is_none());
        Ok(all)
    }
}

/// What is said to somebody whose job would be one too many, or could never start.
fn refused(
    (name, whose): &(VirtualClusterName, Whose),
    limit: Limit,
    load: Load,
    spec: &JobSpec,
) -> Option<Error> {
    let needs = gpus(spec);
    if let Some(most) = limit.running_gpus.filter(|most| needs > Amount::whole((*most).into())) {
        return Some(too_large(name, whose, needs, most));
    }
    let reached = |most: &u32, has: u64| has >= u64::from(*most);
    if let Some(most) = limit.waiting_jobs.filter(|most| reached(most, load.waiting)) {
        return Some(too_many_wait(name, whose, load.waiting, most));
    }
    let most = limit.submissions_per_minute.filter(|most| reached(most, load.submitted))?;
    Some(too_fast(name, whose, load.submitted, most))
}

/// The GPUs of all tasks.
fn gpus(spec: &JobSpec) -> Amount {
    let of_role = |role: &protocol::spec::TaskRole| {
        let each = Amount::from_milli(Demand::from(role.resources).all_gpu_milli());
        each.times(role.count.into())
    };
    spec.roles.iter().map(of_role).sum()
}

fn too_large(name: &VirtualClusterName, whose: &Whose, needs: Amount, most: u32) -> Error {
    let code = ErrorCode::ImpossibleRequestError;
    match whose {
        Whose::User(user) => {
            let message = format!(
                "this job asks for {needs} GPUs, and the user {user} may have {most} running at once in \
                 the virtual cluster {name}"
            );
            Error::new(code, message)
        }
        Whose::Group(group) => {
            let message = format!(
                "this job asks for {needs} GPUs, and the members of {group} together may have {most} \
                 running at once in the virtual cluster {name}"
            );
            Error::new(code, message)
        }
    }
}

fn too_many_wait(name: &VirtualClusterName, whose: &Whose, waiting: u64, most: u32) -> Error {
    let (code, jobs) = (ErrorCode::LimitReachedError, counted(waiting, "job"));
    match whose {
        Whose::User(user) => {
            let message = format!(
                "{user} has {jobs} waiting in the virtual cluster {name}, where each user may \
                 have {most}: submit it again when some have started"
            );
            Error::new(code, message)
        }
        Whose::Group(group) => {
            let message = format!(
                "the members of {group} have {jobs} waiting in the virtual cluster {name}, \
                 where they may have {most} together: submit it again when some have started"
            );
            Error::new(code, message)
        }
    }
}

fn too_fast(name: &VirtualClusterName, whose: &Whose, submitted: u64, most: u32) -> Error {
    let (code, jobs) = (ErrorCode::LimitReachedError, counted(submitted, "job"));
    match whose {
        Whose::User(user) => {
            let message = format!(
                "{user} submitted {jobs} to the virtual cluster {name} within a minute, of {most} \
                 allowed: submit it again in a minute"
            );
            Error::new(code, message)
        }
        Whose::Group(group) => {
            let message = format!(
                "the members of {group} submitted {jobs} to the virtual cluster {name} within a minute, \
                 of {most} allowed together: submit it again in a minute"
            );
            Error::new(code, message)
        }
    }
}
