//! The tasks of a gang go to one switch, else to one rack, one row or one site, where it has room for
//! all of them; to one place of the level that the job requires, or nowhere.

use std::collections::{BTreeMap, BTreeSet};

use protocol::spec::TopologyLevel;

use crate::cluster::Cluster;
use crate::cluster::allocation::TaskAllocation;
use crate::model::WHOLE_GPU;
use crate::numbers::gpus::Bits;
use crate::numbers::indices::NodeIndex;
use crate::numbers::request::{Class, Wanted};
use crate::pass::fit::{Failure, Look, place_within, undo};

/// Nodes that are looked at to bring a gang together, each as often as the gang needs nodes: larger
/// ones are left where they found room.
const LOOKS: usize = 1 << 14;

/// Thousandths of GPUs and of cores.
type Room = (i64, i64);

fn sum(one: Room, other: Room) -> Room {
    (one.0 + other.0, one.1 + other.1)
}

/// Places all tasks of a job or none; those of a gang near each other.
pub(crate) fn place(
    cluster: &mut Cluster,
    Wanted { job, class }: Wanted,
    look: Look,
) -> Result<Vec<TaskAllocation>, Failure> {
    let allocations = place_as_required(cluster, Wanted { job, class }, look)?;
    match look {
        Look::Guaranteed(_) | Look::Lend => {
            Ok(closer(cluster, Wanted { job, class }, look, allocations))
        }
        // One task is nowhere apart, and what is kept for others is used no more than it must.
        Look::Step(..) | Look::Borrow => Ok(allocations),
    }
}

/// Places all tasks of a job or none: in one place of the level that it requires, else anywhere.
pub(crate) fn place_as_required(
    cluster: &mut Cluster,
    wanted: Wanted,
    look: Look,
) -> Result<Vec<TaskAllocation>, Failure> {
    let allocations = place_within(cluster, wanted, look, None)?;
    let Some(level) = wanted.class.required_level() else { return Ok(allocations) };
    if cluster.topology.is_one(level, &allocations) {
        return Ok(allocations);
    }
    undo(cluster, &allocations);
    let places = cluster.places(level);
    // What it avoids is the last choice.
    for any in [false, true] {
        for place in cluster.roomy((&places, any), wanted.class, (&allocations, false)) {
            if let Ok(allocations) = place_within(cluster, wanted, look, Some(&place)) {
                return Ok(allocations);
            }
        }
    }
    Err(Failure { role: 0, fit: 0, apart: true })
}

/// The most tasks of a job that find room in one place of a level.
pub(crate) fn most_in_one(
    cluster: &mut Cluster,
    wanted: Wanted,
    look: Look,
    level: TopologyLevel,
) -> u32 {
    let mut most = 0;
    for place in cluster.places(level) {
        let fit = match place_within(cluster, wanted, look, Some(&place)) {
            Ok(allocations) => {
                undo(cluster, &allocations);
                wanted.class.tasks()
            }
            Err(failure) => failure.fit,
        };
        most = most.max(fit);
    }
    most
}

/// Takes places for a gang that are nearer to each other than those it has taken, or leaves it there:
/// in one place of the narrowest level that has one with room for all tasks, in that with the least
/// room to spare.
fn closer(
    cluster: &mut Cluster,
    Wanted { job, class }: Wanted,
    look: Look,
    allocations: Vec<TaskAllocation>,
) -> Vec<TaskAllocation> {
    if allocations.len() < 2 || cluster.topology.levels.is_empty() {
        return allocations;
    }
    let nodes: BTreeSet<_> = allocations.iter().filter_map(|allocation| allocation.node).collect();
    let mut order = cluster.topology.order(class.of.nodes.topology.preferred).into_iter();
    let (required, mut looks) = (class.required_level(), LOOKS);
    while nodes.len() > 1
        && let Some(wider) = order.next().and_then(|at| cluster.topology.levels.get(at))
        && !wider.is_one(&allocations)
    {
        for place in cluster.roomy((&wider.places, false), class, (&allocations, true)) {
            let Some(left) = looks.checked_sub(place.len() * nodes.len()) else { continue };
            looks = left;
            undo(cluster, &allocations);
            match place_within(cluster, Wanted { job, class }, look, Some(&place)) {
                Ok(closer)
                    if required.is_none_or(|level| cluster.topology.is_one(level, &closer)) =>
                {
                    return closer;
                }
                Ok(closer) => undo(cluster, &closer),
                Err(_) => {}
            }
            allocations.iter().for_each(|allocation| cluster.take(allocation));
        }
    }
    allocations
}

