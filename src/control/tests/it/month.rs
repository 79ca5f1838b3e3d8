//! What was used in a month is what its history comes to when every second is counted by itself.

use std::collections::BTreeMap;
use std::time::Duration;

use api::Backend;
use api::usage::{Day, UsageOfDay, UsageQuery};
use control::{Control, Options};
use database::ConnectionTrait;
use database::attempts::Attempt;
use database::jobs::{JobUpdate, NewJob};
use database::tasks::Task;
use protocol::cluster::GpuCount;
use protocol::document::Syntax;
use protocol::epoch::Epoch;
use protocol::exit::{Blame, Cause, Exit};
use protocol::ids::{GpuType, JobId, NodeName, TaskKey};
use protocol::placement::{TaskPlacement, TaskPorts};
use protocol::state::State;
use protocol::time::Timestamp;

use crate::house::{House, PATIENCE, admin, close, job, key, submit, until_state};

const BETWEEN_LOOKS: Duration = Duration::from_millis(20);
/// Seconds of a day.
const DAY: i64 = 86_400;
/// The month begins with this day, counted from 1970: its jobs are forgotten as soon as they are counted.
const FIRST: i64 = 200;
/// Days on which jobs are submitted, and days on which they run.
const MONTH: i64 = 31;
const DAYS: usize = 40;
/// So many jobs have ended each time before the server starts.
const JOBS: usize = 40;
/// What the two nodes have.
const TYPES: [&str; 2] = ["TITANX", "A100"];

/// Numbers that are the same each time.
struct Dice(u64);

impl Dice {
    /// From 0 on, less than `end`.
    fn below(&mut self, end: i64) -> i64 {
        let next = self.0.wrapping_mul(6_364_136_223_846_793_005);
        self.0 = next.wrapping_add(1_442_695_040_888_963_407);
        i64::try_from(self.0 >> 33).unwrap() % end
    }
}

/// Seconds of one GPU on a day, of a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Held {
    all: u64,
    preempted: u64,
    wasted: u64,
}

/// What the history comes to.
#[derive(Debug, Default)]
struct Sums {
    held: BTreeMap<(usize, usize), Held>,
    jobs: u64,
    /// Seconds of waiting, and of one GPU from submissions to ends.
    waited: u64,
    asked: u64,
}

impl Sums {
    /// Counts every second for which an attempt held GPUs.
    fn hold(&mut self, node: usize, gpus: u64, (from, until): (i64, i64), cause: &Cause) {
        let mut days = [0_u64; DAYS + 1];
        for second in from..until {
            days[usize::try_from(second / DAY - FIRST).unwrap()] += gpus;
        }
        for (day, seconds) in days.into_iter().enumerate().filter(|(_, seconds)| *seconds > 0) {
            let held = self.held.entry((day, node)).or_default();
            held.all += seconds;
            match cause {
                Cause::Preempted | Cause::NodeDrained { .. } => held.preempted += seconds,
                other if matches!(other.blame(), Blame::User | Blame::Platform) => {
                    held.wasted += seconds;
                }
                _ => {}
            }
        }
    }
}

/// A job, and all that is recorded of it.
struct Life {
    job: NewJob,
    update: JobUpdate,
    attempts: Vec<Attempt>,
    tasks: Vec<Task>,
}

fn at(second: i64) -> Timestamp {
    Timestamp(second * 1_000)
}

fn state_of(cause: &Cause) -> State {
    match cause.blame() {
        Blame::None => State::Succeeded,
        Blame::User | Blame::Platform => State::Failed,
        Blame::Stop => State::Stopped,
    }
}

/// How an attempt ended; another one follows unless it is the last.
fn cause(node: &NodeName, is_last: bool, dice: &mut Dice) -> Cause {
    let node = node.clone();
    match (is_last, dice.below(4)) {
        (false, 0) => Cause::Preempted,
        (false, 1) => Cause::NodeDrained { node },
        (false, 2) => Cause::EngineRestarted { node },
        (true, 0) => Cause::StopRequested { by: "admin".to_owned() },
        (true, 1) => Cause::TimeLimit,
        (true, 2) => Cause::Succeeded,
        (_, _) => Cause::CommandFailed,
    }
}

