//! What containers say of themselves on their engines, for whoever finds them without our records.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::str::FromStr;

use protocol::ids::JobKey;
use protocol::placement::TaskPlacement;
use protocol::resources::{Resources, Taken};

const USER: &str = "berth.user";
const NAME: &str = "berth.name";
const TASK: &str = "berth.task";
const CPUS: &str = "berth.cpus";
const MEMORY: &str = "berth.memory_mb";
const DISK: &str = "berth.disk_gb";
const GPUS: &str = "berth.gpus";
const PORTS: &str = "berth.ports";

/// What a container says of itself.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Labelled {
    /// Whose job it is of.
    pub(crate) user: String,
    /// The job's name.
    pub(crate) name: String,
    /// `role-index`.
    pub(crate) task: String,
    /// What it was given; nothing of what was made by a version that did not say.
    pub(crate) taken: Taken,
    pub(crate) ports: Vec<u16>,
}

/// The labels of a task's container, `task` as `role-index`.
pub(crate) fn of(
    job: &JobKey,
    task: String,
    (resources, place): (&Resources, &TaskPlacement),
) -> BTreeMap<String, String> {
    let labels = [
        (USER, job.user.to_string()),
        (NAME, job.name.to_string()),
        (TASK, task),
        (CPUS, resources.cpus.to_string()),
        (MEMORY, resources.memory_mb.to_string()),
        (DISK, resources.disk_gb.to_string()),
        (GPUS, list(&place.gpus)),
        (PORTS, list(place.ports.values().flatten())),
    ];
    labels.map(|(name, value)| (name.to_owned(), value)).into()
}

/// Reads them again; what is not there or odd is nothing.
pub(crate) fn read(labels: &BTreeMap<String, String>) -> Labelled {
    let text = |name: &str| labels.get(name).cloned().unwrap_or_default();
    Labelled {
        user: text(USER),
        name: text(NAME),
        task: text(TASK),
        taken: Taken {
            cpus: number(labels, CPUS),
            memory_mb: number(labels, MEMORY),
            disk_gb: number(labels, DISK),
            gpus: numbers(labels, GPUS).collect(),
        },
        ports: numbers(labels, PORTS).collect(),
    }
}

fn list<T: Display>(numbers: impl IntoIterator<Item = T>) -> String {
    let numbers = numbers.into_iter().map(|number| number.to_string());
    numbers.collect::<Vec<_>>().join(",")
}

fn number<T: FromStr + Default>(labels: &BTreeMap<String, String>, name: &str) -> T {
    labels.get(name).and_then(|text| text.parse().ok()).unwrap_or_default()
}

fn numbers<T: FromStr>(labels: &BTreeMap<String, String>, name: &str) -> impl Iterator<Item = T> {
    let text = labels.get(name).map(String::as_str).unwrap_or_default();
    text.split(',').filter_map(|number| number.parse().ok())
}

#[cfg(test)]
mod tests {
    use protocol::placement::TaskPorts;

    use super::*;

    #[test]
    fn what_a_container_says_is_read_again() {
        let job: JobKey = "alice~train".parse().unwrap();
        let resources = Resources { cpus: 4, memory_mb: 8192, gpus: 2.into(), disk_gb: 7 };
        let place = TaskPlacement {
            role: 0,
            index: 1,
            node: "a".parse().unwrap(),
            address: String::new(),
            gpus: vec![0, 3],
            ports: TaskPorts::from([("http".parse().unwrap(), vec![20_000, 20_001])]),
        };
        let said = read(&of(&job, "worker-1".to_owned(), (&resources, &place)));
        let expected = Labelled {
            user: "alice".to_owned(),
            name: "train".to_owned(),
            task: "worker-1".to_owned(),
            taken: Taken { cpus: 4, memory_mb: 8192, disk_gb: 7, gpus: [0, 3].into() },
            ports: vec![20_000, 20_001],
        };
        assert_eq!(said, expected);
    }

    #[test]
    fn what_is_not_said_or_odd_is_nothing() {
        assert_eq!(read(&BTreeMap::new()), Labelled::default());
        let odd = [("berth.cpus", "many"), ("berth.gpus", "x,1,-2"), ("berth.ports", "")];
        let odd = odd.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
        let Labelled { taken, ports, .. } = read(&odd);
        assert_eq!((taken.cpus, taken.gpus, ports), (0, [1].into(), Vec::new()));
    }
}
