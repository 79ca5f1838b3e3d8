//! From the texts of the administration's forms to the settings of the contract. What can be read may
//! still be wrong: that is for the settings themselves to say.

mod limits;
mod notifications;
mod storages;
mod text;

use std::collections::BTreeMap;

use api::Error;
use api::groups::GroupChange;
use protocol::cluster::{
    GpuCount, IdleRule, NodeNetwork, NodeSettings, Places, Preempts, Shape, Share,
    VirtualClusterSettings,
};
use protocol::ids::{GpuType, GroupName, InvalidName};
use protocol::resources::PortRange;
use protocol::spec::{NoLevel, TopologyLevel};

pub(crate) use self::notifications::wishes;
pub(crate) use self::storages::storage;
pub(crate) use self::text::{changed_groups, groups};
use self::text::{group_weights, invalid, name, number, pairs, words};
use crate::forms::{ClusterForm, GroupForm, GroupWas, NodeForm, preempts_word};

/// The most GPUs of a node that are named at once.
const MOST_GPUS: u32 = 128;

/// A node's settings.
///
/// # Errors
/// The first field that cannot be read, and what is allowed.
pub(crate) fn node(form: &NodeForm) -> Result<NodeSettings, Error> {
    let gpus = gpu_counts(&form.gpus)?;
    Ok(NodeSettings {
        name: name(&form.name)?,
        address: form.address.trim().to_owned(),
        endpoint: form.endpoint.trim().to_owned(),
        cpus: number("CPU cores", &form.cpus)?,
        memory_mb: number("memory", &form.memory_mb)?,
        disk_gb: number("disk", &form.disk_gb)?,
        gpus: (!gpus.is_empty()).then_some(gpus),
        gpu_runtime: form.gpu_runtime.unwrap_or_default(),
        ports: ports(&form.ports)?,
        labels: pairs("labels", &form.labels)?.into_iter().collect(),
        links: links(&form.links)?,
        shares_gpus: form.shares_gpus,
        network: network(&form.network)?,
        metrics: Some(form.metrics.trim().to_owned()).filter(|metrics| !metrics.is_empty()),
    })
}

/// A virtual cluster's settings.
///
/// # Errors
/// The first field that cannot be read, and what is allowed.
pub(crate) fn cluster(form: &ClusterForm) -> Result<VirtualClusterSettings, Error> {
    let gpus: BTreeMap<GpuType, u64> = gpu_counts(&form.gpus)?
        .into_iter()
        .map(|GpuCount { gpu_type, count }| (gpu_type, u64::from(count)))
        .collect();
    let users = words(&form.users).map(name).collect::<Result<_, _>>()?;
    let groups = groups(&form.groups)?;
    Ok(VirtualClusterSettings {
        share: Share {
            cpus: number("CPU cores", &form.cpus)?,
            memory_mb: number("memory", &form.memory_mb)?,
            gpus,
        },
        users,
        groups,
        name: name(&form.name)?,
        parent: Some(form.parent.trim())
            .filter(|parent| !parent.is_empty())
            .map(name)
            .transpose()?,
        shapes: shapes(&form.shapes)?,
        nodes: words(&form.nodes).map(name).collect::<Result<_, _>>()?,
        within: places(&form.within)?,
        borrows: form.borrows,
        preempts: preempts(&form.preempts)?,
        deadlines: form.deadlines,
        lease: number("lease", &form.lease)?,
        idle: idle(form)?,
        limits: limits::limits(form)?,
        group_shares: group_weights(&form.group_shares)?,
    })
}

/// Whose jobs take the places of those of lower classes.
fn preempts(text: &str) -> Result<Preempts, Error> {
    let all = [Preempts::Everybody, Preempts::Critical, Preempts::Nobody];
    let found = all.into_iter().find(|preempts| preempts_word(*preempts) == text.trim());
    found.ok_or_else(|| invalid(format!("classes: {text:?}: allowed are true, crit and nothing")))
}

/// What becomes of idle jobs: nothing, where no minutes are given.
fn idle(form: &ClusterForm) -> Result<Option<IdleRule>, Error> {
    let Some(minutes) = number("idle minutes", &form.idle_minutes)? else { return Ok(None) };
    Ok(Some(IdleRule {
        load: number("idle load", &form.idle_load)?.unwrap_or_else(IdleRule::load),
        minutes,
        grace: number("idle grace", &form.idle_grace)?.unwrap_or(0),
        stop_after: number("idle stop", &form.idle_stop)?,
    }))
}

