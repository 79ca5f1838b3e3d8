//! Builders for tests: clusters and queues that read like stories.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use protocol::cluster::{NodeCondition, Places, Preempts, Share, VirtualClusterSettings};
use protocol::ids::{
    GpuType, GroupName, JobId, NodeName, PortLabel, StorageName, UserName, VirtualClusterName,
};
use protocol::placement::{TaskPlacement, TaskPorts};
use protocol::resources::{Capacity, Gpu, PortRange};
use protocol::spec::{NodeSelector, PortRequest, Priority, TopologyLevel};
use protocol::time::Timestamp;

use crate::model::groups::GroupShares;
use crate::model::limits::{RunLimit, RunLimits};
use crate::model::{
    Demand, GaveWay, Node, Placement, Plan, QosClass, Request, Reservation, RoleRequest, Running,
    Snapshot, Turn, VirtualCluster, WHOLE_GPU,
};

/// The moment at which all stories take place.
pub(crate) const NOW: Timestamp = Timestamp(1_000_000);

pub(crate) fn gpu_type(name: &str) -> GpuType {
    GpuType::new(name).unwrap()
}

pub(crate) fn node_name(name: &str) -> NodeName {
    NodeName::new(name).unwrap()
}

pub(crate) fn virtual_cluster(name: &str) -> VirtualClusterName {
    VirtualClusterName::new(name).unwrap()
}

/// A cluster without anything in it.
pub(crate) fn cluster() -> Story {
    Story::default()
}

#[derive(Debug, Clone, Default)]
pub(crate) struct Story {
    pub(crate) snapshot: Snapshot,
}

impl Story {
    /// A node of 32 CPUs, 128 GiB of memory, a disk of unknown size and no GPU, at its own address.
    pub(crate) fn node(mut self, name: &str) -> Self {
        let capacity = Capacity { cpus: 32, memory_mb: 131_072, ..Capacity::default() };
        self.snapshot.nodes.push(Node {
            name: node_name(name),
            address: format!("10.0.0.{}", self.snapshot.nodes.len() + 1),
            condition: NodeCondition::Ready,
            capacity,
            ports: PortRange::default(),
            labels: BTreeMap::new(),
            links: Vec::new(),
            shares_gpus: false,
            doubtful: false,
            known: true,
        });
        self
    }

    fn last(&mut self) -> &mut Node {
        self.snapshot.nodes.last_mut().expect("a node comes first")
    }

    /// Adds GPUs to the last node.
    pub(crate) fn gpus(mut self, count: u32, kind: &str) -> Self {
        let gpus = &mut self.last().capacity.gpus;
        let first = gpus.len() as u32;
        gpus.extend((first..first + count).map(|index| Gpu {
            index,
            gpu_type: gpu_type(kind),
            uuid: None,
            healthy: true,
        }));
        self
    }

    pub(crate) fn cpus(mut self, cpus: u32) -> Self {
        self.last().capacity.cpus = cpus;
        self
    }

    pub(crate) fn memory(mut self, memory_mb: u64) -> Self {
        self.last().capacity.memory_mb = memory_mb;
        self
    }

    pub(crate) fn disk(mut self, disk_gb: u64) -> Self {
        self.last().capacity.disk_gb = disk_gb;
        self
    }

    pub(crate) fn ports(mut self, first: u16, last: u16) -> Self {
        self.last().ports = PortRange { first, last };
        self
    }

    pub(crate) fn address(mut self, address: &str) -> Self {
        address.clone_into(&mut self.last().address);
        self
    }

    pub(crate) fn condition(mut self, condition: NodeCondition) -> Self {
        self.last().condition = condition;
        self
    }

    /// Nobody knows what the last node has: it has not answered yet.
    pub(crate) fn unknown(mut self) -> Self {
        let node = self.last();
        (node.condition, node.known) = (NodeCondition::Unreachable, false);
        node.capacity = Capacity::default();
        self
    }

    /// The GPU of this index on the last node is broken.
    pub(crate) fn broken_gpu(mut self, index: usize) -> Self {
        self.last().capacity.gpus[index].healthy = false;
        self
    }

    /// Something is wrong with the last node.
    pub(crate) fn doubtful(mut self) -> Self {
        self.last().doubtful = true;
        self
    }

