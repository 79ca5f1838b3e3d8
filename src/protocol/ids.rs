//! Names and keys, checked where they enter: whoever holds one of these types holds a valid name.

use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::order::natural;

/// What a name is made of: a server has millions of them, and most are short enough to need no memory of their
/// own. In a browser, where there are few, less code is more.
#[cfg(not(target_arch = "wasm32"))]
type Text = compact_str::CompactString;
#[cfg(target_arch = "wasm32")]
type Text = String;

/// Why a text is not a valid name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{value:?} is not a valid {what}: allowed are {allowed}")]
pub struct InvalidName {
    /// What it was meant to be, in the words of the pages (`job name`, `user name`, …).
    pub what: &'static str,
    /// The text as given.
    pub value: String,
    /// What would have been accepted, in words.
    pub allowed: &'static str,
}

macro_rules! name_type {
    ($(#[$doc:meta])* $name:ident, $what:literal, max $max:literal, $allowed:literal, $ok:expr) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
        #[serde(try_from = "String", into = "String")]
        pub struct $name(#[schemars(with = "String")] Text);

        impl $name {
            /// What the pages call it.
            pub const WHAT: &'static str = $what;
            /// What is accepted, in words.
            pub const ALLOWED: &'static str = $allowed;
            /// The longest accepted name, in bytes.
            pub const MAX_LENGTH: usize = $max;

            /// Checks a text and takes it as a name.
            ///
            /// # Errors
            /// [`InvalidName`] names the text and what is allowed.
            pub fn new(value: impl Into<String>) -> Result<Self, InvalidName> {
                let value = value.into();
                let ok: fn(char) -> bool = $ok;
                if value.is_empty() || value.len() > Self::MAX_LENGTH || !value.chars().all(ok) {
                    return Err(InvalidName { what: $what, value, allowed: $allowed });
                }
                Ok(Self(value.as_str().into()))
            }

            /// The name as text.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl FromStr for $name {
            type Err = InvalidName;
            fn from_str(s: &str) -> Result<Self, InvalidName> {
                Self::new(s)
            }
        }

        impl TryFrom<String> for $name {
            type Error = InvalidName;
            fn try_from(s: String) -> Result<Self, InvalidName> {
                Self::new(s)
            }
        }

        impl From<$name> for String {
            fn from(name: $name) -> String {
                name.as_str().to_owned()
            }
        }
    };
}

name_type!(
    /// Name of a job, unique among its owner's jobs. Pattern of the documents: `^[A-Za-z0-9\-._~]+$`.
    #[derive(PartialOrd, Ord)]
    JobName, "job name", max 255, "1 to 255 of A-Z a-z 0-9 - . _ ~",
    |c| c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | '_' | '~')
);
name_type!(
    /// Name of a user. It has no `~`, so that `user~job` can be taken apart.
    #[derive(PartialOrd, Ord)]
    UserName, "user name", max 64, "1 to 64 of A-Z a-z 0-9 _ . -",
    |c| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-')
);
name_type!(
    /// Name of a group of users, as an administrator or a sign-in provider writes it.
    #[derive(PartialOrd, Ord)]
    GroupName, "group name", max 256, "1 to 256 characters without commas and control characters",
    |c| c != ',' && !c.is_control()
);
name_type!(
    /// What people call jobs beside their names. Pattern of the documents: `^[^,]+$`.
    #[derive(PartialOrd, Ord)]
    Tag, "tag", max 256, "1 to 256 characters without commas and control characters",
    |c| c != ',' && !c.is_control()
);
name_type!(
    /// Name of a sign-in provider: it is part of addresses.
    #[derive(PartialOrd, Ord)]
    ProviderName, "provider name", max 32, "1 to 32 of a-z 0-9 -",
    |c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-'
);
name_type!(
    /// Name of a node.
    NodeName, "node name", max 253, "1 to 253 of A-Z a-z 0-9 - . _",
    |c| c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | '_')
);
name_type!(
    /// Name of a virtual cluster.
    #[derive(PartialOrd, Ord)]
    VirtualClusterName, "virtual cluster name", max 64, "1 to 64 of A-Z a-z 0-9 _ -",
    |c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-')
);
name_type!(
    /// Name of a storage that an administrator defines.
    #[derive(PartialOrd, Ord)]
    StorageName, "storage name", max 64, "1 to 64 of A-Z a-z 0-9 _ . -",
    |c| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-')
);
name_type!(
    /// Name of a job file that people share.
    #[derive(PartialOrd, Ord)]
    TemplateName, "template name", max 64, "1 to 64 of A-Z a-z 0-9 _ . -",
    |c| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-')
);
name_type!(
    /// Name of a task role; it becomes part of environment variables and of `role-index` aliases, of
    /// which the last hyphen is the one before the index. Pattern of the documents:
    /// `^[A-Za-z0-9._~]+$`; only the earliest had hyphens as well, which files of others are refused.
    #[derive(PartialOrd, Ord)]
    RoleName, "task role name", max 64, "1 to 64 of A-Z a-z 0-9 . _ ~",
    |c| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '~' | '-')
);
name_type!(
    /// Label of a group of ports. Pattern of the documents: `^[A-Za-z0-9._~]+$`.
    #[derive(PartialOrd, Ord)]
    PortLabel, "port label", max 64, "1 to 64 of A-Z a-z 0-9 . _ ~",
    |c| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '~')
);
name_type!(
    /// A GPU model as the administrator names it (`TITANX`, `A100`, …).
    #[derive(PartialOrd, Ord)]
    GpuType, "GPU type", max 128, "1 to 128 characters without white space and commas",
    |c| !c.is_whitespace() && !c.is_control() && c != ','
);

