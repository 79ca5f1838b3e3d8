//! Who has running all that he may: his jobs wait, and nobody waits for them.

use protocol::amount::Amount;
use protocol::ids::JobId;
use protocol::wait::{Limited, WaitReason};

use crate::cluster::limits::Running;
use crate::model::WHOLE_GPU;
use crate::model::limits::RunLimit;
use crate::numbers::request::Class;
use crate::queue::Waiter;
use crate::state::State;

/// A limit that something would go beyond.
struct Beyond {
    limited: Limited,
    needs: i64,
    running: i64,
    most: u32,
}

/// Which of somebody's limits so much more would go beyond.
fn beyond(limit: RunLimit, running: Running, needs: Running) -> Option<Beyond> {
    let RunLimit { gpus, jobs } = limit;
    let over = |limited, most: Option<u32>, needs: i64, running: i64, unit: i64| {
        let most = most?;
        let too_much = needs > 0 && running.saturating_add(needs) > i64::from(most) * unit;
        too_much.then_some(Beyond { limited, needs, running, most })
    };
    over(Limited::Gpus, gpus, needs.milli, running.milli, i64::from(WHOLE_GPU))
        .or_else(|| over(Limited::Jobs, jobs, needs.jobs, running.jobs, 1))
}

impl Beyond {
    fn amount(&self, of: i64) -> Amount {
        let of = u64::try_from(of).unwrap_or(0);
        match self.limited {
            Limited::Gpus => Amount::from_milli(of),
            Limited::Jobs => Amount::whole(of),
        }
    }
}

impl State {
    /// The limit that keeps jobs of a class from starting, if any does: of their owner, else of a group
    /// of his. What is about to leave its place, or to come to it, runs.
    pub(crate) fn limit_of(&self, class: &Class) -> Option<WaitReason> {
        let name = &class.of.virtual_cluster;
        let of = self.cluster.limits.0.get(name)?;
        let (user, needs) = (&class.of.user, Running::of_class(class));
        let reason = |group, beyond: Beyond| WaitReason::UserLimit {
            virtual_cluster: name.clone(),
            group,
            limited: beyond.limited,
            needs: beyond.amount(beyond.needs),
            running: beyond.amount(beyond.running),
            most: beyond.most,
        };
        let own = of.running.get(user).copied().unwrap_or_default();
        if let Some(beyond) = beyond(of.limits.of_user(user), own, needs) {
            return Some(reason(None, beyond));
        }
        let groups = of.limits.groups.iter().zip(&of.of_groups);
        let mut his = groups.filter(|(group, _)| group.members.contains(user));
        his.find_map(|(group, together)| {
            let beyond = beyond(group.limit, *together, needs)?;
            Some(reason(Some(group.group.clone()), beyond))
        })
    }

    /// Whether a limit keeps jobs of a class from starting.
    pub(crate) fn is_limited(&self, class: &Class) -> bool {
        self.limit_of(class).is_some()
    }

    /// The only one that waits, but for those whom their owners' limits keep from starting.
    pub(crate) fn only_one(&self) -> Option<&Waiter> {
        let jobs = &self.queue.jobs;
        if jobs.len() == 1 || self.cluster.limits.0.is_empty() {
            return jobs.values().next().filter(|_| jobs.len() == 1);
        }
        let lines = || self.queue.active.iter().map(|line| &self.queue.lines[line]);
        let mut free = lines().filter(|line| !self.is_limited(&line.class));
        let only = free.next().filter(|line| line.queue.len() == 1)?.queue.first()?;
        // Who is held, or waits for a moment, comes back.
        let others = free.next().is_some()
            || lines().map(|line| line.queue.len()).sum::<usize>() != jobs.len();
        jobs.get(&only.job).filter(|_| !others)
    }

    /// Nothing is kept any more for jobs that their owners' limits keep from starting. Says whether
    /// anything was.
    pub(crate) fn keep_nothing_for_limited(&mut self) -> bool {
        let jobs = self.reserved.values().map(|reserved| reserved.reservation.job);
        let limited = |job: &JobId| {
            let waiter = self.queue.jobs.get(job);
            waiter.is_some_and(|waiter| self.is_limited(&self.queue.class(waiter.line)))
        };
        let jobs: Vec<JobId> = jobs.filter(limited).collect();
        jobs.iter().for_each(|job| self.let_go(*job));
        !jobs.is_empty()
    }
}
