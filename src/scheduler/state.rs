//! The cluster during a pass: what is free, what is held for the reservation, and who has what.
//! Everything is changed by taking and giving back [`Claim`]s, so that a try can be undone.

use std::collections::{BTreeSet, HashMap};

use protocol::ids::{GpuType, JobId, NodeName, VirtualClusterName};
use protocol::placement::TaskPlacement;
use protocol::resources::Resources;

use crate::gpus::{self, Bits};
use crate::model::{Running, Snapshot};
use crate::node::Shape;
use crate::ports::Ports;
use crate::share::{Shares, Usage};

pub(crate) use crate::node::{Amounts, NodeState};

/// What of the cluster a job may see as free.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum View {
    /// What neither the reservation nor a job ahead in the same virtual cluster needs.
    Outside,
    /// All that is free.
    Real,
}

impl View {
    pub(crate) fn sees_holds(self) -> bool {
        match self {
            View::Outside => true,
            View::Real => false,
        }
    }
}

/// Numbers for names. GPU types beyond the first 128 are nobody's.
#[derive(Debug, Default)]
pub(crate) struct Names<'a> {
    pub(crate) nodes: HashMap<&'a NodeName, usize>,
    pub(crate) accounts: HashMap<&'a VirtualClusterName, usize>,
    /// In alphabetical order.
    pub(crate) types: Vec<&'a GpuType>,
}

impl<'a> Names<'a> {
    pub(crate) fn new(snapshot: &'a Snapshot) -> Self {
        let types: BTreeSet<_> = snapshot
            .nodes
            .iter()
            .flat_map(|node| node.capacity.gpus.iter().map(|gpu| &gpu.gpu_type))
            .collect();
        let clusters = snapshot.virtual_clusters.iter().enumerate();
        Self {
            nodes: snapshot.nodes.iter().enumerate().map(|(n, node)| (&node.name, n)).collect(),
            accounts: clusters.map(|(number, cluster)| (&cluster.name, number)).collect(),
            types: types.into_iter().take(gpus::MOST).collect(),
        }
    }

    pub(crate) fn type_number(&self, gpu_type: &GpuType) -> Option<u8> {
        self.types.binary_search(&gpu_type).ok().and_then(|number| u8::try_from(number).ok())
    }

    /// The types that exist among those wanted; all when none is named.
    pub(crate) fn type_bits(&self, wanted: &[GpuType]) -> Bits {
        if wanted.is_empty() {
            return gpus::lowest(Bits::MAX, u32::try_from(self.types.len()).unwrap_or(u32::MAX));
        }
        wanted.iter().filter_map(|t| self.type_number(t)).fold(0, |bits, number| bits | 1 << number)
    }
}

/// What one task has.
#[derive(Debug, Clone)]
pub(crate) struct Claim {
    /// `None`: the node is not in the snapshot any more; only the share is charged.
    pub(crate) node: Option<usize>,
    pub(crate) amounts: Amounts,
    pub(crate) gpus: Bits,
    pub(crate) ports: Vec<u16>,
    /// Position of the role among the job's wanted roles.
    pub(crate) role: usize,
}

/// A running job during a pass.
#[derive(Debug)]
pub(crate) struct Tenant {
    pub(crate) job: JobId,
    pub(crate) account: Option<usize>,
    pub(crate) claims: Vec<Claim>,
}

/// The cluster during a pass.
#[derive(Debug)]
pub(crate) struct Cluster<'a> {
    pub(crate) names: Names<'a>,
    pub(crate) nodes: Vec<NodeState<'a>>,
    pub(crate) ports: Ports,
    pub(crate) shares: Shares,
    pub(crate) tenants: Vec<Tenant>,
    /// Nodes that are alike when nothing runs on them: the first, and how many.
    pub(crate) shapes: Vec<(usize, i64)>,
    /// By type and count: ready nodes with so many free GPUs of the type.
    free_gpus: Vec<Vec<u32>>,
}

impl<'a> Cluster<'a> {
    /// The cluster with all that runs in it.
    pub(crate) fn new(snapshot: &'a Snapshot) -> Self {
        let mut cluster = Self::empty(snapshot);
        for running in &snapshot.running {
            let tenant = cluster.tenant(running);
            for claim in &tenant.claims {
                cluster.take(tenant.account, claim);
            }
            cluster.tenants.push(tenant);
        }
        cluster
    }

