//! The part of very many nodes that a map or a table shows: filtered, ordered, grouped and cut.

use std::cmp::{Ordering, Reverse};
use std::collections::{BTreeMap, BTreeSet};

use api::cluster::NodeView;
use api::metrics::Lately;
use api::node_map::{
    AdminRow, Face, Group, GroupName, Holders, MapGpu, MapNode, NodeMap, NodeOrder, NodeQuery,
    NodeRow, Only, Shown, most,
};
use protocol::amount::Amount;
use protocol::cluster::NodeCondition;
use protocol::ids::{GpuType, JobKey, NodeName};
use protocol::order::natural;

use super::outlines::Outline;

/// The part of the nodes that is asked for. They come by name; of those shown the views are asked for.
pub(super) fn select(
    nodes: Vec<Outline<'_>>,
    query: &NodeQuery,
    view: impl Fn(&NodeName) -> Option<NodeView>,
) -> NodeMap {
    let all = nodes.len() as u64;
    let labels: BTreeSet<&String> = nodes.iter().flat_map(|node| node.labels.keys()).collect();
    let labels = labels.into_iter().cloned().collect();
    let words: Vec<String> = query.text.split_whitespace().map(str::to_lowercase).collect();
    let endpoints = query.face == Face::Administration;
    let matches = |node: &Outline<'_>| {
        let at = |word: &str| endpoints && node.endpoint.to_lowercase().contains(word);
        words.iter().all(|word| says(node, word) || at(word))
    };
    let mut found: Vec<Outline<'_>> = nodes.into_iter().filter(matches).collect();
    let count = |only: Only| (only, found.iter().filter(|node| is(node, only)).count() as u64);
    let counts = Only::ALL.into_iter().map(count).collect();
    found.retain(|node| query.only.is_none_or(|only| is(node, only)));
    for node in &mut found {
        node.group = query.group.as_ref().map(|group| group_of(node, group));
    }
    sort(&mut found, query);
    NodeMap {
        total: found.len() as u64,
        all,
        counts,
        gpus: found.iter().map(|node| node.gpus).sum(),
        used: found.iter().map(|node| node.used).sum(),
        holders: coloured(&found, query),
        labels,
        shown: cut(&found, query, view),
    }
}

