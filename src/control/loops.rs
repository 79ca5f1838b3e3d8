//! The reconcilers. Each reads what is wanted and what is observed, computes actions, does them,
//! and waits to be woken. They are the only writers of observed state and of transitions.

pub(crate) mod checks;
pub(crate) mod closing;
pub(crate) mod directories;
pub(crate) mod disks;
pub(crate) mod first_look;
pub(crate) mod heartbeats;
pub(crate) mod images;
pub(crate) mod jobs;
pub(crate) mod kept;
pub(crate) mod lacks;
pub(crate) mod leases;
pub(crate) mod lists;
pub(crate) mod metrics;
pub(crate) mod nodes;
pub(crate) mod notifications;
pub(crate) mod probe;
pub(crate) mod rests;
pub(crate) mod retention;
pub(crate) mod schedule;
pub(crate) mod supervised;
pub(crate) mod sweep;
