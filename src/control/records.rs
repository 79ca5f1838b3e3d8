//! What is written down of what happened: in the audit log, as events of jobs, of what these have used,
//! and of how well nodes are.

pub(crate) mod audit;
pub(crate) mod bursts;
pub(crate) mod happened;
pub(crate) mod health;
pub(crate) mod letters;
pub(crate) mod meanwhile;
pub(crate) mod notices;
pub(crate) mod store;
pub(crate) mod unseen;
pub(crate) mod usage;
pub(crate) mod user_names;
