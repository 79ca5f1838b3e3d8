use protocol::image::is_registry;
use serde::Deserialize;
use storage::StorageOptions;

use super::Config;

/// Where everything is remembered.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct DatabaseConfig {
    /// `sqlite://PATH` or `postgres://…`; none: `berth.db` in the data folder.
    pub url: Option<String>,
}

/// Where users' files are.
#[derive(Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct StorageConfig {
    /// A folder, `webhdfs://HOST:PORT/FOLDER` or `hdfs://HOST:PORT/FOLDER`; none: `storage` in the
    /// data folder.
    pub root: Option<String>,
    /// The web door of the name node, `http://HOST:PORT`, where it does not follow from the root.
    pub endpoint: Option<String>,
    /// The name Berth goes by there.
    pub user: Option<String>,
    /// A delegation token for there, in place of the name.
    pub delegation: Option<String>,
    /// The most one user's files may take, in MB (of 1 000 000 bytes); none: no limit.
    pub quota_mb: Option<u64>,
    /// The most one file may have that is sent through the server, in MB; none: 100 000.
    pub upload_limit_mb: Option<u64>,
    /// Where the nodes have the storage's root as a folder of theirs (NFS or the like): tasks then
    /// see their owner's files below `/berth`. A node's label `storage` says another place for that
    /// node, or `none`.
    pub mount: Option<String>,
}

impl std::fmt::Debug for StorageConfig {
    /// Without the token.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("StorageConfig").field("root", &self.root).finish_non_exhaustive()
    }
}

/// Where images come from, and what users save from containers.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ImagesConfig {
    /// The most one user's saved images may take on the nodes, in MB, each with what it is based on.
    pub quota_mb: u64,
    /// The registries that jobs' images come from and saved ones are pushed to, as `docker.io` and
    /// `registry.example.org:5000`; none: any.
    pub registries: Vec<String>,
}

impl Default for ImagesConfig {
    fn default() -> Self {
        Self { quota_mb: 500_000, registries: Vec::new() }
    }
}

impl ImagesConfig {
    /// What is wrong with it, one line a key.
    pub(super) fn mistakes(&self) -> impl Iterator<Item = String> {
        let wrong = self.registries.iter().filter(|registry| !is_registry(registry));
        wrong.map(|registry| {
            let allowed = "allowed is a host in small letters, as docker.io or r.example.org:5000";
            format!("images.registries: {registry:?}: {allowed}")
        })
    }
}

impl Config {
    /// The database's address.
    #[must_use]
    pub fn database_url(&self) -> String {
        let file = || format!("sqlite://{}", self.data.join("berth.db").display());
        self.database.url.clone().unwrap_or_else(file)
    }

    /// Where users' files are, and how they are reached.
    #[must_use]
    pub fn storage_options(&self) -> StorageOptions {
        let folder = || {
            let folder = self.data.join("storage");
            std::path::absolute(&folder).unwrap_or(folder).display().to_string()
        };
        StorageOptions {
            root: self.storage.root.clone().unwrap_or_else(folder),
            endpoint: self.storage.endpoint.clone(),
            user: self.storage.user.clone(),
            delegation: self.storage.delegation.clone(),
            quota: self.storage.quota_mb.map(bytes),
        }
    }

    /// The most bytes of one user's saved images.
    #[must_use]
    pub fn images_quota(&self) -> u64 {
        bytes(self.images.quota_mb)
    }

    /// The most bytes of a file that is sent.
    #[must_use]
    pub fn upload_limit(&self) -> Option<u64> {
        self.storage.upload_limit_mb.map(bytes)
    }
}

/// A megabyte has 1 000 000 of them.
pub(super) fn bytes(megabytes: u64) -> u64 {
    megabytes.saturating_mul(1_000_000)
}
