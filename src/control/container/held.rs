//! What is kept between one use of containers and the next.

use protocol::ids::NodeName;

use super::guest::program::{Guest, Guests};
use super::images::operations::ImageOperations;
use super::known_keys::KnownKeys;
use super::outputs::Outputs;
use super::tunnels::idle::Tunnels;
use crate::known::capacity::architecture;
use crate::known::cluster::Cluster;
use crate::wake::LogicalClock;

/// What tasks' containers have in common.
#[derive(Debug)]
pub(crate) struct Held {
    /// What runs the tasks' commands; without it a shell does, and nobody can enter.
    pub(crate) guests: Guests,
    /// What is being done with images.
    pub(crate) images: ImageOperations,
    /// Folders for the output of jobs that are being submitted.
    pub(crate) outputs: Outputs,
    /// Ways into tasks that wait for their next use.
    pub(crate) tunnels: Tunnels,
    /// Counts the changes of users' public keys.
    pub(crate) key_changes: LogicalClock,
    /// Those that were read for launches just now.
    pub(crate) known_keys: KnownKeys,
}

impl Held {
    pub(crate) fn new(guests: Guests) -> Self {
        Self {
            guests,
            images: ImageOperations::default(),
            outputs: Outputs::default(),
            tunnels: Tunnels::default(),
            key_changes: LogicalClock::default(),
            known_keys: KnownKeys::default(),
        }
    }

    /// The program for containers of a node, if there is one.
    pub(crate) fn guest_on(&self, cluster: &Cluster, node: &NodeName) -> Option<&Guest> {
        self.guests.on(cluster.node(node).and_then(architecture))
    }
}
