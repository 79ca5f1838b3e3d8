//! Which job starts where, as a pure function: a [`model::Snapshot`] of cluster and queue goes in,
//! a [`model::Plan`] comes out: placements, and for every job that waits why, its place, and when.
//!
//! No I/O, no clock, no randomness: the same snapshot gives the same plan.

pub mod model;
