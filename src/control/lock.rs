//! Locks of what several have in memory.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks; a panic of another holder does not make the value wrong. Holders replace it, or put one thing into it or
/// take one out; who takes several steps (`container/launch/semaphore.rs`) calls nothing in between that may panic.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
