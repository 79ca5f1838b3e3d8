//! The logs of containers, as far as they were read.

pub(crate) mod end;
pub(crate) mod engines;
pub(crate) mod spools;
