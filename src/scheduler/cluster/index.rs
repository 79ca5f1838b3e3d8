//! Nodes by state, and for each kind of task the states from the best to the worst. What a look at
//! it costs is what changed since the last one: a ranking catches up with the states that appeared
//! and drops those that are gone when it meets them.

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap, HashMap};

use crate::cluster::members::Members;
use crate::cluster::node::NodeState;
use crate::cluster::score::{Mode, Score};
use crate::cluster::spare::{Spare, Spares};
use crate::numbers::indices::{NodeIndex, TaskRequestIndex};
use crate::numbers::kind::Kind;
use crate::numbers::quick::Quick;

/// Which tasks a ranking is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct RankingKey {
    pub(crate) request: TaskRequestIndex,
    pub(crate) mode: Mode,
    /// How many at once.
    pub(crate) remaining: u32,
}

/// All states that nodes are in.
#[derive(Debug, Default, Clone)]
pub(crate) struct Index {
    numbers: HashMap<NodeState, u32, Quick>,
    states: Vec<Known>,
    /// Those that any node is in.
    live: Members,
    /// What is free on all nodes.
    pub(crate) spares: Spares,
    /// States in the order in which they came to have a node.
    log: Vec<u32>,
    rankings: HashMap<RankingKey, Ranking, Quick>,
}

#[derive(Debug, Clone)]
struct Known {
    state: NodeState,
    nodes: BTreeSet<NodeIndex>,
    /// The number of what is free on them.
    spare: u32,
}

#[derive(Debug, Default, Clone)]
struct Ranking {
    heap: BinaryHeap<Reverse<(Score, u32)>>,
    /// By state: whether it is in the heap.
    present: Vec<bool>,
    /// How much of the log it has seen.
    seen: usize,
}

impl Index {
    /// Puts a node, known as being in state `from`, where its state says.
    pub(crate) fn set(
        &mut self,
        node: NodeIndex,
        from: Option<u32>,
        (state, kind): (&NodeState, &Kind),
    ) -> u32 {
        let next = u32::try_from(self.states.len()).unwrap_or(u32::MAX);
        let to = match self.numbers.get(state) {
            Some(known) => *known,
            None => {
                self.numbers.insert(state.clone(), next);
                let spare = self.spares.number(Spare::of(state, kind));
                self.states.push(Known { state: state.clone(), nodes: BTreeSet::new(), spare });
                next
            }
        };
        if from == Some(to) {
            return to;
        }
        if let Some(from) = from {
            self.leave(node, from);
        }
        let known = &mut self.states[to as usize];
        if known.nodes.is_empty() {
            self.log.push(to);
            self.live.insert(to);
        }
        known.nodes.insert(node);
        self.spares.count(known.spare, 1);
        to
    }

    fn leave(&mut self, node: NodeIndex, from: u32) {
        let known = &mut self.states[from as usize];
        known.nodes.remove(&node);
        if known.nodes.is_empty() {
            self.live.remove(from);
        }
        self.spares.count(known.spare, -1);
    }

    /// Whether more is remembered than is good.
    pub(crate) fn is_stale(&self, nodes: usize) -> bool {
        let most = 8 * nodes + 4096;
        self.states.len() > most || self.log.len() > 16 * most
    }

    /// Forgets all scores.
    pub(crate) fn forget_scores(&mut self) {
        self.rankings.clear();
        let mut live = vec![false; self.states.len()];
        self.log.retain(|state| {
            let keep = !live[*state as usize] && !self.states[*state as usize].nodes.is_empty();
            live[*state as usize] |= keep;
            keep
        });
    }

    /// The best node of a ranking: of all nodes in the best states the first.
    pub(crate) fn best(
        &mut self,
        key: RankingKey,
        score: impl Fn(&NodeState) -> Option<Score>,
    ) -> Option<NodeIndex> {
        let Self { states, log, rankings, .. } = self;
        let ranking = rankings.entry(key).or_default();
        ranking.present.resize(states.len(), false);
        for state in &log[ranking.seen..] {
            let known = &states[*state as usize];
            if known.nodes.is_empty() || ranking.present[*state as usize] {
                continue;
            }
            if let Some(score) = score(&known.state) {
                ranking.present[*state as usize] = true;
                ranking.heap.push(Reverse((score, *state)));
            }
        }
        ranking.seen = log.len();
        ranking.first(states)
    }

    /// What is free on nodes in a state.
    pub(crate) fn spare(&self, state: u32) -> &Spare {
        self.spares.get(self.states[state as usize].spare)
    }

    /// Every state some node is in, and its nodes.
    pub(crate) fn live(&self) -> impl Iterator<Item = (&NodeState, &BTreeSet<NodeIndex>)> {
        let known = self.live.iter().map(|number| &self.states[number as usize]);
        known.map(|known| (&known.state, &known.nodes))
    }
}

impl Ranking {
    fn first(&mut self, states: &[Known]) -> Option<NodeIndex> {
        let mut equal = Vec::new();
        while let Some(Reverse((score, state))) = self.heap.peek().copied() {
            if states[state as usize].nodes.is_empty() {
                self.heap.pop();
                self.present[state as usize] = false;
                continue;
            }
            if equal.first().is_some_and(|(first, _)| *first != score) {
                break;
            }
            self.heap.pop();
            equal.push((score, state));
        }
        let first = |(_, state): &(Score, u32)| states[*state as usize].nodes.first().copied();
        let best = equal.iter().filter_map(first).min();
        self.heap.extend(equal.into_iter().map(Reverse));
        best
    }
}
