//! The tasks of a gang go to one switch, else to one rack, one row or one site, where it has room for
//! all of them.

use std::collections::BTreeSet;

use crate::cluster::Cluster;
use crate::cluster::claim::Claim;
use crate::cluster::topology::Level;
use crate::numbers::indices::NodeIndex;
use crate::numbers::request::{Class, Wanted};
use crate::pass::fit::{Failure, Look, place_within, undo};

/// Nodes that are looked at to bring a gang together, each as often as the gang needs nodes: larger
/// ones are left where they found room.
const LOOKS: usize = 1 << 14;

/// Thousandths of GPUs and of cores.
type Room = (i64, i64);

/// Places all tasks of a job or none; those of a gang near each other.
pub(crate) fn place(
    cluster: &mut Cluster,
    Wanted { job, class }: Wanted,
    look: Look,
) -> Result<Vec<Claim>, Failure> {
    let claims = place_within(cluster, Wanted { job, class }, look, None)?;
    match look {
        Look::Guaranteed(_) | Look::Lend => {
            Ok(closer(cluster, Wanted { job, class }, look, claims))
        }
        // One task is nowhere apart, and what is kept for others is used no more than it must.
        Look::Step(..) | Look::Borrow => Ok(claims),
    }
}

/// Takes places for a gang that are nearer to each other than those it has taken, or leaves it there:
/// in one place of the narrowest level that has one with room for all tasks, in that with the least
/// room to spare.
fn closer(
    cluster: &mut Cluster,
    Wanted { job, class }: Wanted,
    look: Look,
    claims: Vec<Claim>,
) -> Vec<Claim> {
    if claims.len() < 2 || cluster.topology.levels.is_empty() {
        return claims;
    }
    let nodes: BTreeSet<_> = claims.iter().filter_map(|claim| claim.node).collect();
    let (mut level, mut looks) = (0, LOOKS);
    while nodes.len() > 1
        && let Some(wider) = cluster.topology.levels.get(level)
        && !wider.is_one(&claims)
    {
        for place in cluster.roomy(wider, class, &claims) {
            let Some(left) = looks.checked_sub(place.len() * nodes.len()) else { continue };
            looks = left;
            undo(cluster, &claims);
            match place_within(cluster, Wanted { job, class }, look, Some(&place)) {
                Ok(closer) => return closer,
                Err(_) => claims.iter().for_each(|claim| cluster.take(claim)),
            }
        }
        level += 1;
    }
    claims
}

impl Cluster {
    /// The nodes of each place of a level that may have room for all tasks of a gang, wherever those
    /// are now; the least room comes first. Nodes that the gang avoids, or that are the last
    /// choice, are none of them.
    fn roomy(&self, level: &Level, class: &Class, claims: &[Claim]) -> Vec<Vec<NodeIndex>> {
        let will_do = |node: &NodeIndex| {
            let is_avoided = class.avoid.binary_search(node).is_ok();
            !is_avoided && !self.kind_of(*node).doubtful && class.allows(*node)
        };
        let types = class.roles.iter().fold(0, |types, role| types | role.ask.types);
        let mut rooms: Vec<Room> = vec![(0, 0); level.places.len()];
        for (place, nodes) in level.places.iter().enumerate() {
            for node in nodes.iter().filter(|node| will_do(node)) {
                let (state, kind) = (&self.states[*node], self.kind_of(*node));
                if kind.ready && class.may_use(kind) {
                    let wanted = kind.type_mask() & types != 0;
                    rooms[place].0 += if wanted { state.gpu_milli() } else { 0 };
                    rooms[place].1 += state.free.cpus;
                }
            }
        }
        let mut needs: Room = (0, 0);
        for claim in claims {
            let gpus = claim.gpu_milli();
            needs = (needs.0 + gpus, needs.1 + claim.amounts.cpus);
            if let Some(place) = claim.node.and_then(|node| level.of[node]) {
                rooms[place] = (rooms[place].0 + gpus, rooms[place].1 + claim.amounts.cpus);
            }
        }
        let of_any = |room: &Room| if needs.0 > 0 { *room } else { (0, room.1) };
        let places = rooms.iter().enumerate();
        let roomy = places.filter(|(_, room)| room.0 >= needs.0 && room.1 >= needs.1);
        let mut roomy: Vec<_> = roomy.map(|(place, room)| (of_any(room), place)).collect();
        roomy.sort_unstable();
        let nodes = |place: usize| level.places[place].iter().copied().filter(will_do).collect();
        roomy.into_iter().map(|(_, place)| nodes(place)).collect()
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
