//! What is always so of a server: what it knows is what it has stored. Tests ask for it at their end.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use database::jobs::JobRow;
use database::nodes::NodeRecord;
use database::tasks::Task;
use protocol::ids::JobId;
use protocol::state::State;
use scheduler::model::{Demand, WHOLE_GPU};

use super::Control;
use crate::known::cluster::Cluster;
use crate::known::queue::Essence;
use crate::shared::Shared;

/// What is stored and not known yet, or the other way round, is over by then.
const PATIENCE: Duration = Duration::from_secs(10);

/// A scheduler that says nothing for so long never will.
const LONGEST: Duration = Duration::from_secs(120);

/// So long between two looks.
const PAUSE: Duration = Duration::from_millis(50);

/// What a look came to.
enum Looked {
    /// The records do not say, or are others' by now.
    Unsaid,
    /// The scheduler reads everything anew at the moment.
    Between,
    /// Of these something else is known than is stored. While jobs come and go there are such at any moment,
    /// and others a moment later.
    Differing(BTreeSet<String>),
}

impl Control {
    /// Looks over all that is known of jobs, their places and nodes, and whether it is what is stored.
    ///
    /// # Panics
    /// It is not, and stays so.
    pub async fn sanity_check(&self) {
        self.sane_within(PATIENCE).await;
    }

    /// The patience counts from the first look that says anything.
    pub(super) async fn sane_within(&self, patience: Duration) {
        let mut until = Instant::now() + LONGEST;
        let mut lasting: Option<BTreeSet<String>> = None;
        while Instant::now() < until {
            match tokio::time::timeout(LONGEST, look(&self.shared)).await {
                Ok(Looked::Unsaid) => return,
                Ok(Looked::Between) | Err(_) => {}
                Ok(Looked::Differing(found)) => {
                    if lasting.is_none() {
                        until = Instant::now() + patience;
                    }
                    let still = match lasting {
                        Some(before) => before.intersection(&found).cloned().collect(),
                        None => found,
                    };
                    if still.is_empty() {
                        return;
                    }
                    lasting = Some(still);
                }
            }
            tokio::time::sleep(PAUSE).await;
        }
        let lasting = lasting.expect("the scheduler says what it knows");
        assert!(lasting.is_empty(), "something else is known than is stored of {lasting:?}");
    }
}

async fn look(shared: &Shared) -> Looked {
    let database = &shared.store.database;
    if !database.fencing_token().acts() {
        return Looked::Unsaid;
    }
    // What cannot be read of them nobody knows.
    let others = shared.jobs.active.damage().jobs().clone();
    let jobs = database::jobs::active_but(database.read(), &others).await;
    let tasks = database::tasks::active_but(database.read(), &others).await;
    let cluster = Cluster::read(database, &shared.settings.of_nodes.portal).await;
    let (Ok(jobs), Ok(mut tasks), Ok(cluster)) = (jobs, tasks, cluster) else {
        return Looked::Unsaid;
    };
    tasks.retain(|task| !task.state.is_final());
    let asked = shared.jobs.scheduler.ask(|queue| {
        let known = || queue.essences();
        (!queue.is_doubtful()).then(known)
    });
    let Some(known) = asked.await.expect("what the scheduler knows is sound") else {
        return Looked::Between;
    };
    let mut differing = given_twice(&tasks);
    let mut held: BTreeMap<JobId, Vec<Task>> = BTreeMap::new();
    tasks.into_iter().for_each(|task| held.entry(task.key.job).or_default().push(task));
    let essence = |row: &JobRow| {
        let has_place = row.state != State::Waiting;
        let tasks = held.remove(&row.id).filter(|_| has_place).unwrap_or_default();
        let tasks = tasks.into_iter().map(|task| (task.placement, Demand::from(task.resources)));
        (row.id, Essence::of(row, tasks.collect()))
    };
    let stored: BTreeMap<JobId, Essence> = jobs.iter().map(essence).collect();
    differing.extend(others_of(&known, &stored).into_iter().map(|job| format!("job {job}")));
    let known = shared.nodes.cluster();
    let nodes = others_of(&described(&known), &described(&cluster));
    differing.extend(nodes.into_iter().map(|node| format!("node {node}")));
    if known.virtual_clusters != cluster.virtual_clusters || known.stopped != cluster.stopped {
        differing.insert("the virtual clusters".to_owned());
    }
    Looked::Differing(differing)
}

/// The GPUs and ports of nodes of which tasks have more than there is.
fn given_twice(tasks: &[Task]) -> BTreeSet<String> {
    let (mut gpus, mut ports) = (BTreeMap::new(), BTreeMap::new());
    for Task { placement, resources, .. } in tasks {
        let each = Demand::from(*resources).each_gpu_milli();
        for gpu in &placement.gpus {
            *gpus.entry(format!("GPU {gpu} of {}", placement.node)).or_insert(0) += each;
        }
        for port in placement.ports.values().flatten() {
            *ports.entry(format!("port {port} of {}", placement.address)).or_insert(0) += 1;
        }
    }
    let gpus = gpus.into_iter().filter(|(_, milli)| *milli > WHOLE_GPU).map(|(gpu, _)| gpu);
    let ports = ports.into_iter().filter(|(_, times)| *times > 1).map(|(port, _)| port);
    gpus.chain(ports).collect()
}

/// What people say of nodes, by name. What is seen of them is stored a while later.
fn described(cluster: &Cluster) -> BTreeMap<String, String> {
    let described = cluster.records().map(|node| {
        let NodeRecord { settings, from_file, draining, emptied, .. } = node;
        let described = format!("{settings:?} {from_file} {draining} {emptied}");
        (settings.name.to_string(), described)
    });
    described.collect()
}

/// Of what the two say something else.
fn others_of<K: Ord + Clone, V: PartialEq>(
    one: &BTreeMap<K, V>,
    other: &BTreeMap<K, V>,
) -> BTreeSet<K> {
    let keys = one.keys().chain(other.keys());
    keys.filter(|key| one.get(*key) != other.get(*key)).cloned().collect()
}
