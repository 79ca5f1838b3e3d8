//! What is written down of what happened: in the audit log, as events of jobs, and of what these have
//! used.

pub(crate) mod audit;
pub(crate) mod happened;
pub(crate) mod usage;