impl Cluster {
    /// The nodes of each of these places that may have room for all tasks of a gang, which would do
    /// with as much as these allocations, taken or not; the least room comes first. Unless any will do,
    /// nodes that the gang avoids, or that are the last choice, are none of them.
    fn roomy(
        &self,
        (places, any): (&[Vec<NodeIndex>], bool),
        class: &Class,
        (allocations, taken): (&[TaskAllocation], bool),
    ) -> Vec<Vec<NodeIndex>> {
        let will_do = |node: &NodeIndex| {
            let is_avoided = class.avoid.binary_search(node).is_ok();
            (any || !is_avoided && !self.kind_of(*node).doubtful) && class.allows(*node)
        };
        let types = class.roles.iter().fold(0, |types, role| types | role.request.types);
        let mut own: BTreeMap<NodeIndex, Room> = BTreeMap::new();
        let mut needs: Room = (0, 0);
        for allocation in allocations {
            let (gpus, cpus) = (allocation.gpu_milli(), allocation.amounts.cpus);
            needs = sum(needs, (gpus, cpus));
            if let Some(node) = allocation.node.filter(|_| taken) {
                let had = own.entry(node).or_default();
                *had = sum(*had, (gpus, cpus));
            }
        }
        let room = |node: &NodeIndex| {
            let (state, kind) = (&self.states[*node], self.kind_of(*node));
            let wanted = kind.type_mask() & types != 0;
            let usable = will_do(node) && kind.ready && class.may_use(kind);
            let free = (if wanted { state.gpu_milli() } else { 0 }, state.free.cpus);
            let free = if usable { free } else { (0, 0) };
            sum(free, own.get(node).copied().unwrap_or_default())
        };
        let of_any = |room: Room| if needs.0 > 0 { room } else { (0, room.1) };
        let mut roomy: Vec<(Room, usize)> = Vec::new();
        for (at, nodes) in places.iter().enumerate() {
            let all = nodes.iter().map(room).fold(Room::default(), sum);
            if all.0 >= needs.0 && all.1 >= needs.1 {
                roomy.push((of_any(all), at));
            }
        }
        roomy.sort_unstable();
        let nodes = |at: usize| places[at].iter().copied().filter(will_do).collect();
        roomy.into_iter().map(|(_, at)| nodes(at)).collect()
    }

