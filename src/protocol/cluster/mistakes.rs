//! What is wrong with settings, all of it at once, wherever they were written: in the configuration
//! file, by REST or on a page.

use std::collections::BTreeSet;

use super::{IdleRule, NodeSettings, Shape, VirtualClusterSettings};
use crate::ids::{GroupName, NodeName};
use crate::lease;
use crate::problem::Problem;
use crate::resources::PortRange;

/// The most GPUs of a node.
const MOST_GPUS: u64 = 1024;
/// The most MiB of memory and GiB of disk of a node: all nodes together have a sum.
const MOST_ROOM: u64 = 1 << 40;
/// The most GPUs that a group may have.
const LARGEST_GROUP: u32 = 64;
/// The most groups of one size.
const MOST_GROUPS: u32 = 10_000;
/// The most that a group's part may weigh.
const MOST_WEIGHT: u32 = 100;
const ANY_ENGINE: &str = "unix://…, tcp://…, ssh://… or sim://…";
const EXPORTER: &str = "http://host:port/metrics";
const ANY_HOST: &str = "a host name or an IP address";

impl NodeSettings {
    /// What is wrong with it; the paths are its keys.
    #[must_use]
    pub fn mistakes(&self) -> Vec<Problem> {
        let Self { address, endpoint, cpus, memory_mb, disk_gb, ports, metrics, .. } = self;
        let mut mistakes = Vec::new();
        let mut wrong = |path: &str, message: String, allowed: &str| {
            mistakes.push(Problem::of_setting(path, message, allowed));
        };
        if address.is_empty() {
            wrong("address", "address is empty".to_owned(), ANY_HOST);
        } else if !address.chars().all(|c| c.is_ascii_alphanumeric() || ".:-_".contains(c)) {
            wrong("address", format!("address is {address:?}, not {ANY_HOST}"), ANY_HOST);
        }
        if !is_engine(endpoint) {
            let message = format!("endpoint is {endpoint:?}, not the address of an engine");
            wrong("endpoint", message, ANY_ENGINE);
        }
        if *cpus == Some(0) {
            wrong("cpus", "cpus is 0, less than 1".to_owned(), "at least 1");
        }
        if *memory_mb == Some(0) {
            wrong("memory_mb", "memory_mb is 0, less than 1".to_owned(), "at least 1");
        }
        for (path, room) in [("memory_mb", memory_mb), ("disk_gb", disk_gb)] {
            if let Some(room) = room.filter(|room| *room > MOST_ROOM) {
                let message = format!("{path} is {room}, more than {MOST_ROOM}");
                wrong(path, message, &format!("at most {MOST_ROOM}"));
            }
        }
        let gpus = self.gpu_count();
        if let Some(gpus) = gpus.filter(|gpus| *gpus > MOST_GPUS) {
            let message = format!("gpus is {gpus}, more than {MOST_GPUS}");
            wrong("gpus", message, &format!("at most {MOST_GPUS}"));
        }
        if !ports.is_usable() {
            let message = format!("ports is {ports}, not a range that tasks can be given");
            wrong("ports", message, PortRange::ALLOWED);
        }
        if let Some(metrics) = metrics.as_ref().filter(|metrics| !is_exporter(metrics)) {
            let message = format!("metrics is {metrics:?}, not the address of an exporter");
            wrong("metrics", message, EXPORTER);
        }
        mistakes.extend(self.link_mistakes(gpus));
        mistakes
    }

    /// How many GPUs it is said to have, where that is said.
    fn gpu_count(&self) -> Option<u64> {
        let counts = self.gpus.as_ref()?.iter().map(|gpus| u64::from(gpus.count));
        Some(counts.sum())
    }

    fn link_mistakes(&self, gpus: Option<u64>) -> Vec<Problem> {
        let mut seen = BTreeSet::new();
        let mut mistakes = Vec::new();
        let indices = self.links.iter().enumerate();
        for (at, index) in indices.flat_map(|(at, link)| link.iter().map(move |index| (at, *index)))
        {
            let path = format!("links[{at}]");
            if let Some(gpus) = gpus.filter(|gpus| u64::from(index) >= *gpus) {
                let allowed = match gpus.checked_sub(1) {
                    Some(last) => format!("a whole number from 0 to {last}"),
                    None => "no links".to_owned(),
                };
                let message = format!("there is no GPU {index}");
                mistakes.push(Problem::of_setting(&*path, message, allowed));
            }
            if !seen.insert(index) {
                let message = format!("GPU {index} is named twice");
                mistakes.push(Problem::of_setting(path, message, "each GPU once"));
            }
        }
        mistakes
    }
}

