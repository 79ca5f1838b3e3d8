//! Jobs that hold GPUs and do not use them.

use std::collections::{BTreeMap, HashMap};
use std::sync::Mutex;

use api::metrics::{IdleJob, Idling};
use lifecycle::idle::{self, Known, Step};
use protocol::cluster::IdleRule;
use protocol::ids::{JobId, JobKey, UserName, VirtualClusterName};
use protocol::time::Timestamp;

use super::metrics::Peak;
use crate::lock::lock;

/// Where nobody has said what idle is, it is only shown to administrators.
const UNRULED: IdleRule = IdleRule { load: 1, minutes: 15, grace: 0, stop_after: None };

/// What is known of the jobs that hold GPUs.
#[derive(Debug, Default)]
pub(crate) struct IdleJobs(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    seen: BTreeMap<JobId, Seen>,
    /// Those that are to be stopped, and for how many minutes they did nothing.
    to_stop: BTreeMap<JobId, u32>,
}

#[derive(Debug)]
struct Seen {
    holder: Holder,
    rule: Option<IdleRule>,
    idling: idle::Idling,
    kept_until: Option<Timestamp>,
}

/// A job that holds GPUs.
#[derive(Debug, Clone)]
pub(crate) struct Holder {
    pub(crate) job: JobId,
    pub(crate) key: JobKey,
    pub(crate) virtual_cluster: VirtualClusterName,
    pub(crate) attempt: u32,
    pub(crate) gpus: u32,
    pub(crate) placed_at: Timestamp,
}

/// A job whose owner is to be warned.
#[derive(Debug)]
pub(crate) struct ToWarn {
    pub(crate) job: JobId,
    pub(crate) attempt: u32,
    pub(crate) rule: IdleRule,
}

impl Seen {
    fn rule(&self) -> IdleRule {
        self.rule.unwrap_or(UNRULED)
    }

    fn view(&self, now: Timestamp) -> Option<Idling> {
        let rule = self.rule();
        let kept_until = self.kept_until.filter(|until| now < *until);
        let since = self.idling.since(&rule, now)?;
        let stops_at = self.idling.stops_at(&rule).filter(|_| kept_until.is_none());
        Some(Idling { since, stops_at, kept_until })
    }
}

impl IdleJobs {
    /// Those that have done nothing for long: of them it matters whether somebody keeps them.
    pub(crate) fn long(&self, now: Timestamp) -> Vec<JobId> {
        let state = lock(&self.0);
        let long = state.seen.iter().filter(|(_, seen)| seen.view(now).is_some());
        long.map(|(job, _)| *job).collect()
    }

    /// Takes in who holds GPUs now and how busy these were. Says whose owners are to be warned; those to be
    /// stopped are kept for who stops them. Jobs that hold none any more are forgotten.
    pub(crate) fn look(
        &self,
        holders: Vec<Holder>,
        peaks: &HashMap<JobId, Peak>,
        rule_of: impl Fn(&VirtualClusterName) -> Option<IdleRule>,
        kept: &HashMap<JobId, Timestamp>,
        now: Timestamp,
    ) -> Vec<ToWarn> {
        let mut state = lock(&self.0);
        let mut before = std::mem::take(&mut state.seen);
        let (mut to_warn, mut seen) = (Vec::new(), Vec::with_capacity(holders.len()));
        for holder in holders {
            let (job, attempt) = (holder.job, holder.attempt);
            let same = before.remove(&job).filter(|seen| seen.holder.attempt == attempt);
            let (mut idling, known) =
                same.map_or_else(Default::default, |seen| (seen.idling, seen.kept_until));
            let rule = rule_of(&holder.virtual_cluster);
            let kept_until = kept.get(&job).copied().or(known);
            let peak = peaks.get(&job).filter(|peak| peak.gpus >= holder.gpus);
            let peak = peak.map(|peak| peak.load);
            let facts = Known { peak, placed_at: holder.placed_at, kept_until };
            let step = idling.look(&rule.unwrap_or(UNRULED), facts, now);
            match (step, rule) {
                (Step::Warn, Some(rule)) => to_warn.push(ToWarn { job, attempt, rule }),
                (Step::Stop { minutes }, Some(_)) => {
                    state.to_stop.insert(job, minutes);
                }
                (Step::Nothing | Step::Warn | Step::Stop { .. }, _) => {}
            }
            seen.push((job, Seen { holder, rule, idling, kept_until }));
        }
        // A tree that is made of all at once is full, where one to which they are added is half empty.
        state.seen = seen.into_iter().collect();
        to_warn
    }

    /// Whether anything is to be stopped.
    pub(crate) fn stops_any(&self) -> bool {
        !lock(&self.0).to_stop.is_empty()
    }

    /// Those that are to be stopped now, for whoever does so. What goes wrong with that is found again by
    /// the next look.
    pub(crate) fn take_to_stop(&self) -> BTreeMap<JobId, u32> {
        std::mem::take(&mut lock(&self.0).to_stop)
    }

