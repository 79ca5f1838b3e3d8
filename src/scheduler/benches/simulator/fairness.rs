//! Who waits for whom: what users who flood the same nodes have of them, and how long a gang that needs
//! all of them waits under a stream of small jobs.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

use protocol::ids::{JobId, UserName};
use protocol::time::Timestamp;
use scheduler::State;
use scheduler::model::{Demand, PastUse, Request};

use crate::figures::figure;
use crate::openb::request;
use crate::synthetic::nodes;

const HOUR: i64 = 3_600_000;
const USERS: [&str; 3] = ["alice", "bob", "carol"];
/// Jobs of each user: more than a day's work.
const JOBS: i64 = 900;
/// The job of the gang.
const GANG: i64 = 1_000_000;
/// GPUs of the nodes that the gang needs, all of them.
const GPUS: u32 = 64;

/// So long a job runs: from ten minutes to an hour.
fn runs(job: i64) -> i64 {
    (10 + job * 7 % 51) * 60_000
}

/// So long they run on average.
const MEAN: i64 = 35 * 60_000;

fn asks(job: i64, gpus: u32, limit_ms: i64, submitted_at: i64) -> Request {
    let cpu_milli = u64::from(gpus) * 1_000;
    let demand = Demand { cpu_milli, memory_mb: 1_024, disk_gb: 0, gpus, gpu_milli: 1_000 };
    let submitted_at = Timestamp(submitted_at);
    Request { limit_ms: Some(limit_ms), submitted_at, ..request(job, demand, &[]) }
}

/// Three users submit a day's work for all nodes each, one after the other: Jain's index of what they
/// had of the GPUs in that day, weighted by time (1: equally much; a third: one had all). Once where only
/// what they hold counts between them, and once where what they had does with a half-life of six hours.
pub(crate) fn users() {
    figure("users.jain", jain_of_users(0), "index");
    figure("users_decayed.jain", jain_of_users(6 * HOUR), "index");
}

fn jain_of_users(half_life_ms: i64) -> f64 {
    let mut state = State::new(&nodes(2), Vec::new());
    state.remember(PastUse::new(half_life_ms));
    let gpus = |job: i64| [1, 2, 4][(job % 3) as usize];
    let owner = |job: i64| (job / JOBS) as usize;
    for job in 0..JOBS * 3 {
        let user = UserName::new(USERS[owner(job)]).expect("a fixed name is valid");
        state.submit(&Request { user, ..asks(job, gpus(job), runs(job), job) });
    }
    let (mut held, mut had) = ([0_i64; 3], [0_i64; 3]);
    let (mut now, mut ends) = (HOUR, BinaryHeap::new());
    while now < 25 * HOUR {
        for placement in state.pass(Timestamp(now)).placements {
            let job = placement.job.0;
            ends.push(Reverse((now + runs(job), job)));
            held[owner(job)] += i64::from(gpus(job));
        }
        let Some(Reverse((end, job))) = ends.pop() else { break };
        for (had, held) in had.iter_mut().zip(held) {
            *had += held * (end - now);
        }
        now = end;
        held[owner(job)] -= i64::from(gpus(job));
        state.ended(JobId(job));
    }
    jain(&had.map(|had| had as f64))
}

/// How equally users have what they ask for: Jain's index of the part of it that each has of those who ask for
/// something, weighted by time. Where one asks alone, or nobody has anything, it says nothing.
#[derive(Debug, Default)]
pub(crate) struct Satisfaction {
    numbers: HashMap<UserName, usize>,
    /// By number: GPUs that he has, and those that he asks for, these among them.
    users: Vec<(i64, i64)>,
    sum: f64,
    time: f64,
}

impl Satisfaction {
    /// What a user has and asks for becomes so much more.
    pub(crate) fn changes(&mut self, user: &UserName, has: i64, asks: i64) {
        let number = match self.numbers.get(user) {
            Some(number) => *number,
            None => {
                self.numbers.insert(user.clone(), self.users.len());
                self.users.push((0, 0));
                self.users.len() - 1
            }
        };
        let of = &mut self.users[number];
        (of.0, of.1) = (of.0 + has, of.1 + asks);
    }

    /// All stays as it is for so many milliseconds.
    pub(crate) fn lasts(&mut self, millis: i64) {
        let asking = self.users.iter().filter(|(_, asks)| *asks > 0);
        let parts: Vec<f64> = asking.map(|(has, asks)| *has as f64 / *asks as f64).collect();
        if millis > 0 && parts.len() > 1 && parts.iter().any(|part| *part > 0.0) {
            self.sum += jain(&parts) * millis as f64;
            self.time += millis as f64;
        }
    }

    pub(crate) fn jain(&self) -> f64 {
        if self.time > 0.0 { self.sum / self.time } else { 1.0 }
    }
}

/// The square of the sum over the sum of squares, and how many there are.
fn jain(of: &[f64]) -> f64 {
    let sum: f64 = of.iter().sum();
    let squares: f64 = of.iter().map(|one| one * one).sum();
    sum * sum / (squares * of.len() as f64)
}

/// A gang with a true limit of a day comes where as much small work comes as the nodes can do: how
/// long it waits, in hours, and in parts of its run.
pub(crate) fn gang() {
    let mut state = State::new(&nodes(GPUS / 8), Vec::new());
    let (mut comes, mut number, mut ends) = (0, 0, BinaryHeap::new());
    let asked = 2 * HOUR;
    let mut wanted = Some(asks(GANG, 8, 24 * HOUR, asked));
    let waited = loop {
        let end = ends.peek().map(|Reverse((end, _)): &Reverse<(i64, i64)>| *end);
        let now = end.map_or(comes, |end| end.min(comes));
        while ends.peek().is_some_and(|Reverse((end, _))| *end <= now) {
            let Some(Reverse((_, job))) = ends.pop() else { break };
            state.ended(JobId(job));
        }
        if comes == now {
            state.submit(&asks(number, 1, runs(number), now));
            number += 1;
            comes += MEAN / i64::from(GPUS);
        }
        if now >= asked
            && let Some(mut gang) = wanted.take()
        {
            gang.roles[0].count = GPUS / 8;
            state.submit(&gang);
        }
        let started = state.pass(Timestamp(now)).placements;
        if started.iter().any(|placement| placement.job == JobId(GANG)) || now > 400 * HOUR {
            break now - asked;
        }
        let started = started.iter().map(|placement| placement.job.0);
        ends.extend(started.map(|job| Reverse((now + runs(job), job))));
    };
    let hours = waited as f64 / HOUR as f64;
    figure("gang.wait", hours, "h");
    figure("gang.wait_of_run", hours / 24.0, "runs");
}
