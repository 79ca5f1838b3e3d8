//! The part of very many nodes that a map or a table shows: filtered, ordered, grouped and cut.

use std::cmp::Ordering;
use std::collections::BTreeSet;

use api::cluster::{GpuView, NodeView};
use api::node_map::{
    Group, GroupName, MapGpu, MapNode, NodeMap, NodeOrder, NodeQuery, Only, holders,
};
use protocol::amount::Amount;
use protocol::cluster::NodeCondition;

/// The part of the nodes that is asked for.
pub(super) fn select(nodes: Vec<NodeView>, query: &NodeQuery) -> NodeMap {
    let all = nodes.len() as u64;
    let labels = nodes.iter().flat_map(|node| node.labels.keys().cloned()).collect();
    let words: Vec<String> = query.text.split_whitespace().map(str::to_lowercase).collect();
    let matches = |node: &NodeView| words.iter().all(|word| says(node, word));
    let mut found: Vec<NodeView> = nodes.into_iter().filter(matches).collect();
    let count = |only: Only| (only, found.iter().filter(|node| is(node, only)).count() as u64);
    let counts = Only::ALL.into_iter().map(count).collect();
    found.retain(|node| query.only.is_none_or(|only| is(node, only)));
    sort(&mut found, query);
    let used = found.iter().flat_map(|node| &node.gpus).map(|gpu| gpu.used).sum();
    let shown: Vec<MapNode> = found.iter().map(|node| on_map(node, query)).collect();
    NodeMap {
        total: shown.len() as u64,
        all,
        counts,
        gpus: shown.iter().map(|node| node.gpus.len() as u64).sum(),
        used,
        holders: holders(shown.iter().flat_map(|node| &node.gpus), query.colour),
        labels,
        nodes: cut(shown, query),
    }
}

fn is(node: &NodeView, only: Only) -> bool {
    match only {
        Only::Free => node.condition == NodeCondition::Ready && free_gpus(node) > 0,
        Only::Draining => node.condition == NodeCondition::Draining,
        Only::Unreachable => node.condition == NodeCondition::Unreachable,
        Only::Faulty => node.gpus.iter().any(|gpu| !gpu.gpu.healthy),
    }
}

fn cut(nodes: Vec<MapNode>, query: &NodeQuery) -> Vec<MapNode> {
    let number = |count: u64| usize::try_from(count).unwrap_or(usize::MAX);
    nodes.into_iter().skip(number(query.offset)).take(number(query.limit)).collect()
}

/// Whether a word, in lower case, is in what one may look for of a node.
fn says(node: &NodeView, word: &str) -> bool {
    let has = |text: &str| text.to_lowercase().contains(word);
    has(node.name.as_str())
        || node.gpus.iter().any(|gpu| has(gpu.gpu.gpu_type.as_str()))
        || node.labels.iter().any(|(key, value)| has(&format!("{key}={value}")))
        || node.tasks.iter().any(|task| has(&task.job.to_string()))
}

fn sort(nodes: &mut [NodeView], query: &NodeQuery) {
    let cpus = |node: &NodeView| u64::from(node.capacity.cpus).saturating_sub(node.used.cpus);
    let memory = |node: &NodeView| node.capacity.memory_mb.saturating_sub(node.used.memory_mb);
    nodes.sort_by(|a, b| {
        let by = match query.order {
            NodeOrder::Name => Ordering::Equal,
            NodeOrder::Condition => a.condition.cmp(&b.condition),
            NodeOrder::Free => free_gpus(a).cmp(&free_gpus(b)),
            NodeOrder::Cpus => cpus(a).cmp(&cpus(b)),
            NodeOrder::Memory => memory(a).cmp(&memory(b)),
            NodeOrder::Tasks => a.tasks.len().cmp(&b.tasks.len()),
        };
        let by = by.then_with(|| a.name.cmp(&b.name));
        let by = if query.descending { by.reverse() } else { by };
        let of_group = |group: &Group| group_of(a, group).cmp(&group_of(b, group));
        query.group.as_ref().map_or(Ordering::Equal, of_group).then(by)
    });
}

fn group_of(node: &NodeView, group: &Group) -> GroupName {
    let name = match group {
        Group::Condition => return GroupName::Condition(node.condition),
        Group::Type => {
            let kinds: BTreeSet<_> =
                node.gpus.iter().map(|gpu| gpu.gpu.gpu_type.as_str()).collect();
            kinds.into_iter().collect::<Vec<_>>().join(", ")
        }
        Group::Label(key) => node.labels.get(key).cloned().unwrap_or_default(),
    };
    if name.is_empty() { GroupName::Nameless } else { GroupName::Named(name) }
}

fn free_gpus(node: &NodeView) -> u64 {
    let free = |gpu: &&GpuView| gpu.gpu.healthy && gpu.used == Amount::default();
    node.gpus.iter().filter(free).count() as u64
}