    /// Somebody keeps a job until then.
    pub(crate) fn keep(&self, job: JobId, until: Timestamp) {
        let mut state = lock(&self.0);
        state.to_stop.remove(&job);
        if let Some(seen) = state.seen.get_mut(&job) {
            seen.kept_until = Some(until);
        }
    }

    /// What its virtual cluster's rule makes of a job, if there is one and it does nothing.
    pub(crate) fn of(&self, job: JobId, now: Timestamp) -> Option<Idling> {
        let state = lock(&self.0);
        state.seen.get(&job).filter(|seen| seen.rule.is_some())?.view(now)
    }

    /// All that hold GPUs and do nothing, the longest first; or those of a user of which a rule says
    /// something.
    pub(crate) fn all(&self, of: Option<&UserName>, now: Timestamp) -> Vec<IdleJob> {
        let state = lock(&self.0);
        let wanted = |seen: &&Seen| {
            of.is_none_or(|user| seen.rule.is_some() && seen.holder.key.user == *user)
        };
        let idle = state.seen.values().filter(wanted).filter_map(|seen| {
            let Holder { key, virtual_cluster, gpus, .. } = seen.holder.clone();
            Some(IdleJob { key, virtual_cluster, gpus, idling: seen.view(now)? })
        });
        let mut idle: Vec<_> = idle.collect();
        idle.sort_by_key(|job| job.idling.since);
        idle
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULE: IdleRule = IdleRule { load: 5, minutes: 1, grace: 0, stop_after: Some(1) };

    fn at(minute: i64) -> Timestamp {
        Timestamp(minute * 60_000)
    }

    fn holder(job: i64, cluster: &str, gpus: u32) -> Holder {
        Holder {
            job: JobId(job),
            key: format!("alice~job{job}").parse().unwrap(),
            virtual_cluster: cluster.parse().unwrap(),
            attempt: 0,
            gpus,
            placed_at: at(0),
        }
    }

    /// Looks at three jobs: two that do nothing, one in a virtual cluster with a rule, and one of whose two
    /// GPUs only one is measured.
    fn look(jobs: &IdleJobs, minute: i64) -> Vec<JobId> {
        let holders = vec![holder(1, "ruled", 2), holder(2, "free", 1), holder(3, "ruled", 2)];
        let of = |gpus| Peak { gpus, load: 0.5 };
        let peaks = [(JobId(1), of(2)), (JobId(2), of(1)), (JobId(3), of(1))];
        let peaks = HashMap::from(peaks);
        let rule = |name: &VirtualClusterName| (name.as_str() == "ruled").then_some(RULE);
        let warned = jobs.look(holders, &peaks, rule, &HashMap::new(), at(minute));
        warned.into_iter().map(|warned| warned.job).collect()
    }

    #[test]
    fn only_where_there_is_a_rule_somebody_is_warned_and_stopped() {
        let jobs = IdleJobs::default();
        assert_eq!([look(&jobs, 0), look(&jobs, 1)], [vec![], vec![JobId(1)]]);
        assert_eq!(jobs.long(at(1)), [JobId(1)]);
        let idling = jobs.of(JobId(1), at(1)).unwrap();
        assert_eq!((idling.since, idling.stops_at), (at(0), Some(at(2))));
        assert!(!jobs.stops_any());
        look(&jobs, 2);
        assert!(jobs.stops_any());
        assert_eq!(jobs.take_to_stop(), BTreeMap::from([(JobId(1), 2)]));
        look(&jobs, 15);
        let all = jobs.all(None, at(15));
        let shown: Vec<_> = all.iter().map(|job| (job.key.name.as_str(), job.gpus)).collect();
        assert_eq!(shown, [("job1", 2), ("job2", 1)], "administrators see both");
        assert!(jobs.of(JobId(2), at(15)).is_none(), "no rule says anything of it");
        let own = |user: &str| jobs.all(Some(&user.parse().unwrap()), at(15)).len();
        assert_eq!((own("alice"), own("bob")), (1, 0));
    }

    #[test]
    fn who_is_kept_is_not_stopped_and_who_is_gone_is_forgotten() {
        let jobs = IdleJobs::default();
        (0..=2).for_each(|minute| drop(look(&jobs, minute)));
        jobs.keep(JobId(1), at(60));
        assert!(!jobs.stops_any());
        look(&jobs, 3);
        assert!(!jobs.stops_any());
        let idling = jobs.of(JobId(1), at(3)).unwrap();
        assert_eq!((idling.stops_at, idling.kept_until), (None, Some(at(60))));
        let nothing = jobs.look(Vec::new(), &HashMap::new(), |_| None, &HashMap::new(), at(4));
        assert!(nothing.is_empty() && jobs.all(None, at(90)).is_empty());
    }
}