    /// Says which GPUs of the last node are linked.
    pub(crate) fn links(mut self, links: &[&[u32]]) -> Self {
        self.last().links = links.iter().map(|link| link.to_vec()).collect();
        self
    }

    /// The last node takes tasks that ask for part of a GPU.
    pub(crate) fn shares(mut self) -> Self {
        self.last().shares_gpus = true;
        self
    }

    /// The last node has a label.
    pub(crate) fn label(mut self, key: &str, value: &str) -> Self {
        self.last().labels.insert(key.to_owned(), value.to_owned());
        self
    }

    /// The last virtual cluster's jobs only run on its own share.
    pub(crate) fn borrows_nothing(mut self) -> Self {
        self.snapshot.virtual_clusters.last_mut().unwrap().borrows = false;
        self
    }

    /// In the last virtual cluster near deadlines go before others' jobs.
    pub(crate) fn heeds_deadlines(mut self) -> Self {
        self.snapshot.virtual_clusters.last_mut().unwrap().deadlines = true;
        self
    }

    /// The last virtual cluster's share is cut out of that of another.
    pub(crate) fn part_of(mut self, parent: &str) -> Self {
        self.snapshot.virtual_clusters.last_mut().unwrap().parent = Some(virtual_cluster(parent));
        self
    }

    /// A virtual cluster with so many GPUs of a type (none named: what nobody else is guaranteed).
    pub(crate) fn share(mut self, name: &str, gpus: &[(&str, u64)], cpus: Option<u64>) -> Self {
        let gpus = gpus.iter().map(|(kind, count)| (gpu_type(kind), *count)).collect();
        self.snapshot.virtual_clusters.push(VirtualCluster {
            name: virtual_cluster(name),
            parent: None,
            share: Share { cpus, memory_mb: None, gpus },
            shapes: Vec::new(),
            nodes: Vec::new(),
            within: Places::new(),
            borrows: true,
            preempts: Preempts::default(),
            deadlines: false,
            limits: RunLimits::default(),
            groups: GroupShares::default(),
        });
        self
    }

    /// Each user may have so much running in the last virtual cluster.
    pub(crate) fn limits(mut self, gpus: Option<u32>, jobs: Option<u32>) -> Self {
        let user = RunLimit { gpus, jobs };
        self.snapshot.virtual_clusters.last_mut().unwrap().limits.user = user;
        self
    }

    /// Groups share the last virtual cluster, each with its weight and those who are in it.
    pub(crate) fn shared_by(mut self, groups: &[(&str, u32, &[&str])]) -> Self {
        let last = self.snapshot.virtual_clusters.last_mut().unwrap();
        let mut settings = VirtualClusterSettings::new(last.name.clone());
        let mut members = BTreeMap::new();
        for (name, weight, users) in groups {
            let group: GroupName = name.parse().unwrap();
            settings.group_shares.insert(group.clone(), *weight);
            members.insert(group, users.iter().map(|user| user.parse().unwrap()).collect());
        }
        last.groups = GroupShares::new(&settings, &members);
        self
    }

    /// The last virtual cluster's share lies on these nodes.
    pub(crate) fn pinned(mut self, nodes: &[&str]) -> Self {
        let nodes = nodes.iter().map(|node| node_name(node)).collect();
        self.snapshot.virtual_clusters.last_mut().unwrap().nodes = nodes;
        self
    }

    /// The last virtual cluster's share lies in this place.
    pub(crate) fn lies_in(mut self, level: TopologyLevel, place: &str) -> Self {
        let within = &mut self.snapshot.virtual_clusters.last_mut().unwrap().within;
        within.entry(level).or_default().push(place.to_owned());
        self
    }

    /// The last virtual cluster has so much memory, in MiB.
    pub(crate) fn memory_share(mut self, memory_mb: Option<u64>) -> Self {
        self.snapshot.virtual_clusters.last_mut().unwrap().share.memory_mb = memory_mb;
        self
    }

