//! What people set, as its forms send it: texts for the most part, to be read by `settings`.

use std::collections::BTreeMap;
use std::fmt;

use api::storages::StorageView;
use protocol::cluster::{GpuRuntime, NodeNetwork, NodeSettings, Preempts};
use protocol::notifications::Tongue;
use protocol::storages::{NfsExport, SmbShare, StorageSource};
use serde::{Deserialize, Serialize};

use crate::number::gpus_text;

/// A node as its form sends it: texts, empty where nothing is said.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[derive(Default)]
pub(crate) struct NodeForm {
    pub(crate) name: String,
    pub(crate) address: String,
    pub(crate) endpoint: String,
    pub(crate) cpus: String,
    pub(crate) memory_mb: String,
    pub(crate) disk_gb: String,
    pub(crate) gpus: String,
    pub(crate) gpu_runtime: Option<GpuRuntime>,
    pub(crate) ports: String,
    pub(crate) labels: String,
    pub(crate) links: String,
    pub(crate) shares_gpus: bool,
    /// `host`, `bridge`, or nothing.
    pub(crate) network: String,
    /// Where its exporter is, or nothing.
    pub(crate) metrics: String,
}

/// What the form shows of a node that there is.
impl From<&NodeSettings> for NodeForm {
    fn from(known: &NodeSettings) -> Self {
        let number = |value: Option<u64>| value.map(|value| value.to_string()).unwrap_or_default();
        let gpus = known.gpus.iter().flatten();
        let labels = known.labels.iter().map(|(name, value)| format!("{name}={value}"));
        let indices =
            |link: &Vec<u32>| link.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ");
        let network = match known.network {
            None => "",
            Some(NodeNetwork::Host) => "host",
            Some(NodeNetwork::Bridge) => "bridge",
        };
        Self {
            name: known.name.to_string(),
            address: known.address.clone(),
            endpoint: known.endpoint.clone(),
            cpus: number(known.cpus.map(u64::from)),
            memory_mb: number(known.memory_mb),
            disk_gb: number(known.disk_gb),
            gpus: gpus_text(gpus.map(|gpus| (&gpus.gpu_type, u64::from(gpus.count)))),
            gpu_runtime: Some(known.gpu_runtime),
            ports: known.ports.to_string(),
            labels: labels.collect::<Vec<_>>().join(", "),
            links: known.links.iter().map(indices).collect::<Vec<_>>().join("; "),
            shares_gpus: known.shares_gpus,
            network: network.to_owned(),
            metrics: known.metrics.clone().unwrap_or_default(),
        }
    }
}

/// A virtual cluster as its form sends it: texts, empty where nothing is said.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct ClusterForm {
    pub(crate) name: String,
    pub(crate) cpus: String,
    pub(crate) memory_mb: String,
    pub(crate) gpus: String,
    pub(crate) users: String,
    pub(crate) groups: String,
    pub(crate) parent: String,
    pub(crate) shapes: String,
    pub(crate) nodes: String,
    pub(crate) within: String,
    pub(crate) borrows: bool,
    /// `true`, `crit`, or nothing.
    pub(crate) preempts: String,
    pub(crate) deadlines: bool,
    /// `vision=2, nlp=1`.
    pub(crate) group_shares: String,
    pub(crate) lease: String,
    pub(crate) idle_load: String,
    pub(crate) idle_minutes: String,
    pub(crate) idle_grace: String,
    pub(crate) idle_stop: String,
    pub(crate) user_gpus: String,
    pub(crate) user_jobs: String,
    pub(crate) user_waiting: String,
    pub(crate) user_submissions: String,
    pub(crate) group_gpus: String,
    pub(crate) group_jobs: String,
    pub(crate) group_waiting: String,
    pub(crate) group_submissions: String,
    /// Limits of users and groups by name, in whatever order.
    pub(crate) named: BTreeMap<String, LimitForm>,
}

