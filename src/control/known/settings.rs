//! What it was decided to go by when this server was started.

use std::path::PathBuf;

use protocol::cluster::NodeSettings;
use protocol::health::Check;

use super::gpus::GpuOptions;
use super::own_engines;
use super::portal::Portal;
use super::rules::{ContainerDisk, Rules};

/// What holds until this server is started again.
#[derive(Debug)]
pub(crate) struct Settings {
    pub(crate) rules: Rules,
    pub(crate) of_nodes: OfNodes,
}

/// What holds for all nodes.
#[derive(Debug)]
pub(crate) struct OfNodes {
    /// Where they have the storage as a folder of theirs, unless their labels say otherwise.
    pub(crate) storage_mount: Option<String>,
    /// Folder with their client certificates.
    pub(crate) certificates: Option<PathBuf>,
    /// The most bytes that one user's saved images may take on them.
    pub(crate) images_quota: u64,
    /// The registries that their engines ask for images; none is named: any.
    pub(crate) registries: Vec<String>,
    /// What tasks may write into their containers.
    pub(crate) container_disk: ContainerDisk,
    /// Where tasks of theirs must not be.
    pub(crate) portal: Portal,
    /// How their GPUs are found.
    pub(crate) gpus: GpuOptions,
    /// Other servers may lead this cluster as well.
    pub(crate) several_servers: bool,
    /// The checks that they go through.
    pub(crate) checks: Vec<Check>,
}

impl OfNodes {
    /// Why a node may not be as it is described, and what helps.
    pub(crate) fn refusal(&self, node: &NodeSettings) -> Option<String> {
        let own_engine = || own_engines::refusal(node).filter(|_| self.several_servers);
        self.portal.refusal(node).or_else(own_engine)
    }
}
