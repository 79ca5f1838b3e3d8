//! How much of a virtual cluster one user, or the members of one group together, may have at once.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::cluster::VirtualClusterSettings;
use crate::ids::{GroupName, UserName};
use crate::problem::Problem;

/// The most that a limit may say.
const MOST: u32 = 1_000_000;

/// The limits of a virtual cluster; what is not said is not limited.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Limits {
    /// Of each user.
    pub user: Limit,
    /// Of the members of each group together: of the groups that may use the virtual cluster, of all
    /// where it names none.
    pub group: Limit,
    /// Of users by name, in place of `user`.
    pub users: BTreeMap<UserName, Limit>,
    /// Of groups by name, in place of `group`.
    pub groups: BTreeMap<GroupName, Limit>,
}

/// What somebody may have of one virtual cluster.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Limit {
    /// GPUs of jobs that run: what asks for more waits.
    pub running_gpus: Option<u32>,
    /// Jobs that run: further ones wait.
    pub running_jobs: Option<u32>,
    /// Jobs that wait: further ones are refused.
    pub waiting_jobs: Option<u32>,
    /// Jobs submitted within a minute: further ones are refused.
    pub submissions_per_minute: Option<u32>,
}

impl Limit {
    /// Whether it limits anything.
    #[must_use]
    pub fn is_none(self) -> bool {
        self == Self::default()
    }

    fn mistakes(self, place: &str) -> Vec<Problem> {
        let Self { running_gpus, running_jobs, waiting_jobs, submissions_per_minute } = self;
        let numbers = [
            ("running_gpus", running_gpus),
            ("running_jobs", running_jobs),
            ("waiting_jobs", waiting_jobs),
            ("submissions_per_minute", submissions_per_minute),
        ];
        let outside =
            |(key, value): (&str, Option<u32>)| crate::cluster::outside(place, key, value?, MOST);
        numbers.into_iter().filter_map(outside).collect()
    }
}

impl Limits {
    /// Whether nobody is limited.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        let all = self.users.values().chain(self.groups.values());
        all.chain([&self.user, &self.group]).all(|limit| limit.is_none())
    }

    /// Whether any group is limited.
    #[must_use]
    pub fn of_groups(&self) -> bool {
        !self.group.is_none() || self.groups.values().any(|limit| !limit.is_none())
    }

    pub(crate) fn mistakes(&self, whole: &str) -> Vec<Problem> {
        let place = format!("{whole}.limits");
        let users = self.users.iter().map(|(name, limit)| (format!("users.{name}"), *limit));
        let groups = self.groups.iter().map(|(name, limit)| (format!("groups.{name}"), *limit));
        let all = [("user".to_owned(), self.user), ("group".to_owned(), self.group)];
        let all = all.into_iter().chain(users).chain(groups);
        all.flat_map(|(key, limit)| limit.mistakes(&format!("{place}.{key}"))).collect()
    }
}

impl VirtualClusterSettings {
    /// The limits of a user here.
    #[must_use]
    pub fn limit_of_user(&self, user: &UserName) -> Limit {
        self.limits.users.get(user).copied().unwrap_or(self.limits.user)
    }

    /// The limits of a group's members together here.
    #[must_use]
    pub fn limit_of_group(&self, group: &GroupName) -> Limit {
        let counts = self.groups.is_empty() || self.groups.contains(group);
        let own = self.limits.groups.get(group).copied();
        own.unwrap_or(if counts { self.limits.group } else { Limit::default() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cluster(limits: &str) -> VirtualClusterSettings {
        serde_json::from_str(&format!(r#"{{"name": "lab", "limits": {limits}}}"#)).unwrap()
    }

    #[test]
    fn a_name_has_its_own_limits_in_place_of_everybodys() {
        let mut lab = cluster(
            r#"{"user": {"running_gpus": 8}, "users": {"ada": {"running_jobs": 2}, "bob": {}},
                "group": {"waiting_jobs": 9}, "groups": {"vision": {"running_gpus": 32}}}"#,
        );
        let of_user = |name: &str| lab.limit_of_user(&name.parse().unwrap());
        assert_eq!(of_user("eve"), Limit { running_gpus: Some(8), ..Limit::default() });
        assert_eq!(of_user("ada"), Limit { running_jobs: Some(2), ..Limit::default() });
        assert!(of_user("bob").is_none());
        let all = Limit { waiting_jobs: Some(9), ..Limit::default() };
        let (speech, staff) = ("speech".parse().unwrap(), "staff".parse().unwrap());
        assert_eq!([lab.limit_of_group(&speech), lab.limit_of_group(&staff)], [all, all]);
        lab.groups = vec![speech.clone()];
        assert_eq!(lab.limit_of_group(&speech), all);
        assert!(lab.limit_of_group(&staff).is_none(), "it is not the one that uses it");
        let vision = lab.limit_of_group(&"vision".parse().unwrap());
        assert_eq!(vision.running_gpus, Some(32), "it is named");
    }

    #[test]
    fn limits_that_say_nothing_are_none() {
        for (limits, empty, groups) in [
            ("{}", true, false),
            (r#"{"user": {}, "users": {"ada": {}}, "groups": {"vision": {}}}"#, true, false),
            (r#"{"user": {"running_jobs": 1}}"#, false, false),
            (r#"{"users": {"ada": {"running_jobs": 1}}}"#, false, false),
            (r#"{"group": {"running_jobs": 1}}"#, false, true),
            (r#"{"groups": {"vision": {"running_jobs": 1}}}"#, false, true),
        ] {
            let limits = cluster(limits).limits;
            assert_eq!((limits.is_empty(), limits.of_groups()), (empty, groups), "{limits:?}");
        }
        let stored = serde_json::to_string(&cluster("{}")).unwrap();
        assert!(!stored.contains("limits"), "{stored}");
    }

    #[test]
    fn all_limits_are_some_number() {
        let sound = r#"{"user": {"running_gpus": 1, "submissions_per_minute": 1000000}}"#;
        assert_eq!(cluster(sound).mistakes(), []);
        let bad = cluster(
            r#"{"user": {"running_gpus": 0, "running_jobs": 1000001, "waiting_jobs": 0,
                "submissions_per_minute": 0}, "group": {"running_jobs": 0},
                "users": {"ada": {"waiting_jobs": 0}}, "groups": {"vision": {"running_gpus": 0}}}"#,
        );
        let mistakes = bad.mistakes();
        let paths: Vec<_> = mistakes.iter().map(|mistake| mistake.path.as_str()).collect();
        let keys = [
            "user.running_gpus",
            "user.running_jobs",
            "user.waiting_jobs",
            "user.submissions_per_minute",
            "group.running_jobs",
            "users.ada.waiting_jobs",
            "groups.vision.running_gpus",
        ];
        assert_eq!(paths, keys.map(|key| format!("virtual_clusters.lab.limits.{key}")));
        assert!(mistakes[1].message.starts_with("running_jobs is 1000001, more than 1000000"));
        let unknown = r#"{"name": "lab", "limits": {"user": {"gpus": 1}}}"#;
        assert!(serde_json::from_str::<VirtualClusterSettings>(unknown).is_err());
    }
}
