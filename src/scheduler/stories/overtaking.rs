//! For how long others may go first, over random streams of jobs.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use protocol::exit::Blame;
use protocol::ids::{JobId, VirtualClusterName};
use protocol::spec::Priority;
use protocol::time::Timestamp;

use crate::model::{PastUse, Request, Turn};
use crate::properties::events::cases;
use crate::story::{Story, cluster, gpu_type, job};
use crate::{Like, PastRuns, State};

const MINUTE: i64 = 60_000;
const HOUR: i64 = 60 * MINUTE;
/// GPUs of a node.
const GPUS: u32 = 4;
/// What the small jobs run in the middle, in minutes.
const USUAL: i64 = 30;
/// The longest that one of them may run, in minutes.
const LONGEST: i64 = 120;
/// The half-life of what users had, where nobody chose another.
const HALF_LIFE: i64 = 7 * 24 * HOUR;
/// So many times as long jobs run where that counts: else too many came within a half-life.
const SLOWER: i64 = 24;
/// The job that is looked at.
const WATCHED: JobId = JobId(1_000_000);
/// What runs from the beginning on of its owner's.
const NOTEBOOK: i64 = 0;

/// A small job: minutes that it runs, how many times as long it says it may (0: nothing), and how
/// long after the one before it comes, in percent of what makes the load.
type Draw = (i64, i64, i64);

fn any_stream() -> impl Strategy<Value = Vec<Draw>> {
    prop::collection::vec((5..=2 * USUAL - 5, 1..=2_i64, 1..=199_i64), 40..80)
}

/// What the owner of the job that is looked at has all the time.
#[derive(Debug, Clone, Copy)]
enum Has {
    Nothing,
    /// A notebook without GPU.
    Cores,
    /// One with a GPU that nobody else would have.
    Gpu,
}

/// So many nodes with GPUs.
fn machines(nodes: u32) -> Story {
    let node = |story: Story, number| story.node(&format!("n{number}")).gpus(GPUS, "A100");
    (0..nodes).fold(cluster(), node)
}

/// Jobs of one GPU each that come for ever to one virtual cluster, and one that is looked at.
struct Stream {
    state: State,
    gpus: i64,
    draws: Vec<Draw>,
    /// Milliseconds between two of them in the middle.
    every: i64,
    /// So many times as long as drawn they run.
    slower: i64,
    /// Each is of another user.
    of_strangers: bool,
    next: usize,
    next_at: i64,
    now: i64,
    requests: BTreeMap<JobId, (Request, i64)>,
    waiting: BTreeSet<JobId>,
    /// When each of those that run ends.
    ends: BTreeMap<JobId, i64>,
}

impl Stream {
    fn new(nodes: u32, load_percent: i64, draws: Vec<Draw>) -> Self {
        let gpus = i64::from(nodes * GPUS);
        Self {
            state: State::of(&machines(nodes).snapshot),
            gpus,
            draws,
            every: USUAL * MINUTE * 100 / (gpus * load_percent),
            slower: 1,
            of_strangers: false,
            next: 0,
            next_at: 0,
            now: 0,
            requests: BTreeMap::new(),
            waiting: BTreeSet::new(),
            ends: BTreeMap::new(),
        }
    }

    /// The same of users who never had anything, whose jobs run longer; and who is looked at has had all
    /// GPUs until now, and has something still.
    fn of_strangers(nodes: u32, load_percent: i64, draws: Vec<Draw>, has: Has) -> Self {
        let mut stream = Self::new(nodes, load_percent, draws);
        let (cluster, user) = (VirtualClusterName::default(), watched().user);
        let mut past_use = PastUse::new(HALF_LIFE);
        let for_ever = (Timestamp(-10 * HALF_LIFE), Timestamp(0));
        past_use.record((&cluster, &user), stream.gpus * 1_000, for_ever);
        let mut story = machines(nodes).node("notebook").gpus(1, "K80");
        match has {
            Has::Nothing => {}
            Has::Cores => story = story.running(NOTEBOOK, "default", &[("notebook", &[], 1)]),
            Has::Gpu => story = story.running(NOTEBOOK, "default", &[("notebook", &[0], 1)]),
        }
        story.snapshot.past_use = past_use;
        stream.state = State::of(&story.snapshot);
        stream.every *= SLOWER;
        Self { slower: SLOWER, of_strangers: true, ..stream }
    }