/// Who has a colour of his own, where there are such.
fn coloured(nodes: &[Outline<'_>], query: &NodeQuery) -> Vec<(String, Amount)> {
    if query.face != Face::Map {
        return Vec::new();
    }
    let tasks = nodes.iter().flat_map(|node| &node.tasks);
    let held = tasks.filter(|(_, has)| *has > Amount::default());
    most(held.filter_map(|(job, has)| Some((query.colour.of_holder(job)?, *has))))
}

fn is(node: &Outline<'_>, only: Only) -> bool {
    match only {
        Only::Free => node.condition == NodeCondition::Ready && node.free > 0,
        Only::Draining => node.condition == NodeCondition::Draining,
        Only::Unreachable => node.condition == NodeCondition::Unreachable,
        Only::Faulty => node.is_faulty,
        Only::Idle => node.is_idle,
    }
}

fn cut(
    nodes: &[Outline<'_>],
    query: &NodeQuery,
    view: impl Fn(&NodeName) -> Option<NodeView>,
) -> Shown {
    let number = |count: u64| usize::try_from(count).unwrap_or(usize::MAX);
    let cut = nodes.iter().skip(number(query.offset)).take(number(query.limit));
    let cut = cut.filter_map(|outline| Some((outline, view(outline.name)?)));
    match query.face {
        Face::Map => Shown::Map(cut.map(|(outline, node)| on_map(outline, &node)).collect()),
        Face::Table => Shown::Table(cut.map(|(outline, node)| in_table(outline, &node)).collect()),
        Face::Administration => {
            Shown::Administration(cut.map(|(_, node)| managed(&node)).collect())
        }
    }
}

/// Whether a word, in lower case, is in what one may look for of a node.
fn says(node: &Outline<'_>, word: &str) -> bool {
    let has = |text: &str| text.to_lowercase().contains(word);
    has(node.name.as_str())
        || node.types.iter().any(|kind| has(kind.as_str()))
        || node.labels.iter().any(|(key, value)| has(&format!("{key}={value}")))
        || node.tasks.iter().any(|(job, _)| has(&job.to_string()))
}

/// Where a node stands on a map, so that trouble is seen without looking for it: first those that do not
/// answer, then those that were closed by themselves or are of no use, those of which something is broken,
/// those that are to be empty, and then all others.
fn place(node: &Outline<'_>) -> usize {
    let marks = [
        is(node, Only::Unreachable),
        node.is_useless,
        is(node, Only::Faulty),
        is(node, Only::Draining),
    ];
    marks.iter().position(|has| *has).unwrap_or(marks.len())
}

/// Those that are equal in what is asked for stay as they come: by name, or the other way round.
fn sort(nodes: &mut [Outline<'_>], query: &NodeQuery) {
    if query.descending {
        nodes.reverse();
    }
    nodes.sort_by(|a, b| {
        let by = match query.order {
            NodeOrder::Name => Ordering::Equal,
            NodeOrder::Condition => a.condition.cmp(&b.condition),
            NodeOrder::Free => a.free.cmp(&b.free),
            NodeOrder::Cpus => a.cpus.cmp(&b.cpus),
            NodeOrder::Memory => a.memory_mb.cmp(&b.memory_mb),
            NodeOrder::Tasks => a.tasks.len().cmp(&b.tasks.len()),
        };
        let by = if query.descending { by.reverse() } else { by };
        let of_group = match (&a.group, &b.group) {
            (Some(GroupName::Named(one)), Some(GroupName::Named(other))) => natural(one, other),
            (one, other) => one.cmp(other),
        };
        let first = match query.face {
            Face::Map => place(a).cmp(&place(b)),
            Face::Table | Face::Administration => Ordering::Equal,
        };
        of_group.then(first).then(by)
    });
}

fn group_of(node: &Outline<'_>, group: &Group) -> GroupName {
    let name = match group {
        Group::Condition => return GroupName::Condition(node.condition),
        Group::Type => node.types.iter().map(|kind| kind.as_str()).collect::<Vec<_>>().join(", "),
        Group::Label(key) => node.labels.get(key).cloned().unwrap_or_default(),
    };
    if name.is_empty() { GroupName::Nameless } else { GroupName::Named(name) }
}

fn on_map(outline: &Outline<'_>, node: &NodeView) -> MapNode {
    MapNode {
        name: node.name.clone(),
        group: outline.group.clone(),
        condition: node.condition,
        faulty: outline.is_faulty,
        gpus: node.gpus.iter().map(MapGpu::from).collect(),
    }
}

fn managed(node: &NodeView) -> AdminRow {
    AdminRow {
        name: node.name.clone(),
        condition: node.condition,
        emptied: node.emptied,
        at_portal: node.at_portal,
        endpoint: node.endpoint.clone(),
    }
}

fn in_table(outline: &Outline<'_>, node: &NodeView) -> NodeRow {
    let mut gpus: BTreeMap<GpuType, u64> = BTreeMap::new();
    for gpu in &node.gpus {
        *gpus.entry(gpu.gpu.gpu_type.clone()).or_default() += 1;
    }
    let mut held: BTreeMap<&JobKey, Amount> = BTreeMap::new();
    for holder in node.gpus.iter().flat_map(|gpu| &gpu.holders) {
        *held.entry(&holder.job).or_default() += holder.part;
    }
    let mut held: Vec<_> = held.into_iter().collect();
    held.sort_by_key(|(_, amount)| Reverse(*amount));
    let further = held.len().saturating_sub(NodeRow::NAMED) as u64;
    let named = held.into_iter().take(NodeRow::NAMED);
    NodeRow {
        name: node.name.clone(),
        group: outline.group.clone(),
        condition: node.condition,
        simulated: node.simulated,
        gpus,
        free: outline.free,
        holders: Holders(named.map(|(job, amount)| (job.clone(), amount)).collect()),
        further,
        cpus: (node.used.cpus, u64::from(node.capacity.cpus)),
        memory_mb: (node.used.memory_mb, node.capacity.memory_mb),
        tasks: node.tasks.len() as u64,
        // It is known beside the nodes.
        lately: Lately::default(),
    }
}

#[cfg(test)]
mod tests {
    use api::cluster::{GpuHolder, GpuView, NodeTask, Usage};
    use api::node_map::Colour;
    use protocol::cluster::{Closed, ClosedCause};
    use protocol::health::{Ailment, Grade, Sign};
    use protocol::resources::{Capacity, Gpu, PortRange};
    use protocol::time::Timestamp;

    use super::*;

    fn outline(node: &NodeView) -> Outline<'_> {
        let free = |gpu: &&GpuView| gpu.gpu.healthy && gpu.used == Amount::default();
        let is_broken = |gpu: &GpuView| !gpu.gpu.healthy;
        let idle = |gpu: &GpuView| gpu.now.is_some_and(|now| now.idle_since.is_some());
        Outline {
            name: &node.name,
            endpoint: &node.endpoint,
            labels: &node.labels,
            condition: node.condition,
            is_useless: node.closed.is_some() || node.health.has_failed() || node.problem.is_some(),
            is_faulty: !node.health.ailments.is_empty() || node.gpus.iter().any(is_broken),
            is_idle: node.gpus.iter().any(idle),
            types: node.gpus.iter().take(1).map(|gpu| &gpu.gpu.gpu_type).collect(),
            gpus: node.gpus.len() as u64,
            free: node.gpus.iter().filter(free).count() as u64,
            used: node.gpus.iter().map(|gpu| gpu.used).sum(),
            cpus: u64::from(node.capacity.cpus),
            memory_mb: node.capacity.memory_mb,
            tasks: node.tasks.iter().map(|task| (&task.job, Amount::whole(1))).collect(),
            group: None,
        }
    }

    fn selected(nodes: &[NodeView], query: &NodeQuery) -> NodeMap {
        let view = |name: &NodeName| nodes.iter().find(|node| node.name == *name).cloned();
        select(nodes.iter().map(outline).collect(), query, view)
    }

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
                now: None,
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
            closed: None,
            health: protocol::health::Health::default(),
            problem: None,
            last_seen: None,
            engine: None,
            capacity: Capacity { cpus: 8, memory_mb: 1024, disk_gb: 1, ..Capacity::default() },
            used: Usage::default(),
            gpus: (0..4).map(gpu).collect(),
            gpu_report: None,
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
        names(selected(&nodes(), &query).shown)
    }

    fn names(shown: Shown) -> Vec<String> {
        match shown {
            Shown::Map(nodes) => nodes.into_iter().map(|node| node.name.into()).collect(),
            Shown::Table(nodes) => nodes.into_iter().map(|node| node.name.into()).collect(),
            Shown::Administration(nodes) => {
                nodes.into_iter().map(|node| node.name.into()).collect()
            }
        }
    }

    #[test]
    fn words_look_at_names_types_labels_jobs_and_owners() {
        let by = |text: &str| shown(NodeQuery { text: text.into(), ..NodeQuery::default() });
        assert_eq!(by("v10 V2"), ["v22"]);
        assert_eq!(by("rack=r1"), ["v22", "a22"], "the one in trouble first");
        assert_eq!(by("bo~y"), ["a1", "v1"]);
        assert_eq!(by("ada"), ["a1", "a22"]);
        assert_eq!(by("nothing"), Vec::<String>::new());
    }

    #[test]
    fn an_administrator_looks_for_endpoints_as_well() {
        let by = |face, text: &str| {
            let mut nodes = nodes();
            nodes[2].endpoint = "tcp://10.0.0.7".into();
            let query = NodeQuery { text: text.into(), face, limit: 9, ..NodeQuery::default() };
            names(selected(&nodes, &query).shown)
        };
        assert_eq!(by(Face::Administration, "TCP v1"), ["v1"]);
        assert_eq!(by(Face::Administration, "a22"), ["a22"]);
        assert_eq!(by(Face::Table, "tcp"), [""; 0]);
    }

    #[test]
    fn kinds_groups_and_orders() {
        let of = |only| shown(NodeQuery { only: Some(only), ..NodeQuery::default() });
        assert_eq!(of(Only::Free), ["a22", "v1"]);
        assert_eq!(of(Only::Draining), ["v22"]);
        let mut idle = nodes();
        let since = Some(protocol::time::Timestamp(5));
        idle[1].gpus[0].now =
            Some(api::metrics::GpuNow { idle_since: since, ..Default::default() });
        let query = NodeQuery { only: Some(Only::Idle), limit: 9, ..NodeQuery::default() };
        assert_eq!(names(selected(&idle, &query).shown), ["a22"]);
        let free = NodeQuery { order: NodeOrder::Free, descending: true, ..NodeQuery::default() };
        assert_eq!(shown(free.clone()), ["v22", "a22", "v1", "a1"]);
        let grouped = NodeQuery { group: Some(Group::Type), ..free };
        assert_eq!(shown(grouped), ["a22", "a1", "v22", "v1"]);
    }

    /// Nodes of two types, in all sorts of trouble.
    fn troubled() -> Vec<NodeView> {
        let with = |name: &str, change: fn(&mut NodeView)| {
            let mut node = node(name, if name < "b" { "A100" } else { "V100" }, &[]);
            change(&mut node);
            node
        };
        vec![
            with("a1", |_| {}),
            with("a2", |node| node.condition = NodeCondition::Draining),
            with("a3", |node| node.gpus[0].gpu.healthy = false),
            with("a4", |node| {
                let (sign, since) = (Sign::Slowed, Timestamp(0));
                node.health.ailments =
                    vec![Ailment { gpu: None, grade: Grade::Warning, sign, since }];
            }),
            with("a5", |node| {
                node.condition = NodeCondition::Draining;
                node.closed = Some(Closed {
                    since: Timestamp(0),
                    cause: ClosedCause::StartsNothing,
                    message: String::new(),
                    failures: Vec::new(),
                    containers: Vec::new(),
                });
            }),
            with("a6", |node| node.condition = NodeCondition::Unreachable),
            with("v1", |_| {}),
            with("v2", |node| {
                node.condition = NodeCondition::Draining;
                node.problem = Some("no driver".to_owned());
            }),
        ]
    }

    #[test]
    fn on_a_map_nodes_in_trouble_come_first_within_their_group() {
        let by_type = Some(Group::Type);
        for (face, group, descending, order) in [
            (Face::Map, None, false, ["a6", "a5", "v2", "a3", "a4", "a2", "a1", "v1"]),
            (Face::Map, None, true, ["a6", "v2", "a5", "a4", "a3", "a2", "v1", "a1"]),
            (Face::Map, by_type.clone(), false, ["a6", "a5", "a3", "a4", "a2", "a1", "v2", "v1"]),
            (Face::Table, None, false, ["a1", "a2", "a3", "a4", "a5", "a6", "v1", "v2"]),
            (Face::Table, by_type, true, ["a6", "a5", "a4", "a3", "a2", "a1", "v2", "v1"]),
        ] {
            let query = NodeQuery { face, group, descending, limit: 100, ..NodeQuery::default() };
            assert_eq!(names(selected(&troubled(), &query).shown), order, "{query:?}");
            let window = NodeQuery { limit: 2, offset: 1, ..query };
            assert_eq!(names(selected(&troubled(), &window).shown), order[1..3], "{window:?}");
        }
        let query = NodeQuery { limit: 100, ..NodeQuery::default() };
        let Shown::Map(nodes) = selected(&troubled(), &query).shown else { panic!("it is a map") };
        let faulty = nodes.iter().filter(|node| node.faulty).map(|node| node.name.as_str());
        assert_eq!(faulty.collect::<Vec<_>>(), ["a3", "a4"]);
    }

    #[test]
    fn a_window_knows_of_all_that_matches() {
        let query = NodeQuery { limit: 1, offset: 1, colour: Colour::User, ..NodeQuery::default() };
        let map = selected(&nodes(), &query);
        assert_eq!((names(map.shown).len(), map.total, map.all, map.gpus), (1, 4, 4, 16));
        assert_eq!(map.used, Amount::whole(8));
        let expected = [("bo".to_owned(), Amount::whole(5)), ("ada".to_owned(), Amount::whole(3))];
        assert_eq!(map.holders, expected);
        assert_eq!(map.counts[&Only::Free], 2);
        assert_eq!(map.labels, BTreeSet::from(["rack".to_owned()]));
    }

    #[test]
    fn nodes_and_groups_come_as_people_count() {
        let numbered = |number: u32| {
            let mut node = node(&format!("a-{number}"), "A100", &[]);
            node.labels.insert("rack".to_owned(), format!("r{}", number + 6));
            node
        };
        let said = |names: [&str; 4]| names.map(str::to_owned).to_vec();
        let order = |group, descending| {
            let mut nodes = [10, 3, 2, 4].map(numbered).to_vec();
            nodes.sort_by(|a, b| a.name.cmp(&b.name));
            let query = NodeQuery { limit: 100, group, descending, ..NodeQuery::default() };
            names(selected(&nodes, &query).shown)
        };
        let up = ["a-2", "a-3", "a-4", "a-10"];
        let mut down = up;
        down.reverse();
        assert_eq!((order(None, false), order(None, true)), (said(up), said(down)));
        let racks = || Some(Group::Label("rack".into()));
        assert_eq!((order(racks(), false), order(racks(), true)), (said(up), said(up)));
        assert_eq!(order(Some(Group::Type), true), down, "in a group it is the other way round");
    }

    #[test]
    fn a_row_says_what_its_gpus_come_to() {
        let query = NodeQuery { face: Face::Table, limit: 1, ..NodeQuery::default() };
        let Shown::Table(rows) = selected(&nodes(), &query).shown else { panic!("it is a table") };
        let [row] = rows.as_slice() else { panic!("one was asked for") };
        assert_eq!(row.gpus, BTreeMap::from([("A100".parse().unwrap(), 4)]));
        let named = [("ada~x", 2), ("bo~y", 1), ("bo~z", 1)];
        let named = named.map(|(job, gpus)| (job.parse::<JobKey>().unwrap(), Amount::whole(gpus)));
        assert_eq!((row.free, &row.holders, row.further), (0, &Holders(named.to_vec()), 0));
    }

    #[test]
    fn a_row_is_short_however_many_share_its_gpus() {
        let crowded = |number: u32| {
            let mut node = node(&format!("sim-titanx-{number}"), "TITANX", &["ada~x"; 4]);
            let gpu = node.gpus[0].clone();
            let holder = |task: u32| GpuHolder {
                job: format!("demo-ada~wav2vec-{number}-{task}").parse().unwrap(),
                task: "main-0".into(),
                part: Amount::from_milli(125),
            };
            let shared = |at: u32| {
                let holders = (at * 8..at * 8 + 8).map(holder).collect();
                GpuView { holders, ..gpu.clone() }
            };
            node.gpus = (0..8).map(shared).collect();
            node
        };
        let nodes: Vec<_> = (0..40).map(crowded).collect();
        let query = NodeQuery { face: Face::Table, limit: 40, ..NodeQuery::default() };
        let map = selected(&nodes, &query);
        let Shown::Table(rows) = &map.shown else { panic!("it is a table") };
        assert!(rows.iter().all(|row| row.further == 61 && row.holders.0.len() == 3));
        let said = serde_json::to_string(&map).unwrap().len();
        assert!(said < 12_000, "{said} bytes for 40 rows");
    }
}