    /// A job of virtual cluster `in_cluster` runs: one task for each node, GPU indices and CPUs.
    pub(crate) fn running(
        mut self,
        id: i64,
        in_cluster: &str,
        tasks: &[(&str, &[u32], u32)],
    ) -> Self {
        let task = |(index, (node, gpus, cpus)): (usize, &(&str, &[u32], u32))| {
            let known = self.snapshot.nodes.iter().find(|known| known.name.as_str() == *node);
            let placement = TaskPlacement {
                role: 0,
                index: index as u32,
                node: node_name(node),
                address: known.map_or_else(String::new, |known| known.address.clone()),
                gpus: gpus.to_vec(),
                ports: TaskPorts::default(),
            };
            let gpus = gpus.len() as u32;
            (placement, demand(*cpus, gpus))
        };
        let running = Running {
            job: JobId(id),
            user: UserName::new("ann").unwrap(),
            virtual_cluster: virtual_cluster(in_cluster),
            tasks: tasks.iter().enumerate().map(task).collect(),
            gpu_types: BTreeMap::new(),
            qos_class: QosClass::Guaranteed,
            turn: Turn::new(Priority::TEST, Timestamp(id * 1000), 0, None),
            started_at: Timestamp(id * 1000),
            limit_ms: None,
            expected_ms: None,
            gave_way: GaveWay::default(),
            stopping: false,
        };
        self.snapshot.running.push(running);
        self
    }

    fn last_running(&mut self) -> &mut Running {
        self.snapshot.running.last_mut().expect("a job runs")
    }

    /// The last running job borrows.
    pub(crate) fn borrowed(mut self) -> Self {
        self.last_running().qos_class = QosClass::Borrowed;
        self
    }

    /// The last running job is of this priority.
    pub(crate) fn ranked(mut self, priority: i32) -> Self {
        self.last_running().turn.priority = Reverse(Priority(priority));
        self
    }

    /// Each task of the last running job has so many thousandths of its GPU.
    pub(crate) fn of_gpu(mut self, milli: u32) -> Self {
        self.last_running().tasks.iter_mut().for_each(|(_, demand)| demand.gpu_milli = milli);
        self
    }

    /// The last running job may run so long, counted from [`NOW`].
    pub(crate) fn ends_in(mut self, millis: i64) -> Self {
        let running = self.last_running();
        running.limit_ms = Some(NOW.since(running.started_at) + millis);
        self
    }

    /// The last running job is being stopped.
    pub(crate) fn stopping(mut self) -> Self {
        self.last_running().stopping = true;
        self
    }

    /// The last pass reserved places for a job, which waits for these.
    pub(crate) fn reserved(mut self, job: i64, awaits: &[i64]) -> Self {
        let awaits = awaits.iter().copied().map(JobId).collect();
        self.snapshot.reserved = vec![Reservation { job: JobId(job), awaits, start: NOW }];
        self
    }

    pub(crate) fn waits(mut self, job: Job) -> Self {
        self.snapshot.waiting.push(job.request);
        self
    }

    pub(crate) fn plan(&self) -> Plan {
        crate::plan(&self.snapshot, NOW)
    }

    /// Where the tasks of a job start, as `node:gpu,gpu`, or why it waits.
    pub(crate) fn fate(&self, id: i64) -> String {
        let plan = self.plan();
        if let Some(waiting) = plan.waiting.get(&JobId(id)) {
            return format!("{:?}", waiting.reason);
        }
        places(plan.placements.iter().find(|placement| placement.job == JobId(id)).unwrap())
    }
}

/// `node:gpu,gpu` of each task.
pub(crate) fn places(placement: &Placement) -> String {
    let place = |task: &TaskPlacement| {
        let gpus: Vec<_> = task.gpus.iter().map(u32::to_string).collect();
        format!("{}:{}", task.node, gpus.join(","))
    };
    placement.tasks.iter().map(place).collect::<Vec<_>>().join(" ")
}

/// A job of one role with one task of 1 CPU and 1 GiB, in `default`, submitted at its id's second.
pub(crate) fn job(id: i64) -> Job {
    let ports = ["http", "ssh"].map(|label| port(label, 0, 1)).into();
    let role = RoleRequest { count: 1, demand: demand(1, 0), gpu_types: Vec::new(), ports };
    Job {
        request: Request {
            job: JobId(id),
            user: UserName::new("ann").unwrap(),
            virtual_cluster: VirtualClusterName::default(),
            priority: Priority::TEST,
            submitted_at: Timestamp(id * 1000),
            moved_ms: 0,
            held: false,
            not_before: None,
            deadline: None,
            gave_way: GaveWay::default(),
            limit_ms: None,
            expected_ms: None,
            avoid: Vec::new(),
            lacks: BTreeMap::new(),
            nodes: NodeSelector::default(),
            roles: vec![role],
        },
    }
}

