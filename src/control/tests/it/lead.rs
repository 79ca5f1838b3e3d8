//! Two servers of one PostgreSQL: one leads, and the other goes on where that was cut off.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use api::jobs::{JobDetail, Submission};
use api::metrics::MetricsAsk;
use control::{Control, MeasuredEvery, Options, Rules};
use database::lead::{Candidate, Lead, Named, Turn};
use database::{Database, Limits};
use protocol::ids::{NodeName, TaskKey};
use protocol::state::State;
use storage::Storage;

use crate::house::{House, PATIENCE, admin, job, key, submit, until, until_state};
use crate::postgres::new_database;
use crate::way::Way;

/// Each of them takes all GPUs of the only node.
const JOBS: u32 = 12;
/// More of them, on several nodes.
const MANY_JOBS: u32 = 50;
const NODES: usize = 4;
/// So many more have ended before the next leader goes.
const BETWEEN: u32 = 5;
/// Between two looks at what is waited for.
const LOOK: Duration = Duration::from_millis(50);

/// Asks for the lead until it has it.
async fn lead(url: &str, name: &str) -> Lead {
    let mut candidate =
        Candidate::new(url, Named { name: name.to_owned(), address: None }).unwrap();
    let leads = async {
        loop {
            if let Ok(Turn::Leads(lead)) = candidate.stand().await {
                return lead;
            }
            tokio::time::sleep(LOOK).await;
        }
    };
    tokio::time::timeout(PATIENCE, leads).await.expect("the lead is free at last")
}

/// A server that leads, with a data folder of its own.
async fn start(house: &House, (url, lead): (&str, &Lead), data: &Path) -> Control {
    let moment = Duration::from_secs(5);
    let limits = Limits { connection: moment, answer: moment, ..Limits::default() };
    let database = Database::open_by(url, limits, lead.fencing_token().clone()).await.unwrap();
    let rules = Rules { measured_every: MeasuredEvery(LOOK), ..Rules::default() };
    let options = Options { data: data.to_owned(), rules, ..house.options(database) };
    control::start(options).await.unwrap()
}

/// The data folder of another server of the same cluster.
fn other_data(house: &House, name: &str) -> PathBuf {
    let data = house.path().join(name);
    std::fs::create_dir(&data).unwrap();
    std::fs::copy(house.path().join("secret.key"), data.join("secret.key")).unwrap();
    data
}

fn name(number: u32) -> String {
    format!("job-{number}")
}

