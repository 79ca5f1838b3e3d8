//! Which job starts where, as a pure function: a [`model::Snapshot`] of cluster and queue goes in,
//! a [`model::Plan`] comes out: placements, and for every job that waits why, its place, and when.
//!
//! No I/O, no clock, no randomness: the same snapshot gives the same plan.
//!
//! * [`plan`] decides for the whole queue; it is called several times a second.
//! * [`admit`] refuses at the door what can never be met, whatever the load.
//! * [`dry_run`] answers for a job that is not submitted.

pub mod model;

mod admit;
mod explain;
mod fit;
mod gpus;
mod node;
mod plan;
mod ports;
mod reserve;
mod share;
mod state;
mod want;

#[cfg(test)]
mod properties;
#[cfg(test)]
mod stories;
#[cfg(test)]
mod story;

pub use admit::admit;
pub use plan::{dry_run, plan};
