//! Groups between which a virtual cluster is shared fairly.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use protocol::cluster::{GroupWeights, VirtualClusterSettings};
use protocol::ids::{GroupName, UserName};

/// The groups that share a virtual cluster, and who counts to which of them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct GroupShares {
    weights: GroupWeights,
    groups: HashMap<UserName, GroupName>,
}

impl GroupShares {
    /// As settings say it, with the members of groups. Who is in several counts to the first by name.
    #[must_use]
    pub fn new(
        settings: &VirtualClusterSettings,
        members: &BTreeMap<GroupName, BTreeSet<UserName>>,
    ) -> Self {
        let weights = settings.group_shares.clone();
        let mut groups = HashMap::new();
        for group in weights.keys() {
            for user in members.get(group).into_iter().flatten() {
                groups.entry(user.clone()).or_insert_with(|| group.clone());
            }
        }
        Self { weights, groups }
    }

    /// Whether users share it without groups.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.weights.is_empty()
    }

    /// The groups by name, each with its weight.
    #[must_use]
    pub fn weights(&self) -> &GroupWeights {
        &self.weights
    }

    /// The group to which a user counts.
    #[must_use]
    pub fn of(&self, user: &UserName) -> Option<&GroupName> {
        self.groups.get(user)
    }

    /// How much more a group is to have than the one of least weight; a user who counts to none weighs 1.
    pub(crate) fn part(&self, group: Option<&GroupName>) -> f64 {
        let least = self.weights.values().copied().min().unwrap_or(1).max(1);
        let own = group.and_then(|group| self.weights.get(group)).copied().unwrap_or(1).max(1);
        f64::from(own) / f64::from(least)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_as_the_weights_are_to_each_other() {
        let name = |name: &str| name.parse::<GroupName>().unwrap();
        let hundredths = |vision: u32, nlp: u32| {
            let mut settings = VirtualClusterSettings::new("lab".parse().unwrap());
            settings.group_shares = [(name("vision"), vision), (name("nlp"), nlp)].into();
            let shares = GroupShares::new(&settings, &BTreeMap::new());
            let part =
                |group: Option<GroupName>| (shares.part(group.as_ref()) * 100.0).round() as i64;
            [Some(name("vision")), Some(name("nlp")), None].map(part)
        };
        assert_eq!(hundredths(2, 1), [200, 100, 100]);
        assert_eq!(hundredths(100, 50), [200, 100, 2], "who counts to none weighs 1");
        assert_eq!(hundredths(0, 0), [100; 3], "what is no weight is one");
    }
}
