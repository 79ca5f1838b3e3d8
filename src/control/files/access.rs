//! Whether somebody may do something with a path. No link is followed in the storage, so that a
//! path is where it says it is.

use std::collections::HashSet;

use api::{Actor, Error, ErrorCode, Result};
use futures::{StreamExt, TryStreamExt};
use protocol::ids::UserName;
use protocol::jobs::JobQuery;
use protocol::state::State;
use storage::rights::{self, Whose};
use storage::{Entry, EntryKind, StoragePath};

use crate::records::store::Store;
use crate::wake::now;

/// Owners that are looked up at the same time.
const AT_ONCE: usize = 16;
/// Entries whose claims are given up together.
const PAGE: usize = 1_000;

/// Whose a path is at present.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Standing {
    /// Everybody's to list: the root, or right below it.
    Common,
    /// This user's.
    Of(UserName),
    /// Nobody's yet: whoever makes this place gets it, while it is not there.
    Free(StoragePath),
}

impl Standing {
    pub(crate) fn owner(&self) -> Option<&UserName> {
        match self {
            Self::Of(user) => Some(user),
            Self::Common | Self::Free(_) => None,
        }
    }

    /// Whether what is in it may have owners of its own.
    pub(crate) fn is_shared(&self) -> bool {
        match self {
            Self::Of(_) => false,
            Self::Common => true,
            Self::Free(place) => place.parts().count() < 2,
        }
    }
}

/// Whom a new place is for.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Claim<'a> {
    /// This user.
    For(&'a UserName),
    /// Everybody.
    Nobody,
}

impl<'a> Claim<'a> {
    /// What administrators put into common folders is everybody's to read.
    pub(crate) fn unless_admin(actor: &'a Actor) -> Self {
        if actor.admin { Self::Nobody } else { Self::For(&actor.user) }
    }
}

/// Decides for one actor.
pub(crate) struct Access<'a> {
    pub(crate) store: &'a Store,
    pub(crate) actor: &'a Actor,
}

