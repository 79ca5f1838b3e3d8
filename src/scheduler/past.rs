//! How long a user's jobs of a kind have run, to expect how long the next one will.

use std::collections::{BTreeMap, VecDeque};

use protocol::amount::Amount;
use protocol::ids::{UserName, VirtualClusterName};

use crate::model::{Request, RoleRequest};

/// Runs of each kind that are remembered.
const REMEMBERED: usize = 16;
/// With fewer runs of the user's own, those of all in the virtual cluster count.
const ENOUGH: usize = 3;

/// Past runs. Times are in milliseconds.
#[derive(Debug, Clone, Default)]
pub struct PastRuns {
    of_user: BTreeMap<(VirtualClusterName, UserName, Amount), VecDeque<i64>>,
    of_cluster: BTreeMap<(VirtualClusterName, Amount), VecDeque<i64>>,
}

/// What makes runs alike.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Like {
    /// Where they counted.
    pub virtual_cluster: VirtualClusterName,
    /// Whose they were.
    pub user: UserName,
    /// GPUs of all tasks.
    pub gpus: Amount,
}

impl From<&Request> for Like {
    fn from(request: &Request) -> Self {
        let (virtual_cluster, user) = (request.virtual_cluster.clone(), request.user.clone());
        Self { virtual_cluster, user, gpus: gpus(request) }
    }
}

impl PastRuns {
    /// A job like this has run so long.
    pub fn record(&mut self, like: Like, ran_ms: i64) {
        let Like { virtual_cluster: cluster, user, gpus } = like;
        let own = (cluster.clone(), user, gpus);
        for runs in [
            self.of_user.entry(own).or_default(),
            self.of_cluster.entry((cluster, gpus)).or_default(),
        ] {
            if runs.len() == REMEMBERED {
                runs.pop_front();
            }
            runs.push_back(ran_ms.max(0));
        }
    }

    /// How long a job like this is expected to run; `None`: nothing like it ran yet.
    ///
    /// The last runs count most: half as much again for each one back.
    #[must_use]
    pub fn expect(&self, like: Like, limit_ms: Option<i64>) -> Option<i64> {
        let Like { virtual_cluster: cluster, user, gpus } = like;
        let own = self.of_user.get(&(cluster.clone(), user, gpus));
        let own = own.filter(|runs| runs.len() >= ENOUGH);
        let runs = own.or_else(|| self.of_cluster.get(&(cluster, gpus)))?;
        let expected = weighed(runs)?;
        Some(limit_ms.map_or(expected, |limit| expected.min(limit)))
    }
}

fn gpus(request: &Request) -> Amount {
    let of = |role: &RoleRequest| {
        Amount::from_milli(role.demand.all_gpu_milli()).times(role.count.into())
    };
    request.roles.iter().map(of).sum()
}

/// The mean of logarithms, so that one very long run among short ones does not hide them.
fn weighed(runs: &VecDeque<i64>) -> Option<i64> {
    let (mut sum, mut weights, mut weight) = (0.0, 0.0, 1.0);
    for run in runs.iter().rev() {
        sum += weight * (*run as f64 + 1000.0).ln();
        weights += weight;
        weight *= 0.8;
    }
    (weights > 0.0).then(|| (f64::exp(sum / weights) - 1000.0).max(0.0) as i64)
}
