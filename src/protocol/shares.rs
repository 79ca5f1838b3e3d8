//! Which shares of virtual clusters go together.

use std::collections::BTreeMap;

use crate::cluster::{Shape, Share, VirtualClusterSettings};
use crate::ids::{GpuType, VirtualClusterName};
use crate::problem::Problem;

/// What is wrong with virtual clusters, each by itself and beside the others.
#[must_use]
pub fn mistakes(clusters: &[VirtualClusterSettings]) -> Vec<Problem> {
    let mut mistakes = Vec::new();
    for cluster in clusters {
        mistakes.extend(cluster.mistakes());
        mistakes.extend(of_parent(cluster, clusters));
        mistakes.extend(of_parts(cluster, clusters));
        mistakes.extend(of_nodes(cluster, clusters));
        mistakes.extend(of_places(cluster, clusters));
    }
    mistakes
}

/// What all virtual clusters are guaranteed together. A part has its share out of its whole's.
#[must_use]
pub fn promised(clusters: &[VirtualClusterSettings]) -> Share {
    let add = |sum: &mut Option<u64>, more: Option<u64>| {
        if let Some(more) = more {
            *sum = Some(sum.unwrap_or(0).saturating_add(more));
        }
    };
    let mut all = Share::default();
    for whole in clusters.iter().filter(|cluster| cluster.parent.is_none()) {
        add(&mut all.cpus, whole.share.cpus);
        add(&mut all.memory_mb, whole.share.memory_mb);
        let single = whole.share.gpus.iter().map(|(gpu_type, count)| (gpu_type, *count));
        let of_shape = |shape: &Shape| u64::from(shape.gpus).saturating_mul(shape.count.into());
        let grouped = whole.shapes.iter().map(|shape| (&shape.gpu_type, of_shape(shape)));
        for (gpu_type, count) in single.chain(grouped) {
            let sum = all.gpus.entry(gpu_type.clone()).or_default();
            *sum = sum.saturating_add(count);
        }
    }
    all
}

/// The parts of a virtual cluster.
pub fn parts<'a>(
    whole: &VirtualClusterSettings,
    clusters: &'a [VirtualClusterSettings],
) -> impl Iterator<Item = &'a VirtualClusterSettings> {
    clusters.iter().filter(|part| part.parent.as_ref() == Some(&whole.name))
}

/// GPUs by type that the shapes of parts take out of the whole's other share: those of groups that
/// are none of the whole's own.
pub fn beyond_shapes<'a>(
    whole: &[Shape],
    parts: impl Iterator<Item = &'a Shape>,
) -> BTreeMap<GpuType, u64> {
    let mut groups: BTreeMap<(&GpuType, u32), u64> = BTreeMap::new();
    for part in parts {
        *groups.entry((&part.gpu_type, part.gpus)).or_default() += u64::from(part.count);
    }
    let mut beyond = BTreeMap::new();
    for ((gpu_type, gpus), count) in groups {
        let same = whole.iter().filter(|own| own.gpu_type == *gpu_type && own.gpus == gpus);
        let own: u64 = same.map(|own| u64::from(own.count)).sum();
        let more = count.saturating_sub(own).saturating_mul(u64::from(gpus));
        if more > 0 {
            *beyond.entry(gpu_type.clone()).or_default() += more;
        }
    }
    beyond
}

/// Those out of whose shares that of a virtual cluster is cut, the nearest first.
#[must_use]
pub fn wholes<'a>(
    of: &VirtualClusterSettings,
    clusters: &'a [VirtualClusterSettings],
) -> Vec<&'a VirtualClusterSettings> {
    let find = |name: &VirtualClusterName| clusters.iter().find(|other| other.name == *name);
    let mut wholes: Vec<&VirtualClusterSettings> = Vec::new();
    let mut next = of.parent.as_ref().and_then(find);
    while let Some(whole) = next.filter(|next| !wholes.iter().any(|w| w.name == next.name)) {
        wholes.push(whole);
        next = whole.parent.as_ref().and_then(find);
    }
    wholes
}

