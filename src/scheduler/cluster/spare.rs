//! What is free on nodes, wherever on them it lies and whoever's cells are there. Nodes that have the same are
//! counted together: however many nodes and states of them there are, few of them differ in that.

use std::collections::HashMap;

use crate::cluster::members::Members;
use crate::cluster::node::NodeState;
use crate::model::WHOLE_GPU;
use crate::numbers::amounts::Amounts;
use crate::numbers::gpus::Bits;
use crate::numbers::indices::KindIndex;
use crate::numbers::kind::Kind;
use crate::numbers::quick::Quick;
use crate::numbers::request::ClassRole;

/// What a node has free.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Spare {
    pub(crate) kind: KindIndex,
    pub(crate) amounts: Amounts,
    gpus: Vec<OfType>,
}

/// What it has free of a GPU type.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct OfType {
    gpu_type: u8,
    whole: u32,
    /// Thousandths of those that are partly used, in all and of the one of which most is left.
    parts: u32,
    largest: u32,
}

/// What a node has free of a GPU type for a task, in thousandths.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FreeGpus {
    pub(crate) gpu_type: u8,
    pub(crate) all: i64,
    /// The most that one task can have: of one GPU for a task that takes a part of one.
    pub(crate) most: i64,
}

impl Spare {
    /// Of a node in this state.
    pub(crate) fn of(state: &NodeState, kind: &Kind) -> Self {
        let of_type = |(gpu_type, bits): &(u8, Bits)| {
            let inside = |(position, _): &&(u8, u32)| bits >> *position & 1 == 1;
            let parts = || state.shared.iter().filter(inside).map(|(_, left)| *left);
            OfType {
                gpu_type: *gpu_type,
                whole: (bits & state.free_gpus).count_ones(),
                parts: parts().sum(),
                largest: parts().max().unwrap_or(0),
            }
        };
        let gpus = kind.types.iter().map(of_type).collect();
        Self { kind: state.kind, amounts: state.free, gpus }
    }

    /// What is free of each type that a role's tasks may have.
    pub(crate) fn gpus_for(&self, kind: &Kind, role: &ClassRole) -> impl Iterator<Item = FreeGpus> {
        let (shares, types) = (role.request.shares(), role.request.types);
        let admits = kind.admits(&role.request);
        let wanted = self.gpus.iter().filter(move |of| admits && types >> of.gpu_type & 1 == 1);
        wanted.map(move |of| {
            let whole = i64::from(of.whole * WHOLE_GPU);
            let one = if whole > 0 { WHOLE_GPU } else { of.largest };
            let (all, most) = match shares {
                true => (whole + i64::from(of.parts), i64::from(one)),
                false => (whole, whole),
            };
            FreeGpus { gpu_type: of.gpu_type, all, most }
        })
    }
}

/// How many nodes have the same free.
#[derive(Debug, Default, Clone)]
pub(crate) struct Spares {
    numbers: HashMap<Spare, u32, Quick>,
    counted: Vec<(Spare, i64)>,
    /// Those that any node has.
    there: Members,
}

impl Spares {
    /// The number of what is free on a node.
    pub(crate) fn number(&mut self, spare: Spare) -> u32 {
        if let Some(known) = self.numbers.get(&spare) {
            return *known;
        }
        let next = u32::try_from(self.counted.len()).unwrap_or(u32::MAX);
        self.counted.push((spare.clone(), 0));
        self.numbers.insert(spare, next);
        next
    }

    /// A node more has so much (`sign` 1), or has it no more (`sign` -1).
    pub(crate) fn count(&mut self, number: u32, sign: i64) {
        let (_, nodes) = &mut self.counted[number as usize];
        *nodes += sign;
        match *nodes {
            0 => self.there.remove(number),
            1 if sign > 0 => self.there.insert(number),
            _ => {}
        }
    }

    pub(crate) fn get(&self, number: u32) -> &Spare {
        &self.counted[number as usize].0
    }

    /// All that is free anywhere, each with how many nodes have it.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&Spare, i64)> {
        let counted = self.there.iter().map(|number| &self.counted[number as usize]);
        counted.map(|(spare, nodes)| (spare, *nodes))
    }
}

#[cfg(test)]
impl Spares {
    /// Whether what these have, and nothing else, is counted.
    pub(crate) fn counts(&self, nodes: impl Iterator<Item = Spare>) -> bool {
        let mut left: HashMap<Spare, i64> = HashMap::new();
        nodes.for_each(|spare| *left.entry(spare).or_default() += 1);
        self.iter().all(|(spare, nodes)| left.remove(spare) == Some(nodes)) && left.is_empty()
    }
}
