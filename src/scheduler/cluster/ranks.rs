//! Who runs in each virtual cluster, by right or on what is lent, in the order of the queue.

use std::collections::BTreeSet;

use protocol::ids::JobId;

use crate::cluster::placed::PlacedJob;
use crate::model::{QosClass, Turn};
use crate::numbers::indices::ClusterIndex;
use crate::share::peers::place;

/// Those who run, by virtual cluster ([`place`]).
#[derive(Debug, Clone)]
pub(crate) struct Ranks(Vec<Ranked>);

/// Those of one virtual cluster, the first in the queue first.
#[derive(Debug, Clone, Default)]
struct Ranked {
    by_right: BTreeSet<(Turn, JobId)>,
    borrowed: BTreeSet<(Turn, JobId)>,
}

impl Ranks {
    /// Of so many virtual clusters, and one for those that nobody knows.
    pub(crate) fn new(clusters: usize) -> Self {
        Self(vec![Ranked::default(); clusters + 1])
    }

    fn list(&mut self, placed: &PlacedJob) -> &mut BTreeSet<(Turn, JobId)> {
        let ranked = &mut self.0[place(placed.cluster)];
        match placed.qos_class {
            QosClass::Guaranteed => &mut ranked.by_right,
            QosClass::Borrowed => &mut ranked.borrowed,
        }
    }

    pub(crate) fn enter(&mut self, job: JobId, placed: &PlacedJob) {
        self.list(placed).insert((placed.turn, job));
    }

    pub(crate) fn leave(&mut self, job: JobId, placed: &PlacedJob) {
        self.list(placed).remove(&(placed.turn, job));
    }

    /// Those of a virtual cluster who run by right and are of a lower class than a turn, the last
    /// first.
    pub(crate) fn outranked(
        &self,
        cluster: Option<ClusterIndex>,
        turn: Turn,
    ) -> impl Iterator<Item = JobId> {
        let by_right = self.0[place(cluster)].by_right.iter().rev();
        by_right.take_while(move |(other, _)| turn.outranks(other)).map(|(_, job)| *job)
    }

    /// Those of a virtual cluster who borrow and are ahead of a place in the queue, the first first.
    pub(crate) fn borrow_ahead_of(
        &self,
        cluster: Option<ClusterIndex>,
        place_of: (Turn, JobId),
    ) -> impl Iterator<Item = JobId> {
        self.0[place(cluster)].borrowed.range(..place_of).map(|(_, job)| *job)
    }

    /// The first turn, from this one on, of anybody who borrows.
    pub(crate) fn first_borrower_from(&self, turn: Turn) -> Option<Turn> {
        let from = (turn, JobId(i64::MIN));
        let first = |ranked: &Ranked| ranked.borrowed.range(from..).next().map(|(turn, _)| *turn);
        self.0.iter().filter_map(first).min()
    }
}
