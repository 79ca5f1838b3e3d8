//! Tasks' containers: what they are made of, how they are launched, and the ways into them.

pub(crate) mod checks;
pub(crate) mod code;
pub(crate) mod endpoint;
pub(crate) mod entry;
pub(crate) mod folders;
pub(crate) mod foreign;
pub(crate) mod forgotten;
pub(crate) mod guest;
pub(crate) mod held;
pub(crate) mod images;
pub(crate) mod known_keys;
pub(crate) mod launch;
pub(crate) mod lease;
pub(crate) mod outputs;
pub(crate) mod probe;
pub(crate) mod public_keys;
pub(crate) mod registry;
pub(crate) mod samples;
pub(crate) mod secrets;
pub(crate) mod storages;
pub(crate) mod tunnels;
