//! Which node each engine is. An engine that two nodes have would give what it has twice.

use std::collections::HashMap;
use std::sync::Mutex;

use protocol::ids::NodeName;

use crate::known::cluster::Cluster;
use crate::lock::lock;

/// Which node each engine is, by the ID that it tells.
#[derive(Debug, Default)]
pub(crate) struct Engines(Mutex<Told>);

#[derive(Debug, Default)]
struct Told {
    nodes: HashMap<String, NodeName>,
    ids: HashMap<NodeName, String>,
}

/// Whose an engine is that has told its ID.
#[derive(Debug, PartialEq, Eq)]
enum Met {
    /// The node's of which it was before.
    Known,
    /// The node's from now on.
    New,
    /// This other node's.
    Anothers(NodeName),
}

impl Engines {
    /// As they were seen before this server began.
    pub(crate) fn of(cluster: &Cluster) -> Self {
        let engines = Self::default();
        for node in cluster.records() {
            if let Some(id) = node.observed.as_ref().and_then(|seen| seen.engine_id.as_ref()) {
                let _nobody_else_told_it = engines.met(id, &node.settings.name);
            }
        }
        engines
    }

    /// The engine of a node answers: the ID that is this node's alone, and what is wrong where it is another
    /// node's. What is told for the first time is not stored: some say another one each time.
    pub(crate) fn told(
        &self,
        id: Option<&str>,
        node: &NodeName,
    ) -> (Option<String>, Option<String>) {
        let Some(id) = id else { return (None, None) };
        match self.met(id, node) {
            Met::Known => (Some(id.to_owned()), None),
            Met::New => (None, None),
            Met::Anothers(other) => {
                let problem = format!(
                    "its engine tells the ID of that of {other}, {id:?}: remove one of the two nodes, or, if \
                     these are machines that were copied from one, give each a host name of its own"
                );
                (None, Some(problem))
            }
        }
    }

    /// The engine of a node has told its ID. Whoever was the first with it has it.
    fn met(&self, id: &str, node: &NodeName) -> Met {
        let mut told = lock(&self.0);
        let met = match told.nodes.get(id) {
            Some(known) if known == node => return Met::Known,
            Some(other) => Met::Anothers(other.clone()),
            None => Met::New,
        };
        // It had another engine before.
        told.forget(node);
        if met == Met::New {
            told.nodes.insert(id.to_owned(), node.clone());
            told.ids.insert(node.clone(), id.to_owned());
        }
        met
    }

    /// Whether the engine of this ID is this node.
    pub(crate) fn is(&self, id: &str, node: &NodeName) -> bool {
        lock(&self.0).nodes.get(id) == Some(node)
    }

    /// A node is gone, or has another engine.
    pub(crate) fn forget(&self, node: &NodeName) {
        lock(&self.0).forget(node);
    }
}

impl Told {
    fn forget(&mut self, node: &NodeName) {
        if let Some(id) = self.ids.remove(node) {
            self.nodes.remove(&id);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(name: &str) -> NodeName {
        name.parse().unwrap()
    }

    #[test]
    fn an_engine_is_the_node_that_told_of_it_first() {
        let engines = Engines::default();
        assert_eq!(engines.met("x", &name("a")), Met::New);
        assert_eq!(engines.met("x", &name("a")), Met::Known);
        assert_eq!(engines.met("x", &name("b")), Met::Anothers(name("a")));
        assert!(engines.is("x", &name("a")) && !engines.is("x", &name("b")));
        engines.forget(&name("b"));
        assert!(engines.is("x", &name("a")));
        // Another machine is behind the address.
        assert_eq!(engines.met("y", &name("a")), Met::New);
        assert_eq!(engines.met("x", &name("b")), Met::New);
        assert_eq!(engines.met("y", &name("b")), Met::Anothers(name("a")));
        assert!(!engines.is("x", &name("b")), "it is not that one any more");
        engines.forget(&name("a"));
        assert_eq!(engines.met("y", &name("b")), Met::New);
    }

    #[test]
    fn what_an_engine_says_once_is_not_stored() {
        let engines = Engines::default();
        for id in ["1", "2", "3"] {
            assert_eq!(engines.told(Some(id), &name("podman")), (None, None));
        }
        assert_eq!(engines.told(None, &name("podman")), (None, None));
        assert_eq!(engines.told(Some("x"), &name("a")), (None, None));
        assert_eq!(engines.told(Some("x"), &name("a")), (Some("x".to_owned()), None));
        let (id, problem) = engines.told(Some("x"), &name("b"));
        assert!(id.is_none() && problem.is_some_and(|problem| problem.contains("that of a,")));
    }
}