impl VirtualClusterSettings {
    /// What is wrong with it by itself; beside others, see [`crate::shares::mistakes`].
    #[must_use]
    pub fn mistakes(&self) -> Vec<Problem> {
        let mut mistakes = Vec::new();
        let whole = format!("virtual_clusters.{}", self.name);
        let lease = self.lease.and_then(|minutes| outside(&whole, "lease", minutes, lease::MOST));
        mistakes.extend(lease);
        mistakes.extend(self.idle.iter().flat_map(|rule| rule.mistakes(&whole)));
        mistakes.extend(self.limits.mistakes(&whole));
        let place = format!("{whole}.group_shares");
        let weights = self.group_shares.iter();
        let outside_of = |(group, weight): (&GroupName, &u32)| {
            outside(&place, group.as_str(), *weight, MOST_WEIGHT)
        };
        mistakes.extend(weights.filter_map(outside_of));
        for (at, Shape { gpu_type, gpus, count }) in self.shapes.iter().enumerate() {
            let place = format!("{whole}.shapes[{at}]");
            mistakes.extend(outside(&place, "gpus", *gpus, LARGEST_GROUP));
            mistakes.extend(outside(&place, "count", *count, MOST_GROUPS));
            let before = &self.shapes[..at];
            if before.iter().any(|other| other.gpu_type == *gpu_type && other.gpus == *gpus) {
                let message = format!("groups of {gpus} {gpu_type} are there already");
                mistakes.push(Problem::of_setting(place, message, "one entry with the sum"));
            }
        }
        mistakes
    }
}

impl IdleRule {
    fn mistakes(&self, whole: &str) -> Vec<Problem> {
        let Self { load, minutes, grace, stop_after } = *self;
        let place = format!("{whole}.idle");
        let numbers = [
            Some(("load", load, 100)),
            Some(("minutes", minutes, Self::LONGEST)),
            // Without one it is 0.
            (grace > 0).then_some(("grace", grace, Self::LONGEST)),
            stop_after.map(|minutes| ("stop_after", minutes, Self::LONGEST)),
        ];
        let numbers = numbers.into_iter().flatten();
        numbers.filter_map(|(key, value, most)| outside(&place, key, value, most)).collect()
    }
}

/// Whether an engine may be there: a socket, a host and a port, a host, or the name of a simulated node.
fn is_engine(endpoint: &str) -> bool {
    let Some((scheme, rest)) = endpoint.split_once("://") else { return false };
    let host = rest.trim_end_matches('/');
    let plain = !host.is_empty() && !rest.contains(char::is_whitespace);
    match scheme {
        "unix" => plain && rest.starts_with('/'),
        "tcp" => host
            .rsplit_once(':')
            .is_some_and(|(host, port)| plain && !host.is_empty() && port.parse::<u16>().is_ok()),
        "ssh" => {
            let host = host.rsplit_once('@').map_or(host, |(_, host)| host);
            plain && !host.is_empty() && !host.starts_with('-') && !host.contains('/')
        }
        "sim" => NodeName::new(rest.split('?').next().unwrap_or(rest)).is_ok(),
        _ => false,
    }
}

/// Whether an exporter may be there: it is asked by HTTP.
fn is_exporter(address: &str) -> bool {
    let host = address.strip_prefix("http://").and_then(|rest| rest.split('/').next());
    host.is_some_and(|host| !host.is_empty()) && !address.contains(char::is_whitespace)
}

