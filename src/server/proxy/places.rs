//! How much passes through the proxy at once.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use protocol::ids::UserName;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Requests and WebSockets at once, of all users.
const ALL: usize = 4_096;
/// Of these, one user's.
const OF_USER: usize = 512;

/// Counts them.
#[derive(Debug)]
pub(crate) struct Places {
    all: Arc<Semaphore>,
    users: Mutex<HashMap<UserName, Arc<Semaphore>>>,
}

/// A place, given back when it is dropped.
#[derive(Debug)]
pub(super) struct Place {
    _all: OwnedSemaphorePermit,
    _user: OwnedSemaphorePermit,
}

impl Default for Places {
    fn default() -> Self {
        Self { all: Arc::new(Semaphore::new(ALL)), users: Mutex::default() }
    }
}

impl Places {
    /// A place for this user; `None`: all are taken.
    pub(super) fn take(&self, user: &UserName) -> Option<Place> {
        let of_user = {
            let mut users = self.users.lock().unwrap_or_else(PoisonError::into_inner);
            // Users without a request under way need not be remembered.
            users.retain(|_, places| places.available_permits() < OF_USER);
            let places = users.entry(user.clone());
            Arc::clone(places.or_insert_with(|| Arc::new(Semaphore::new(OF_USER))))
        };
        let user = of_user.try_acquire_owned().ok()?;
        Some(Place { _all: Arc::clone(&self.all).try_acquire_owned().ok()?, _user: user })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_user_does_not_take_all_places() {
        let places = Places::default();
        let (alice, bob) = ("alice".parse().unwrap(), "bob".parse().unwrap());
        let mut taken: Vec<_> = (0..OF_USER).map(|_| places.take(&alice).unwrap()).collect();
        assert!(places.take(&alice).is_none());
        assert!(places.take(&bob).is_some());
        taken.pop();
        assert!(places.take(&alice).is_some());
    }
}
