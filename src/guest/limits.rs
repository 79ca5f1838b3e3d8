//! Limits that programs of today find too low, raised as far as the container lets them be.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Open files; data loaders of many workers need some thousands.
const FILES: u64 = 65_536;

/// Bytes of a thread's stack.
const STACK: u64 = 64 << 20;

/// Raises them for this process and all that it starts. Where that is not allowed they stay.
pub(crate) fn raise() {
    for (resource, wanted) in [(Resource::Nofile, FILES), (Resource::Stack, STACK)] {
        let limit = getrlimit(resource);
        let current = limit.current.unwrap_or(u64::MAX);
        let reachable = limit.maximum.map_or(wanted, |maximum| maximum.min(wanted));
        if current < reachable {
            let raised = Rlimit { current: Some(reachable), maximum: limit.maximum };
            let _ = setrlimit(resource, raised);
        }
    }
}