    fn submit(&mut self, request: Request, runs: i64) {
        self.state.submit(&request);
        self.waiting.insert(request.job);
        self.requests.insert(request.job, (request, runs));
    }

    /// The next one of the stream comes.
    fn comes(&mut self) {
        let (minutes, says, percent) = self.draws[self.next % self.draws.len()];
        self.next += 1;
        let mut request = job(self.next as i64).gpus(1, &[]).request;
        request.submitted_at = Timestamp(self.now);
        let runs = minutes * self.slower * MINUTE;
        request.limit_ms = (says > 0).then_some(says * runs);
        if self.of_strangers {
            request.user = format!("stranger{}", self.next).parse().unwrap();
            request.roles[0].gpu_types = vec![gpu_type("A100")];
        }
        self.submit(request, runs);
        self.next_at = self.now + self.every * percent / 100;
    }

    /// The next thing happens, and a pass follows.
    fn goes_on(&mut self) {
        let end = self.ends.iter().map(|(job, end)| (*end, *job)).min();
        match end.filter(|(end, _)| *end <= self.next_at) {
            Some((end, job)) => {
                self.now = end;
                self.ends.remove(&job);
                self.state.ended(job);
            }
            None => {
                self.now = self.next_at;
                self.comes();
            }
        }
        self.pass();
    }

    fn pass(&mut self) {
        loop {
            let pass = self.state.pass(Timestamp(self.now));
            for placement in pass.placements {
                self.waiting.remove(&placement.job);
                self.ends.insert(placement.job, self.now + self.requests[&placement.job].1);
            }
            if pass.preemptions.is_empty() {
                return;
            }
            // Who was backfilled gives way, and waits again.
            for preemption in pass.preemptions {
                self.ends.remove(&preemption.job);
                self.state.ended(preemption.job);
                self.state.submit(&self.requests[&preemption.job].0);
                self.waiting.insert(preemption.job);
            }
        }
    }

    /// Milliseconds until all is done that runs and waits now but for the job that is looked at, on
    /// all GPUs.
    fn backlog(&self) -> i64 {
        let runs: i64 = self.ends.values().map(|end| end - self.now).sum();
        let waiting = self.waiting.iter().filter(|job| **job != WATCHED);
        let waits: i64 = waiting.map(|job| self.requests[job].1).sum();
        (runs + waits) / self.gpus + 1
    }

    /// Whether the gang that is looked at starts by a moment, plus what it takes to work off what is there
    /// by then, plus the longest run beside it.
    fn starts_in_time(&mut self, moment: i64) -> bool {
        let mut latest: Option<i64> = None;
        while self.waiting.contains(&WATCHED) {
            let coming = self.ends.values().copied().min().unwrap_or(i64::MAX).min(self.next_at);
            if latest.is_none() && coming > moment {
                let longest = LONGEST * self.slower * MINUTE;
                latest = Some(moment.max(self.now) + self.backlog() + longest);
            }
            if latest.is_some_and(|latest| self.now > latest) {
                return false;
            }
            self.goes_on();
        }
        latest.is_none_or(|latest| self.now <= latest)
    }
}

/// When a job starts that comes after so many others.
fn start_of(mut stream: Stream, mut watched: Request, others: usize) -> i64 {
    while stream.next < others {
        stream.goes_on();
    }
    watched.submitted_at = Timestamp(stream.now);
    stream.submit(watched, HOUR);
    stream.pass();
    while stream.waiting.contains(&WATCHED) {
        stream.goes_on();
        assert!(stream.next < 100_000, "it starts in the end");
    }
    stream.now
}

fn watched() -> Request {
    Request { job: WATCHED, ..job(1).gpus(1, &[]).request }
}

/// What somebody may try so that his work is done sooner, who has run the like before.
#[derive(Debug, Clone, Copy)]
enum Trick {
    /// He says nothing of how long it may run.
    Silence,
    /// He says so many times as long.
    TooLong(i64),
    /// He runs so many jobs of a second first.
    WarmUp(i64),
    /// The same that fail.
    Fails(i64),
    /// The same to their ends, but of another name, which he then gives the long one.
    NewName(i64),
    /// So many jobs of a second are all that he ever let run to their ends: the long ones ran to their limits, or
    /// he stopped them.
    Stops(i64),
    /// He submits it in so many pieces, each when the one before has ended.
    Pieces(i64),
}

