//! How GPUs of nodes are found and named.

use protocol::gpus::GpuNames;

/// How GPUs of nodes are found and named.
#[derive(Debug, Clone)]
pub struct GpuOptions {
    /// How their types are named.
    pub names: GpuNames,
    /// The image that drivers are asked in where no image of a node will do.
    pub image: String,
}

impl Default for GpuOptions {
    fn default() -> Self {
        Self { names: GpuNames::default(), image: "ubuntu:24.04".to_owned() }
    }
}
