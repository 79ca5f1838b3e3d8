//! How GPUs of nodes are found and named, and what they count.

use std::collections::BTreeMap;

use protocol::amount::Amount;
use protocol::gpus::{GpuNames, GpuWeights};
use protocol::ids::GpuType;

/// How GPUs of nodes are found and named, and what they count.
#[derive(Debug, Clone)]
pub struct GpuOptions {
    /// How their types are named.
    pub names: GpuNames,
    /// The image that drivers are asked in. Where a node cannot have it, one of its own says which GPUs there
    /// are, and is not believed about anything else.
    pub image: String,
    /// What an hour of a GPU costs, by its type.
    pub prices: BTreeMap<GpuType, Amount>,
    /// As how many GPUs one counts where users share by what they have had, by its type.
    pub weights: GpuWeights,
}

impl Default for GpuOptions {
    fn default() -> Self {
        Self {
            names: GpuNames::default(),
            image: "ubuntu:24.04".to_owned(),
            prices: BTreeMap::new(),
            weights: GpuWeights::default(),
        }
    }
}
