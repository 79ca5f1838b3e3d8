//! Fragmentation gradient descent (USENIX ATC '23), to compare with: each task goes where what is free comes
//! to be of the least less use to the typical tasks of the whole workload, which are known to it ahead.

use std::collections::HashMap;

use protocol::ids::GpuType;
use scheduler::model::{Demand, Node};

use super::{Task, Typical, Workload, lost};

/// What is free on a node.
#[derive(Debug, Clone)]
struct Free {
    model: Option<GpuType>,
    cpu_milli: u64,
    memory_mb: u64,
    /// Thousandths of each GPU.
    gpus: Vec<u32>,
    /// Thousandths of GPUs that a typical task could not use.
    lost: f64,
}

/// What was found for tasks that are alike on a node as it is.
#[derive(Debug, Clone)]
enum Tried {
    NotYet,
    NoRoom,
    /// On these GPUs, with so good a score.
    Room(u8, Vec<usize>),
}

/// The score of a place on which so many thousandths of GPUs more would be lost: whole numbers up to 100, as
/// published, for ties decide. Of equal nodes the first is taken.
fn score(more: f64) -> u8 {
    (100.0 / (1.0 + (more / 1000.0).exp())) as u8
}

/// Which of the tasks find room, that come in this order and never leave.
pub(super) fn places(workload: &Workload, names: &[&str]) -> Result<Vec<bool>, String> {
    let typical = &workload.typical;
    let mut nodes: Vec<_> = workload.nodes.iter().map(|node| Free::of(node, typical)).collect();
    let mut tries: HashMap<Task, Vec<Tried>> = HashMap::new();
    let mut placed = Vec::with_capacity(names.len());
    for name in names {
        let task = workload.task(name)?;
        let alike = tries.entry(task.clone());
        let tried = alike.or_insert_with(|| vec![Tried::NotYet; nodes.len()]);
        let found = best(&nodes, tried, task, typical);
        placed.push(found.is_some());
        if let Some((at, gpus)) = found {
            nodes[at].take(&task.0, &gpus);
            nodes[at].lost = nodes[at].loss(typical);
            tries.values_mut().for_each(|tried| tried[at] = Tried::NotYet);
        }
    }
    Ok(placed)
}

/// The node with the best score, and a task's GPUs there.
fn best(
    nodes: &[Free],
    tries: &mut [Tried],
    task: &Task,
    typical: &[Typical],
) -> Option<(usize, Vec<usize>)> {
    let mut best: Option<(u8, usize)> = None;
    for (at, (node, tried)) in nodes.iter().zip(tries.iter_mut()).enumerate() {
        if matches!(tried, Tried::NotYet) {
            *tried = node.tried(task, typical);
        }
        if let Tried::Room(score, _) = tried
            && best.is_none_or(|(most, _)| *score > most)
        {
            best = Some((*score, at));
        }
    }
    let (_, at) = best?;
    match &tries[at] {
        Tried::Room(_, gpus) => Some((at, gpus.clone())),
        Tried::NotYet | Tried::NoRoom => None,
    }
}

impl Free {
    fn of(node: &Node, typical: &[Typical]) -> Self {
        let capacity = &node.capacity;
        let free = Self {
            model: capacity.gpus.first().map(|gpu| gpu.gpu_type.clone()),
            cpu_milli: u64::from(capacity.cpus) * 1000,
            memory_mb: capacity.memory_mb,
            gpus: vec![1000; capacity.gpus.len()],
            lost: 0.0,
        };
        let lost = free.loss(typical);
        Self { lost, ..free }
    }

    fn loss(&self, typical: &[Typical]) -> f64 {
        lost(typical, self.model.as_ref(), self.cpu_milli, &self.gpus)
    }

    fn tried(&self, (demand, types): &Task, typical: &[Typical]) -> Tried {
        let wanted = types.is_empty() || self.model.as_ref().is_some_and(|of| types.contains(of));
        let holds = self.cpu_milli >= demand.cpu_milli && self.memory_mb >= demand.memory_mb;
        if !wanted && demand.gpus > 0 || !holds {
            return Tried::NoRoom;
        }
        let after = |gpus: Vec<usize>| {
            let mut then = self.clone();
            then.take(demand, &gpus);
            (then.loss(typical) - self.lost, gpus)
        };
        let tries = self.choices(demand).into_iter().map(after);
        let least = tries.min_by(|(one, _), (other, _)| one.total_cmp(other));
        least.map_or(Tried::NoRoom, |(more, gpus)| Tried::Room(score(more), gpus))
    }

    /// The GPUs that a task could have: of those of which as much is left the first.
    fn choices(&self, demand: &Demand) -> Vec<Vec<usize>> {
        let left = self.gpus.iter().enumerate();
        let large: Vec<_> = left.filter(|(_, left)| **left >= demand.gpu_milli).collect();
        match demand.gpus as usize {
            0 => vec![Vec::new()],
            1 => {
                let mut known = Vec::new();
                let mut differs = |left: u32| {
                    let differs = !known.contains(&left);
                    known.push(left);
                    differs
                };
                large.into_iter().filter(|(_, of)| differs(**of)).map(|(at, _)| vec![at]).collect()
            }
            many if large.len() >= many => {
                vec![large.into_iter().take(many).map(|(at, _)| at).collect()]
            }
            _ => Vec::new(),
        }
    }

    fn take(&mut self, demand: &Demand, gpus: &[usize]) {
        self.cpu_milli -= demand.cpu_milli;
        self.memory_mb -= demand.memory_mb;
        gpus.iter().for_each(|at| self.gpus[*at] -= demand.gpu_milli);
    }
}
