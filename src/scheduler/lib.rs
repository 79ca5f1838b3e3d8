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

mod answer;
mod cluster;
mod numbers;
mod pass;
mod queue;
mod share;
mod state;

#[cfg(test)]
mod properties;
#[cfg(test)]
mod stories;
#[cfg(test)]
mod story;

pub use answer::admit::{Admission, admit};
pub use answer::asked::dry_run;
pub use answer::effect::{Change, Effect};
pub use answer::plan;
pub use answer::waiting::Places;
pub use pass::Pass;
pub use queue::like::Like;
pub use queue::order::{Place, moves};
pub use queue::past::PastRuns;
pub use queue::past_waits::PastWaits;
pub use state::State;
