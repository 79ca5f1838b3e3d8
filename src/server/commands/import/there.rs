//! What a running OpenPAI 1.x says of itself by REST version 2.

use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};

use crate::commands::client::Client;

/// All that is looked at.
#[derive(Debug, Default)]
pub(super) struct There {
    pub(super) users: Vec<User>,
    pub(super) groups: Vec<Group>,
    pub(super) clusters: BTreeMap<String, Cluster>,
    pub(super) storages: Vec<Storage>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct User {
    pub(super) username: String,
    #[serde(default, deserialize_with = "or_nothing")]
    pub(super) grouplist: Vec<String>,
    #[serde(default, deserialize_with = "or_nothing")]
    pub(super) email: String,
    #[serde(default, deserialize_with = "or_nothing")]
    pub(super) admin: bool,
    #[serde(default, deserialize_with = "or_nothing")]
    pub(super) virtual_cluster: Vec<String>,
    #[serde(default, deserialize_with = "or_nothing")]
    pub(super) storage_config: Vec<String>,
    #[serde(default, deserialize_with = "or_nothing")]
    pub(super) extension: Map<String, Value>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Group {
    pub(super) groupname: String,
    #[serde(default, deserialize_with = "or_nothing")]
    pub(super) description: String,
    #[serde(default, deserialize_with = "or_nothing")]
    pub(super) external_name: String,
    #[serde(default, deserialize_with = "or_nothing")]
    pub(super) extension: Extension,
}

/// What is kept with a group, and among it what its members may do.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Extension {
    #[serde(default, deserialize_with = "or_nothing")]
    pub(super) acls: Acls,
    #[serde(flatten)]
    pub(super) others: Map<String, Value>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Acls {
    #[serde(default, deserialize_with = "or_nothing")]
    pub(super) admin: bool,
    #[serde(default, deserialize_with = "or_nothing")]
    pub(super) virtual_clusters: Vec<String>,
    #[serde(default, deserialize_with = "or_nothing")]
    pub(super) storage_configs: Vec<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Cluster {
    #[serde(default)]
    resources_guaranteed: Option<Resources>,
    #[serde(default)]
    resources_total: Option<Resources>,
    /// The types of its GPUs, where that is told.
    #[serde(skip)]
    pub(super) types: Vec<String>,
}

#[derive(Debug, Deserialize)]
struct Resources {
    #[serde(default)]
    gpu: Value,
}

impl Cluster {
    /// How many GPUs it is guaranteed.
    pub(super) fn gpus(&self) -> u64 {
        let said = self.resources_guaranteed.as_ref().or(self.resources_total.as_ref());
        said.and_then(|resources| resources.gpu.as_u64()).unwrap_or(0)
    }
}

/// A storage, and where it is, unless that is not told.
#[derive(Debug)]
pub(super) struct Storage {
    pub(super) name: String,
    pub(super) default: bool,
    pub(super) detail: Result<Detail, String>,
}

#[derive(Debug, Deserialize)]
struct Summary {
    name: String,
    #[serde(default, deserialize_with = "or_nothing")]
    default: bool,
}

#[derive(Debug, Deserialize)]
struct Listed {
    storages: Vec<Summary>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Detail {
    /// Whether all have the same of it; else each has a folder of his own.
    #[serde(default)]
    pub(super) share: Option<bool>,
    #[serde(rename = "type", default, deserialize_with = "or_nothing")]
    pub(super) kind: String,
    #[serde(default)]
    pub(super) data: Value,
    #[serde(default, deserialize_with = "or_nothing")]
    pub(super) read_only: bool,
    #[serde(default, deserialize_with = "or_nothing")]
    pub(super) mount_options: Vec<String>,
}

#[derive(Debug, Deserialize)]
struct Sku {
    #[serde(default)]
    gpu: Value,
}

/// What is left out or `null` is nothing.
fn or_nothing<'de, D, T>(value: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de> + Default,
{
    Ok(Option::<T>::deserialize(value)?.unwrap_or_default())
}

/// What every OpenPAI answers in JSON to everybody, and its portal does not.
const INFO: &str = "/api/v1";

/// Finds its REST: below its portal's address, or at an address of its own.
pub(super) fn open(url: &str, token: &str) -> anyhow::Result<Client> {
    let site = url.trim_end_matches('/');
    let below = Client::of("OpenPAI", &format!("{site}/rest-server"), token);
    if below.get::<Map<String, Value>>(INFO).is_ok() {
        return Ok(below);
    }
    let itself = Client::of("OpenPAI", site, token);
    let _info: Map<String, Value> = itself.get(INFO)?;
    Ok(itself)
}

pub(super) fn read(openpai: &Client, with_storages: bool) -> anyhow::Result<There> {
    let users = openpai.get("/api/v2/users")?;
    let groups = openpai.get("/api/v2/groups")?;
    let mut clusters: BTreeMap<String, Cluster> = openpai.get("/api/v2/virtual-clusters")?;
    for (name, cluster) in &mut clusters {
        cluster.types = types(openpai, name);
    }
    let storages = if with_storages { storages(openpai)? } else { Vec::new() };
    Ok(There { users, groups, clusters, storages })
}

/// The types of a virtual cluster's GPUs. Only some OpenPAI know them: of others nothing follows.
fn types(openpai: &Client, cluster: &str) -> Vec<String> {
    let path = format!("/api/v2/cluster/sku-types?vc={cluster}");
    let types: BTreeMap<String, Sku> = openpai.get(&path).unwrap_or_default();
    let has_gpus = |(_, sku): &(String, Sku)| sku.gpu.as_u64().is_some_and(|gpus| gpus > 0);
    types.into_iter().filter(has_gpus).map(|(name, _)| name).collect()
}

/// Where a storage is, is told only to those who may use it.
fn storages(openpai: &Client) -> anyhow::Result<Vec<Storage>> {
    let Listed { storages } = openpai.get("/api/v2/storages")?;
    let storage = |Summary { name, default }: Summary| {
        let detail = openpai.get(&format!("/api/v2/storages/{name}"));
        Storage { name, default, detail: detail.map_err(|error| format!("{error:#}")) }
    };
    Ok(storages.into_iter().map(storage).collect())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_not_said_is_nothing() {
        let user: User =
            serde_json::from_value(json!({ "username": "ada", "email": null })).unwrap();
        assert_eq!((user.email.as_str(), user.admin, user.grouplist.len()), ("", false, 0));
        let group = json!({ "groupname": "g", "extension": { "acls": { "admin": true }, "a": 1 } });
        let group: Group = serde_json::from_value(group).unwrap();
        assert!(group.extension.acls.admin && group.extension.acls.virtual_clusters.is_empty());
        assert_eq!(Value::Object(group.extension.others), json!({ "a": 1 }));
    }

    #[test]
    fn what_is_guaranteed_comes_before_what_there_is() {
        let cluster = |value| serde_json::from_value::<Cluster>(value).unwrap().gpus();
        let both = json!({ "resourcesGuaranteed": { "gpu": 4 }, "resourcesTotal": { "gpu": 8 } });
        assert_eq!(cluster(both), 4);
        assert_eq!(cluster(json!({ "resourcesTotal": { "gpu": 8 } })), 8);
        assert_eq!(cluster(json!({ "capacity": 100 })), 0);
    }
}
