//! Storages: folders beside the users' own files that an administrator offers to tasks, and what a job
//! asks of them. Where they are is said by administrators alone; a job only names them.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::fields::STORAGES;
use crate::ids::{GroupName, StorageName, UserName};
use crate::spec::JobSpec;

mod mistakes;

pub(crate) use mistakes::{TARGET, target_mistake};
pub use mistakes::{is_within, mistakes};

/// The folder in which tasks have a storage of which nothing else is said.
const MOUNTS: &str = "/mnt";

/// A storage as an administrator describes it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StorageSettings {
    /// Its name.
    pub name: StorageName,
    /// Where it is.
    pub source: StorageSource,
    /// Where tasks have it, unless their job says otherwise; none: `/mnt/NAME`.
    #[serde(default)]
    pub mount: Option<String>,
    /// Nobody changes anything in it.
    #[serde(default)]
    pub read_only: bool,
    /// Whether jobs have it that ask for storages without naming any.
    #[serde(default)]
    pub default: bool,
    /// Whether each user has only the folder in it that is called like him.
    #[serde(default)]
    pub own_folders: bool,
    /// Who may use it; where no user and no group is named: everybody.
    #[serde(default)]
    pub users: Vec<UserName>,
    /// Groups whose members may use it.
    #[serde(default)]
    pub groups: Vec<GroupName>,
}

/// Where a storage is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum StorageSource {
    /// A folder that every node has, whatever is mounted there.
    Path(String),
    /// A folder that a server exports by NFS; nodes' engines mount it for each task.
    Nfs(NfsExport),
    /// A share of a server of Windows' kind, likewise.
    Smb(SmbShare),
}

/// A folder that a server exports by NFS.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NfsExport {
    /// The server's name or address.
    pub server: String,
    /// The exported folder, or one below it.
    pub path: String,
    /// Further options of the mount, as `nfsvers=4.1,nconnect=4`.
    #[serde(default)]
    pub options: Option<String>,
}

/// A share of a server of Windows' kind.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SmbShare {
    /// The server's name or address.
    pub server: String,
    /// The share, or a folder in it: `team`, `team/data`.
    pub share: String,
    /// By which account it is entered; none: as a guest.
    #[serde(default)]
    pub user: Option<String>,
    /// That account's password: it is taken, and never told again.
    #[serde(default, skip_serializing)]
    pub password: Option<Password>,
    /// Further options of the mount, as `vers=3.1.1`.
    #[serde(default)]
    pub options: Option<String>,
}

/// A password, which no log has.
#[derive(Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Password(pub String);

impl fmt::Debug for Password {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Password")
    }
}

impl StorageSettings {
    /// A storage of which nothing else is said: everybody may use all of it.
    #[must_use]
    pub fn new(name: StorageName, source: StorageSource) -> Self {
        Self {
            name,
            source,
            mount: None,
            read_only: false,
            default: false,
            own_folders: false,
            users: Vec::new(),
            groups: Vec::new(),
        }
    }

    /// Where tasks have it, unless their job says otherwise.
    #[must_use]
    pub fn target(&self) -> String {
        self.mount.clone().unwrap_or_else(|| format!("{MOUNTS}/{}", self.name))
    }

    /// Whether a user who is in these groups may use it.
    pub fn admits<'a>(
        &self,
        user: &UserName,
        groups: impl IntoIterator<Item = &'a GroupName>,
    ) -> bool {
        let everybody = self.users.is_empty() && self.groups.is_empty();
        everybody
            || self.users.contains(user)
            || groups.into_iter().any(|group| self.groups.contains(group))
    }

    /// The password, where one is kept for it.
    #[must_use]
    pub fn password(&self) -> Option<&Password> {
        match &self.source {
            StorageSource::Smb(share) => share.password.as_ref(),
            StorageSource::Path(_) | StorageSource::Nfs(_) => None,
        }
    }
}

impl StorageSource {
    /// What kind it is, in the words of OpenPAI.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Path(_) => "other",
            Self::Nfs(_) => "nfs",
            Self::Smb(_) => "samba",
        }
    }
}

/// What a job asks of the storages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Asked {
    /// Those that are for every job.
    Defaults,
    /// These.
    These(Vec<AskedStorage>),
}

/// A storage that a job asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AskedStorage {
    /// Its name.
    pub name: StorageName,
    /// Where its tasks are to have it; none: where the storage's settings say.
    pub target: Option<String>,
}

/// What a job asks of the storages; `None`: nothing.
#[must_use]
pub fn asked(spec: &JobSpec) -> Option<Asked> {
    let listed = spec.extras.get(STORAGES).and_then(Value::as_array)?;
    if listed.is_empty() {
        return Some(Asked::Defaults);
    }
    let one = |storage: &Value| {
        let name = storage["name"].as_str()?.parse().ok()?;
        let target = storage["mountPath"].as_str().filter(|path| !path.is_empty());
        Some(AskedStorage { name, target: target.map(str::to_owned) })
    };
    Some(Asked::These(listed.iter().filter_map(one).collect()))
}

/// The variable that tells tasks where they have a storage: `BERTH_MOUNT_TRAINING_DATA`.
#[must_use]
pub fn variable(name: &StorageName) -> String {
    let letter = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' };
    format!("BERTH_MOUNT_{}", name.as_str().chars().map(letter).collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_read_as_administrators_write_them() {
        let read = |text: &str| serde_json::from_str::<StorageSettings>(text);
        let path = read(r#"{"name": "data", "source": {"path": "/mnt/ceph/data"}}"#).unwrap();
        let source = StorageSource::Path("/mnt/ceph/data".to_owned());
        assert_eq!(path, StorageSettings::new("data".parse().unwrap(), source));
        assert_eq!(path.target(), "/mnt/data");
        let smb = r#"{"name": "team", "source": {"smb": {"server": "files", "share": "team",
            "user": "berth", "password": "hunter2"}}, "mount": "/team"}"#;
        let smb = read(smb).unwrap();
        assert_eq!(smb.target(), "/team");
        assert_eq!(smb.password(), Some(&Password("hunter2".to_owned())));
        assert!(!format!("{smb:?}").contains("hunter2"));
        let stored = serde_json::to_string(&smb).unwrap();
        assert!(!stored.contains("hunter2"), "{stored}");
        let again = read(&stored).unwrap();
        assert_eq!((again.password(), again.target()), (None, smb.target()));
        for wrong in [
            r#"{"name": "a/b", "source": {"path": "/a"}}"#,
            r#"{"name": "a", "source": {"s3": {"bucket": "b"}}}"#,
            r#"{"name": "a", "source": {"path": "/a"}, "readonly": true}"#,
            r#"{"name": "a"}"#,
        ] {
            read(wrong).expect_err(wrong);
        }
    }

    #[test]
    fn users_and_groups_open_a_storage() {
        let (ada, bob) = ("ada".parse().unwrap(), "bob".parse().unwrap());
        let group: GroupName = "vision".parse().unwrap();
        let source = StorageSource::Path("/a".to_owned());
        let mut settings = StorageSettings::new("a".parse().unwrap(), source);
        assert!(settings.admits(&bob, []), "nobody is named: it is everybody's");
        settings.groups = vec![group.clone()];
        assert!(!settings.admits(&bob, []) && settings.admits(&bob, [&group]));
        settings.users = vec![ada];
        assert!(!settings.admits(&bob, []) && settings.admits(&bob, [&group]));
    }

    #[test]
    fn variables_have_names_that_shells_can_say() {
        assert_eq!(variable(&"training-data.v2".parse().unwrap()), "BERTH_MOUNT_TRAINING_DATA_V2");
    }
}