fn any_trick() -> impl Strategy<Value = Trick> {
    prop_oneof![
        Just(Trick::Silence),
        (2..=5_i64).prop_map(Trick::TooLong),
        (1..=100_i64).prop_map(Trick::WarmUp),
        (1..=100_i64).prop_map(Trick::Fails),
        (1..=100_i64).prop_map(Trick::NewName),
        (3..=100_i64).prop_map(Trick::Stops),
        (2..=20_i64).prop_map(Trick::Pieces),
    ]
}

/// Somebody's work that comes after so many others.
#[derive(Debug, Clone)]
struct Work {
    of: Request,
    /// Milliseconds that each piece of it runs, and how many there are.
    pieces: (i64, i64),
    others: usize,
}

impl Work {
    /// Work of so long, done honestly or not.
    fn new(runs: i64, trick: Option<Trick>, others: usize) -> Self {
        let mut past = PastRuns::default();
        let called = |name: &str| Like { name: name.parse().ok(), ..Like::from(&watched()) };
        let mut ran = |name, jobs, blame, ran_ms| {
            (0..jobs).for_each(|_| past.learn(called(name), blame, ran_ms));
        };
        let mut name = "train";
        if let Some(Trick::Stops(short)) = trick {
            ran(name, short, Blame::None, 1_000);
            ran(name, 4, Blame::Stop, runs);
        } else {
            ran(name, 4, Blame::None, runs);
        }
        let (mut limit_ms, mut pieces) = (Some(runs), 1);
        match trick {
            None | Some(Trick::Stops(_)) => {}
            Some(Trick::WarmUp(short)) => ran(name, short, Blame::None, 1_000),
            Some(Trick::Fails(short)) => ran(name, short, Blame::User, 1_000),
            Some(Trick::NewName(short)) => {
                name = "quick";
                ran(name, short, Blame::None, 1_000);
            }
            Some(Trick::Silence) => limit_ms = None,
            Some(Trick::TooLong(times)) => limit_ms = Some(runs * times),
            Some(Trick::Pieces(into)) => (limit_ms, pieces) = (Some(runs / into), into),
        }
        let expected_ms = past.expect(called(name), limit_ms);
        let of = Request { limit_ms, expected_ms, ..watched() };
        Self { of, pieces: (runs / pieces, pieces), others }
    }

    /// When it is done; at most this moment, then it is not.
    fn done(self, mut stream: Stream, by: i64) -> i64 {
        while stream.next < self.others {
            stream.goes_on();
        }
        let (runs, pieces) = self.pieces;
        for _ in 0..pieces {
            let submitted_at = Timestamp(stream.now);
            stream.submit(Request { submitted_at, ..self.of.clone() }, runs);
            stream.pass();
            while stream.waiting.contains(&WATCHED) || stream.ends.contains_key(&WATCHED) {
                if stream.now >= by {
                    return by;
                }
                stream.goes_on();
            }
        }
        stream.now
    }
}

