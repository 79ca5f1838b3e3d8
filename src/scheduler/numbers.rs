//! The scheduler's own numbers: small integers for what has names, whole numbers for amounts, and what
//! is asked for and what nodes are in them.

pub(crate) mod amounts;
pub(crate) mod gpus;
pub(crate) mod indices;
pub(crate) mod kind;
pub(crate) mod names;
pub(crate) mod quick;
pub(crate) mod request;