impl Access<'_> {
    /// May it be read?
    pub(crate) async fn to_read(&self, path: &StoragePath) -> Result<Standing> {
        let standing = self.standing(path).await?;
        match &standing {
            Standing::Of(owner) if !self.is(owner) => Err(forbidden(path, owner)),
            Standing::Of(_) | Standing::Common | Standing::Free(_) => Ok(standing),
        }
    }

    /// May it be read with all that is in it, as code is packed and data is mounted? Who may list a
    /// folder may not therefore read what others have in it; and the root has Berth's own files.
    pub(crate) async fn to_read_whole(&self, path: &StoragePath) -> Result<Standing> {
        let standing = self.to_read(path).await?;
        let is_root = path.name().is_none();
        if is_root || (standing.is_shared() && !self.actor.admin) {
            return Err(shared_folder(path));
        }
        Ok(standing)
    }

    /// May what is there be changed? Nothing is claimed.
    pub(crate) async fn to_change(&self, path: &StoragePath) -> Result<Standing> {
        let standing = self.standing(path).await?;
        match &standing {
            Standing::Of(owner) if !self.is(owner) => Err(forbidden(path, owner)),
            Standing::Common if !self.actor.admin => Err(common(path)),
            Standing::Free(place) if !self.actor.admin => {
                if self.may_claim(place).await? {
                    return Ok(standing);
                }
                // It may have been claimed and made since: by another job of the same user's.
                let again = self.standing(path).await?;
                if again.owner().is_some_and(|owner| self.is(owner)) {
                    return Ok(again);
                }
                Err(again.owner().map_or_else(|| common(path), |owner| forbidden(path, owner)))
            }
            Standing::Of(_) | Standing::Common | Standing::Free(_) => Ok(standing),
        }
    }

    /// May something be made there? A new place is claimed.
    pub(crate) async fn to_write(&self, path: &StoragePath, claim: Claim<'_>) -> Result<Standing> {
        let standing = self.to_change(path).await?;
        let (Standing::Free(place), Claim::For(user)) = (&standing, claim) else {
            return Ok(standing);
        };
        let claimed = self.store.storage.claim_new(place, user).await?;
        let Some(owner) = claimed else { return Ok(standing) };
        if owner != *user && !self.is(&owner) {
            return Err(forbidden(path, &owner));
        }
        Ok(Standing::Of(owner))
    }

    /// May a folder be made there for a job's output, and given to its tasks as a whole? A new place
    /// is claimed for the job's owner.
    pub(crate) async fn to_write_whole(&self, path: &StoragePath) -> Result<Standing> {
        let standing = self.to_write(path, Claim::For(&self.actor.user)).await?;
        if standing.is_shared() { Err(shared_folder(path)) } else { Ok(standing) }
    }

    /// Makes such a folder, right in one of the documents' folders, where nothing is yet and which nobody has.
    /// `false`: nothing was done, and it is to be asked for and made as any other is.
    pub(crate) async fn make_new(&self, place: &StoragePath) -> Result<bool> {
        if !place.parent().is_some_and(|folder| rights::is_of_documents(&folder)) {
            return Ok(false);
        }
        // Whoever had a place before there was a user of its name keeps it: a moment makes no difference.
        let is_user = match rights::name(place) {
            Some(name) if name == self.actor.user => true,
            Some(name) => self.store.user_names.have(&self.store.database, &name).await?,
            None => false,
        };
        match rights::whose(place, |_its_name| is_user) {
            Whose::Claim(_) => {
                Ok(self.store.storage.claim_and_make(place, &self.actor.user).await?)
            }
            Whose::Common | Whose::User { .. } => Ok(false),
        }
    }

    /// The topmost folder on the way to a path that has one owner: what is in it he may rename, it
    /// itself neither he nor his tasks can.
    pub(crate) async fn top(&self, path: &StoragePath) -> Result<StoragePath> {
        let places = match self.whose(path).await? {
            Whose::Common => return Ok(path.clone()),
            Whose::User { place, .. } => return Ok(place),
            Whose::Claim(places) => places,
        };
        for place in &places {
            if self.store.storage.owner(place).await?.is_some() {
                return Ok(place.clone());
            }
        }
        Ok(places.into_iter().next_back().unwrap_or_else(|| path.clone()))
    }

    /// Whether a user gets a place by making it: one that is not there, in a folder of the documents
    /// or in one that an administrator made. Right below the root nobody makes anything but his own:
    /// the name may be that of a user to come.
    async fn may_claim(&self, place: &StoragePath) -> Result<bool> {
        let Some(folder) = place.parent().filter(|folder| folder.name().is_some()) else {
            return Ok(false);
        };
        let storage = &self.store.storage;
        let known = rights::is_of_documents(&folder)
            || storage.find(&folder).await?.is_some_and(|found| is_folder(&found));
        Ok(known && !storage.exists(place).await?)
    }

    /// Claims again what was written to: it may have been removed and given up meanwhile.
    pub(crate) async fn still_owned(&self, path: &StoragePath, standing: &Standing) -> Result<()> {
        let Standing::Of(owner) = standing else { return Ok(()) };
        let Whose::Claim(places) = self.whose(path).await? else { return Ok(()) };
        let mut place = None;
        for candidate in &places {
            match self.store.storage.owner(candidate).await? {
                Some(found) if found == *owner => return Ok(()),
                Some(_) | None => place = Some(candidate),
            }
        }
        let Some(place) = place else { return Ok(()) };
        let now = self.store.storage.claim(place, owner).await?;
        if now == *owner {
            return Ok(());
        }
        self.store.storage.remove(path, false).await?;
        Err(forbidden(path, &now))
    }

    /// Those of a folder's entries that the actor may see, with whose they are.
    pub(crate) async fn visible(
        &self,
        folder: &StoragePath,
        standing: &Standing,
        entries: Vec<Entry>,
    ) -> Result<Vec<(Entry, Standing)>> {
        if !standing.is_shared() {
            let same = entries.into_iter().map(|entry| (entry, standing.clone()));
            return Ok(same.collect());
        }
        let users = database::users::list(self.store.database.read()).await?;
        let users: HashSet<UserName> = users.into_iter().map(|user| user.name).collect();
        let users = &users;
        let looked_at = futures::stream::iter(entries).map(async |entry| {
            let Some(path) = folder.child(&entry.name) else { return Ok::<_, Error>(None) };
            let standing = self.settle(rights::whose(&path, |name| users.contains(name))).await?;
            let hidden = standing.owner().is_some_and(|owner| !self.is(owner));
            Ok(if hidden { None } else { Some((entry, standing)) })
        });
        let seen: Vec<Option<_>> = looked_at.buffered(AT_ONCE).try_collect().await?;
        Ok(seen.into_iter().flatten().collect())
    }

    /// Gives up the claim to a place that is gone, unless a job of its owner's has not ended: a task
    /// of it may be about to be given what has that name, which then must not be another's.
    pub(crate) async fn release(&self, path: &StoragePath) -> Result<()> {
        if path.parts().count() > 2 {
            return Ok(());
        }
        let storage = &self.store.storage;
        let Some(owner) = storage.owner(path).await? else { return Ok(()) };
        let of_owner = JobQuery {
            users: vec![owner],
            states: State::ALL.into_iter().filter(|state| !state.is_final()).collect(),
            ..JobQuery::default()
        };
        let active = database::jobs::list(&self.store.database, &of_owner, now()).await;
        if active?.1 > 0 {
            return Ok(());
        }
        Ok(storage.release(path).await?)
    }

    /// Gives up all claims to what is in a folder that is to be removed.
    pub(crate) async fn release_within(&self, folder: &StoragePath) -> Result<()> {
        let mut after: Option<String> = None;
        loop {
            let page = self.store.storage.list(folder, after.as_deref(), PAGE).await;
            let page = match page.map_err(api::Error::from) {
                Ok(page) => page,
                Err(error) if error.code == ErrorCode::NoFileError => return Ok(()),
                Err(error) => return Err(error),
            };
            for entry in &page.entries {
                if let Some(place) = folder.child(&entry.name) {
                    self.release(&place).await?;
                }
            }
            after = page.entries.last().map(|entry| entry.name.clone());
            if !page.more {
                return Ok(());
            }
        }
    }

    fn is(&self, owner: &UserName) -> bool {
        self.actor.admin || self.actor.user == *owner
    }

    async fn standing(&self, path: &StoragePath) -> Result<Standing> {
        let whose = self.whose(path).await?;
        self.settle(whose).await
    }

    async fn whose(&self, path: &StoragePath) -> Result<Whose> {
        let Some(name) = rights::name(path) else { return Ok(rights::whose(path, |_| false)) };
        let is_user = name == self.actor.user || {
            let found = database::users::get(self.store.database.read(), &name).await;
            found?.is_some()
        };
        Ok(rights::whose(path, |asked| is_user && *asked == name))
    }

    async fn settle(&self, whose: Whose) -> Result<Standing> {
        let places = match whose {
            Whose::Common => return Ok(Standing::Common),
            Whose::User { user, place } if place.parts().count() < 2 => {
                return Ok(Standing::Of(user));
            }
            // Whoever had it before there was a user of that name keeps it.
            Whose::User { user, place } => {
                let before = self.store.storage.owner(&place).await?;
                return Ok(Standing::Of(before.unwrap_or(user)));
            }
            Whose::Claim(places) => places,
        };
        for place in &places {
            if let Some(owner) = self.store.storage.owner(place).await? {
                return Ok(Standing::Of(owner));
            }
        }
        Ok(places.into_iter().next_back().map_or(Standing::Common, Standing::Free))
    }
}

/// Whether it is a folder.
pub(crate) fn is_folder(entry: &Entry) -> bool {
    match entry.kind {
        EntryKind::Folder => true,
        EntryKind::File | EntryKind::Link => false,
    }
}

fn forbidden(path: &StoragePath, owner: &UserName) -> Error {
    let message = format!("{path} belongs to {owner}");
    Error::new(ErrorCode::ForbiddenUserError, message)
}

fn shared_folder(path: &StoragePath) -> Error {
    let path = path.as_str();
    let message = format!(
        "{path} has files of several users in it and is not taken as a whole: name a folder of your own"
    );
    Error::new(ErrorCode::ForbiddenUserError, message)
}

fn common(path: &StoragePath) -> Error {
    let message = format!(
        "{path} is common: only administrators change it. Your own files are in the folder of your name"
    );
    Error::new(ErrorCode::ForbiddenUserError, message)
}
