//! Which GPUs are linked more closely than others, read from `nvidia-smi topo -m`.

use std::collections::BTreeMap;

/// How two GPUs are connected, the closest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Link {
    /// `NV4`: so many NVLinks, or a switch of them.
    Nvlink,
    /// `PIX`, `PXB`: switches of PCIe, and no more.
    Switch,
    /// `PHB`: the bridge of a processor.
    Bridge,
    /// `NODE`: bridges of one NUMA node.
    Numa,
    /// `SYS`: from one processor to another.
    System,
}

impl Link {
    fn read(cell: &str) -> Option<Self> {
        match cell {
            "PIX" | "PXB" => Some(Self::Switch),
            "PHB" => Some(Self::Bridge),
            "NODE" => Some(Self::Numa),
            "SYS" | "SOC" => Some(Self::System),
            other => other.strip_prefix("NV")?.parse::<u32>().ok().map(|_| Self::Nvlink),
        }
    }
}

/// The groups of the closest links that tell any GPUs from others; none where all are alike.
pub(super) fn groups(lines: &[&str]) -> Vec<Vec<u32>> {
    let (gpus, links) = matrix(lines);
    for level in [Link::Nvlink, Link::Switch, Link::Bridge, Link::Numa] {
        let groups = connected(&gpus, |pair| links.get(&pair).is_some_and(|link| *link <= level));
        if groups.len() < 2 {
            return Vec::new();
        }
        if groups.iter().any(|group| group.len() > 1) {
            return groups.into_iter().filter(|group| group.len() > 1).collect();
        }
    }
    Vec::new()
}

/// The GPUs, and how each pair of them is connected.
fn matrix(lines: &[&str]) -> (Vec<u32>, BTreeMap<(u32, u32), Link>) {
    let rows: Vec<Vec<String>> = lines.iter().map(|line| cells(line)).collect();
    let heading = rows.iter().find(|row| row.first().is_some_and(String::is_empty));
    let columns: Vec<Option<u32>> = heading.into_iter().flatten().map(|cell| gpu(cell)).collect();
    let mut gpus = Vec::new();
    let mut links = BTreeMap::new();
    for row in &rows {
        let Some(one) = row.first().and_then(|cell| gpu(cell)) else { continue };
        gpus.push(one);
        for (cell, column) in row.iter().zip(&columns).skip(1) {
            if let (Some(other), Some(link)) = (*column, Link::read(cell)) {
                links.insert((one, other), link);
            }
        }
    }
    (gpus, links)
}

/// The cells of a line, which may be drawn in colour.
fn cells(line: &str) -> Vec<String> {
    let mut plain = String::new();
    let mut rest = line;
    while let Some((before, after)) = rest.split_once('\u{1b}') {
        plain.push_str(before);
        rest = after.split_once('m').map_or("", |(_, after)| after);
    }
    plain.push_str(rest);
    plain.split('\t').map(|cell| cell.trim().to_owned()).collect()
}

/// `GPU3`.
fn gpu(cell: &str) -> Option<u32> {
    cell.strip_prefix("GPU")?.parse().ok()
}

/// The groups of what is connected, directly or by others.
fn connected(gpus: &[u32], linked: impl Fn((u32, u32)) -> bool) -> Vec<Vec<u32>> {
    let mut groups: Vec<Vec<u32>> = Vec::new();
    for gpu in gpus {
        let is_near = |group: &Vec<u32>| {
            group.iter().any(|other| linked((*gpu, *other)) || linked((*other, *gpu)))
        };
        let (near, mut apart): (Vec<_>, Vec<_>) = groups.into_iter().partition(is_near);
        let mut joined = near.concat();
        joined.push(*gpu);
        joined.sort_unstable();
        apart.push(joined);
        groups = apart;
    }
    groups.sort();
    groups
}

#[cfg(test)]
mod tests {
    use super::*;

    fn groups_of(text: &str) -> Vec<Vec<u32>> {
        groups(&text.lines().collect::<Vec<_>>())
    }

    #[test]
    fn pairs_that_are_bridged_are_groups() {
        // Four A40, two bridges.
        let text = "\u{1b}[4m\tGPU0\tGPU1\tGPU2\tGPU3\tNIC0\tCPU Affinity\tNUMA Affinity\u{1b}[0m\n\
            GPU0\t X \tNV4\tSYS\tSYS\tPIX\t0-31\t0\n\
            GPU1\tNV4\t X \tSYS\tSYS\tPIX\t0-31\t0\n\
            GPU2\tSYS\tSYS\t X \tNV4\tSYS\t32-63\t1\n\
            GPU3\tSYS\tSYS\tNV4\t X \tSYS\t32-63\t1\n\
            NIC0\tPIX\tPIX\tSYS\tSYS\t X \t\t\n\
            \n\
            Legend:\n\
            \n  X    = Self\n";
        assert_eq!(groups_of(text), [[0, 1], [2, 3]]);
    }

    #[test]
    fn without_nvlink_the_closest_level_that_tells_them_apart_counts() {
        // Four T4 on two processors.
        let text = "\tGPU0\tGPU1\tGPU2\tGPU3\tCPU Affinity\tNUMA Affinity\n\
            GPU0\t X \tNODE\tSYS\tSYS\t0-23\t0\n\
            GPU1\tNODE\t X \tSYS\tSYS\t0-23\t0\n\
            GPU2\tSYS\tSYS\t X \tPHB\t24-47\t1\n\
            GPU3\tSYS\tSYS\tPHB\t X \t24-47\t1\n";
        assert_eq!(groups_of(text), [[2, 3]]);
        assert_eq!(groups_of(&text.replace("NODE", "PHB")), [[0, 1], [2, 3]]);
    }

    #[test]
    fn all_alike_are_no_groups() {
        // Three of the eight H100 of a machine with NVSwitch.
        let switched = "\tGPU0\tGPU1\tGPU2\tCPU Affinity\n\
            GPU0\t X \tNV18\tNV18\t0-47\n\
            GPU1\tNV18\t X \tNV18\t0-47\n\
            GPU2\tNV18\tNV18\t X \t48-95\n";
        assert_eq!(groups_of(switched), Vec::<Vec<u32>>::new());
        let one = "\tGPU0\tCPU Affinity\nGPU0\t X \t0-7\n";
        assert_eq!(groups_of(one), Vec::<Vec<u32>>::new());
        let apart = switched.replace("NV18", "SYS");
        assert_eq!(groups_of(&apart), Vec::<Vec<u32>>::new());
        assert_eq!(groups_of("NVIDIA-SMI has failed"), Vec::<Vec<u32>>::new());
    }
}