    /// Whether the nodes of a place would have room for all tasks of a class, as far as GPUs and cores
    /// go, if nothing ran there.
    pub(crate) fn is_large_enough(&self, class: &Class, nodes: &[NodeIndex]) -> bool {
        let types = class.roles.iter().fold(0, |types, role| types | role.request.types);
        let allowed = nodes.iter().filter(|node| class.allows(**node));
        let kinds = allowed.map(|node| self.kind_of(*node));
        let has = kinds.filter(|kind| kind.ready && class.may_use(kind)).map(|kind| -> Room {
            let wanted = kind.types.iter().filter(|(number, _)| types >> number & 1 == 1);
            let count = |(_, bits): &(u8, Bits)| i64::from((bits & kind.healthy).count_ones());
            (wanted.map(count).sum::<i64>() * i64::from(WHOLE_GPU), kind.total.cpus)
        });
        let has = has.fold(Room::default(), sum);
        let needs = class.roles.iter().map(|role| {
            let count = i64::from(role.count);
            (count * role.request.gpu_milli(), count * role.request.each.cpus)
        });
        let needs = needs.fold(Room::default(), sum);
        has.0 >= needs.0 && has.1 >= needs.1
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use protocol::cluster::NodeCondition;

    use super::*;
    use crate::properties::events::cases;
    use crate::story::{Story, cluster, job};

    const ALL: &str = "0,1,2,3,4,5,6,7";

    /// Nodes of eight GPUs, each with its rack and its switch.
    fn racks(nodes: &[(&str, &str, &str)]) -> Story {
        nodes.iter().fold(cluster(), |story, (name, rack, switch)| {
            let story = story.node(name).gpus(8, "A100").label("rack", rack);
            if switch.is_empty() { story } else { story.label("switch", switch) }
        })
    }

    /// Where a gang goes that takes all of so many nodes.
    fn nodes_of(story: &Story, nodes: u32) -> String {
        let gang = story.clone().waits(job(1).tasks(nodes).gpus(8, &[]));
        gang.fate(1).replace(&format!(":{ALL}"), "")
    }

    #[test]
    fn a_gang_goes_to_one_rack() {
        let story = racks(&[("a", "1", ""), ("b", "2", ""), ("c", "2", ""), ("d", "1", "")]);
        assert_eq!(nodes_of(&story, 1), "a");
        assert_eq!(nodes_of(&story, 2), "a d");
        assert_eq!(nodes_of(&story, 3), "a b c", "no rack holds it: it goes where it went before");
        let busy = story.running(9, "default", &[("d", &[0], 1)]);
        assert_eq!(nodes_of(&busy, 2), "b c");
        let apart = busy.running(8, "default", &[("c", &[0], 1)]);
        assert_eq!(nodes_of(&apart, 2), "a b", "better apart than not at all");
    }

    #[test]
    fn the_narrowest_place_that_holds_it_is_taken() {
        let nodes = [("a", "1", "x"), ("b", "2", "y"), ("c", "1", "z"), ("d", "2", "y")];
        let story = racks(&nodes).node("e").gpus(8, "A100").label("rack", "1");
        assert_eq!(nodes_of(&story, 2), "b d", "they are on one switch");
        assert_eq!(nodes_of(&story, 3), "a c e", "no switch has three, but a rack");
        let down = story.node("f").gpus(8, "A100").label("switch", "x");
        let down = down.condition(NodeCondition::Unreachable);
        assert_eq!(nodes_of(&down, 2), "b d", "what is down is no room");
    }

    #[test]
    fn of_several_racks_that_with_the_least_room_is_taken() {
        let nodes =
            [("a", "1", ""), ("b", "2", ""), ("c", "1", ""), ("d", "2", ""), ("e", "1", "")];
        assert_eq!(nodes_of(&racks(&nodes), 2), "b d", "the larger stays whole");
        let story = racks(&nodes).waits(job(1).tasks(2).gpus(8, &[]).avoids("d"));
        assert_eq!(story.fate(1), format!("a:{ALL} c:{ALL}"), "it failed on d");
    }

    #[test]
    fn a_share_holds_a_gang_together_in_its_own_cells() {
        let nodes = [("a", "1", ""), ("b", "2", ""), ("c", "1", ""), ("d", "2", "")];
        let story = racks(&nodes).share("vision", &[("A100", 16)], None).borrows_nothing();
        let gang = story.clone().waits(job(1).within("vision").tasks(2).gpus(8, &[]));
        assert_eq!(gang.fate(1), format!("a:{ALL} c:{ALL}"));
        let half = story.running(9, "vision", &[("b", &[0, 1, 2, 3, 4, 5, 6, 7], 8)]);
        let gang = half.waits(job(1).within("vision").tasks(2).gpus(4, &[]));
        assert_eq!(gang.fate(1), "a:0,1,2,3 a:4,5,6,7", "one node is nearer still");
    }

    /// By node: its GPUs, those that are in use, its rack.
    fn any_nodes() -> impl Strategy<Value = Vec<(u32, u32, usize)>> {
        prop::collection::vec((1..=8_u32, 0..=8_u32, 0..3_usize), 1..9)
    }

    proptest! {
        #![proptest_config(cases(300))]

        #[test]
        fn a_gang_is_in_one_rack_if_any_rack_holds_it(
            nodes in any_nodes(),
            (tasks, gpus) in (2..=6_u32, 1..=4_u32),
        ) {
            let mut story = cluster();
            let (mut racks, mut all) = ([0; 3], 0);
            for (at, (has, used, rack)) in nodes.iter().enumerate() {
                let (name, used) = (format!("n{at}"), (*used).min(*has));
                story = story.node(&name).gpus(*has, "A100").label("rack", &rack.to_string());
                let taken: Vec<u32> = (0..used).collect();
                if used > 0 {
                    story = story.running(100 + at as i64, "default", &[(name.as_str(), taken.as_slice(), 1)]);
                }
                racks[*rack] += (has - used) / gpus;
                all += (has - used) / gpus;
            }
            let plan = story.waits(job(1).tasks(tasks).gpus(gpus, &[])).plan();
            prop_assert_eq!(!plan.placements.is_empty(), all >= tasks);
            let rack = |name: &str| nodes[name[1..].parse::<usize>().unwrap()].2;
            let started = plan.placements.iter().flat_map(|placement| &placement.tasks);
            let used: BTreeSet<_> = started.map(|task| rack(task.node.as_str())).collect();
            if racks.iter().any(|room| *room >= tasks) {
                prop_assert_eq!(used.len(), 1, "{:?}", plan.placements);
            }
        }
    }
}
