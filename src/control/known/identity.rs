//! Whose containers these are.

use protocol::epoch::Epoch;

/// What tells this installation from every other one, and this life of its database from others.
#[derive(Debug)]
pub(crate) struct Identity {
    /// Label of this installation's containers.
    pub(crate) installation: String,
    /// In which life of the database what is given now is given.
    pub(crate) epoch: Epoch,
}
