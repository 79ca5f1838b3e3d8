//! What says whether and where nodes are shown, of each of very many: few of them are, and all else is looked at of
//! those alone.

use std::collections::BTreeMap;

use api::node_map::GroupName;
use database::nodes::NodeRecord;
use protocol::amount::Amount;
use protocol::cluster::NodeCondition;
use protocol::ids::{GpuType, JobKey, NodeName};

use super::views::beside_unread;
use crate::known::capacity::{SaidGpu, cpus_and_memory, gpus};
use crate::known::queue::Holding;

/// A node beside others. What it is called is not copied.
#[derive(Debug, Clone)]
pub(super) struct Outline<'n> {
    pub(super) name: &'n NodeName,
    /// As far as the asker is told.
    pub(super) endpoint: &'n str,
    pub(super) labels: &'n BTreeMap<String, String>,
    pub(super) condition: NodeCondition,
    /// It was closed by itself, or is of no use.
    pub(super) is_useless: bool,
    /// Something is wrong with it or with a GPU of it.
    pub(super) is_faulty: bool,
    /// A GPU of it is held and does nothing.
    pub(super) is_idle: bool,
    /// The types of its GPUs, each once.
    pub(super) types: Vec<&'n GpuType>,
    /// How many GPUs it has,
    pub(super) gpus: u64,
    /// how many of them work and are free,
    pub(super) free: u64,
    /// and how much of them is given away.
    pub(super) used: Amount,
    /// CPU cores that are free.
    pub(super) cpus: u64,
    /// Memory that is free, in MiB.
    pub(super) memory_mb: u64,
    /// The job of each task, and how much that has of the GPUs.
    pub(super) tasks: Vec<(&'n JobKey, Amount)>,
    /// Its group, where there are groups.
    pub(super) group: Option<GroupName>,
}

impl<'n> Outline<'n> {
    /// Of a node of which this is held, and perhaps something that is `unread`, and of whose GPUs these are idle.
    pub(super) fn of(
        node: &'n NodeRecord,
        held: &'n [Holding],
        unread: bool,
        idle: &[u32],
    ) -> Self {
        let observed = node.observed.as_ref();
        let problem = unread || observed.is_some_and(|seen| seen.problem.is_some());
        let taken = observed.map(|seen| &seen.taken);
        let (cpus, memory_mb) = cpus_and_memory(node);
        let used_cpus: u64 = held.iter().map(|holding| holding.demand.cpu_milli / 1000).sum();
        let used_memory: u64 = held.iter().map(|holding| holding.demand.memory_mb).sum();
        let taken_cpus = taken.map_or(0, |taken| u64::from(taken.cpus));
        let taken_memory = taken.map_or(0, |taken| taken.memory_mb);
        let mut outline = Self {
            name: &node.settings.name,
            endpoint: &node.settings.endpoint,
            labels: &node.settings.labels,
            condition: beside_unread(node, unread),
            is_useless: node.closed.is_some() || node.health.has_failed() || problem,
            is_faulty: !node.health.ailments.is_empty(),
            is_idle: false,
            types: Vec::new(),
            gpus: 0,
            free: 0,
            used: Amount::default(),
            cpus: u64::from(cpus).saturating_sub(used_cpus + taken_cpus),
            memory_mb: memory_mb.saturating_sub(used_memory + taken_memory),
            tasks: held.iter().map(|holding| (&holding.task.job, Amount::default())).collect(),
            group: None,
        };
        for gpu in gpus(node) {
            let is_taken = taken.is_some_and(|taken| taken.gpus.contains(&gpu.index));
            outline.add(SaidGpu { healthy: gpu.healthy && !is_taken, ..gpu }, held);
            outline.is_idle |= idle.contains(&gpu.index);
        }
        outline.types.sort_unstable();
        outline
    }

