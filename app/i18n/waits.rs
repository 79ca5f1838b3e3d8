//! Amounts in sentences about waiting.

use protocol::amount::Amount;
use protocol::wait::ResourceKind;

use crate::number;

/// An amount with its unit.
pub(super) fn amount(resource: ResourceKind, value: Amount) -> String {
    match resource {
        ResourceKind::Cpu | ResourceKind::Gpu | ResourceKind::Port => number::amount(value),
        ResourceKind::Memory => number::memory(value.floor()),
        ResourceKind::Disk => number::disk(value.floor()),
    }
}

/// Names one after the other.
pub(super) fn list<T: ToString>(names: &[T], separator: &str) -> String {
    names.iter().map(ToString::to_string).collect::<Vec<_>>().join(separator)
}
