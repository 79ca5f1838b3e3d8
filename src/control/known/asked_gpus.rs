//! What drivers have said of the GPUs of nodes of which no exporter tells.

use std::collections::HashMap;
use std::sync::Mutex;

use engine::exporter::GpuSample;
use protocol::ids::NodeName;
use protocol::time::Timestamp;

use crate::lock::lock;

/// An answer counts for so long, in milliseconds: for longer than until the next one.
const COUNTS: i64 = 150_000;

/// The last answer of each node.
#[derive(Debug, Default)]
pub(crate) struct AskedGpus(Mutex<HashMap<NodeName, Answer>>);

#[derive(Debug)]
struct Answer {
    at: Timestamp,
    gpus: Vec<GpuSample>,
}

impl AskedGpus {
    /// Notes an answer, and forgets those of nodes that have not answered for long.
    pub(crate) fn note(&self, node: &NodeName, at: Timestamp, gpus: Vec<GpuSample>) {
        let mut all = lock(&self.0);
        all.retain(|_, answer| at.since(answer.at) < COUNTS);
        if gpus.is_empty() {
            all.remove(node);
        } else {
            all.insert(node.clone(), Answer { at, gpus });
        }
    }

    /// What the node has said; nothing where that is old.
    pub(crate) fn of(&self, node: &NodeName, now: Timestamp) -> Vec<GpuSample> {
        let all = lock(&self.0);
        let answer = all.get(node).filter(|answer| now.since(answer.at) < COUNTS);
        answer.map(|answer| answer.gpus.clone()).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_counts_until_it_is_old() {
        let asked = AskedGpus::default();
        let (one, other): (NodeName, NodeName) = ("a".parse().unwrap(), "b".parse().unwrap());
        let sample = GpuSample { index: Some(1), load: Some(7.0), ..GpuSample::default() };
        asked.note(&one, Timestamp(1_000), vec![sample.clone()]);
        assert_eq!(asked.of(&one, Timestamp(COUNTS)), std::slice::from_ref(&sample));
        assert_eq!(asked.of(&other, Timestamp(1_000)), []);
        assert_eq!(asked.of(&one, Timestamp(1_000 + COUNTS)), []);
        asked.note(&other, Timestamp(1_000 + COUNTS), vec![sample]);
        assert_eq!(lock(&asked.0).len(), 1, "nothing is kept of nodes that are silent");
        asked.note(&other, Timestamp(2_000 + COUNTS), Vec::new());
        assert!(lock(&asked.0).is_empty(), "a driver that tells nothing any more tells nothing");
    }
}
