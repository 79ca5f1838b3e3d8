//! Images that tasks start from: who may have which, how a saved one comes to a node, and what is being
//! done with them.

mod admit;
mod copy;
pub(crate) mod operations;

pub(crate) use admit::{admit, known_registry};
pub(crate) use copy::{CopyError, answering, copy};
