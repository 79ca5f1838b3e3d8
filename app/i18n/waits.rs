//! Amounts in sentences about waiting.

use protocol::wait::ResourceKind;

use crate::number;

/// An amount with its unit.
pub(super) fn amount(resource: ResourceKind, value: u64) -> String {
    match resource {
        ResourceKind::Cpu | ResourceKind::Gpu | ResourceKind::Port => number::count(value),
        ResourceKind::Memory => number::memory(value),
        ResourceKind::Disk => number::disk(value),
    }
}

/// Names one after the other.
pub(super) fn list<T: ToString>(names: &[T], separator: &str) -> String {
    names.iter().map(ToString::to_string).collect::<Vec<_>>().join(separator)
}