    /// Adds a GPU, which these may hold.
    fn add(&mut self, gpu: SaidGpu<'n>, held: &[Holding]) {
        let mut used = Amount::default();
        for (holding, (_, has)) in held.iter().zip(&mut self.tasks) {
            if holding.task.gpus.contains(&gpu.index) {
                let part = holding.task.of_each_gpu();
                *has += part;
                used += part;
            }
        }
        self.gpus += 1;
        self.free += u64::from(gpu.healthy && used == Amount::default());
        self.used += used;
        self.is_faulty |= !gpu.healthy;
        if !self.types.contains(&gpu.gpu_type) {
            self.types.push(gpu.gpu_type);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use api::cluster::NodeTask;
    use database::nodes::NodeObserved;
    use protocol::ids::{JobId, VirtualClusterName};
    use protocol::resources::Taken;
    use scheduler::model::Demand;

    use super::*;

    /// A node of three GPUs, one of which is taken by what is no job's.
    fn node() -> NodeRecord {
        let settings = serde_json::json!({
            "name": "n1", "address": "10.0.0.1", "endpoint": "sim://", "cpus": 8, "memory_mb": 1000,
            "gpus": [{"type": "V100", "count": 1}, {"type": "A100", "count": 2}],
        });
        let taken = Taken { cpus: 1, memory_mb: 100, gpus: [2].into(), ..Taken::default() };
        NodeRecord {
            settings: serde_json::from_value(settings).unwrap(),
            from_file: false,
            draining: false,
            emptied: false,
            closed: None,
            health: protocol::health::Health::default(),
            observed: Some(Arc::new(NodeObserved {
                reachable: true,
                problem: None,
                last_seen: None,
                engine: None,
                engine_id: None,
                capacity: None,
                tasks_address: None,
                gpus: None,
                taken,
            })),
        }
    }

    fn half(job: &str, gpus: Vec<u32>) -> Holding {
        let gpu_part = Some(Amount::from_milli(500));
        Holding {
            job: JobId(1),
            task: NodeTask { job: job.parse().unwrap(), task: "main-0".into(), gpus, gpu_part },
            demand: Demand { cpu_milli: 1000, memory_mb: 300, disk_gb: 0, gpus: 1, gpu_milli: 500 },
            virtual_cluster: VirtualClusterName::default(),
            borrowed: false,
        }
    }

    #[test]
    fn a_node_is_outlined_by_what_is_held_and_taken_of_it() {
        let node = node();
        let bare = Outline::of(&node, &[], false, &[]);
        assert_eq!((bare.gpus, bare.free, bare.used), (3, 2, Amount::default()));
        assert_eq!((bare.cpus, bare.memory_mb), (7, 900));
        assert!(bare.is_faulty && !bare.is_idle, "what is taken nobody is given");
        let types: Vec<&str> = bare.types.iter().map(|kind| kind.as_str()).collect();
        assert_eq!(types, ["A100", "V100"]);

        let held = [half("ada~x", vec![0]), half("bo~y", vec![0]), half("bo~z", vec![7])];
        let full = Outline::of(&node, &held, true, &[0]);
        assert_eq!((full.gpus, full.free, full.used), (3, 1, Amount::whole(1)));
        assert_eq!((full.cpus, full.memory_mb), (4, 0));
        assert_eq!(
            (bare.condition, full.condition),
            (NodeCondition::Ready, NodeCondition::Draining)
        );
        assert!(full.is_idle && full.is_useless && !bare.is_useless);
        let tasks: Vec<_> = full.tasks.iter().map(|(job, has)| (job.to_string(), *has)).collect();
        let half = Amount::from_milli(500);
        let expected = [("ada~x", half), ("bo~y", half), ("bo~z", Amount::default())];
        assert_eq!(tasks, expected.map(|(job, has)| (job.to_owned(), has)));
        assert!(!Outline::of(&node, &held, false, &[7]).is_idle, "it has no such GPU any more");
    }
}
