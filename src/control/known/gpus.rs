//! How GPUs of nodes are found and named.

use std::collections::BTreeMap;

use protocol::amount::Amount;
use protocol::gpus::GpuNames;
use protocol::ids::GpuType;

/// How GPUs of nodes are found and named.
#[derive(Debug, Clone)]
pub struct GpuOptions {
    /// How their types are named.
    pub names: GpuNames,
    /// The image that drivers are asked in. Where a node cannot have it, one of its own says which GPUs there
    /// are, and is not believed about anything else.
    pub image: String,
    /// What an hour of a GPU costs, by its type.
    pub prices: BTreeMap<GpuType, Amount>,
}

impl Default for GpuOptions {
    fn default() -> Self {
        Self {
            names: GpuNames::default(),
            image: "ubuntu:24.04".to_owned(),
            prices: BTreeMap::new(),
        }
    }
}
