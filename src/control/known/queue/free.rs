//! What is free, to whom.

use std::collections::BTreeMap;

use api::cluster::FreeGpus;
use protocol::cluster::Share;
use protocol::ids::{GpuType, UserName, VirtualClusterName};
use protocol::time::Timestamp;
use scheduler::model::VirtualCluster;

use super::state::Queue;
use super::told;

/// What was said to be free to whoever asks from a moment on.
#[derive(Debug)]
pub(super) struct Said {
    from: Timestamp,
    /// Until then, unless something happens before; `None`: for ever.
    until: Option<Timestamp>,
    free: BTreeMap<GpuType, FreeGpus>,
}

impl Said {
    /// Whether it is so for whoever asks now. Clocks may have been set back.
    fn holds(&self, now: Timestamp) -> bool {
        self.from <= now && self.until.is_none_or(|until| now < until)
    }
}

impl Queue {
    /// What a user's job in a virtual cluster could start on now, by GPU type, if nothing is known of how
    /// long it runs. Types of which it could never have any are left out.
    pub(super) fn free(
        &mut self,
        within: &VirtualClusterName,
        user: &UserName,
        now: Timestamp,
    ) -> BTreeMap<GpuType, FreeGpus> {
        let within = self.first_alike(within);
        let to = self.limits_anybody(&within).then(|| user.clone());
        let asked = (within, to);
        if let Some(said) = self.free.get(&asked).filter(|said| said.holds(now)) {
            return said.free.clone();
        }
        let types = self.gpu_types();
        let least = told::least(&asked.0, asked.1.as_ref(), now);
        let until = self.state.free_until(&least, now);
        let of = |gpu_type: GpuType| {
            let free = self.state.free_gpus(&least, &gpu_type, now)?;
            let scheduler::model::FreeGpus { gpus, on_one_node, borrowed } = free;
            Some((gpu_type, FreeGpus { gpus, on_one_node, borrowed }))
        };
        let free: BTreeMap<_, _> = types.into_iter().filter_map(of).collect();
        self.free.insert(asked, Said { from: now, until, free: free.clone() });
        free
    }

    /// Whether users may have different things running in a virtual cluster.
    fn limits_anybody(&self, name: &VirtualClusterName) -> bool {
        let found = self.virtual_clusters.iter().find(|cluster| cluster.name == *name);
        found.is_some_and(|cluster| !cluster.limits.is_empty())
    }

    /// The first virtual cluster to which the same belongs: those without a share, and without limits, have
    /// all that is guaranteed to nobody.
    fn first_alike(&self, name: &VirtualClusterName) -> VirtualClusterName {
        let clusters = &self.virtual_clusters;
        let has_nothing = |cluster: &&VirtualCluster| {
            let VirtualCluster {
                name: _,
                parent,
                share,
                shapes,
                nodes: _,
                within: _,
                borrows: _,
                preempts: _,
                deadlines: _,
                limits,
                groups: _,
            } = cluster;
            let whole = parent.is_none() && limits.is_empty();
            whole && shapes.is_empty() && *share == Share::default()
        };
        let own = clusters.iter().find(|cluster| cluster.name == *name).filter(has_nothing);
        let alike = own.and_then(|own| {
            clusters.iter().filter(has_nothing).find(|other| other.borrows == own.borrows)
        });
        alike.map_or_else(|| name.clone(), |alike| alike.name.clone())
    }
}