/// A group, and what is said of it.
///
/// # Errors
/// The first field that cannot be read, and what is allowed.
pub(crate) fn group(form: &GroupForm) -> Result<(GroupName, GroupChange), Error> {
    let was = form.was.as_ref();
    let is_same = |same: fn(&GroupWas, &GroupForm) -> bool| was.is_some_and(|was| same(was, form));
    let description = (!is_same(|was, form| was.description == form.description))
        .then(|| form.description.trim().to_owned());
    let admin = (!is_same(|was, form| was.admin == form.admin)).then_some(form.admin);
    let clusters = (!is_same(|was, form| was.clusters == form.clusters))
        .then(|| words(&form.clusters).map(name).collect::<Result<_, _>>());
    let virtual_clusters = clusters.transpose()?;
    let change = GroupChange { description, admin, virtual_clusters, ..GroupChange::default() };
    Ok((name(&form.name)?, change))
}

fn gpu_counts(text: &str) -> Result<Vec<GpuCount>, Error> {
    pairs("GPUs", text)?
        .into_iter()
        .map(|(kind, count)| {
            let count = number("GPUs", &count)?
                .ok_or_else(|| invalid(format!("GPUs: how many {kind}?")))?;
            Ok(GpuCount { gpu_type: name(&kind)?, count })
        })
        .collect()
}

/// Groups of GPUs such as `A100 8x2, V100 4x1`: two of eight, one of four.
fn shapes(text: &str) -> Result<Vec<Shape>, Error> {
    let entries = text.split([',', ';', '\n', '\u{ff0c}', '\u{3001}', '\u{ff1b}']);
    entries.map(str::trim).filter(|entry| !entry.is_empty()).map(shape).collect()
}

fn shape(entry: &str) -> Result<Shape, Error> {
    let read = || {
        let (gpu_type, groups) = entry.rsplit_once(char::is_whitespace)?;
        let (gpus, count) = groups.split_once(['x', '×'])?;
        Some((gpu_type, gpus.parse().ok()?, count.parse().ok()?))
    };
    let wrong = || {
        invalid(format!(
            "groups: {entry:?} must be written type, GPUs of a group, x, how many: A100 8x2"
        ))
    };
    let (gpu_type, gpus, count) = read().ok_or_else(wrong)?;
    Ok(Shape { gpu_type: name(gpu_type)?, gpus, count })
}

/// Places such as `rack=3, rack=4`.
fn places(text: &str) -> Result<Places, Error> {
    let mut places = Places::new();
    for (level, place) in pairs("places", text)? {
        let wrong = |_: NoLevel| {
            let levels = TopologyLevel::NAMES.join(", ");
            invalid(format!("places: {level:?} is no level: allowed are {levels}"))
        };
        places.entry(level.parse().map_err(wrong)?).or_default().push(place);
    }
    Ok(places)
}

/// Groups such as `0 1; 2-3`.
fn links(text: &str) -> Result<Vec<Vec<u32>>, Error> {
    let groups = text.split([';', '\u{ff1b}']).filter(|group| !group.trim().is_empty());
    groups
        .map(|group| words(group).map(indices).collect::<Result<Vec<_>, _>>())
        .map(|group| group.map(|group| group.concat()))
        .collect()
}

/// One index, or from the first to the last: `4` or `4-7`.
fn indices(word: &str) -> Result<Vec<u32>, Error> {
    let (first, last) = word.split_once(['-', '–']).unwrap_or((word, word));
    let range = first.parse::<u32>().ok().zip(last.parse::<u32>().ok());
    let range = range.filter(|(first, last)| first <= last && last - first < MOST_GPUS);
    let (first, last) =
        range.ok_or_else(|| invalid(format!("links: {word:?} must be written 4 or 4-7")))?;
    Ok((first..=last).collect())
}

fn network(text: &str) -> Result<Option<NodeNetwork>, Error> {
    match text.trim() {
        "" => Ok(None),
        "host" => Ok(Some(NodeNetwork::Host)),
        "bridge" => Ok(Some(NodeNetwork::Bridge)),
        other => Err(invalid(format!("network: {other:?}: allowed are host, bridge and nothing"))),
    }
}