fn of_parent(
    cluster: &VirtualClusterSettings,
    clusters: &[VirtualClusterSettings],
) -> Option<Problem> {
    let parent = cluster.parent.as_ref()?;
    let is_below = |other: &VirtualClusterSettings| {
        wholes(other, clusters).iter().any(|whole| whole.name == cluster.name)
    };
    let message = match clusters.iter().find(|other| other.name == *parent) {
        None => format!("there is no virtual cluster {parent}"),
        Some(_) if *parent == cluster.name => format!("{parent} cannot be a part of itself"),
        Some(found) if is_below(found) => format!("{parent} is a part of {} itself", cluster.name),
        Some(_) => return None,
    };
    let others = clusters.iter().filter(|other| other.name != cluster.name && !is_below(other));
    let allowed: Vec<_> = others.map(|other| other.name.as_str()).collect();
    let allowed = if allowed.is_empty() { "no parent".to_owned() } else { allowed.join(", ") };
    let path = format!("virtual_clusters.{}.parent", cluster.name);
    Some(Problem::of_setting(path, message, allowed))
}

/// Whether what the parts are guaranteed is there in the whole's share.
fn of_parts(whole: &VirtualClusterSettings, clusters: &[VirtualClusterSettings]) -> Vec<Problem> {
    let of_whole = || parts(whole, clusters);
    let names: Vec<_> = of_whole().map(|part| part.name.as_str()).collect();
    let mut gpus = beyond_shapes(&whole.shapes, of_whole().flat_map(|part| &part.shapes));
    for (gpu_type, count) in of_whole().flat_map(|part| &part.share.gpus) {
        let sum = gpus.entry(gpu_type.clone()).or_default();
        *sum = sum.saturating_add(*count);
    }
    // Of CPUs and memory a part may name none: what its own parts have is then the whole's.
    let sum = |amount: fn(&Share) -> Option<u64>| {
        let nearest = |part: &&VirtualClusterSettings| {
            let wholes = wholes(part, clusters);
            let named = wholes.into_iter().find(|whole| amount(&whole.share).is_some());
            named.is_some_and(|named| named.name == whole.name)
        };
        let amounts = clusters.iter().filter(nearest).filter_map(|part| amount(&part.share));
        amounts.fold(0, u64::saturating_add)
    };
    let (cpus, memory) = (sum(|share| share.cpus), sum(|share| share.memory_mb));
    let gpus = gpus.into_iter().map(|(gpu_type, together)| {
        let has = whole.share.gpus.get(&gpu_type).copied().unwrap_or(0);
        (format!("gpus.{gpu_type}"), has, together)
    });
    let cpus = whole.share.cpus.map(|has| ("cpus".to_owned(), has, cpus));
    let memory = whole.share.memory_mb.map(|has| ("memory_mb".to_owned(), has, memory));
    let too_much = gpus.chain(cpus).chain(memory).filter(|(_, has, together)| together > has);
    let mistake = |(key, has, together): (String, u64, u64)| {
        let path = format!("virtual_clusters.{}.share.{key}", whole.name);
        let names = names.join(", ");
        let message = format!("it is {has}, and its parts ({names}) have {together} together");
        let allowed = format!("{together} or more here, or at most {has} for all of them");
        Problem::of_setting(path, message, allowed)
    };
    too_much.map(mistake).collect()
}

/// Whether anything lies on the nodes that are named, and nobody else's share does.
fn of_nodes(cluster: &VirtualClusterSettings, clusters: &[VirtualClusterSettings]) -> Vec<Problem> {
    let path = format!("virtual_clusters.{}.nodes", cluster.name);
    let nothing = cluster.share.gpus.is_empty() && cluster.shapes.is_empty();
    let nothing = (nothing && !cluster.nodes.is_empty()).then(|| {
        let message = "nodes are named, but no GPUs are guaranteed";
        Problem::of_setting(&*path, message, "GPUs in its share, or no nodes")
    });
    let twice = cluster.nodes.iter().enumerate().filter_map(|(at, node)| {
        let own = cluster.nodes[..at].contains(node).then_some(cluster);
        let mut before = clusters.iter().take_while(|other| other.name != cluster.name);
        let whose = own.or_else(|| before.find(|other| other.nodes.contains(node)))?;
        let message = format!("{node} is named for {} already", whose.name);
        Some(Problem::of_setting(format!("{path}[{at}]"), message, "each node once"))
    });
    nothing.into_iter().chain(twice).collect()
}

