//! Folders for the output of jobs that are being submitted. Nobody finds these jobs in the records yet: what
//! they are about to have is noted here, so that it is not taken away as another job's that was refused or is
//! forgotten.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use protocol::ids::UserName;
use storage::StoragePath;
use tokio::sync::{RwLock, RwLockReadGuard, RwLockWriteGuard};

use crate::lock::lock;

/// Those of all users.
#[derive(Debug, Default)]
pub(crate) struct Outputs(Mutex<HashMap<UserName, Arc<OfUser>>>);

/// Those of one user.
#[derive(Debug, Default)]
pub(crate) struct OfUser {
    /// Several are made at the same time; while one is taken away, none is.
    making: RwLock<()>,
    expected: Mutex<Vec<StoragePath>>,
}

/// A job that is not stored yet is to have a folder; nobody takes it away before this goes.
#[derive(Debug)]
pub(crate) struct Expected {
    of_user: Arc<OfUser>,
    place: StoragePath,
}

impl Outputs {
    /// Those of a user.
    pub(crate) fn of(&self, user: &UserName) -> Arc<OfUser> {
        let mut all = lock(&self.0);
        if let Some(known) = all.get(user) {
            return Arc::clone(known);
        }
        // Nobody else has these, and nothing is expected of them.
        all.retain(|_, of_user| Arc::strong_count(of_user) > 1);
        Arc::clone(all.entry(user.clone()).or_default())
    }
}

impl OfUser {
    /// Held while it is looked what is there, and what is not there is made.
    pub(crate) async fn making(&self) -> RwLockReadGuard<'_, ()> {
        self.making.read().await
    }

    /// Held while it is looked who uses a folder, and it is taken away.
    pub(crate) async fn alone(&self) -> RwLockWriteGuard<'_, ()> {
        self.making.write().await
    }

    /// A job is to have this folder. To be said before it is looked for.
    pub(crate) fn expect(self: &Arc<Self>, place: StoragePath) -> Expected {
        lock(&self.expected).push(place.clone());
        Expected { of_user: Arc::clone(self), place }
    }

    /// What jobs are to have that are not stored. To be asked before it is read which are stored.
    pub(crate) fn expected(&self) -> Vec<StoragePath> {
        lock(&self.expected).clone()
    }
}

impl Drop for Expected {
    fn drop(&mut self) {
        let mut expected = lock(&self.of_user.expected);
        if let Some(at) = expected.iter().position(|place| *place == self.place) {
            expected.swap_remove(at);
        }
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt;

    use super::*;

    fn user(name: &str) -> UserName {
        name.parse().unwrap()
    }

    #[tokio::test]
    async fn while_one_is_taken_away_none_is_made() {
        let outputs = Outputs::default();
        let (one, other) = (outputs.of(&user("alice")), outputs.of(&user("alice")));
        let making = one.making().await;
        assert!(other.making().now_or_never().is_some(), "several are made at once");
        assert!(other.alone().now_or_never().is_none());
        assert!(outputs.of(&user("bob")).alone().now_or_never().is_some(), "another's");
        drop(making);
        assert!(other.alone().now_or_never().is_some());
    }

    #[test]
    fn what_is_expected_is_so_as_often_as_it_was_said() {
        let outputs = Outputs::default();
        let folder = tempfile::tempdir().unwrap();
        let storage = storage::Storage::open(folder.path().to_str().unwrap()).unwrap();
        let place = storage.resolve("/Output/train").unwrap();
        let first = outputs.of(&user("alice")).expect(place.clone());
        let second = outputs.of(&user("alice")).expect(place.clone());
        drop(first);
        outputs.of(&user("bob"));
        assert_eq!(outputs.of(&user("alice")).expected(), [place]);
        drop(second);
        assert_eq!(outputs.of(&user("alice")).expected(), []);
        outputs.of(&user("carol"));
        assert_eq!(lock(&outputs.0).len(), 1, "who has none is forgotten");
    }
}
