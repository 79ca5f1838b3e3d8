//! A request in the scheduler's own numbers: types and nodes as small integers, ports summed up.
//! What requests of one kind have in common is kept once ([`Class`]).

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use protocol::ids::{GpuType, JobId, NodeName, PortLabel, StorageName, VirtualClusterName};
use protocol::spec::{PortRequest, TopologyLevel};

use crate::model::{Demand, Request, RoleRequest, WHOLE_GPU};
use crate::numbers::amounts::Amounts;
use crate::numbers::gpus::Bits;
use crate::numbers::indices::{ClusterIndex, NodeIndex, TaskRequestIndex};
use crate::numbers::names::Names;

/// What all requests of a class want; one answer does for all of them at the same moment.
#[derive(Debug)]
pub(crate) struct Class {
    /// One of the requests.
    pub(crate) of: Request,
    /// Where it counts; `None`: a virtual cluster that nobody knows.
    pub(crate) cluster: Option<ClusterIndex>,
    /// It never counts on a guarantee.
    pub(crate) opportunistic: bool,
    /// Its virtual cluster's whole share does not suffice for it.
    pub(crate) beyond_share: bool,
    /// Nodes to avoid, by position.
    pub(crate) avoid: Vec<NodeIndex>,
    /// The only nodes that will do, by position: those that it names, and that lack nothing.
    pub(crate) only: Option<Vec<NodeIndex>>,
    /// Its roles, the hardest to place first.
    pub(crate) roles: Vec<ClassRole>,
    /// Ports that tasks of the job ask for by number: the others are chosen around them.
    pub(crate) numbered: Vec<Span>,
}

/// A job that looks for places, and what it wants.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Wanted<'w> {
    pub(crate) job: JobId,
    pub(crate) class: &'w Class,
}

/// What a task asks of a node.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct TaskRequest {
    pub(crate) each: Amounts,
    pub(crate) gpus: u32,
    /// Thousandths of each GPU.
    pub(crate) milli: u32,
    /// GPU types that will do and exist; all of them when the role names none.
    pub(crate) types: Bits,
    pub(crate) labels: BTreeMap<String, String>,
}

impl TaskRequest {
    /// Of a task that will do with these GPU types (all, where none is named), on any node.
    pub(crate) fn of(demand: &Demand, types: &[GpuType], names: &Names) -> Self {
        Self {
            each: Amounts::of(demand),
            gpus: demand.gpus,
            milli: demand.each_gpu_milli(),
            types: if demand.gpus == 0 { 0 } else { names.type_bits(types) },
            labels: BTreeMap::new(),
        }
    }

    /// Whether a task takes a part of a GPU.
    pub(crate) fn shares(&self) -> bool {
        self.gpus == 1 && self.milli < WHOLE_GPU
    }

    /// Thousandths of GPUs that a task takes.
    pub(crate) fn gpu_milli(&self) -> i64 {
        i64::from(self.gpus) * i64::from(self.milli)
    }
}

/// What each task of a role wants.
#[derive(Debug, Clone)]
pub(crate) struct ClassRole {
    /// Position in the job.
    pub(crate) role: u32,
    pub(crate) count: u32,
    pub(crate) request: TaskRequest,
    /// The number of `ask` in the index of nodes.
    pub(crate) number: TaskRequestIndex,
    /// How many ports with any number.
    pub(crate) any_ports: u32,
    /// Ports by number.
    pub(crate) numbered: Vec<Span>,
    pub(crate) ports: Vec<PortRequest>,
    pub(crate) gpu_types: Vec<GpuType>,
}

/// Ports `first` to `last`, both included; `last` may lie beyond 65535, where no port is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Span {
    pub(crate) first: u32,
    pub(crate) last: u32,
}

impl Span {
    pub(crate) fn contains(self, port: u16) -> bool {
        (self.first..=self.last).contains(&u32::from(port))
    }

    /// How many ports both have.
    pub(crate) fn shared(self, first: u16, last: u16) -> i64 {
        let from = self.first.max(u32::from(first));
        let to = self.last.min(u32::from(last));
        if from > to { 0 } else { i64::from(to - from) + 1 }
    }
}

impl Class {
    pub(crate) fn new(request: &Request, names: &Names) -> Self {
        let mut roles: Vec<_> = request
            .roles
            .iter()
            .enumerate()
            .filter(|(_, role)| role.count > 0)
            .map(|(position, role)| ClassRole::new(position, role, request, names))
            .collect();
        roles.sort_by_key(|role| Reverse((role.request.gpu_milli(), role.request.each)));
        let numbers = |named: &[NodeName]| {
            let mut numbers: Vec<_> =
                named.iter().filter_map(|name| names.nodes.get(name).copied()).collect();
            numbers.sort_unstable();
            numbers
        };
        let named = (!request.nodes.names.is_empty()).then(|| numbers(&request.nodes.names));
        Self {
            of: request.clone(),
            cluster: names.clusters.get(&request.virtual_cluster).copied(),
            opportunistic: request.priority.0 < 0,
            beyond_share: false,
            avoid: numbers(&request.avoid),
            only: without(named, &request.lacks, names),
            numbered: roles.iter().flat_map(|role| role.numbered.iter().copied()).collect(),
            roles,
        }
    }

