//! The container engines of the nodes, in our words: one small trait, [`Engine`], with a real twin
//! (Docker) and a simulated one ([`simulated`]). [`connect`] makes the one an endpoint names.
//!
//! Every call is safe to repeat: creating what exists, starting what runs, stopping what has ended
//! and removing what is gone all succeed.

mod connect;
mod docker;
mod engine;
pub mod exporter;
mod filling;
mod images;
mod measured;
mod model;
pub mod simulated;
mod volume;

pub use connect::{EndpointOptions, connect};
pub use engine::Engine;
pub use images::{ImageSize, Images};
pub use measured::{Calls, measured};
pub use model::{
    Container, ContainerSpec, ContainerStatus, DiskRoom, EngineError, EngineInfo, Exec, Folder,
    GpuDevice, Guest, LogChunk, LogRequest, Network, OwnNetwork, Result, Share, Stats, Stranger,
    Stream,
};
pub use volume::{Content, Volume};
