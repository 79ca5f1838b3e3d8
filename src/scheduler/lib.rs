//! Which job starts where, as a pure function: cluster, queue and changes go in; placements and
//! preemptions come out, and for every job that waits why, its place, and when.
//!
//! No I/O, no clock, no randomness: the same input gives the same answer.
//!
//! * [`State`] lives as long as the server: changes are told to it, [`State::pass`] decides, and a
//!   pass costs what changed.
//! * [`plan`] does the same for a [`model::Snapshot`] at once.
//! * [`Admission`] refuses at the door what can never be met, whatever the load; [`admit`] does so for
//!   a snapshot at once.
//! * [`dry_run`] answers for a job that is not submitted.
//! * [`PastRuns`] learns how long jobs run, [`PastWaits`] how long they wait.
//!
//! `README.md` beside this file says what the policy is.

pub mod model;

mod admit;
mod answer;
mod asked;
mod balance;
mod cells;
mod claimant;
mod cluster;
mod effect;
mod evict;
mod explain;
mod fit;
mod fragmentation;
mod free;
mod gap;
mod gpus;
mod index;
mod kept;
mod life;
mod mix;
mod names;
mod node;
mod nodes;
mod order;
mod outrank;
mod pass;
mod past;
mod past_waits;
mod ports;
mod queue;
mod ranks;
mod reserve;
mod rights;
mod score;
mod settle;
mod share;
mod state;
mod tenant;
mod topology;
mod usable;
mod want;

#[cfg(test)]
mod events;
#[cfg(test)]
mod lending;
#[cfg(test)]
mod nesting;
#[cfg(test)]
mod overtaking;
#[cfg(test)]
mod parts;
#[cfg(test)]
mod pins;
#[cfg(test)]
mod properties;
#[cfg(test)]
mod reasons;
#[cfg(test)]
mod stories;
#[cfg(test)]
mod story;
#[cfg(test)]
mod wishes;

pub use admit::{Admission, admit};
pub use answer::plan;
pub use asked::dry_run;
pub use effect::{Change, Effect};
pub use order::{Place, moves};
pub use pass::Pass;
pub use past::{Like, PastRuns};
pub use past_waits::PastWaits;
pub use state::State;