    pub(crate) fn tasks(&self) -> u32 {
        self.roles.iter().map(|role| role.count).fold(0, u32::saturating_add)
    }

    /// Thousandths of GPUs of all its tasks; those of one where they ask for none.
    pub(crate) fn gpu_milli(&self) -> i64 {
        let of_role =
            |role: &ClassRole| i64::from(role.count).saturating_mul(role.request.gpu_milli());
        match self.roles.iter().map(of_role).fold(0, i64::saturating_add) {
            0 => i64::from(WHOLE_GPU),
            milli => milli,
        }
    }

    /// The level of which one place has to hold all its tasks; one task is nowhere apart.
    pub(crate) fn required_level(&self) -> Option<TopologyLevel> {
        self.of.nodes.topology.required.filter(|_| self.tasks() > 1)
    }

    /// Whether nodes differ for it in more than what is free on them.
    pub(crate) fn is_particular(&self) -> bool {
        !self.avoid.is_empty() || self.only.is_some() || !self.numbered.is_empty()
    }
}

/// Of these nodes, or of all, those that lack nothing; `None`: all.
fn without(
    named: Option<Vec<NodeIndex>>,
    lacks: &BTreeMap<NodeName, StorageName>,
    names: &Names,
) -> Option<Vec<NodeIndex>> {
    if lacks.is_empty() {
        return named;
    }
    let mut only = named.unwrap_or_else(|| names.nodes.values().copied().collect());
    let lacking: BTreeSet<_> = lacks.keys().filter_map(|name| names.nodes.get(name)).collect();
    only.retain(|node| !lacking.contains(node));
    only.sort_unstable();
    Some(only)
}

/// What two requests share when they are of one class.
#[derive(Debug, PartialEq, Eq, Hash, Clone)]
pub(crate) struct ClassKey {
    cluster: VirtualClusterName,
    words: Vec<u64>,
    names: Vec<String>,
    labels: Vec<PortLabel>,
}

impl ClassKey {
    pub(crate) fn of(request: &Request) -> Self {
        let mut words = vec![u64::from(request.priority.0 < 0), request.avoid.len() as u64];
        let mut names: Vec<_> = request.avoid.iter().map(ToString::to_string).collect();
        words.push(request.lacks.len() as u64);
        for (node, storage) in &request.lacks {
            names.extend([node.to_string(), storage.to_string()]);
        }
        names.extend(request.nodes.names.iter().map(ToString::to_string));
        for (key, value) in &request.nodes.labels {
            names.extend([key.clone(), value.clone()]);
        }
        words.extend([request.nodes.names.len() as u64, request.nodes.labels.len() as u64]);
        let topology = &request.nodes.topology;
        let level = |level: Option<TopologyLevel>| level.map_or(0, |level| level as u64 + 1);
        words.extend([level(topology.required), level(topology.preferred)]);
        let mut labels = Vec::new();
        for role in &request.roles {
            let demand = role.demand;
            let of_gpus = u64::from(demand.gpus) << 32 | u64::from(demand.gpu_milli);
            words.extend([demand.cpu_milli, demand.memory_mb, demand.disk_gb, of_gpus]);
            words.extend([role.count.into(), role.gpu_types.len() as u64, role.ports.len() as u64]);
            names.extend(role.gpu_types.iter().map(ToString::to_string));
            words.extend(
                role.ports.iter().map(|p| u64::from(p.begin_at) << 32 | u64::from(p.count)),
            );
            labels.extend(role.ports.iter().map(|ports| ports.label.clone()));
        }
        Self { cluster: request.virtual_cluster.clone(), words, names, labels }
    }
}

impl ClassRole {
    fn new(position: usize, asked: &RoleRequest, request: &Request, names: &Names) -> Self {
        let (any, numbered): (Vec<&PortRequest>, Vec<_>) =
            asked.ports.iter().partition(|ports| ports.begin_at == 0);
        let span = |ports: &PortRequest| Span {
            first: ports.begin_at.into(),
            last: u32::from(ports.begin_at).saturating_add(ports.count).saturating_sub(1),
        };
        let labels = request.nodes.labels.clone();
        Self {
            role: u32::try_from(position).unwrap_or(u32::MAX),
            count: asked.count,
            request: TaskRequest {
                labels,
                ..TaskRequest::of(&asked.demand, &asked.gpu_types, names)
            },
            number: TaskRequestIndex::from(0_usize),
            any_ports: any.iter().map(|ports| ports.count).fold(0, u32::saturating_add),
            numbered: numbered.into_iter().filter(|p| p.count > 0).map(span).collect(),
            ports: asked.ports.clone(),
            gpu_types: asked.gpu_types.clone(),
        }
    }

    /// Whether its ports by number are of a node's range.
    pub(crate) fn lies_in(&self, (first, last): (u16, u16)) -> bool {
        let inside = |span: &Span| span.first >= first.into() && span.last <= last.into();
        self.numbered.iter().all(inside)
    }

    /// Whether two of its tasks can never share an address.
    pub(crate) fn alone_on_address(&self) -> bool {
        !self.numbered.is_empty()
    }
}
