//! How nodes' engines answer, for whoever wants to be alarmed: how long their calls take, and how often
//! each of them fails at what.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use database::lead::FencingToken;
use engine::Calls;
use protocol::ids::NodeName;

use crate::lock::lock;

/// Calls are told apart by whether they took longer than these, in seconds.
const BOUNDS: [f64; 9] = [0.001, 0.004, 0.016, 0.064, 0.256, 1.0, 4.0, 16.0, 64.0];

/// How long calls of one kind took, whichever engine they were to.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct CallTimes {
    /// How many took no longer than each bound, which is in seconds.
    pub within: Vec<(f64, u64)>,
    /// How many there were.
    pub count: u64,
    /// All of them together.
    pub total: Duration,
}

/// What is known of the calls.
#[derive(Debug, Default)]
pub(crate) struct EngineCalls(Mutex<Known>);

#[derive(Debug, Default)]
struct Known {
    times: BTreeMap<&'static str, CallTimes>,
    failures: BTreeMap<NodeName, BTreeMap<&'static str, u64>>,
}

impl EngineCalls {
    /// How long they took, by what was asked for.
    pub(crate) fn times(&self) -> BTreeMap<&'static str, CallTimes> {
        lock(&self.0).times.clone()
    }

    /// How often each node's engine failed at what since the server started. Those that never did are left
    /// out.
    pub(crate) fn failures(&self) -> Vec<(NodeName, &'static str, u64)> {
        let known = lock(&self.0);
        let failures = known.failures.iter().flat_map(|(node, failures)| {
            failures.iter().map(|(action, count)| (node.clone(), *action, *count))
        });
        failures.collect()
    }

    /// The node is not there any more.
    pub(crate) fn forget(&self, node: &NodeName) {
        lock(&self.0).failures.remove(node);
    }
}

impl CallTimes {
    fn note(&mut self, took: Duration) {
        if self.within.is_empty() {
            self.within = BOUNDS.map(|bound| (bound, 0)).to_vec();
        }
        for (bound, count) in &mut self.within {
            *count += u64::from(took.as_secs_f64() <= *bound);
        }
        self.count += 1;
        self.total += took;
    }
}

/// Notes the calls to one node's engine.
#[derive(Debug)]
pub(crate) struct OfNode {
    pub(crate) node: NodeName,
    pub(crate) calls: Arc<EngineCalls>,
    /// By what right this server changes anything there.
    pub(crate) fencing_token: FencingToken,
}

#[async_trait]
impl Calls for OfNode {
    fn made(&self, action: &'static str, took: Duration, failed: bool) {
        let mut known = lock(&self.calls.0);
        known.times.entry(action).or_default().note(took);
        if failed {
            *known.failures.entry(self.node.clone()).or_default().entry(action).or_default() += 1;
        }
    }

    async fn may_change(&self) {
        self.fencing_token.acting().await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_counted_by_what_they_took_and_failures_by_their_node() {
        let calls = Arc::<EngineCalls>::default();
        let of = |node: &str| OfNode {
            node: node.parse().unwrap(),
            calls: Arc::clone(&calls),
            fencing_token: FencingToken::default(),
        };
        let (one, other) = (of("n1"), of("n2"));
        one.made("list", Duration::from_millis(3), false);
        other.made("list", Duration::from_secs(2), true);
        one.made("start", Duration::from_secs(100), true);
        let times = calls.times();
        let counts: Vec<u64> = times["list"].within.iter().map(|(_, count)| *count).collect();
        assert_eq!(counts, [0, 1, 1, 1, 1, 1, 2, 2, 2]);
        assert_eq!((times["list"].count, times["list"].total.as_millis()), (2, 2_003));
        assert_eq!((times["start"].within[8].1, times["start"].count), (0, 1));
        let failures = calls.failures();
        let failures: Vec<_> =
            failures.iter().map(|(node, action, count)| (node.as_str(), *action, *count)).collect();
        assert_eq!(failures, [("n1", "start", 1), ("n2", "list", 1)]);
        calls.forget(&"n1".parse().unwrap());
        assert_eq!(calls.failures().len(), 1);
    }
}
