//! What the watchers see of the nodes' engines, until it is stored.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::{Arc, Mutex};

use database::nodes::NodeObserved;
use protocol::ids::NodeName;
use protocol::time::Timestamp;

use crate::lock::lock;

/// What is seen of the nodes' engines. That each of thousands still answers is heard every few seconds:
/// it is only noted here, to be stored rarely and for all together. What is new is stored at once.
#[derive(Debug, Default)]
pub(crate) struct Heartbeats(Mutex<Seen>);

#[derive(Debug, Default)]
struct Seen {
    /// When each engine answered last.
    answered: HashMap<NodeName, Timestamp>,
    /// Whose drivers were asked for GPUs since this server started.
    probed: HashSet<NodeName>,
    /// What is to be stored.
    news: BTreeMap<NodeName, Arc<NodeObserved>>,
    /// What is being stored.
    storing: BTreeMap<NodeName, Arc<NodeObserved>>,
}

impl Heartbeats {
    /// A node's engine has answered.
    pub(crate) fn answered(&self, name: &NodeName, at: Timestamp) {
        let mut seen = lock(&self.0);
        match seen.answered.get_mut(name) {
            Some(known) => *known = at,
            None => {
                seen.answered.insert(name.clone(), at);
            }
        }
    }

    /// When a node's engine has answered last since this server started.
    pub(crate) fn last_answer(&self, name: &NodeName) -> Option<Timestamp> {
        lock(&self.0).answered.get(name).copied()
    }

    /// A node's drivers were asked for GPUs, whatever they said.
    pub(crate) fn probed(&self, name: &NodeName) {
        lock(&self.0).probed.insert(name.clone());
    }

    /// Whether a node's drivers were asked for GPUs since this server started.
    pub(crate) fn was_probed(&self, name: &NodeName) -> bool {
        lock(&self.0).probed.contains(name)
    }

    /// The nodes whose engines have answered since then, each with the last time.
    pub(crate) fn answered_since(&self, then: Timestamp) -> Vec<(NodeName, Timestamp)> {
        let seen = lock(&self.0);
        let since = seen.answered.iter().filter(|(_, at)| **at >= then);
        since.map(|(name, at)| (name.clone(), *at)).collect()
    }

    /// Something new is seen of a node: instead of what was seen before and is not stored yet.
    pub(crate) fn report(&self, name: &NodeName, observed: Arc<NodeObserved>) {
        lock(&self.0).news.insert(name.clone(), observed);
    }

    /// What was reported last of a node, until that is stored.
    pub(crate) fn reported(&self, name: &NodeName) -> Option<Arc<NodeObserved>> {
        let seen = lock(&self.0);
        seen.news.get(name).or_else(|| seen.storing.get(name)).cloned()
    }

    /// What is new, to be stored: also what was given before, where nobody has said that it is stored and nothing
    /// newer has come.
    pub(crate) fn take_news(&self) -> Vec<(NodeName, Arc<NodeObserved>)> {
        let mut seen = lock(&self.0);
        let news = std::mem::take(&mut seen.news);
        seen.storing.extend(news);
        seen.storing.iter().map(|(name, observed)| (name.clone(), Arc::clone(observed))).collect()
    }

    /// What was given last is stored, and known from now on.
    pub(crate) fn stored(&self) {
        lock(&self.0).storing.clear();
    }

    /// Nobody looks at the node any more.
    pub(crate) fn forget(&self, name: &NodeName) {
        let mut seen = lock(&self.0);
        seen.answered.remove(name);
        seen.probed.remove(name);
        seen.news.remove(name);
        seen.storing.remove(name);
    }
}

/// Whether the two say the same, whenever each was seen.
pub(crate) fn says_the_same(one: &NodeObserved, other: &NodeObserved) -> bool {
    let NodeObserved { reachable, problem, last_seen: _, engine, engine_id, capacity, .. } = one;
    let NodeObserved { tasks_address, gpus, taken, .. } = one;
    (reachable, problem, engine) == (&other.reachable, &other.problem, &other.engine)
        && *engine_id == other.engine_id
        && (capacity, tasks_address, gpus) == (&other.capacity, &other.tasks_address, &other.gpus)
        && *taken == other.taken
}