/// What is wrong with a number that is to lie between 1 and `most`.
pub(crate) fn outside(place: &str, key: &str, value: u32, most: u32) -> Option<Problem> {
    let how = match value {
        0 => "less than 1".to_owned(),
        value if value > most => format!("more than {most}"),
        _allowed => return None,
    };
    let allowed = format!("a whole number from 1 to {most}");
    Some(Problem::of_setting(format!("{place}.{key}"), format!("{key} is {value}, {how}"), allowed))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(settings: &str) -> Vec<String> {
        let settings: NodeSettings = serde_json::from_str(settings).unwrap();
        settings.mistakes().iter().map(ToString::to_string).collect()
    }

    fn links(gpus: &str, links: &str) -> Vec<String> {
        let sound = r#""name": "a", "address": "a", "endpoint": "sim://a""#;
        told(&format!(r#"{{{sound}, {gpus} "links": {links}}}"#))
    }

    #[test]
    fn a_node_as_people_write_it_is_sound() {
        for (address, endpoint) in [
            ("10.0.0.11", "tcp://10.0.0.11:2376"),
            ("gpu-1.example.org", "ssh://root@gpu-1"),
            ("::1", "unix:///var/run/docker.sock"),
            ("10.0.0.11", "tcp://[::1]:2376/"),
            ("gpu-1", "ssh://gpu-1:22"),
            ("gpu-1", "sim://gpu-1?gpus=8xA100&duration=1.5"),
        ] {
            let node = NodeSettings::new("gpu-1".parse().unwrap(), address, endpoint);
            assert_eq!(node.mistakes(), [], "{address} {endpoint}");
        }
    }

    #[test]
    fn an_endpoint_says_where_its_engine_is() {
        for endpoint in [
            "",
            "sim",
            "sim://",
            "sim://?gpus=8xA100",
            "unix://",
            "unix:///",
            "unix://run/docker",
            "tcp://",
            "tcp://gpu-1",
            "tcp://:2376",
            "tcp://gpu-1:port",
            "tcp://gpu 1:2376",
            "ssh://",
            "ssh://root@",
            "ssh://-oProxyCommand=x",
            "ssh://gpu-1/run",
            "http://gpu-1:2376",
        ] {
            let node = NodeSettings::new("gpu-1".parse().unwrap(), "gpu-1", endpoint);
            let paths: Vec<_> = node.mistakes().into_iter().map(|mistake| mistake.path).collect();
            assert_eq!(paths, ["endpoint"], "{endpoint:?}");
        }
    }

    #[test]
    fn all_mistakes_of_a_node_are_told_at_once() {
        let lines = told(
            r#"{"name": "n", "address": "", "endpoint": "http://x", "cpus": 0, "memory_mb": 0,
                "disk_gb": 9000000000000, "gpus": [{"type": "A100", "count": 4000000000}],
                "ports": {"first": 9, "last": 1},
                "metrics": "gpu-1:9400"}"#,
        );
        let expected = [
            "address: address is empty (allowed: a host name or an IP address)",
            "endpoint: endpoint is \"http://x\", not the address of an engine (allowed: unix://…, \
             tcp://…, ssh://… or sim://…)",
            "cpus: cpus is 0, less than 1 (allowed: at least 1)",
            "memory_mb: memory_mb is 0, less than 1 (allowed: at least 1)",
            "disk_gb: disk_gb is 9000000000000, more than 1099511627776 (allowed: at most \
             1099511627776)",
            "gpus: gpus is 4000000000, more than 1024 (allowed: at most 1024)",
            "ports: ports is 9-1, not a range that tasks can be given (allowed: FIRST-LAST with 1024 \
             ≤ FIRST ≤ LAST ≤ 65535, as 10000-31999)",
            "metrics: metrics is \"gpu-1:9400\", not the address of an exporter (allowed: \
             http://host:port/metrics)",
        ];
        assert_eq!(lines, expected);
        let address = told(r#"{"name": "n", "address": "a b", "endpoint": "sim://a"}"#);
        assert!(address[0].starts_with("address: address is \"a b\", not a host"), "{address:?}");
    }

    #[test]
    fn a_lease_is_some_minutes_or_nothing() {
        for (lease, said) in [
            ("null", None),
            ("1", None),
            ("10080", None),
            ("0", Some("lease is 0, less than 1 (allowed: a whole number from 1 to 10080)")),
            ("10081", Some("lease is 10081, more than 10080")),
        ] {
            let text = format!(r#"{{"name": "lab", "lease": {lease}}}"#);
            let settings: VirtualClusterSettings = serde_json::from_str(&text).unwrap();
            let mistakes: Vec<_> = settings.mistakes().iter().map(ToString::to_string).collect();
            let expected = said.map(|said| format!("virtual_clusters.lab.lease: {said}"));
            assert_eq!(mistakes.len(), usize::from(expected.is_some()), "{lease}: {mistakes:?}");
            assert!(mistakes.concat().starts_with(&expected.unwrap_or_default()), "{mistakes:?}");
        }
        let settings: VirtualClusterSettings = serde_json::from_str(r#"{"name": "lab"}"#).unwrap();
        assert_eq!(settings.lease, None, "nothing is stored of it by earlier versions");
    }

    #[test]
    fn a_rule_about_idle_gpus_says_minutes_at_least() {
        let read = |idle: &str| {
            let text = format!(r#"{{"name": "lab", "idle": {idle}}}"#);
            serde_json::from_str::<VirtualClusterSettings>(&text)
        };
        let rule = read(r#"{"minutes": 30}"#).unwrap().idle.unwrap();
        assert_eq!((rule.load, rule.grace, rule.stop_after), (5, 0, None));
        assert!(read("{}").is_err() && read("null").unwrap().idle.is_none());
        let sound = read(r#"{"load": 100, "minutes": 1, "grace": 10080, "stop_after": 1}"#);
        assert_eq!(sound.unwrap().mistakes(), []);
        let bad = read(r#"{"load": 101, "minutes": 0, "grace": 10081, "stop_after": 0}"#).unwrap();
        let mistakes = bad.mistakes();
        let paths: Vec<_> = mistakes.iter().map(|mistake| mistake.path.as_str()).collect();
        let keys = ["load", "minutes", "grace", "stop_after"];
        assert_eq!(paths, keys.map(|key| format!("virtual_clusters.lab.idle.{key}")));
        assert!(mistakes[0].message.starts_with("load is 101, more than 100"), "{mistakes:?}");
    }

    #[test]
    fn groups_that_share_fairly_weigh_something() {
        let read = |shares: &str| {
            let text = format!(r#"{{"name": "lab", "group_shares": {shares}}}"#);
            serde_json::from_str::<VirtualClusterSettings>(&text)
        };
        let sound = read(r#"{"vision": 100, "nlp": 1}"#).unwrap();
        assert_eq!(sound.mistakes(), []);
        assert_eq!(sound.group_shares[&"vision".parse().unwrap()], 100);
        let bad = read(r#"{"vision": 0, "nlp": 101}"#).unwrap().mistakes();
        let lines: Vec<_> = bad.iter().map(ToString::to_string).collect();
        let place = "virtual_clusters.lab.group_shares";
        let allowed = "(allowed: a whole number from 1 to 100)";
        let expected = [
            format!("{place}.nlp: nlp is 101, more than 100 {allowed}"),
            format!("{place}.vision: vision is 0, less than 1 {allowed}"),
        ];
        assert_eq!(lines, expected);
        assert!(read(r#"{"vision": -1}"#).is_err() && read(r#"["vision"]"#).is_err());
        let stored = serde_json::to_string(&read("{}").unwrap()).unwrap();
        assert!(!stored.contains("group_shares"), "{stored}");
    }

    #[test]
    fn links_name_gpus_that_are_there_each_once() {
        let none: [&str; 0] = [];
        let four = r#""gpus": [{"type": "A100", "count": 3}, {"type": "V100", "count": 1}],"#;
        assert_eq!(links(four, "[[0, 2], [1, 3]]"), none);
        assert_eq!(links("", "[[0, 9]]"), none, "its engine will say");
        let beyond = "links[1]: there is no GPU 4 (allowed: a whole number from 0 to 3)";
        assert_eq!(links(four, "[[0], [4]]"), [beyond]);
        let twice = "links[0]: GPU 0 is named twice (allowed: each GPU once)";
        assert_eq!(links(four, "[[0, 0]]"), [twice]);
        let nowhere = "links[0]: there is no GPU 0 (allowed: no links)";
        assert_eq!(links(r#""gpus": [],"#, "[[0]]"), [nowhere]);
    }
}
