//! A cluster to look at: simulated nodes, users, and months of jobs, written into an empty data
//! folder at once. Every node says that it is simulated, and every user's name begins with `demo-`.
//!
//! [`seed`] writes it, the same for the same `now` each time; [`revive`] gives what runs its
//! simulated containers at every start; [`run`] has jobs come and go.

mod beside;
mod cast;
mod desk;
mod job;
mod life;
mod log;
mod measured;
mod past;
mod present;
mod revive;
mod seed;

pub use life::run;
pub use revive::revive;
pub use seed::{Ground, ground, seed};

/// Why a cluster to look at could not be made.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The database failed.
    #[error(transparent)]
    Database(#[from] database::Error),
    /// A kept log could not be written.
    #[error(transparent)]
    Storage(#[from] storage::StorageError),
    /// A log could not be written on its way there.
    #[error(transparent)]
    Log(#[from] std::io::Error),
    /// A simulated node refused a container.
    #[error(transparent)]
    Engine(#[from] engine::EngineError),
}

/// What is asked of a demonstration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// Jobs come and go.
    Living,
    /// Nothing begins or ends by itself, for tests and pictures.
    Still,
}
