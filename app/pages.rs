//! The pages. A page composes parts.

pub(crate) mod admin;
pub(crate) mod clusters;
pub(crate) mod compare;
pub(crate) mod files;
pub(crate) mod home;
pub(crate) mod job;
pub(crate) mod jobs;
pub(crate) mod node;
pub(crate) mod nodes;
pub(crate) mod not_found;
pub(crate) mod profile;
pub(crate) mod reference;
pub(crate) mod sign_in;
pub(crate) mod submit;
pub(crate) mod usage;