/// Nodes are numbered: wherever they are listed, the ninth comes before the tenth.
impl Ord for NodeName {
    fn cmp(&self, other: &Self) -> Ordering {
        natural(&self.0, &other.0)
    }
}

impl PartialOrd for NodeName {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Default for VirtualClusterName {
    /// `default`: the virtual cluster of jobs that name none.
    fn default() -> Self {
        Self("default".into())
    }
}

/// The database's key of a job; never reused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct JobId(pub i64);

impl fmt::Display for JobId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// What people call a job: its owner and its name, written `user~job`.
#[derive(
    Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
pub struct JobKey {
    /// The owner.
    pub user: UserName,
    /// The name among the owner's jobs.
    pub name: JobName,
}

impl fmt::Display for JobKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}~{}", self.user, self.name)
    }
}

impl FromStr for JobKey {
    type Err = InvalidName;
    fn from_str(s: &str) -> Result<Self, InvalidName> {
        let (user, name) = s.split_once('~').ok_or_else(|| InvalidName {
            what: "job",
            value: s.to_owned(),
            allowed: "user~job",
        })?;
        Ok(Self { user: user.parse()?, name: name.parse()? })
    }
}

/// One run of one task: the key of a container. Its name in an engine is [`TaskKey::container_name`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct TaskKey {
    /// The job.
    pub job: JobId,
    /// The job's attempt, from 0.
    pub attempt: u32,
    /// Position of the task role in the job, from 0.
    pub role: u32,
    /// Index of the task in its role, from 0.
    pub index: u32,
    /// How often this task was started again inside the attempt (`taskRetryCount`), from 0.
    pub retry: u32,
}

impl TaskKey {
    /// The deterministic container name. The engine refuses a second container of the same name,
    /// which makes it the lock that keeps a task from running twice on a node.
    #[must_use]
    pub fn container_name(&self, cluster: &str) -> String {
        let TaskKey { job, attempt, role, index, retry } = self;
        format!("berth-{cluster}-{job}-a{attempt}-r{role}-t{index}-n{retry}")
    }

    /// Takes a [`TaskKey::container_name`] apart; `None` when it is not one of this cluster.
    #[must_use]
    pub fn from_container_name(cluster: &str, name: &str) -> Option<Self> {
        let rest = name.strip_prefix("berth-")?.strip_prefix(cluster)?.strip_prefix('-')?;
        let mut parts = rest.split('-');
        let job = JobId(parts.next()?.parse().ok()?);
        let mut numbered = |prefix| parts.next()?.strip_prefix(prefix)?.parse().ok();
        let key = Self {
            job,
            attempt: numbered('a')?,
            role: numbered('r')?,
            index: numbered('t')?,
            retry: numbered('n')?,
        };
        parts.next().is_none().then_some(key)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_checked() {
        assert!(JobName::new("tf-1.0_~x").is_ok());
        for bad in ["", "a b", "a/b", "作业", &"x".repeat(256)] {
            let error = JobName::new(bad).unwrap_err();
            assert_eq!(error.value, bad);
        }
        assert!(RoleName::new("ps_server").is_ok());
        assert!(RoleName::new("ps-server").is_ok(), "the earliest documents had hyphens");
        assert!(PortLabel::new("my-port").is_err());
        assert!(serde_json::from_str::<UserName>("\"a~b\"").is_err());
    }

    #[test]
    fn nodes_are_counted_in_their_order() {
        let mut names = ["a-10", "a-9", "b-1", "a-010"].map(|name| NodeName::new(name).unwrap());
        names.sort();
        assert_eq!(names.each_ref().map(NodeName::as_str), ["a-9", "a-010", "a-10", "b-1"]);
    }

    #[test]
    fn job_key_splits_at_the_first_tilde() {
        let key: JobKey = "alice~tf~1".parse().unwrap();
        assert_eq!((key.user.as_str(), key.name.as_str()), ("alice", "tf~1"));
        assert_eq!(key.to_string(), "alice~tf~1");
    }

    #[test]
    fn container_names_are_taken_apart_again() {
        let key = TaskKey { job: JobId(42), attempt: 1, role: 0, index: 7, retry: 2 };
        let name = key.container_name("c1f0");
        assert_eq!(name, "berth-c1f0-42-a1-r0-t7-n2");
        assert_eq!(TaskKey::from_container_name("c1f0", &name), Some(key));
        assert_eq!(TaskKey::from_container_name("other", &name), None);
        assert_eq!(TaskKey::from_container_name("c1f0", "berth-c1f0-42"), None);
    }
}