/// Whether anything lies in the places that are named, and nobody else's share is said to.
fn of_places(
    cluster: &VirtualClusterSettings,
    clusters: &[VirtualClusterSettings],
) -> Vec<Problem> {
    let path = format!("virtual_clusters.{}.within", cluster.name);
    let nothing = cluster.share.gpus.is_empty() && cluster.shapes.is_empty();
    let nothing = (nothing && !cluster.within.is_empty()).then(|| {
        let message = "places are named, but no GPUs are guaranteed";
        Problem::of_setting(&*path, message, "GPUs in its share, or no places")
    });
    let named = cluster.within.iter().flat_map(|(level, places)| {
        places.iter().enumerate().map(move |(at, place)| (level, &places[..at], at, place))
    });
    let wrong = named.filter_map(|(level, earlier, at, place)| {
        let path = format!("{path}.{level}[{at}]");
        if place.trim().is_empty() {
            let message = "the name of a place is empty";
            return Some(Problem::of_setting(path, message, "the value of a node's label"));
        }
        let names_it = |other: &&VirtualClusterSettings| {
            other.within.get(level).is_some_and(|places| places.contains(place))
        };
        let own = earlier.contains(place).then_some(cluster);
        let mut before = clusters.iter().take_while(|other| other.name != cluster.name);
        let whose = own.or_else(|| before.find(names_it))?;
        let message = format!("{level}={place} is named for {} already", whose.name);
        Some(Problem::of_setting(path, message, "each place once"))
    });
    nothing.into_iter().chain(wrong).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cluster(text: &str) -> VirtualClusterSettings {
        serde_json::from_str(text).unwrap()
    }

    fn told(clusters: &[&str]) -> Vec<String> {
        let clusters: Vec<_> = clusters.iter().map(|text| cluster(text)).collect();
        mistakes(&clusters).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn old_settings_borrow_and_are_part_of_none() {
        let settings = cluster(r#"{"name": "vision"}"#);
        assert_eq!(settings, VirtualClusterSettings::new("vision".parse().unwrap()));
        assert!(settings.borrows && settings.parent.is_none() && settings.shapes.is_empty());
    }

    #[test]
    fn what_is_promised_counts_shapes_and_leaves_parts_to_their_wholes() {
        let lab = r#"{"name": "lab", "share": {"gpus": {"A100": 4}, "cpus": 8},
            "shapes": [{"type": "A100", "gpus": 8, "count": 2}]}"#;
        let part = r#"{"name": "one", "parent": "lab", "share": {"gpus": {"A100": 4}}}"#;
        let speech = r#"{"name": "speech", "share": {"gpus": {"A100": 500, "V100": 1}}}"#;
        let all = promised(&[lab, part, speech].map(cluster));
        let gpus: Vec<_> = all.gpus.iter().map(|(kind, count)| (kind.as_str(), *count)).collect();
        assert_eq!((all.cpus, all.memory_mb), (Some(8), None));
        assert_eq!(gpus, [("A100", 520), ("V100", 1)]);
    }

    #[test]
    fn parts_that_fit_are_fine() {
        let whole = r#"{"name": "lab", "share": {"gpus": {"A100": 12}, "cpus": 8},
            "shapes": [{"type": "A100", "gpus": 8, "count": 1}]}"#;
        let one = r#"{"name": "one", "parent": "lab", "share": {"gpus": {"A100": 4}, "cpus": 8},
            "shapes": [{"type": "A100", "gpus": 8, "count": 1}]}"#;
        let two = r#"{"name": "two", "parent": "lab", "borrows": false,
            "shapes": [{"type": "A100", "gpus": 4, "count": 2}]}"#;
        assert_eq!(told(&[whole, one, two]), Vec::<String>::new());
    }

    #[test]
    fn parts_have_parts() {
        let lab = r#"{"name": "lab", "share": {"gpus": {"A100": 8}, "cpus": 8}}"#;
        let part = r#"{"name": "a", "parent": "lab", "share": {"gpus": {"A100": 8}}}"#;
        let small = r#"{"name": "b", "parent": "a", "share": {"gpus": {"A100": 4}, "cpus": 8}}"#;
        assert_eq!(told(&[small, part, lab]), Vec::<String>::new());
        let all = [small, part, lab].map(cluster);
        let wholes: Vec<_> = wholes(&all[0], &all).iter().map(|each| each.name.as_str()).collect();
        assert_eq!(wholes, ["a", "lab"]);
    }

    /// One mistake is told, in these words.
    fn says(clusters: &[String], expected: &str) {
        let texts: Vec<_> = clusters.iter().map(String::as_str).collect();
        let lines = told(&texts);
        assert!(lines.len() == 1 && lines[0].contains(expected), "{expected}: {lines:?}");
    }

    #[test]
    fn mistakes_say_where_what_and_what_is_allowed() {
        let lab = r#"{"name": "lab", "share": {"gpus": {"A100": 8}, "cpus": 4, "memory_mb": 9}}"#;
        let of_lab = |more: &str| format!(r#"{{"name": "a", "parent": "lab", {more}}}"#);
        let whole = r#""shapes": [{"type": "A100", "gpus": 8, "count": 1}]"#;
        let shape = |gpus: u32, count: u32| {
            let shape = format!(r#"{{"type": "A100", "gpus": {gpus}, "count": {count}}}"#);
            format!(r#"{{"name": "a", "shapes": [{shape}]}}"#)
        };
        let twice = shape(8, 1).replace("}]", r#"}, {"type": "A100", "gpus": 8, "count": 1}]"#);
        for (clusters, expected) in [
            (
                vec![shape(0, 1)],
                "virtual_clusters.a.shapes[0].gpus: gpus is 0, less than 1 (allowed: a whole number \
                 from 1 to 64)",
            ),
            (vec![shape(65, 1)], "shapes[0].gpus: gpus is 65, more than 64"),
            (vec![shape(8, 0)], "a.shapes[0].count: count is 0, less than 1 (allowed: a whole"),
            (vec![twice], "a.shapes[1]: groups of 8 A100 are there already (allowed: one entry"),
            (
                vec![r#"{"name": "a", "parent": "b"}"#.into(), lab.into()],
                "a.parent: there is no virtual cluster b (allowed: lab)",
            ),
            (
                vec![r#"{"name": "a", "parent": "a"}"#.into()],
                "a cannot be a part of itself (allowed: no parent)",
            ),
            (
                vec![
                    lab.into(),
                    r#"{"name": "a", "parent": "lab"}"#.into(),
                    r#"{"name": "b", "parent": "a", "share": {"cpus": 5}}"#.into(),
                ],
                "lab.share.cpus: it is 4, and its parts (a) have 5 together",
            ),
            (
                vec![
                    lab.into(),
                    of_lab(r#""share": {"gpus": {"A100": 4}}"#),
                    r#"{"name": "b", "parent": "a", "share": {"gpus": {"A100": 5}}}"#.into(),
                ],
                "a.share.gpus.A100: it is 4, and its parts (b) have 5 together",
            ),
            (
                vec![lab.into(), of_lab(r#""share": {"gpus": {"A100": 9}}"#)],
                "lab.share.gpus.A100: it is 8, and its parts (a) have 9 together (allowed: 9 or more \
                 here, or at most 8 for all of them)",
            ),
            (
                vec![
                    lab.into(),
                    of_lab(&format!(r#"{whole}, "share": {{"gpus": {{"A100": 1}}}}"#)),
                ],
                "lab.share.gpus.A100: it is 8, and its parts (a) have 9",
            ),
            (vec![lab.into(), of_lab(r#""share": {"gpus": {"V100": 1}}"#)], "gpus.V100: it is 0"),
            (vec![lab.into(), of_lab(r#""share": {"cpus": 5}"#)], "lab.share.cpus: it is 4"),
            (
                vec![lab.into(), of_lab(r#""share": {"memory_mb": 10}"#)],
                "lab.share.memory_mb: it is 9",
            ),
        ] {
            says(&clusters, expected);
        }
    }

    #[test]
    fn a_node_is_named_once_and_for_gpus() {
        let whole = r#""shapes": [{"type": "A100", "gpus": 8, "count": 1}]"#;
        for (clusters, expected) in [
            (
                vec![r#"{"name": "a", "share": {"cpus": 4}, "nodes": ["n"]}"#.into()],
                "a.nodes: nodes are named, but no GPUs are guaranteed (allowed: GPUs in its share, or no \
                 nodes)",
            ),
            (
                vec![format!(r#"{{{whole}, "name": "a", "nodes": ["n", "m", "n"]}}"#)],
                "a.nodes[2]: n is named for a already (allowed: each node once)",
            ),
            (
                ["a", "b"]
                    .map(|name| format!(r#"{{{whole}, "name": "{name}", "nodes": ["n"]}}"#))
                    .into(),
                "b.nodes[0]: n is named for a already",
            ),
        ] {
            says(&clusters, expected);
        }
    }

    #[test]
    fn a_place_is_named_once_and_for_gpus() {
        let pinned = |name: &str, within: &str| {
            let share = r#""share": {"gpus": {"A100": 8}}"#;
            format!(r#"{{"name": "{name}", {share}, "within": {within}}}"#)
        };
        let site = pinned("wide", r#"{"site": ["x"]}"#);
        let rack = pinned("narrow", r#"{"rack": ["1", "2"], "switch": ["1"]}"#);
        assert_eq!(
            told(&[&site, &rack]),
            Vec::<String>::new(),
            "a rack of a site is another place"
        );
        for (clusters, expected) in [
            (
                vec![r#"{"name": "a", "share": {"cpus": 4}, "within": {"rack": ["1"]}}"#.into()],
                "a.within: places are named, but no GPUs are guaranteed (allowed: GPUs in its share, \
                 or no places)",
            ),
            (
                vec![pinned("a", r#"{"rack": ["1", "2", "1"]}"#)],
                "a.within.rack[2]: rack=1 is named for a already (allowed: each place once)",
            ),
            (
                ["a", "b"].map(|name| pinned(name, r#"{"row": ["7"]}"#)).into(),
                "b.within.row[0]: row=7 is named for a already",
            ),
            (
                vec![pinned("a", r#"{"site": [" "]}"#)],
                "a.within.site[0]: the name of a place is empty (allowed: the value of a node's label)",
            ),
        ] {
            says(&clusters, expected);
        }
        let aisle = r#"{"name": "a", "within": {"aisle": ["1"]}}"#;
        assert!(serde_json::from_str::<VirtualClusterSettings>(aisle).is_err());
        let settings = cluster(&rack);
        let again = serde_json::to_string(&settings).unwrap();
        assert_eq!(cluster(&again), settings);
        let bare = VirtualClusterSettings::new("vision".parse().unwrap());
        assert!(!serde_json::to_string(&bare).unwrap().contains("within"));
    }

    #[test]
    fn parts_go_in_no_circle() {
        let circle = [r#"{"name": "a", "parent": "b"}"#, r#"{"name": "b", "parent": "a"}"#];
        let lines = told(&circle);
        assert_eq!(lines.len(), 2, "{lines:?}");
        assert!(lines[0].ends_with("a.parent: b is a part of a itself (allowed: no parent)"));
    }
}
