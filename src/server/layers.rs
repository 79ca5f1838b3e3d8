//! What stands around the doors: every request passes it on its way in, and its answer on its way out.

pub(crate) mod cors;
pub(crate) mod rates;
pub(crate) mod requests;
pub(crate) mod security;