/// What the form of a virtual cluster says of whose jobs take the places of others.
pub(crate) fn preempts_word(preempts: Preempts) -> &'static str {
    match preempts {
        Preempts::Everybody => "true",
        Preempts::Critical => "crit",
        Preempts::Nobody => "",
    }
}

/// The limits of a user or of a group as a row of a form sends them.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct LimitForm {
    pub(crate) of_group: bool,
    pub(crate) name: String,
    pub(crate) gpus: String,
    pub(crate) jobs: String,
    pub(crate) waiting: String,
    pub(crate) submissions: String,
}

/// A group as its form sends it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct GroupForm {
    pub(crate) name: String,
    pub(crate) description: String,
    pub(crate) admin: bool,
    pub(crate) clusters: String,
    /// With what the form began; what is still the same is not changed by it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) was: Option<GroupWas>,
}

/// What was said of a group when its form was filled.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct GroupWas {
    pub(crate) description: String,
    pub(crate) admin: bool,
    pub(crate) clusters: String,
}

/// A storage as its form sends it: texts, empty where nothing is said.
#[derive(Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct StorageForm {
    pub(crate) name: String,
    /// A path, `nfs://server/folder` or `smb://server/share`.
    pub(crate) place: String,
    pub(crate) user: String,
    pub(crate) password: String,
    pub(crate) options: String,
    pub(crate) mount: String,
    pub(crate) read_only: bool,
    pub(crate) default: bool,
    pub(crate) own_folders: bool,
    pub(crate) users: String,
    pub(crate) groups: String,
}

impl fmt::Debug for StorageForm {
    /// Without the password.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StorageForm").field("name", &self.name).finish_non_exhaustive()
    }
}

/// Where a storage is, as its form has it.
pub(crate) fn place(source: &StorageSource) -> String {
    match source {
        StorageSource::Path(path) => path.clone(),
        StorageSource::Nfs(NfsExport { server, path, .. }) => {
            ["nfs://", server.as_str(), path.as_str()].concat()
        }
        StorageSource::Smb(SmbShare { server, share, .. }) => {
            ["smb://", server.as_str(), "/", share.as_str()].concat()
        }
    }
}

impl From<&StorageView> for StorageForm {
    fn from(view: &StorageView) -> Self {
        let (user, options) = match &view.source {
            Some(StorageSource::Smb(share)) => (share.user.clone(), share.options.clone()),
            Some(StorageSource::Nfs(export)) => (None, export.options.clone()),
            Some(StorageSource::Path(_)) | None => (None, None),
        };
        let users: Vec<_> = view.users.iter().map(ToString::to_string).collect();
        let groups: Vec<_> = view.groups.iter().map(ToString::to_string).collect();
        Self {
            name: view.name.to_string(),
            place: view.source.as_ref().map(place).unwrap_or_default(),
            user: user.unwrap_or_default(),
            password: String::new(),
            options: options.unwrap_or_default(),
            mount: view.mount.clone(),
            read_only: view.read_only,
            default: view.default,
            own_folders: view.own_folders,
            users: users.join(", "),
            groups: groups.join(", "),
        }
    }
}

/// What somebody wants to be told, as its form sends it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct WishesForm {
    pub(crate) started: bool,
    pub(crate) succeeded: bool,
    pub(crate) failed: bool,
    pub(crate) stopped: bool,
    pub(crate) retried: bool,
    pub(crate) preempted: bool,
    pub(crate) waiting: bool,
    pub(crate) idle: bool,
    pub(crate) mail: bool,
    pub(crate) webhook: String,
    pub(crate) language: Tongue,
}

impl WishesForm {
    /// The names of the form's fields, in the order of all occasions.
    pub(crate) const FIELDS: [&str; 8] = [
        "wishes[started]",
        "wishes[succeeded]",
        "wishes[failed]",
        "wishes[stopped]",
        "wishes[retried]",
        "wishes[preempted]",
        "wishes[waiting]",
        "wishes[idle]",
    ];
}