/// One job: it waits, runs on one node or the other, and is tried up to four times; some never run.
fn live(number: usize, nodes: &[NodeName], dice: &mut Dice, sums: &mut Sums) -> Life {
    let gpus = 1 + dice.below(8);
    let name = format!("job-{number}");
    let text = job(&name, 1, u32::try_from(gpus).unwrap(), "true", "");
    let spec = protocol::parse::parse(&text).unwrap().spec;
    let submitted = FIRST * DAY + dice.below(MONTH * DAY);
    let (mut now, mut attempts, mut tasks) = (submitted, Vec::new(), Vec::new());
    let tries = u32::try_from(dice.below(5)).unwrap();
    let mut last = Cause::StopRequested { by: "admin".to_owned() };
    for attempt in 0..tries {
        let node = usize::try_from(dice.below(2)).unwrap();
        let placed = now + dice.below(7_200);
        let started = placed + dice.below(30);
        let ended = started + 1 + dice.below(DAY + DAY / 2);
        last = cause(&nodes[node], attempt + 1 == tries, dice);
        sums.hold(node, u64::try_from(gpus).unwrap(), (started, ended), &last);
        sums.waited += u64::try_from(placed - now).unwrap();
        let exit = Some(Exit { code: None, cause: last.clone(), evidence: Vec::new() }.into());
        let state = state_of(&last);
        attempts.push(Attempt {
            job: JobId(0),
            number: attempt,
            state,
            borrowed: false,
            placed_at: at(placed),
            started_at: Some(at(started)),
            completed_at: Some(at(ended)),
            exit: exit.clone(),
            lease: None,
            weighed_milli: None,
        });
        tasks.push(Task {
            key: TaskKey { job: JobId(0), attempt, role: 0, index: 0, retry: 0 },
            epoch: Epoch::default(),
            role_name: spec.roles[0].name.clone(),
            state,
            placement: TaskPlacement {
                role: 0,
                index: 0,
                node: nodes[node].clone(),
                address: "10.0.0.1".to_owned(),
                gpus: (0..u32::try_from(gpus).unwrap()).collect(),
                ports: TaskPorts::default(),
            },
            resources: spec.roles[0].resources,
            container: None,
            progress: None,
            intent: None,
            started_at: Some(at(started)),
            completed_at: Some(at(ended)),
            exit,
        });
        now = ended;
    }
    if tries == 0 {
        // It was stopped while it waited.
        now += 1 + dice.below(DAY);
        sums.waited += u64::try_from(now - submitted).unwrap();
    }
    sums.jobs += 1;
    sums.asked += u64::try_from((now - submitted) * gpus).unwrap();
    let update = JobUpdate {
        started_at: attempts.first().and_then(|attempt| attempt.started_at),
        completed_at: Some(at(now)),
        attempt: tries.checked_sub(1),
        exit: Some(Exit { code: None, cause: last.clone(), evidence: Vec::new() }),
        ..JobUpdate::to(state_of(&last))
    };
    let (key, syntax) = (key(&name), Syntax::Json);
    let job = NewJob { key, spec, text, syntax, submitted_at: at(submitted) };
    Life { job, update, attempts, tasks }
}

/// Writes lives into the database of a server that is not there.
async fn write(house: &House, mut lives: Vec<Life>) {
    let database = house.database().await;
    let transaction = database.begin().await.unwrap();
    let new: Vec<NewJob> = lives.iter().map(|life| life.job.clone()).collect();
    let ids = database::jobs::insert_many(&transaction, &new).await.unwrap();
    let mut updates = Vec::new();
    for (life, id) in lives.iter_mut().zip(ids) {
        let id = id.unwrap();
        life.attempts.iter_mut().for_each(|attempt| attempt.job = id);
        life.tasks.iter_mut().for_each(|task| task.key.job = id);
        updates.push((id, State::Waiting, life.update.clone()));
    }
    database::jobs::update_many(&transaction, &updates).await.unwrap();
    let attempts: Vec<Attempt> = lives.iter().flat_map(|life| life.attempts.clone()).collect();
    database::attempts::insert_many(&transaction, &attempts).await.unwrap();
    let tasks: Vec<Task> = lives.iter().flat_map(|life| life.tasks.clone()).collect();
    database::tasks::insert_many(&transaction, &tasks).await.unwrap();
    transaction.commit().await.unwrap();
    database.close().await.unwrap();
}

