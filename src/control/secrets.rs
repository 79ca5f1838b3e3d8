//! What nobody else is to know, and what is worked out of this installation's own key.

pub(crate) mod keys;
pub(crate) mod sealing;
