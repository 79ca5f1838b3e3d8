/// Where the server functions are.
pub(crate) const PREFIX: &str = "/fn/";
