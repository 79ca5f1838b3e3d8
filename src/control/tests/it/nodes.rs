//! Nodes that administrators add, change and remove.

use std::time::Duration;

use api::audit::AuditAction;
use api::cluster::{NodeView, Trial};
use api::node_map::{Colour, Face, NodeOrder, NodeQuery, Only, Shown};
use api::{Actor, Backend, ErrorCode};
use bytes::Bytes;
use protocol::amount::Amount;
use protocol::architecture::Architecture;
use protocol::cluster::{NodeCondition, NodeNetwork, NodeSettings};
use protocol::ids::VirtualClusterName;
use protocol::state::State;

use crate::house::{
    House, PATIENCE, admin, close, job, key, submit, until, until_node, until_state,
};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_of_the_configuration_file_is_changed_there() {
    let house = House::new(1);
    let options = house.options(house.database().await);
    let node = options.nodes[0].clone();
    let control = control::start(options).await.unwrap();
    let nodes = &control.backend.nodes;
    let labelled =
        NodeSettings { labels: [("rack".to_owned(), "3".to_owned())].into(), ..node.clone() };
    let refusals = [
        nodes.save(&admin(), labelled.clone()).await.unwrap_err(),
        nodes.save_effect(&admin(), labelled.clone()).await.unwrap_err(),
        nodes.remove(&admin(), &node.name).await.unwrap_err(),
        nodes.remove_effect(&admin(), &node.name).await.unwrap_err(),
    ];
    for refused in refusals {
        assert_eq!(refused.code, ErrorCode::ConflictNodeError);
        assert!(refused.message.contains("configuration file"), "{}", refused.message);
    }
    assert_eq!(nodes.settings(&admin(), &node.name).await.unwrap(), node);
    close(&control).await;
    drop(control);

    // The file says nothing of it any more: it stays, and is the pages' to change.
    let mut options = house.options(house.database().await);
    options.first_node = Some(NodeSettings { name: "first".parse().unwrap(), ..node.clone() });
    options.nodes.clear();
    let control = control::start(options).await.unwrap();
    let nodes = &control.backend.nodes;
    nodes.save(&admin(), labelled.clone()).await.unwrap();
    assert_eq!(nodes.settings(&admin(), &node.name).await.unwrap(), labelled);
    assert_eq!(nodes.list(&admin()).await.unwrap().len(), 1, "it is no new installation");
    nodes.remove(&admin(), &node.name).await.unwrap();
    assert_eq!(nodes.list(&admin()).await.unwrap().len(), 0);
    let log = control.backend.audit.list(&admin(), None, 10).await.unwrap();
    let written: Vec<_> = log.iter().map(|entry| (entry.action, entry.detail.as_str())).collect();
    let expected = [(AuditAction::NodeRemoved, ""), (AuditAction::NodeSaved, "labels")];
    assert_eq!(written, expected);
    close(&control).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn several_servers_have_no_node_that_each_reaches_on_its_own_machine() {
    let house = House::new(1);
    let several = async || {
        let options = house.options(house.database().await);
        control::start(control::Options { several_servers: true, ..options }).await
    };
    let local = NodeSettings::new("local".parse().unwrap(), "10.0.0.99", "unix:///none.sock");
    let control = several().await.unwrap();
    let nodes = &control.backend.nodes;
    for refused in [
        nodes.save(&admin(), local.clone()).await.unwrap_err(),
        nodes.save_effect(&admin(), local.clone()).await.unwrap_err(),
    ] {
        assert_eq!(refused.code, ErrorCode::InvalidParametersError);
        assert!(refused.message.contains("servers.listen"), "{}", refused.message);
    }
    assert_eq!(nodes.list(&admin()).await.unwrap().len(), 1);
    close(&control).await;
    drop(control);

    // Whoever had one while he was alone is told before anything of it is touched.
    let control = house.start().await;
    control.backend.nodes.save(&admin(), local).await.unwrap();
    close(&control).await;
    drop(control);
    let refused = several().await.unwrap_err();
    assert!(matches!(&refused, control::Error::OwnEngines(nodes) if nodes.len() == 1));
    let said = refused.to_string();
    assert!(said.contains("local: endpoint \"unix:///none.sock\""), "{said}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_change_of_a_node_does_is_said_before() {
    let house = House::new(2);
    let mut options = house.options(house.database().await);
    let second = options.nodes.pop().unwrap();
    let first = options.nodes.pop().unwrap();
    options.first_node = Some(first.clone());
    let control = control::start(options).await.unwrap();
    let (backend, nodes) = (&control.backend, &control.backend.nodes);
    for name in ["runs", "waits"] {
        submit(backend, job(name, 1, 8, "sleep 1000", "")).await;
    }
    until_state(backend, "runs", State::Running).await;
    until(backend, "waits", |detail| detail.summary.waiting.is_some()).await;
    let default = VirtualClusterName::default();

    let more = nodes.save_effect(&admin(), second.clone()).await.unwrap();
    assert_eq!(more.start.counts.get(&default), Some(&1));
    assert_eq!(more.start.jobs, [key("waits")]);
    let bare = NodeSettings { cpus: None, memory_mb: None, ..second.clone() };
    let asked = nodes.save_effect(&admin(), bare).await.unwrap();
    assert_eq!(asked.start.jobs, [key("waits")], "its engine says what it has");
    house.node(1).set_unreachable(true);
    let silent = nodes.save_effect(&admin(), second.clone()).await.unwrap_err();
    assert_eq!(silent.code, ErrorCode::UnavailableError);
    house.node(1).set_unreachable(false);
    let mut less = first.clone();
    less.gpus.as_mut().unwrap()[0].count = 4;
    let less = nodes.save_effect(&admin(), less).await.unwrap();
    assert_eq!(less.impossible.jobs, [key("waits")], "no node is as large any more");
    let gone = nodes.remove_effect(&admin(), &first.name).await.unwrap();
    assert_eq!(gone.start.jobs, []);
    let refused = nodes.remove(&admin(), &first.name).await.unwrap_err();
    assert_eq!(refused.code, ErrorCode::ConflictNodeError);

    let somebody = Actor { user: "ann".parse().unwrap(), admin: false };
    let refused = nodes.settings(&somebody, &first.name).await.unwrap_err();
    assert_eq!(refused.code, ErrorCode::ForbiddenUserError);
    nodes.save_effect(&somebody, second.clone()).await.unwrap_err();
    nodes.remove_effect(&somebody, &first.name).await.unwrap_err();

    nodes.save(&admin(), second).await.unwrap();
    until_state(backend, "waits", State::Running).await;
    let log = backend.audit.list(&admin(), None, 1).await.unwrap();
    assert_eq!((log[0].action, log[0].detail.as_str()), (AuditAction::NodeSaved, "added"));
    close(&control).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_node_and_each_virtual_cluster_says_what_is_held_of_it() {
    let house = House::new(3);
    let control = house.start().await;
    let backend = &control.backend;
    submit(backend, job("pair", 2, 8, "sleep 1000", "")).await;
    until_state(backend, "pair", State::Running).await;
    submit(backend, job("single", 1, 4, "sleep 1000", "")).await;
    until_state(backend, "single", State::Running).await;
    submit(backend, job("waits", 1, 8, "sleep 1000", "")).await;
    until(backend, "waits", |detail| detail.summary.waiting.is_some()).await;
    let list = backend.nodes.list(&admin()).await.unwrap();
    let mut held = Vec::new();
    for node in &list {
        let alone = backend.nodes.get(&admin(), &node.name).await.unwrap();
        assert_eq!((&alone.tasks, &alone.used), (&node.tasks, &node.used));
        let gpus = node.gpus.iter().filter(|gpu| gpu.job.is_some()).count();
        assert_eq!(node.used.gpus.values().copied().sum::<Amount>(), Amount::whole(gpus as u64));
        assert_eq!(node.used.cpus, node.tasks.len() as u64);
        held.extend(node.tasks.iter().map(|task| (task.job.name.to_string(), task.gpus.len())));
    }
    held.sort();
    let expected = [("pair", 8), ("pair", 8), ("single", 4)];
    assert_eq!(held, expected.map(|(name, gpus)| (name.to_owned(), gpus)));
    in_parts(backend, &list).await;
    let clusters = backend.virtual_clusters.list(&admin()).await.unwrap();
    let [only] = clusters.as_slice() else { panic!("there is one virtual cluster") };
    assert_eq!(only.used.gpus.values().copied().sum::<Amount>(), Amount::whole(20));
    assert_eq!((only.running_jobs, only.waiting_jobs), (2, 1));
    let name = VirtualClusterName::default();
    let alone = backend.virtual_clusters.get(&admin(), &name).await.unwrap();
    assert_eq!((&alone.used, alone.running_jobs), (&only.used, 2));
    close(&control).await;
}

/// What is said of all nodes beside a part of them is what each of them says.
async fn in_parts(backend: &Backend, list: &[NodeView]) {
    let by_free = NodeQuery { face: Face::Table, order: NodeOrder::Free, ..NodeQuery::default() };
    for (descending, frees) in [(false, [0, 0]), (true, [4, 0])] {
        let query = NodeQuery { descending, limit: 2, ..by_free.clone() };
        let map = backend.nodes.map(&admin(), &query).await.unwrap();
        assert_eq!((map.all, map.total, map.gpus), (3, 3, 24));
        assert_eq!((map.used, map.counts[&Only::Free]), (Amount::whole(20), 1));
        let Shown::Table(rows) = map.shown else { panic!("it is a table") };
        assert_eq!(rows.iter().map(|row| row.free).collect::<Vec<_>>(), frees);
        for row in rows {
            let node = list.iter().find(|node| node.name == row.name).unwrap();
            let free = node.gpus.iter().filter(|gpu| gpu.job.is_none()).count() as u64;
            assert_eq!((row.free, row.tasks), (free, node.tasks.len() as u64));
        }
    }
    let single = NodeQuery { text: "Single".to_owned(), limit: 9, ..by_free };
    let single = backend.nodes.map(&admin(), &single).await.unwrap();
    assert_eq!((single.all, single.total, single.used), (3, 1, Amount::whole(4)));
    let by_job = NodeQuery { colour: Colour::Job, limit: 9, ..NodeQuery::default() };
    let by_job = backend.nodes.map(&admin(), &by_job).await.unwrap();
    let holders = [("admin~pair", 16), ("admin~single", 4)];
    assert_eq!(by_job.holders, holders.map(|(job, gpus)| (job.to_owned(), Amount::whole(gpus))));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_at_the_portals_host_keeps_its_tasks_apart_or_is_refused() {
    let house = House::new(1);
    let options = house.options(house.database().await);
    let exposed = NodeSettings {
        name: "local".parse().unwrap(),
        address: "127.0.0.1".to_owned(),
        endpoint: "unix:///nowhere/docker.sock".to_owned(),
        network: Some(NodeNetwork::Host),
        ..options.nodes[0].clone()
    };
    let control = control::start(options).await.unwrap();
    let nodes = &control.backend.nodes;
    let refused = nodes.save(&admin(), exposed.clone()).await.unwrap_err();
    assert_eq!(refused.code, ErrorCode::InvalidParametersError);
    assert!(refused.message.contains("network = \"bridge\""), "{}", refused.message);
    let apart = NodeSettings { network: None, ..exposed.clone() };
    nodes.save(&admin(), apart.clone()).await.unwrap();
    let shown = nodes.get(&admin(), &apart.name).await.unwrap();
    assert!(!shown.at_portal, "its tasks have a network of their own");
    close(&control).await;
    drop(control);

    let mut options = house.options(house.database().await);
    options.nodes.push(exposed.clone());
    let refused = control::start(options).await.unwrap_err();
    assert!(matches!(&refused, control::Error::TasksAtPortal(nodes) if nodes.len() == 1));
    let mut options = house.options(house.database().await);
    options.nodes.push(exposed);
    options.portal.tasks_allowed = true;
    let control = control::start(options).await.unwrap();
    let shown = control.backend.nodes.get(&admin(), &apart.name).await.unwrap();
    assert!(shown.at_portal, "who insists is told of it");
    close(&control).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_engine_is_tried_by_a_pull() {
    let house = House::new(1);
    let options = house.options(house.database().await);
    let name = options.nodes[0].name.clone();
    let control = control::start(options).await.unwrap();
    let backend = &control.backend;
    submit(backend, job("first", 1, 0, "sleep 1000", "")).await;
    until_state(backend, "first", State::Running).await;

    let nodes = &backend.nodes;
    nodes.try_pull(&admin(), &name, "team/torch:1").await.unwrap();
    let refused = nodes.try_pull(&admin(), &name, "no/missing").await.unwrap_err();
    assert_eq!(refused.code, ErrorCode::InvalidParametersError, "the engine is well");
    assert!(refused.message.contains("cannot pull no/missing: "), "{}", refused.message);
    let saved = nodes.try_pull(&admin(), &name, "saved/ann/mine:1").await.unwrap_err();
    assert_eq!(saved.code, ErrorCode::InvalidParametersError);
    let somebody = Actor { user: "ann".parse().unwrap(), admin: false };
    let refused = nodes.try_pull(&somebody, &name, "team/torch:1").await.unwrap_err();
    assert_eq!(refused.code, ErrorCode::ForbiddenUserError);
    let none = "none".parse().unwrap();
    let refused = nodes.try_pull(&admin(), &none, "team/torch:1").await.unwrap_err();
    assert_eq!(refused.code, ErrorCode::NoNodeError);
    close(&control).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_job_that_tries_a_node_is_gone_in_time_whoever_waits_for_it() {
    let house = House::new(1);
    let options = house.options(house.database().await);
    let name = options.nodes[0].name.clone();
    let control = control::start(options).await.unwrap();
    let (backend, nodes) = (&control.backend, &control.backend.nodes);
    submit(backend, job("stays", 1, 8, "sleep 1000", "")).await;
    until_state(backend, "stays", State::Running).await;
    let trial = |job: &str| Trial { job: job.parse().unwrap(), seconds: 4 };
    // One runs, and one would wait for ever.
    for (tries, gpus) in [("runs", 0), ("waits", 8)] {
        nodes.try_with(&admin(), &name, &trial(tries)).await.unwrap();
        submit(backend, job(tries, 1, gpus, "sleep 1000", "")).await;
    }
    let gone = async |job: &str| {
        while backend.jobs.get(&admin(), &key(job)).await.is_ok() {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    for job in ["runs", "waits"] {
        tokio::time::timeout(PATIENCE, gone(job)).await.unwrap();
    }
    until_state(backend, "stays", State::Running).await;

    let taken = nodes.try_with(&admin(), &name, &trial("stays")).await.unwrap_err();
    assert_eq!(taken.code, ErrorCode::ConflictJobError, "it would be deleted");
    let somebody = Actor { user: "ann".parse().unwrap(), admin: false };
    let refused = nodes.try_with(&somebody, &name, &trial("other")).await.unwrap_err();
    assert_eq!(refused.code, ErrorCode::ForbiddenUserError);
    nodes.try_pull(&admin(), &name, "team/torch:1").await.unwrap();
    let log = backend.audit.list(&admin(), None, 100).await.unwrap();
    let tried = log.iter().filter(|entry| entry.action == AuditAction::NodeTried);
    let tried: Vec<&str> = tried.map(|entry| entry.detail.as_str()).collect();
    assert_eq!(tried, ["pulls team/torch:1", "by the job waits", "by the job runs"]);
    close(&control).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_without_a_guest_for_its_processors_says_so_and_takes_nothing() {
    let house = House::new(2);
    let mut options = house.options(house.database().await);
    // The head of a program for x86-64.
    let program = b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0\x03\0\x3e\0";
    options.guests = vec![Bytes::from_static(program)];
    let names = [0, 1].map(|at: usize| options.nodes[at].name.clone());
    house.node(0).set_architecture(Architecture::new("x86_64"));
    house.node(1).set_architecture(Architecture::new("aarch64"));
    let control = control::start(options).await.unwrap();
    let backend = &control.backend;
    let useless = until_node(backend, &names[1], |node| node.problem.is_some()).await;
    assert_eq!(useless.condition, NodeCondition::Draining);
    assert_eq!(useless.capacity.architecture, Architecture::new("aarch64"));
    let problem = useless.problem.unwrap();
    assert!(problem.starts_with("there is no guest for aarch64"), "{problem}");

    submit(backend, job("first", 1, 8, "sleep 1000", "")).await;
    let first = until_state(backend, "first", State::Running).await;
    assert_eq!(first.attempts[0].tasks[0].node, names[0]);
    submit(backend, job("second", 1, 8, "sleep 1000", "")).await;
    until(backend, "second", |detail| detail.summary.waiting.is_some()).await;
    assert_eq!(house.node(1).containers(), Vec::<String>::new());
    let well = backend.nodes.get(&admin(), &names[0]).await.unwrap();
    assert_eq!((well.problem, well.condition), (None, NodeCondition::Ready));
    close(&control).await;
}
