//! Media types of what is not described more closely.

pub(super) const YAML: &str = "text/yaml; charset=utf-8";
pub(super) const JSON: &str = "application/json";
pub(super) const TEXT: &str = "text/plain; charset=utf-8";
pub(super) const BYTES: &str = "application/octet-stream";
pub(super) const CSV: &str = "text/csv; charset=utf-8";