    /// The cluster as if nothing ran in it.
    pub(crate) fn empty(snapshot: &'a Snapshot) -> Self {
        let names = Names::new(snapshot);
        let nodes = &snapshot.nodes;
        let (ports, pools) = Ports::new(nodes.iter().map(|n| (n.address.as_str(), n.ports)));
        let shares = Shares::new(&snapshot.virtual_clusters, &names);
        let nodes: Vec<_> =
            nodes.iter().zip(pools).map(|(n, pool)| NodeState::new(n, pool, &names)).collect();
        let mut free_gpus = vec![vec![0; gpus::MOST + 1]; names.types.len()];
        let mut counted: HashMap<Shape, usize> = HashMap::new();
        let mut shapes: Vec<(usize, i64)> = Vec::new();
        for (number, node) in nodes.iter().enumerate() {
            node.count_free(&mut free_gpus, true);
            let place = *counted.entry(node.shape()).or_insert(shapes.len());
            match shapes.get_mut(place) {
                Some((_, count)) => *count += 1,
                None => shapes.push((number, 1)),
            }
        }
        Self { names, nodes, ports, shares, tenants: Vec::new(), shapes, free_gpus }
    }

    /// One node of each shape and how many there are of it.
    pub(crate) fn alike(&self) -> impl Iterator<Item = (&NodeState<'a>, i64)> {
        self.shapes.iter().map(|(node, count)| (&self.nodes[*node], *count))
    }

    /// The most free GPUs of a type on one ready node.
    pub(crate) fn most_free_gpus(&self, gpu_type: usize) -> u32 {
        let most = self.free_gpus[gpu_type].iter().rposition(|nodes| *nodes > 0);
        most.and_then(|most| u32::try_from(most).ok()).unwrap_or(0)
    }

    /// The free GPUs of a type on all ready nodes.
    pub(crate) fn all_free_gpus(&self, gpu_type: usize) -> u32 {
        (0..).zip(&self.free_gpus[gpu_type]).map(|(free, nodes): (u32, _)| free * nodes).sum()
    }

    fn tenant(&self, running: &Running) -> Tenant {
        let claim = |(task, resources): &(TaskPlacement, Resources)| {
            let node = self.names.nodes.get(&task.node).copied();
            Claim {
                node,
                amounts: Amounts::of(resources),
                gpus: node.map_or(0, |node| self.nodes[node].gpu_bits(&task.gpus)),
                ports: task.ports.values().flatten().copied().collect(),
                role: 0,
            }
        };
        Tenant {
            job: running.job,
            account: self.names.accounts.get(&running.virtual_cluster).copied(),
            claims: running.tasks.iter().map(claim).collect(),
        }
    }

    pub(crate) fn take(&mut self, account: Option<usize>, claim: &Claim) {
        self.shares.charge(account, &self.usage(claim), 1);
        let Some(node) = claim.node.map(|node| &mut self.nodes[node]) else { return };
        node.free = node.free.plus(-1, claim.amounts);
        if claim.gpus != 0 {
            node.count_free(&mut self.free_gpus, false);
            node.free_gpus &= !claim.gpus;
            node.count_free(&mut self.free_gpus, true);
        }
        self.ports.set(node.pool, &claim.ports, true);
    }

    pub(crate) fn give(&mut self, account: Option<usize>, claim: &Claim) {
        self.shares.charge(account, &self.usage(claim), -1);
        let Some(node) = claim.node.map(|node| &mut self.nodes[node]) else { return };
        node.free = node.free.plus(1, claim.amounts);
        if claim.gpus != 0 {
            node.count_free(&mut self.free_gpus, false);
            node.free_gpus |= claim.gpus & node.healthy;
            node.count_free(&mut self.free_gpus, true);
        }
        self.ports.set(node.pool, &claim.ports, false);
    }

    /// What a claim uses of its virtual cluster's share.
    pub(crate) fn usage(&self, claim: &Claim) -> Usage {
        let of_type =
            |&(number, bits): &(u8, Bits)| (number, i64::from((claim.gpus & bits).count_ones()));
        let gpus = match claim.node {
            Some(node) if claim.gpus != 0 => self.nodes[node].types.iter().map(of_type).collect(),
            Some(_) | None => Vec::new(),
        };
        Usage { cpus: claim.amounts.cpus, memory: claim.amounts.memory, gpus }
    }
}
