//! The containers of a node, as its last look has shown them.

use engine::Container;
use protocol::ids::TaskKey;

/// A node's containers, each found by its task. Most nodes have one or few, and there are thousands of nodes: they
/// take no more room than they need, where a table of hashes has four places for one.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Containers(Box<[Container]>);

impl Containers {
    pub(crate) fn get(&self, key: &TaskKey) -> Option<&Container> {
        let place = self.0.binary_search_by_key(key, |container| container.key);
        place.ok().map(|place| &self.0[place])
    }

    pub(crate) fn has(&self, key: &TaskKey) -> bool {
        self.get(key).is_some()
    }

    /// In the order of their tasks.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Container> {
        self.0.iter()
    }

    pub(crate) fn keys(&self) -> impl Iterator<Item = &TaskKey> {
        self.iter().map(|container| &container.key)
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// How many are there, gone, or do something else than before.
    pub(crate) fn count_other(&self, before: &Self) -> usize {
        let known =
            self.iter().filter_map(|container| Some((container, before.get(&container.key)?)));
        let (same, other): (Vec<_>, Vec<_>) = known.partition(|(one, other)| one == other);
        // What is on one side alone is there or gone.
        let on_both = same.len() + other.len();
        (self.len() - on_both) + (before.len() - on_both) + other.len()
    }
}

/// Of several of a task the last one counts.
impl FromIterator<Container> for Containers {
    fn from_iter<I: IntoIterator<Item = Container>>(containers: I) -> Self {
        let mut all: Vec<Container> = containers.into_iter().collect();
        all.reverse();
        all.sort_by_key(|container| container.key);
        all.dedup_by_key(|container| container.key);
        Self(all.into())
    }
}

#[cfg(test)]
mod tests {
    use engine::ContainerStatus;
    use protocol::epoch::Epoch;
    use protocol::ids::JobId;

    use super::*;

    fn container((job, id): (i64, char)) -> Container {
        let key = TaskKey { job: JobId(job), attempt: 0, role: 0, index: 0, retry: 0 };
        let (name, id, status) = (String::new(), id.to_string(), ContainerStatus::Created);
        Container { key, epoch: Epoch::default(), name, id, status }
    }

    fn some(containers: &[(i64, char)]) -> Containers {
        containers.iter().copied().map(container).collect()
    }

    #[test]
    fn each_is_found_by_its_task_and_the_last_one_of_a_task_counts() {
        let all = some(&[(3, 'c'), (1, 'x'), (2, 'b'), (1, 'a')]);
        let found: String = all.iter().map(|container| container.id.as_str()).collect();
        assert_eq!((found.as_str(), all.len()), ("abc", 3));
        for (job, is_there) in [(1, true), (2, true), (3, true), (4, false)] {
            assert_eq!(all.has(&container((job, ' ')).key), is_there, "{job}");
        }
    }

    #[test]
    fn what_is_new_gone_or_other_than_before_is_counted() {
        let before = some(&[(1, 'a'), (2, 'b'), (3, 'c')]);
        for (after, expected) in [
            (before.clone(), 0),
            (some(&[(1, 'a'), (2, 'b'), (3, 'c'), (4, 'd')]), 1),
            (some(&[(1, 'a'), (2, 'b')]), 1),
            (some(&[(1, 'a'), (2, 'x'), (3, 'c')]), 1),
            (some(&[(1, 'x'), (4, 'd')]), 4),
            (some(&[]), 3),
        ] {
            assert_eq!(after.count_other(&before), expected, "{after:?}");
        }
    }
}