/// When the job's only task ran.
fn ran(detail: &JobDetail) -> [i64; 2] {
    let task = &detail.attempts[0].tasks[0];
    [task.started_at.unwrap().0, task.completed_at.unwrap().0]
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn another_server_goes_on_where_the_leader_was_cut_off() {
    let (house, url) = (House::new(1), new_database().await.unwrap());
    let way = Way::to(&url).await.unwrap();
    let first = lead(&way.url, "first").await;
    let one = start(&house, (&way.url, &first), house.path()).await;
    for number in 0..JOBS {
        submit(&one.backend, job(&name(number), 1, 8, "sleep 0.3; exit 0", "")).await;
    }
    until_state(&one.backend, &name(1), State::Running).await;
    way.stuck.send(true).unwrap();

    let second = lead(&url, "second").await;
    assert!(!first.fencing_token().acts());
    let two = start(&house, (&url, &second), &other_data(&house, "second")).await;
    // The first one hears and acts again, and knows nothing of what has happened since.
    way.stuck.send(false).unwrap();
    let mut times = Vec::new();
    for number in 0..JOBS {
        let name = name(number);
        let ended = until(&two.backend, &name, |detail| detail.summary.state.is_final()).await;
        assert_eq!(ended.summary.state, State::Succeeded, "{ended:#?}");
        assert_eq!((ended.attempts.len(), ended.attempts[0].tasks.len()), (1, 1), "{ended:#?}");
        times.push(ran(&ended));
    }
    times.sort_unstable();
    let apart = times.windows(2).all(|pair| pair[0][1] <= pair[1][0]);
    assert!(apart, "two held the same GPUs: {times:?}");
    assert_eq!((house.node(0).starts(), house.node(0).most_made()), (u64::from(JOBS), 1));

    tokio::time::timeout(PATIENCE, first.fencing_token().lost()).await.unwrap();
    let text = job("stale", 1, 0, "exit 0", "");
    let submission = Submission { text, cloned_from: None, expected_name: None };
    let refused = one.backend.jobs.submit(&admin(), submission).await.unwrap_err();
    assert!(refused.is_ours(), "{refused}");
    let parts = one.readiness().await;
    let lead = parts.iter().find(|part| part.name == "lead").unwrap();
    assert!(lead.problem.is_some(), "it says that it leads no more");
    for control in [one, two] {
        tokio::time::timeout(PATIENCE, control.shutdown()).await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_is_done_leaves_its_jobs_to_the_next() {
    let (house, url) = (House::new(1), new_database().await.unwrap());
    let first = lead(&url, "first").await;
    let one = start(&house, (&url, &first), house.path()).await;
    submit(&one.backend, job("long", 1, 8, "sleep 1000", "")).await;
    submit(&one.backend, job("next", 1, 8, "exit 0", "")).await;
    until_state(&one.backend, "long", State::Running).await;
    one.shutdown().await;
    first.give_back(true).await;
    let second = lead(&url, "second").await;
    let two = start(&house, (&url, &second), house.path()).await;
    let servers = two.backend.servers.list(&admin()).await.unwrap();
    let told: Vec<_> = servers.iter().map(|server| (server.name.as_str(), server.term)).collect();
    assert_eq!(told, [("second", Some(2)), ("first", None)]);
    two.backend.jobs.stop(&admin(), &key("long")).await.unwrap();
    let long = until_state(&two.backend, "long", State::Stopped).await;
    assert_eq!(long.attempts.len(), 1, "it has run all the time");
    until_state(&two.backend, "next", State::Succeeded).await;
    assert_eq!((house.node(0).starts(), house.node(0).most_made()), (2, 1));
    two.shutdown().await;
}

/// There transactions do not wait for each other by themselves.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn groups_that_are_changed_at_once_on_postgres_lose_nothing() {
    let (house, url) = (House::new(1), new_database().await.unwrap());
    let first = lead(&url, "first").await;
    let one = start(&house, (&url, &first), house.path()).await;
    crate::groups::are_changed_at_once(&one.backend).await;
    one.shutdown().await;
}

/// How a leader goes.
#[derive(Clone, Copy)]
enum Leaves {
    /// It hears nothing any more, as when it is frozen, and comes back later.
    CutOff,
    /// As when it is killed: nobody says whether it still acts.
    WithoutAWord,
    /// As for an upgrade.
    Done,
}

/// A server that leads.
struct Server {
    way: Way,
    lead: Lead,
    control: Control,
}

async fn server(house: &House, url: &str, number: usize) -> Server {
    let (way, name) = (Way::to(url).await.unwrap(), format!("server-{number}"));
    let lead = lead(&way.url, &name).await;
    // The first one makes the key.
    let data = if number == 0 { house.path().to_owned() } else { other_data(house, &name) };
    let control = start(house, (&way.url, &lead), &data).await;
    Server { way, lead, control }
}

/// The next one leads once this one is gone.
async fn follow(
    house: &House,
    url: &str,
    (before, leaves, number): (Server, Leaves, usize),
) -> Server {
    let Server { way, lead, control } = before;
    let kept = match leaves {
        Leaves::CutOff => {
            way.stuck.send(true).unwrap();
            Some(lead)
        }
        Leaves::WithoutAWord => {
            drop(lead);
            None
        }
        Leaves::Done => {
            control.shutdown().await;
            lead.give_back(true).await;
            None
        }
    };
    let next = server(house, url, number).await;
    // It acts until it knows, if it is let.
    way.stuck.send(false).unwrap();
    if let Some(lead) = kept {
        tokio::time::timeout(PATIENCE, lead.fencing_token().lost()).await.unwrap();
    }
    tokio::time::timeout(PATIENCE, control.shutdown()).await.unwrap();
    next
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn fifty_jobs_run_once_while_one_leader_goes_after_the_other() {
    let (house, url) = (House::new(NODES), new_database().await.unwrap());
    let mut leader = server(&house, &url, 0).await;
    for number in 0..MANY_JOBS {
        let job = job(&name(number), 1, 8, "sleep 0.3; exit 0", "");
        submit(&leader.control.backend, job).await;
    }
    let ends = [Leaves::CutOff, Leaves::Done, Leaves::WithoutAWord, Leaves::CutOff];
    let is_final = |detail: &JobDetail| detail.summary.state.is_final();
    for ((round, leaves), last) in ends.into_iter().enumerate().zip((1..).map(|all| all * BETWEEN))
    {
        until(&leader.control.backend, &name(last), is_final).await;
        leader = follow(&house, &url, (leader, leaves, round + 1)).await;
    }
    let mut on_nodes = BTreeMap::<NodeName, Vec<[i64; 2]>>::new();
    for number in 0..MANY_JOBS {
        let ended = until(&leader.control.backend, &name(number), is_final).await;
        assert_eq!(ended.summary.state, State::Succeeded, "{ended:#?}");
        assert_eq!((ended.attempts.len(), ended.attempts[0].tasks.len()), (1, 1), "{ended:#?}");
        let node = ended.attempts[0].tasks[0].node.clone();
        on_nodes.entry(node).or_default().push(ran(&ended));
    }
    for (node, mut times) in on_nodes {
        times.sort_unstable();
        let apart = times.windows(2).all(|pair| pair[0][1] <= pair[1][0]);
        assert!(apart, "two held the same GPUs of {node}: {times:?}");
    }
    let nodes = || (0..NODES).map(|index| house.node(index));
    assert_eq!(nodes().map(|node| node.starts()).sum::<u64>(), u64::from(MANY_JOBS));
    assert_eq!(nodes().map(|node| node.most_made()).max(), Some(1));
    leader.control.shutdown().await;
}

/// Waits until something was measured of a job.
async fn until_measured(control: &Control, name: &str) {
    let measured = async {
        loop {
            let ask = MetricsAsk::new(key(name));
            let seen = control.backend.metrics.of_job(&admin(), &ask).await.unwrap();
            if seen.tasks.iter().any(|task| !task.series.is_empty()) {
                return;
            }
            tokio::time::sleep(LOOK).await;
        }
    };
    tokio::time::timeout(PATIENCE, measured).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_measured_is_kept_by_who_leads() {
    let (house, url) = (House::new(1), new_database().await.unwrap());
    let way = Way::to(&url).await.unwrap();
    let first = lead(&way.url, "first").await;
    let one = start(&house, (&way.url, &first), house.path()).await;
    submit(&one.backend, job("long", 1, 8, "sleep 1000", "")).await;
    let long = until_state(&one.backend, "long", State::Running).await;
    until_measured(&one, "long").await;
    way.stuck.send(true).unwrap();

    let second = lead(&url, "second").await;
    let two = start(&house, (&url, &second), &other_data(&house, "second")).await;
    until_measured(&two, "long").await;
    tokio::time::timeout(PATIENCE, second.fencing_token().acting()).await.unwrap();
    two.shutdown().await;
    second.give_back(true).await;
    let storage = Storage::open(house.path().join("storage").to_str().unwrap()).unwrap();
    let task = TaskKey { job: long.summary.id, attempt: 0, role: 0, index: 0, retry: 0 };
    let kept = storage.kept_metrics(&task).await.unwrap();
    assert!(kept.is_some(), "it was kept at the end");

    way.stuck.send(false).unwrap();
    tokio::time::timeout(PATIENCE, first.fencing_token().lost()).await.unwrap();
    tokio::time::timeout(PATIENCE, one.shutdown()).await.unwrap();
    assert_eq!(storage.kept_metrics(&task).await.unwrap(), kept, "the first one has left it alone");
}