fn ports(text: &str) -> Result<PortRange, Error> {
    match text.trim() {
        "" => Ok(PortRange::default()),
        text => text.parse().map_err(|error: InvalidName| invalid(format!("ports: {error}"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn form() -> NodeForm {
        NodeForm {
            name: "node-1".into(),
            address: "10.0.0.1".into(),
            endpoint: "tcp://10.0.0.1:2376".into(),
            gpus: "A100=8, V100=4".into(),
            ports: "30000-30099".into(),
            labels: "rack=3".into(),
            links: "0-3; 4 5, 6 7".into(),
            shares_gpus: true,
            network: "bridge".into(),
            metrics: "http://10.0.0.1:9400/metrics".into(),
            ..NodeForm::default()
        }
    }

    #[test]
    fn a_node_is_read_from_texts() {
        let settings = node(&form()).unwrap();
        assert_eq!(settings.cpus, None);
        assert_eq!(settings.gpus.unwrap().len(), 2);
        assert_eq!(settings.ports, PortRange { first: 30_000, last: 30_099 });
        assert_eq!(settings.labels["rack"], "3");
        assert!(settings.shares_gpus);
        assert_eq!(settings.network, Some(NodeNetwork::Bridge));
        assert_eq!(node(&NodeForm { network: String::new(), ..form() }).unwrap().network, None);
        assert_eq!(settings.links, [[0, 1, 2, 3], [4, 5, 6, 7]]);
    }

    #[test]
    fn what_the_form_shows_is_read_as_it_was() {
        let bare = NodeSettings::new("node-1".parse().unwrap(), "10.0.0.1", "tcp://10.0.0.1:2376");
        for settings in [bare, node(&form()).unwrap()] {
            assert_eq!(node(&NodeForm::from(&settings)).unwrap(), settings);
        }
    }

    #[test]
    fn mistakes_are_named() {
        for (change, expected) in [
            (NodeForm { cpus: "many".into(), ..form() }, "CPU cores: \"many\""),
            (NodeForm { gpus: "A100".into(), ..form() }, "GPUs: \"A100\""),
            (NodeForm { ports: "all".into(), ..form() }, "ports: \"all\" is not a valid range"),
            (NodeForm { network: "none".into(), ..form() }, "network: \"none\": allowed are"),
            (NodeForm { links: "0-".into(), ..form() }, "links: \"0-\" must be written 4"),
            (NodeForm { name: "no spaces".into(), ..form() }, "\"no spaces\" is not a valid"),
        ] {
            let message = node(&change).unwrap_err().message;
            assert!(message.starts_with(expected), "{message}");
            let told = crate::i18n::Language::Chinese.told(&message);
            assert!(told.contains('：') && !told.contains(": "), "{told}");
        }
    }

    #[test]
    fn a_share_is_read_from_texts() {
        let form = ClusterForm {
            name: "vision".into(),
            memory_mb: "1024".into(),
            gpus: "A100=8".into(),
            users: "ada bob".into(),
            groups: "gpu users, /team/vision".into(),
            parent: "research".into(),
            shapes: "A100 8x2, V100 4×1".into(),
            nodes: "gpu-1 gpu-2".into(),
            within: "rack=r2, rack=r1 site=north".into(),
            lease: "10".into(),
            idle_minutes: "30".into(),
            idle_stop: "15".into(),
            group_shares: "gpu users=2, /team/a=b=1".into(),
            ..ClusterForm::default()
        };
        let settings = cluster(&form).unwrap();
        assert_eq!(settings.share.cpus, None);
        assert_eq!(settings.share.memory_mb, Some(1024));
        assert_eq!(settings.users.len(), 2);
        let groups: Vec<_> = settings.groups.iter().map(GroupName::as_str).collect();
        assert_eq!(groups, ["gpu users", "/team/vision"]);
        assert_eq!(settings.parent, Some("research".parse().unwrap()));
        assert!(!settings.borrows && !settings.deadlines, "the boxes are not ticked");
        let ticked = ClusterForm { deadlines: true, ..form.clone() };
        assert!(cluster(&ticked).unwrap().deadlines);
        for preempts in [Preempts::Nobody, Preempts::Critical, Preempts::Everybody] {
            let form = ClusterForm { preempts: preempts_word(preempts).into(), ..form.clone() };
            assert_eq!(cluster(&form).unwrap().preempts, preempts);
        }
        let other = cluster(&ClusterForm { preempts: "prod".into(), ..form.clone() });
        let message = other.unwrap_err().message;
        assert_eq!(message, "classes: \"prod\": allowed are true, crit and nothing");
        let told = crate::i18n::Language::Chinese.told(&message);
        assert!(told.starts_with("类别：") && !told.contains(": "), "{told}");
        assert_eq!(settings.lease, Some(10));
        let rule = IdleRule { load: 5, minutes: 30, grace: 0, stop_after: Some(15) };
        assert_eq!(settings.idle, Some(rule));
        let none = cluster(&ClusterForm { idle_minutes: String::new(), ..form.clone() });
        assert_eq!(none.unwrap().idle, None);
        let shapes: Vec<_> = settings.shapes.iter().map(|s| (s.gpus, s.count)).collect();
        assert_eq!(shapes, [(8, 2), (4, 1)]);
        assert_eq!(settings.nodes, ["gpu-1", "gpu-2"].map(|node| node.parse().unwrap()));
        assert_eq!(crate::number::shapes_text(&settings.shapes), "A100 8x2, V100 4x1");
        let weights = crate::number::group_weights(&settings.group_shares);
        assert_eq!(weights, "/team/a=b=1, gpu users=2");
        assert_eq!(group_weights(&weights).unwrap(), settings.group_shares);
        let places = crate::number::places_text(&settings.within);
        assert_eq!(places, "site=north, rack=r2, rack=r1");
        assert_eq!(cluster(&ClusterForm { within: places, ..form }).unwrap(), settings);
    }

    #[test]
    fn a_group_is_read_from_its_form() {
        let form = GroupForm {
            name: " gpu users ".into(),
            description: "who trains".into(),
            admin: true,
            clusters: "default, lab".into(),
            was: None,
        };
        let (name, change) = group(&form).unwrap();
        assert_eq!((name.as_str(), change.admin), ("gpu users", Some(true)));
        let clusters = change.virtual_clusters.unwrap();
        assert_eq!(
            clusters.iter().map(ToString::to_string).collect::<Vec<_>>(),
            ["default", "lab"]
        );
        assert_eq!(change.extension, None, "what programs keep stays");
        let was = Some(GroupWas { admin: true, clusters: "lab".into(), ..GroupWas::default() });
        let (_, change) = group(&GroupForm { was, ..form.clone() }).unwrap();
        assert_eq!((change.admin, change.description), (None, Some("who trains".to_owned())));
        assert_eq!(change.virtual_clusters.map(|clusters| clusters.len()), Some(2));
        let was = Some(GroupWas { clusters: form.clusters.clone(), ..GroupWas::default() });
        let (_, change) = group(&GroupForm { was, ..form.clone() }).unwrap();
        assert_eq!((change.admin, change.virtual_clusters), (Some(true), None));
        assert!(group(&GroupForm { clusters: "a/b".into(), ..form }).is_err());
    }

    #[test]
    fn of_groups_that_a_form_began_with_only_what_is_other_is_changed() {
        let names = |groups: &[&str]| -> Vec<GroupName> {
            groups.iter().map(|group| group.parse().unwrap()).collect()
        };
        let changed = |before, now| changed_groups(before, now).unwrap();
        assert_eq!(changed("a, b", "b, c"), (names(&["c"]), names(&["a"])));
        assert_eq!(changed("", "a"), (names(&["a"]), names(&[])));
        assert_eq!(changed("a，b", "a, b"), (names(&[]), names(&[])));
        assert!(changed_groups("", "a,\u{7}").is_err());
    }

    #[test]
    fn a_mistake_in_places_is_named() {
        for (within, expected) in [
            ("aisle=1", "places: \"aisle\" is no level: allowed are site, row, rack, switch"),
            ("rack", "places: \"rack\" must be written name=value"),
        ] {
            let form =
                ClusterForm { name: "vision".into(), within: within.into(), ..Default::default() };
            let message = cluster(&form).unwrap_err().message;
            assert_eq!(message, expected);
            let told = crate::i18n::Language::Chinese.told(&message);
            assert!(told.starts_with("位置：") && !told.contains(": "), "{told}");
        }
    }

    #[test]
    fn a_mistake_in_groups_is_named() {
        for shapes in ["A100", "A100 8", "A100 x2", "8x2", "A100 8xmany"] {
            let form =
                ClusterForm { name: "vision".into(), shapes: shapes.into(), ..Default::default() };
            let message = cluster(&form).unwrap_err().message;
            let expected = format!("groups: {shapes:?} must be written");
            assert!(message.starts_with(&expected) && message.ends_with("A100 8x2"), "{message}");
        }
    }
}
