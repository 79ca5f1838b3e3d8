//! People: how it is known who they are, and what they may do.

pub(crate) mod passwords;
pub(crate) mod people;
pub(crate) mod rights;
pub(crate) mod sign_in_options;
pub(crate) mod sign_ins;