async fn start(house: &House) -> Control {
    let mut options: Options = house.options(house.database().await);
    for (node, gpu_type) in options.nodes.iter_mut().zip(TYPES) {
        node.gpus = Some(vec![GpuCount { gpu_type: gpu_type.parse().unwrap(), count: 8 }]);
    }
    control::start(options).await.unwrap()
}

/// What is told, once so many jobs are counted.
async fn told(backend: &Backend, jobs: u64) -> Vec<UsageOfDay> {
    let until = FIRST + i64::try_from(DAYS).unwrap();
    let query = UsageQuery { from: Some(Day(FIRST)), until: Some(Day(until)), username: None };
    let counting = async {
        loop {
            let told = backend.jobs.usage(&admin(), &query).await.unwrap();
            if told.iter().map(|day| day.jobs).sum::<u64>() >= jobs {
                return told;
            }
            tokio::time::sleep(BETWEEN_LOOKS).await;
        }
    };
    tokio::time::timeout(PATIENCE, counting).await.unwrap()
}

/// The same as was summed.
fn assert_agrees(told: &[UsageOfDay], sums: &Sums) {
    let mut held = BTreeMap::<(usize, usize), Held>::new();
    for day in told {
        let seconds = Held {
            all: day.gpu_seconds,
            preempted: day.preempted_gpu_seconds,
            wasted: day.wasted_gpu_seconds,
        };
        if seconds != Held::default() {
            let gpu_type = day.gpu_type.as_ref().unwrap().as_str();
            let node = TYPES.iter().position(|of_node| *of_node == gpu_type).unwrap();
            held.insert((usize::try_from(day.day.0 - FIRST).unwrap(), node), seconds);
        }
    }
    assert_eq!(held, sums.held);
    let sum = |of: fn(&UsageOfDay) -> u64| told.iter().map(of).sum::<u64>();
    assert_eq!(
        (sum(|day| day.jobs), sum(|day| day.queue_seconds), sum(|day| day.asked_gpu_seconds)),
        (sums.jobs, sums.waited, sums.asked)
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_use_of_a_month_is_the_sum_of_its_seconds() {
    let house = House::new(2);
    let Options { nodes, database, .. } = house.options(house.database().await);
    database.close().await.unwrap();
    let nodes: Vec<NodeName> = nodes.into_iter().map(|node| node.name).collect();
    let (mut dice, mut sums) = (Dice(20), Sums::default());
    for round in 0..2 {
        let numbers = round * JOBS..(round + 1) * JOBS;
        let lives = numbers.map(|number| live(number, &nodes, &mut dice, &mut sums)).collect();
        write(&house, lives).await;
        // One server counts the first half of the jobs, the next one the other.
        let control = start(&house).await;
        assert_agrees(&told(&control.backend, sums.jobs).await, &sums);
        close(&control).await;
    }
    let kinds = |of: fn(&Held) -> u64| sums.held.values().map(of).sum::<u64>();
    assert!(kinds(|held| held.preempted) > 0 && kinds(|held| held.wasted) > 0);
    // A third one has nothing to count.
    let control = start(&house).await;
    assert_agrees(&told(&control.backend, sums.jobs).await, &sums);
    goes_on(&house, control, &mut sums).await;
}

/// One that goes on since one of the month's days is told of to the second as well: over restarts, and once it has
/// ended.
async fn goes_on(house: &House, control: Control, sums: &mut Sums) {
    const GPUS: u64 = 3;
    let (submitted, started) = (FIRST * DAY + 3 * DAY + 12_345, FIRST * DAY + 4 * DAY + 54_321);
    submit(&control.backend, job("endless", 1, 3, "sleep 1000", "")).await;
    let detail = until_state(&control.backend, "endless", State::Running).await;
    let node = house.index_of(&detail.attempts[0].tasks[0].node);
    close(&control).await;
    drop(control);
    since(house, submitted, started).await;
    let container = house.node(node).containers().remove(0);
    house.node(node).backdate(&container, at(started));
    // What is told goes to the end of the last day that is asked for.
    let end = (FIRST + i64::try_from(DAYS).unwrap() + 1) * DAY;
    sums.hold(node, GPUS, (started, end), &Cause::Succeeded);
    sums.asked += u64::try_from(end - submitted).unwrap() * GPUS;
    for ends in [false, false, true] {
        let control = start(house).await;
        until_state(&control.backend, "endless", State::Running).await;
        assert_agrees(&told(&control.backend, sums.jobs).await, sums);
        if ends {
            control.backend.jobs.stop(&admin(), &key("endless")).await.unwrap();
            until_state(&control.backend, "endless", State::Stopped).await;
            assert_agrees(&told(&control.backend, sums.jobs).await, sums);
        }
        close(&control).await;
    }
    let control = start(house).await;
    // It ended today: then it is counted.
    lately(&control.backend, |day| day.jobs == 1).await;
    assert_agrees(&told(&control.backend, sums.jobs).await, sums);
    close(&control).await;
}

/// Makes it so that the one job that runs began then.
async fn since(house: &House, submitted: i64, started: i64) {
    let database = house.database().await;
    let transaction = database.begin().await.unwrap();
    let (submitted, started) = (submitted * 1_000, started * 1_000);
    for change in [
        format!(
            "UPDATE jobs SET submitted_at = {submitted}, started_at = {started} \
             WHERE completed_at IS NULL"
        ),
        format!(
            "UPDATE attempts SET placed_at = {started}, started_at = {started} \
             WHERE completed_at IS NULL"
        ),
        format!("UPDATE tasks SET started_at = {started} WHERE completed_at IS NULL"),
    ] {
        transaction.execute_unprepared(&change).await.unwrap();
    }
    transaction.commit().await.unwrap();
    database.close().await.unwrap();
}

/// What is told of today and yesterday, once it is as wanted.
async fn lately(backend: &Backend, wanted: impl Fn(&UsageOfDay) -> bool) -> UsageOfDay {
    let asking = async {
        loop {
            let told = backend.jobs.usage(&admin(), &UsageQuery::default()).await.unwrap();
            let [day, rest @ ..] = told.as_slice() else {
                tokio::time::sleep(BETWEEN_LOOKS).await;
                continue;
            };
            // At midnight there are two.
            let day = rest.iter().fold(day.clone(), |sum, day| UsageOfDay {
                jobs: sum.jobs + day.jobs,
                gpu_seconds: sum.gpu_seconds + day.gpu_seconds,
                ..sum
            });
            if wanted(&day) {
                return day;
            }
            tokio::time::sleep(BETWEEN_LOOKS).await;
        }
    };
    tokio::time::timeout(PATIENCE, asking).await.unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_job_uses_is_told_while_it_goes_on_and_counted_once_it_has_ended() {
    let house = House::new(1);
    let control = start(&house).await;
    let backend = &control.backend;
    submit(backend, job("long", 1, 8, "sleep 1000", "")).await;
    until_state(backend, "long", State::Running).await;
    // Eight of them make as many in a second.
    let runs = lately(backend, |day| day.gpu_seconds >= 8).await;
    assert_eq!((runs.jobs, &runs.username), (0, &admin().user));
    assert_eq!(runs.gpu_type.as_ref().map(GpuType::as_str), Some(TYPES[0]));
    let bob = api::Actor { user: "bob".parse().unwrap(), admin: false };
    assert_eq!(backend.jobs.usage(&bob, &UsageQuery::default()).await.unwrap(), []);
    backend.jobs.stop(&admin(), &key("long")).await.unwrap();
    until_state(backend, "long", State::Stopped).await;
    let ended = lately(backend, |_| true).await;
    assert!(ended.gpu_seconds >= runs.gpu_seconds, "{ended:?}");
    close(&control).await;
    drop(control);
    // Who begins counts what has ended.
    let control = start(&house).await;
    let counted = lately(&control.backend, |day| day.jobs == 1).await;
    assert_eq!(counted.gpu_seconds, ended.gpu_seconds, "it is not told twice");
    close(&control).await;
}
