//! Jobs of which something cannot be read. They are left alone as they are, with their containers;
//! what they hold nobody knows, so that nothing new starts where they may hold something.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use database::damage::{Damaged, Unreadable};
use database::nodes::NodeRecord;
use protocol::ids::{JobId, NodeName};

use crate::known::cluster::Cluster;

/// What was found of it since the start.
#[derive(Debug, Default)]
pub(crate) struct Damage {
    jobs: BTreeSet<JobId>,
    /// Where they may hold something, each with the row that says no more of it.
    nodes: BTreeMap<NodeName, String>,
}

impl Damage {
    /// The jobs that are left alone.
    pub(crate) fn jobs(&self) -> &BTreeSet<JobId> {
        &self.jobs
    }

    /// Why nothing new starts on a node, for people to read.
    pub(crate) fn closes(&self, node: &NodeName) -> Option<String> {
        self.nodes.get(node).map(|row| {
            format!(
                "{row} cannot be read: nothing new starts here until it is put right and the \
                 server is started again"
            )
        })
    }

    /// The cluster as the scheduler may use it.
    pub(crate) fn close(&self, cluster: Arc<Cluster>) -> Arc<Cluster> {
        self.nodes.keys().fold(cluster, |cluster, name| match cluster.node(name).cloned() {
            Some(node) => {
                let closed = NodeRecord { draining: true, ..node };
                Arc::new(cluster.with_node(name, Some(closed)))
            }
            None => cluster,
        })
    }

    /// Says whether it is new.
    pub(super) fn add(&mut self, damaged: &Damaged) -> bool {
        let Damaged { job, rows, nodes } = damaged;
        if let Some(Unreadable { row, .. }) = rows.first() {
            for node in nodes {
                self.nodes.entry(node.clone()).or_insert_with(|| row.clone());
            }
        }
        self.jobs.insert(*job)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_new_starts_beside_what_cannot_be_read() {
        let node = |name: &str| {
            let settings = serde_json::json!({
                "name": name, "address": "10.0.0.1", "endpoint": "sim://", "cpus": 8,
            });
            let settings = serde_json::from_value(settings).unwrap();
            NodeRecord {
                settings,
                from_file: false,
                draining: false,
                emptied: false,
                closed: None,
                health: protocol::health::Health::default(),
                observed: None,
            }
        };
        let cluster = Arc::new(Cluster::new(["n1", "n2"].map(node), Vec::new()));
        let mut damage = Damage::default();
        assert!(Arc::ptr_eq(&damage.close(Arc::clone(&cluster)), &cluster));
        let row = Unreadable { row: "row 7 of table jobs".into(), why: "no state".into() };
        let nodes = ["n2", "n3"].map(|name| name.parse().unwrap());
        let damaged = Damaged { job: JobId(7), rows: vec![row], nodes: nodes.into() };
        assert!(damage.add(&damaged));
        assert!(!damage.add(&damaged));
        let closed = damage.close(cluster);
        let draining: Vec<bool> = closed.records().map(|node| node.draining).collect();
        assert_eq!(draining, [false, true]);
        assert!(damage.closes(&"n2".parse().unwrap()).unwrap().contains("row 7 of table jobs"));
        assert_eq!(damage.closes(&"n1".parse().unwrap()), None);
    }
}