/// So many CPUs and whole GPUs, and 1 GiB.
fn demand(cpus: u32, gpus: u32) -> Demand {
    let cpu_milli = u64::from(cpus) * 1000;
    Demand { cpu_milli, memory_mb: 1024, disk_gb: 0, gpus, gpu_milli: WHOLE_GPU }
}

pub(crate) fn port(label: &str, begin_at: u16, count: u32) -> PortRequest {
    PortRequest { label: PortLabel::new(label).unwrap(), begin_at, count }
}

#[derive(Debug, Clone)]
pub(crate) struct Job {
    pub(crate) request: Request,
}

impl Job {
    fn last(&mut self) -> &mut RoleRequest {
        self.request.roles.last_mut().expect("a job has a role")
    }

    pub(crate) fn tasks(mut self, count: u32) -> Self {
        self.last().count = count;
        self
    }

    pub(crate) fn gpus(mut self, gpus: u32, kinds: &[&str]) -> Self {
        self.last().demand.gpus = gpus;
        self.last().gpu_types = kinds.iter().map(|kind| gpu_type(kind)).collect();
        self
    }

    /// Each task takes so many thousandths of one GPU.
    pub(crate) fn gpu_part(mut self, milli: u32) -> Self {
        (self.last().demand.gpus, self.last().demand.gpu_milli) = (1, milli);
        self
    }

    pub(crate) fn runs(mut self, millis: i64) -> Self {
        self.request.expected_ms = Some(millis);
        self
    }

    /// It may run so long.
    pub(crate) fn limited(mut self, millis: i64) -> Self {
        self.request.limit_ms = Some(millis);
        self
    }

    pub(crate) fn only(mut self, node: &str) -> Self {
        self.request.nodes.names.push(node_name(node));
        self
    }

    pub(crate) fn labelled(mut self, key: &str, value: &str) -> Self {
        self.request.nodes.labels.insert(key.to_owned(), value.to_owned());
        self
    }

    /// Its tasks have to be in one place of a level.
    pub(crate) fn requires(mut self, level: TopologyLevel) -> Self {
        self.request.nodes.topology.required = Some(level);
        self
    }

    /// Its tasks had better be in one place of a level.
    pub(crate) fn prefers(mut self, level: TopologyLevel) -> Self {
        self.request.nodes.topology.preferred = Some(level);
        self
    }

    pub(crate) fn held(mut self) -> Self {
        self.request.held = true;
        self
    }

    pub(crate) fn cpus(mut self, cpus: u32) -> Self {
        self.last().demand.cpu_milli = u64::from(cpus) * 1000;
        self
    }

    pub(crate) fn memory(mut self, memory_mb: u64) -> Self {
        self.last().demand.memory_mb = memory_mb;
        self
    }

    pub(crate) fn disk(mut self, disk_gb: u64) -> Self {
        self.last().demand.disk_gb = disk_gb;
        self
    }

    pub(crate) fn port(mut self, label: &str, begin_at: u16, count: u32) -> Self {
        self.last().ports.push(port(label, begin_at, count));
        self
    }

    /// Another role, a copy of the last one.
    pub(crate) fn role(mut self) -> Self {
        let last = self.last().clone();
        self.request.roles.push(last);
        self
    }

    pub(crate) fn within(mut self, name: &str) -> Self {
        self.request.virtual_cluster = virtual_cluster(name);
        self
    }

    pub(crate) fn priority(mut self, priority: i32) -> Self {
        self.request.priority = Priority(priority);
        self
    }

    /// It gave way so often, the last time then.
    pub(crate) fn gave_way(mut self, times: u32, last: Timestamp) -> Self {
        self.request.gave_way = GaveWay { times, last };
        self
    }

    pub(crate) fn avoids(mut self, node: &str) -> Self {
        self.request.avoid.push(node_name(node));
        self
    }

    /// A node lacks a storage that it asks for.
    pub(crate) fn lacks(mut self, node: &str, storage: &str) -> Self {
        self.request.lacks.insert(node_name(node), StorageName::new(storage).unwrap());
        self
    }

    pub(crate) fn not_before(mut self, moment: Timestamp) -> Self {
        self.request.not_before = Some(moment);
        self
    }
}
