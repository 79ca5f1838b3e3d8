//! What is written down of what happened: in the audit log, and as events of jobs.

pub(crate) mod audit;
pub(crate) mod happened;
