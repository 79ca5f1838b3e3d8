//! Volumes of a simulated node. Of what is in one it is only known whether all was put there.

use std::collections::{BTreeMap, HashSet};

use crate::filling::Labels;

#[derive(Debug, Default)]
pub(super) struct Volumes {
    pub(super) all: BTreeMap<String, SimVolume>,
    /// Containers by which volumes are filled: each has the name of its volume.
    pub(super) fillers: HashSet<String>,
}

#[derive(Debug, Default)]
pub(super) struct SimVolume {
    labels: Box<[(String, String)]>,
    pub(super) is_full: bool,
}

impl SimVolume {
    pub(super) fn labels(&self) -> Labels {
        self.labels.iter().cloned().collect()
    }
}

impl Volumes {
    pub(super) fn labelled(&self, label: &str, value: &str) -> Vec<(String, Labels)> {
        let has = |volume: &SimVolume| {
            volume.labels.iter().any(|(key, has)| key == label && has == value)
        };
        let found = self.all.iter().filter(|(_, volume)| has(volume));
        found.map(|(name, volume)| (name.clone(), volume.labels())).collect()
    }

    pub(super) fn names(&self) -> Vec<String> {
        self.all.keys().cloned().collect()
    }

    /// Whether all was put into it.
    pub(super) fn is_full(&self, volume: &str) -> bool {
        self.all.get(volume).is_some_and(|volume| volume.is_full)
    }

    /// A container is to have it: an empty one is made where there is none.
    pub(super) fn ensure(&mut self, volume: &str, labels: Labels) {
        self.all
            .entry(volume.to_owned())
            .or_insert_with(|| SimVolume { labels: labels.into_iter().collect(), is_full: false });
    }
}
