//! How much each user's files take. Counting takes time, so what was counted is remembered for a
//! while, and what is written meanwhile is added as it arrives.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use api::files::FileStream;
use api::{Actor, Error, ErrorCode, Result};
use bytes::Bytes;
use futures::StreamExt;
use protocol::ids::UserName;
use storage::{StorageError, rights};

use super::access::Standing;
use crate::lock::lock;
use crate::records::store::Store;

/// How long a count is believed.
const BELIEVED: Duration = Duration::from_secs(60);

#[derive(Debug, Default)]
pub(crate) struct Ledger(Mutex<HashMap<UserName, Counted>>);

#[derive(Debug, Clone)]
struct Counted {
    at: Instant,
    bytes: Used,
}

/// Bytes of one user, shared by all who write.
#[derive(Debug, Clone, Default)]
pub(crate) struct Used(Arc<AtomicU64>);

impl Used {
    pub(crate) fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }

    /// Adds, and says how much there is now.
    fn add(&self, bytes: u64) -> u64 {
        self.0.fetch_add(bytes, Ordering::Relaxed).saturating_add(bytes)
    }

    fn take(&self, bytes: u64) {
        self.0.fetch_sub(bytes, Ordering::Relaxed);
    }
}

/// A stream that is counted.
pub(crate) struct Metered {
    pub(crate) content: FileStream,
    pub(crate) count: Count,
}

/// What one writer has added.
#[derive(Debug, Clone, Default)]
pub(crate) struct Count {
    used: Used,
    added: Used,
}

impl Count {
    fn add(&self, piece: &Bytes) -> u64 {
        let bytes = piece.len() as u64;
        self.added.add(bytes);
        self.used.add(bytes)
    }

    /// This piece goes no further.
    fn refuse(&self, piece: &Bytes) {
        let bytes = piece.len() as u64;
        self.added.take(bytes);
        self.used.take(bytes);
    }

    /// Nothing came of it.
    pub(crate) fn take_back(&self) {
        self.used.take(self.added.0.swap(0, Ordering::Relaxed));
    }
}

impl Ledger {
    /// Whether so much more may be written there; without a length, whether anything may.
    pub(crate) async fn check(
        &self,
        store: &Store,
        actor: &Actor,
        standing: &Standing,
        length: Option<u64>,
    ) -> Result<()> {
        let Some((owner, quota)) = limited(store, actor, standing) else { return Ok(()) };
        let used = self.used(store, owner).await?.get();
        let wanted = used.saturating_add(length.unwrap_or(1).max(1));
        if wanted > quota { Err(full(owner, used, quota)) } else { Ok(()) }
    }

    /// Counts a stream while it passes, and ends it where it would be too much.
    pub(crate) async fn meter(
        &self,
        store: &Store,
        actor: &Actor,
        standing: &Standing,
        length: Option<u64>,
        content: FileStream,
    ) -> Result<Metered> {
        let Some((owner, quota)) = limited(store, actor, standing) else {
            return Ok(Metered { content, count: Count::default() });
        };
        self.check(store, actor, standing, length).await?;
        let used = self.used(store, owner).await?;
        let count = Count { used, added: Used::default() };
        let (counted, owner) = (count.clone(), owner.clone());
        let content = content.map(move |piece| {
            let piece = piece?;
            let now = counted.add(&piece);
            if now > quota {
                counted.refuse(&piece);
                return Err(full(&owner, now, quota));
            }
            Ok(piece)
        });
        Ok(Metered { content: content.boxed(), count })
    }

    /// What a user's files take.
    pub(crate) async fn used(&self, store: &Store, user: &UserName) -> Result<Used> {
        let known = lock(&self.0).get(user).filter(|known| known.at.elapsed() < BELIEVED).cloned();
        if let Some(known) = known {
            return Ok(known.bytes);
        }
        let bytes = Used::default();
        bytes.add(count(store, user).await?);
        let counted = Counted { at: Instant::now(), bytes: bytes.clone() };
        lock(&self.0).insert(user.clone(), counted);
        Ok(bytes)
    }

    /// Something of it was removed: it is counted anew.
    pub(crate) fn forget(&self, standing: &Standing) {
        if let Some(owner) = standing.owner() {
            lock(&self.0).remove(owner);
        }
    }
}

/// Whose room it takes, and how much there is; administrators help whoever has none left.
fn limited<'a>(
    store: &Store,
    actor: &Actor,
    standing: &'a Standing,
) -> Option<(&'a UserName, u64)> {
    let owner = standing.owner().filter(|_| !actor.admin)?;
    Some((owner, store.storage.quota()?))
}

async fn count(store: &Store, user: &UserName) -> Result<u64> {
    let storage = &store.storage;
    let mut places: BTreeSet<_> = rights::own_places(user).collect();
    places.extend(storage.places_of(user).await?);
    let mut bytes = storage.all_arrived(user).await?;
    for place in places {
        match storage.measure(&place, u64::MAX).await {
            Ok(size) => bytes = bytes.saturating_add(size.bytes),
            Err(StorageError::NotFound { .. } | StorageError::Path { .. }) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(bytes)
}

fn full(owner: &UserName, used: u64, quota: u64) -> Error {
    let message = format!(
        "the files of {owner} may take {quota} bytes and take {used}: remove some, or ask an administrator"
    );
    Error::new(ErrorCode::NoEnoughQuotaError, message)
}
