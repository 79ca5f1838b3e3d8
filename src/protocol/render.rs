//! Writes a [`JobSpec`] in either notation. Reading the result gives the same spec back, but for
//! its `dialect` and the values of its secrets, which stand as `******`.

mod berth;
mod json;
mod tree;
mod v1;
mod v2;
mod yaml;

use crate::spec::JobSpec;

/// The job as version 1, pretty-printed JSON. What version 1 has no word for stands under
/// `extras.berth`.
#[must_use]
pub fn to_json(spec: &JobSpec) -> String {
    json::write(&v1::tree(spec))
}

/// The job as version 2, YAML in block style. What version 2 has no word for stands under
/// `extras.berth`.
#[must_use]
pub fn to_yaml(spec: &JobSpec) -> String {
    yaml::write(&v2::tree(spec))
}

#[cfg(test)]
mod tests;
