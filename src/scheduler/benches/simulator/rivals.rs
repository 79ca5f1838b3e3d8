//! What the same jobs wait under other policies, in the same run: first come, first served; the same with backfill
//! filled (EASY backfill); the shortest first. Whoever goes by run times knows them exactly. Nobody gives way,
//! and each job has as few nodes as will do.

use std::collections::BTreeSet;
use std::ops::Bound;

use protocol::ids::VirtualClusterName;

use crate::figures::{figure, percentile};
use crate::jobs::{GPUS, Job, Nodes};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Policy {
    /// Nobody starts before who came earlier.
    FirstCome,
    /// Nobody delays the first of those who wait; gaps are counted in GPUs.
    Backfill,
    /// Whoever has room, the shortest first.
    Shortest,
}

/// GPUs on nodes, by number.
type Places = Vec<(usize, u32)>;

/// What each node has free.
#[derive(Debug, Clone)]
struct Free(Vec<u32>);

impl Free {
    fn gpus(&self) -> u32 {
        self.0.iter().sum()
    }

    /// Whole nodes as far as they go, and the rest where the least is left.
    fn take(&mut self, gpus: u32) -> Option<Places> {
        let (whole, rest) = ((gpus / GPUS) as usize, gpus % GPUS);
        let free = || self.0.iter().copied().enumerate();
        let idle = free().filter(|(_, free)| *free == GPUS).take(whole);
        let mut places: Places = idle.collect();
        if places.len() < whole {
            return None;
        }
        if rest > 0 {
            let taken = |node| places.iter().any(|(other, _)| *other == node);
            let room = free().filter(|(node, free)| *free >= rest && !taken(*node));
            let (node, _) = room.min_by_key(|(_, free)| *free)?;
            places.push((node, rest));
        }
        places.iter().for_each(|(node, gpus)| self.0[*node] -= gpus);
        Some(places)
    }

    fn give(&mut self, places: &[(usize, u32)]) {
        places.iter().for_each(|(node, gpus)| self.0[*node] += gpus);
    }
}

/// Until when a job that finds no room waits, and how many GPUs are free then beyond its own.
#[derive(Debug, Clone, Copy)]
struct Window {
    until: i64,
    spare: u32,
}

struct Replay<'a> {
    jobs: &'a [&'a Job],
    policy: Policy,
    free: Free,
    places: Vec<Places>,
    /// By when they go.
    waiting: BTreeSet<(i64, usize)>,
    ends: BTreeSet<(i64, usize)>,
    /// Of the first of those who wait.
    window: Option<Window>,
    waited: Vec<i64>,
}

impl<'a> Replay<'a> {
    fn new(jobs: &'a [&'a Job], nodes: u32, policy: Policy) -> Self {
        Self {
            jobs,
            policy,
            free: Free(vec![GPUS; nodes as usize]),
            places: vec![Places::new(); jobs.len()],
            waiting: BTreeSet::new(),
            ends: BTreeSet::new(),
            window: None,
            waited: vec![0; jobs.len()],
        }
    }

    /// Milliseconds that each job waits.
    fn run(mut self) -> Vec<i64> {
        let mut next = 0;
        while next < self.jobs.len() || !self.ends.is_empty() {
            let arrival = self.jobs.get(next).map(|job| job.submitted);
            let end = self.ends.first().map(|(end, _)| *end);
            let now = arrival.into_iter().chain(end).min().unwrap_or(0);
            while let Some((_, job)) = self.ends.first().copied().filter(|(end, _)| *end <= now) {
                self.ends.pop_first();
                self.free.give(&self.places[job]);
            }
            while let Some(job) = self.jobs.get(next).filter(|job| job.submitted <= now) {
                let short = self.policy == Policy::Shortest;
                self.waiting.insert((if short { job.runs } else { 0 }, next));
                next += 1;
            }
            self.pass(now);
        }
        self.waited
    }

    fn pass(&mut self, now: i64) {
        // Sizes for which there is no room.
        let mut failed = BTreeSet::new();
        let mut after = Bound::Unbounded;
        while let Some(key) = self.waiting.range((after, Bound::Unbounded)).next().copied() {
            if self.free.gpus() == 0 && (self.window.is_some() || self.policy != Policy::Backfill) {
                return;
            }
            let Job { gpus, runs, .. } = *self.jobs[key.1];
            let is_first = self.waiting.first() == Some(&key);
            let window = self.window.filter(|_| !is_first);
            let may =
                window.is_none_or(|window| now + runs <= window.until || gpus <= window.spare);
            if may && !failed.contains(&gpus) {
                if let Some(places) = self.free.take(gpus) {
                    self.start(key, places, now);
                    continue;
                }
                if self.policy == Policy::FirstCome {
                    return;
                }
                failed.insert(gpus);
            }
            if is_first && self.policy == Policy::Backfill && self.window.is_none() {
                self.window = Some(self.window_before(gpus));
            }
            after = Bound::Excluded(key);
        }
    }

    fn start(&mut self, key: (i64, usize), places: Places, now: i64) {
        let Job { gpus, runs, submitted, .. } = *self.jobs[key.1];
        if self.waiting.first() == Some(&key) {
            self.window = None;
        } else if let Some(window) = self.window.as_mut().filter(|window| now + runs > window.until)
        {
            window.spare -= gpus;
        }
        self.waiting.remove(&key);
        self.places[key.1] = places;
        self.ends.insert((now + runs, key.1));
        self.waited[key.1] = now - submitted;
    }

    fn window_before(&self, gpus: u32) -> Window {
        let mut free = self.free.clone();
        for (until, job) in &self.ends {
            free.give(&self.places[*job]);
            if free.gpus() >= gpus && free.take(gpus).is_some() {
                return Window { until: *until, spare: free.gpus() };
            }
        }
        Window { until: i64::MAX, spare: 0 }
    }
}

/// Prints what the jobs wait: each virtual cluster on its own nodes, and the shortest first also on all nodes
/// together.
pub(crate) fn print(name: &str, jobs: &[Job], clusters: &Nodes) {
    let policies = [
        ("fcfs_private", Policy::FirstCome),
        ("easy_private", Policy::Backfill),
        ("sjf_private", Policy::Shortest),
    ];
    for (what, policy) in policies {
        let of = |(cluster, nodes): (&VirtualClusterName, &u32)| {
            let own: Vec<&Job> = jobs.iter().filter(|job| job.cluster == *cluster).collect();
            Replay::new(&own, *nodes, policy).run()
        };
        say(&format!("{name}.{what}"), clusters.iter().flat_map(of).collect());
    }
    let all: Vec<&Job> = jobs.iter().collect();
    let waited = Replay::new(&all, clusters.values().sum(), Policy::Shortest).run();
    say(&format!("{name}.sjf_pooled"), waited);
}

fn say(name: &str, waited: Vec<i64>) {
    let mean = waited.iter().sum::<i64>() as f64 / waited.len().max(1) as f64 / 1000.0;
    figure(&format!("{name}.mean_queue"), mean, "s");
    figure(&format!("{name}.p99_queue"), percentile(waited.into_iter(), 99), "s");
}