fn on_map(node: &NodeView, query: &NodeQuery) -> MapNode {
    MapNode {
        name: node.name.clone(),
        group: query.group.as_ref().map(|group| group_of(node, group)),
        condition: node.condition,
        simulated: node.simulated,
        gpus: node.gpus.iter().map(MapGpu::from).collect(),
        cpus: (node.used.cpus, u64::from(node.capacity.cpus)),
        memory_mb: (node.used.memory_mb, node.capacity.memory_mb),
        tasks: node.tasks.len() as u64,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use api::cluster::{GpuHolder, NodeTask, Usage};
    use api::node_map::Colour;
    use protocol::amount::Amount;
    use protocol::ids::JobKey;
    use protocol::resources::{Capacity, Gpu, PortRange};

    use super::*;

    /// A node of four GPUs of which the first are held, each by a job.
    fn node(name: &str, kind: &str, held: &[&str]) -> NodeView {
        let job = |key: &str| key.parse::<JobKey>().unwrap();
        let gpu = |index: u32| {
            let key = held.get(index as usize).map(|key| job(key));
            let holder = |job| GpuHolder { job, task: "main-0".into(), part: Amount::whole(1) };
            GpuView {
                gpu: Gpu { index, gpu_type: kind.parse().unwrap(), uuid: None, healthy: true },
                job: key.clone(),
                used: Amount::whole(u64::from(key.is_some())),
                holders: key.into_iter().map(holder).collect(),
            }
        };
        let task = |key: &&str| NodeTask {
            job: job(key),
            task: "main-0".into(),
            gpus: vec![],
            gpu_part: None,
        };
        NodeView {
            name: name.parse().unwrap(),
            address: String::new(),
            tasks_address: None,
            at_portal: false,
            endpoint: String::new(),
            simulated: true,
            condition: NodeCondition::Ready,
            emptied: false,
            problem: None,
            last_seen: None,
            engine: None,
            capacity: Capacity { cpus: 8, memory_mb: 1024, disk_gb: 1, gpus: Vec::new() },
            used: Usage::default(),
            gpus: (0..4).map(gpu).collect(),
            shares_gpus: false,
            ports: PortRange::default(),
            labels: BTreeMap::from([("rack".to_owned(), format!("r{}", name.len() % 2))]),
            tasks: held.iter().map(task).collect(),
        }
    }

    fn nodes() -> Vec<NodeView> {
        let mut nodes = vec![
            node("a1", "A100", &["ada~x", "ada~x", "bo~y", "bo~z"]),
            node("a22", "A100", &["ada~x"]),
            node("v1", "V100", &["bo~y", "bo~y", "bo~y"]),
            node("v22", "V100", &[]),
        ];
        nodes[3].condition = NodeCondition::Draining;
        nodes
    }

    fn shown(query: NodeQuery) -> Vec<String> {
        let query = NodeQuery { limit: 100, ..query };
        select(nodes(), &query).nodes.into_iter().map(|node| node.name.to_string()).collect()
    }

    #[test]
    fn words_look_at_names_types_labels_jobs_and_owners() {
        let by = |text: &str| shown(NodeQuery { text: text.into(), ..NodeQuery::default() });
        assert_eq!(by("v10 V2"), ["v22"]);
        assert_eq!(by("rack=r1"), ["a22", "v22"]);
        assert_eq!(by("bo~y"), ["a1", "v1"]);
        assert_eq!(by("ada"), ["a1", "a22"]);
        assert_eq!(by("nothing"), Vec::<String>::new());
    }

    #[test]
    fn kinds_groups_and_orders() {
        let of = |only| shown(NodeQuery { only: Some(only), ..NodeQuery::default() });
        assert_eq!(of(Only::Free), ["a22", "v1"]);
        assert_eq!(of(Only::Draining), ["v22"]);
        let free = NodeQuery { order: NodeOrder::Free, descending: true, ..NodeQuery::default() };
        assert_eq!(shown(free.clone()), ["v22", "a22", "v1", "a1"]);
        let grouped = NodeQuery { group: Some(Group::Type), ..free };
        assert_eq!(shown(grouped), ["a22", "a1", "v22", "v1"]);
    }

    #[test]
    fn a_window_knows_of_all_that_matches() {
        let query = NodeQuery { limit: 1, offset: 1, colour: Colour::User, ..NodeQuery::default() };
        let map = select(nodes(), &query);
        assert_eq!((map.nodes.len(), map.total, map.all, map.gpus), (1, 4, 4, 16));
        assert_eq!(map.used, Amount::whole(8));
        let expected = [("bo".to_owned(), Amount::whole(5)), ("ada".to_owned(), Amount::whole(3))];
        assert_eq!(map.holders, expected);
        assert_eq!(map.counts[&Only::Free], 2);
        assert_eq!(map.labels, BTreeSet::from(["rack".to_owned()]));
    }
}
