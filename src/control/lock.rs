//! Locks of what several have in memory.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks; a panic of another holder does not make the value wrong, since holders only replace it.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