#[cfg(test)]
mod tests {
    use protocol::resources::Taken;

    use super::*;

    fn name(name: &str) -> NodeName {
        name.parse().unwrap()
    }

    fn seen(at: i64, reachable: bool) -> NodeObserved {
        NodeObserved {
            reachable,
            problem: None,
            last_seen: Some(Timestamp(at)),
            engine: Some("Docker 29".to_owned()),
            engine_id: None,
            capacity: None,
            tasks_address: None,
            gpus: None,
            taken: Taken::default(),
        }
    }

    #[test]
    fn a_sign_of_life_says_nothing_new() {
        assert!(says_the_same(&seen(1, true), &seen(2, true)));
        assert!(!says_the_same(&seen(1, true), &seen(1, false)));
        let other = NodeObserved { engine: None, ..seen(1, true) };
        assert!(!says_the_same(&seen(1, true), &other));
        let told = NodeObserved { engine_id: Some("A".to_owned()), ..seen(1, true) };
        assert!(!says_the_same(&seen(1, true), &told));
        let taken = Taken { cpus: 1, ..Taken::default() };
        assert!(!says_the_same(&seen(1, true), &NodeObserved { taken, ..seen(1, true) }));
    }

    #[test]
    fn signs_of_life_are_kept_until_they_are_stored_for_all_together() {
        let heartbeats = Heartbeats::default();
        heartbeats.answered(&name("a"), Timestamp(1));
        heartbeats.answered(&name("b"), Timestamp(2));
        heartbeats.answered(&name("a"), Timestamp(3));
        assert_eq!(heartbeats.last_answer(&name("a")), Some(Timestamp(3)));
        assert_eq!(heartbeats.take_news(), [], "that is no news");
        assert_eq!(heartbeats.answered_since(Timestamp(3)), [(name("a"), Timestamp(3))]);
        assert_eq!(heartbeats.answered_since(Timestamp(1)).len(), 2);
        heartbeats.forget(&name("a"));
        assert_eq!(heartbeats.last_answer(&name("a")), None);
    }

    #[test]
    fn what_could_not_be_stored_gives_way_to_what_is_newer() {
        let heartbeats = Heartbeats::default();
        for node in ["a", "b", "c"] {
            heartbeats.report(&name(node), Arc::new(seen(1, true)));
        }
        assert_eq!(heartbeats.take_news().len(), 3);
        heartbeats.report(&name("b"), Arc::new(seen(2, false)));
        heartbeats.forget(&name("c"));
        let expected = [(name("a"), seen(1, true)), (name("b"), seen(2, false))]
            .map(|(node, seen)| (node, Arc::new(seen)));
        assert_eq!(heartbeats.take_news(), expected);
        heartbeats.stored();
        assert_eq!(heartbeats.take_news(), []);
    }

    #[test]
    fn what_was_reported_last_is_known_until_it_is_stored() {
        let heartbeats = Heartbeats::default();
        let reported = || heartbeats.reported(&name("a")).map(|seen| seen.last_seen);
        assert_eq!(reported(), None);
        heartbeats.report(&name("a"), Arc::new(seen(1, false)));
        assert_eq!(reported(), Some(Some(Timestamp(1))));
        heartbeats.take_news();
        assert_eq!(reported(), Some(Some(Timestamp(1))), "it is being stored");
        heartbeats.report(&name("a"), Arc::new(seen(2, true)));
        assert_eq!(reported(), Some(Some(Timestamp(2))));
        heartbeats.stored();
        assert_eq!(reported(), Some(Some(Timestamp(2))), "the newer one is not stored");
        heartbeats.take_news();
        heartbeats.stored();
        assert_eq!(reported(), None);
    }
}
