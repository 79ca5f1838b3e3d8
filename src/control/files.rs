//! Users' files: who may do what with a path, how much there is of whom, and how files arrive.

pub(crate) mod access;
pub(crate) mod job_keys;
pub(crate) mod ledger;
pub(crate) mod uploads;

mod path;

pub(crate) use path::path_of;