proptest! {
    #![proptest_config(cases(48))]

    /// A gang that needs everything waits, from the half of its own time on, only for what was there
    /// by then, and for who runs when its turn comes; whatever the load.
    #[test]
    fn nobody_is_overtaken_for_longer_than_half_of_his_run(
        nodes in 1..=2_u32,
        load in 50..=150_i64,
        draws in any_stream(),
        before in 1..40_usize,
        hours in 1..=6_i64,
    ) {
        let mut stream = Stream::new(nodes, load, draws);
        while stream.next < before {
            stream.goes_on();
        }
        let mut gang = job(1).tasks(nodes).gpus(GPUS, &[]).request;
        gang.job = WATCHED;
        gang.submitted_at = Timestamp(stream.now);
        gang.limit_ms = Some(hours * HOUR);
        let turns = stream.now + hours * HOUR / 2;
        stream.submit(gang, hours * HOUR);
        stream.pass();
        prop_assert!(stream.starts_in_time(turns), "it is overtaken too long");
    }

    /// Whoever says how long his job may run starts no later than had he said nothing.
    #[test]
    fn a_true_limit_starts_no_later_than_none(
        load in 80..=150_i64,
        draws in prop::collection::vec((5..=2 * USUAL - 5, 0..=2_i64, 1..=199_i64), 40..80),
        before in 1..60_usize,
        hours in 1..=60_i64,
        expected in prop::option::of(1..=60_i64),
    ) {
        let stream = || Stream::new(1, load, draws.clone());
        let expected = expected.map(|hours| hours * HOUR);
        let silent = Request { expected_ms: expected, ..watched() };
        let limit = hours * HOUR;
        let honest = Request {
            limit_ms: Some(limit),
            expected_ms: expected.map(|expected| expected.min(limit)),
            ..watched()
        };
        let (silent, honest) =
            (start_of(stream(), silent, before), start_of(stream(), honest, before));
        prop_assert!(honest <= silent, "{honest} with a limit, {silent} without");
    }

    /// Whatever somebody says or does beside the truth: his work is done no sooner. In pieces it is done
    /// sooner by no more than the whole may be overtaken for, the half of its run.
    #[test]
    fn no_trick_is_better_than_the_truth(
        load in 50..=150_i64,
        draws in any_stream(),
        others in 1..60_usize,
        hours in 1..=24_i64,
        trick in any_trick(),
    ) {
        let runs = hours * HOUR;
        let stream = || Stream::new(1, load, draws.clone());
        let honest = Work::new(runs, None, others).done(stream(), i64::MAX);
        let sooner = match trick {
            Trick::Pieces(_) => runs / 2 + LONGEST * MINUTE,
            Trick::Silence | Trick::TooLong(_) | Trick::Stops(_) => 0,
            Trick::WarmUp(_) | Trick::Fails(_) | Trick::NewName(_) => 0,
        };
        let done = Work::new(runs, Some(trick), others).done(stream(), honest);
        prop_assert!(done + sooner >= honest, "{done} instead of {honest}");
    }

    /// Whoever comes later than half of a job's run goes after it, however short he is, and a limit
    /// puts nobody back.
    #[test]
    fn turns_are_bounded(
        first in 0..1_000 * HOUR,
        later in 0..100 * HOUR,
        expected in prop::option::of(0..400 * HOUR),
        other in prop::option::of(0..400 * HOUR),
    ) {
        let turn = |at, expected| Turn::new(Priority::TEST, Timestamp(at), 0, expected);
        if later > expected.unwrap_or(24 * HOUR).min(24 * HOUR) / 2 {
            prop_assert!(turn(first, expected) < turn(first + later, other));
        }
        prop_assert!(turn(first, expected) <= turn(first, None));
    }
}

proptest! {
    #![proptest_config(cases(12))]

    /// However much somebody has had, and whatever he has still: he is let in a half-life after the half of his
    /// run, be there ever so many who have had nothing.
    #[test]
    fn nobody_is_overtaken_for_what_he_had_for_longer_than_a_half_life(
        nodes in 1..=2_u32,
        load in 50..=150_i64,
        draws in any_stream(),
        before in 1..40_usize,
        hours in 1..=48_i64,
        has in prop_oneof![Just(Has::Nothing), Just(Has::Cores), Just(Has::Gpu)],
    ) {
        let mut stream = Stream::of_strangers(nodes, load, draws, has);
        while stream.next < before {
            stream.goes_on();
        }
        let mut gang = job(1).tasks(nodes).gpus(GPUS, &["A100"]).request;
        gang.job = WATCHED;
        gang.submitted_at = Timestamp(stream.now);
        gang.limit_ms = Some(hours * HOUR);
        let turns = gang.turn().rank + HALF_LIFE;
        stream.submit(gang, hours * HOUR);
        stream.pass();
        prop_assert!(stream.starts_in_time(turns), "it is overtaken too long");
    }
}

#[test]
fn who_waits_alone_is_not_overtaken_by_who_comes() {
    let busy = cluster().node("a").cpus(8).running(9, "default", &[("a", &[], 6)]).ends_in(HOUR);
    let mut state = State::of(&busy.waits(job(1).cpus(8).limited(24 * HOUR)).snapshot);
    let started = |state: &mut State| {
        let placements = state.pass(crate::story::NOW).placements;
        placements.into_iter().map(|placement| placement.job.0).collect::<Vec<_>>()
    };
    assert!(started(&mut state).is_empty());
    state.submit(&job(2).cpus(2).limited(2 * HOUR).request);
    assert!(started(&mut state).is_empty(), "job 1 would start later");
    state.submit(&job(3).cpus(2).limited(HOUR / 2).request);
    assert_eq!(started(&mut state), [3], "it ends before");
}
