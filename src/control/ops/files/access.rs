//! Whether somebody may do something with a path. Rights are decided by where a path leads, not by
//! how it is written.

use std::collections::HashSet;

use api::{Actor, Error, ErrorCode, Result};
use futures::{StreamExt, TryStreamExt};
use protocol::ids::UserName;
use storage::rights::{self, Whose};
use storage::{Entry, StoragePath};

use super::failure;
use crate::error::database;
use crate::shared::Shared;

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
    pub(crate) shared: &'a Shared,
    pub(crate) actor: &'a Actor,
}

impl Access<'_> {
    /// May it be read?
    pub(crate) async fn to_read(&self, path: &StoragePath) -> Result<Standing> {
        let real = self.shared.storage.real(path).map_err(failure)?;
        let standing = self.standing(&real).await?;
        match &standing {
            Standing::Of(owner) if !self.is(owner) => Err(forbidden(path, owner)),
            Standing::Of(_) | Standing::Common | Standing::Free(_) => Ok(standing),
        }
    }

    /// May it be read with all that is in it, as code is packed and data is mounted? Who may list a
    /// folder may not therefore read what others have in it; and the root has Berth's own files.
    pub(crate) async fn to_read_whole(&self, path: &StoragePath) -> Result<Standing> {
        let standing = self.to_read(path).await?;
        let real = self.shared.storage.real(path).map_err(failure)?;
        let is_root = real.name().is_none();
        if is_root || (standing.is_shared() && !self.actor.admin) {
            return Err(shared_folder(path));
        }
        Ok(standing)
    }

    /// May what is there be changed? Nothing is claimed.
    pub(crate) async fn to_change(&self, path: &StoragePath) -> Result<Standing> {
        let real = self.shared.storage.real_name(path).map_err(failure)?;
        let standing = self.standing(&real).await?;
        match &standing {
            Standing::Of(owner) if !self.is(owner) => Err(forbidden(path, owner)),
            Standing::Common if !self.actor.admin => Err(common(path)),
            Standing::Free(place) if !self.actor.admin => {
                let missing = !self.shared.storage.exists(place).await.map_err(failure)?;
                let allowed = missing && place.parts().count() > 1;
                if allowed { Ok(standing) } else { Err(common(path)) }
            }
            Standing::Of(_) | Standing::Common | Standing::Free(_) => Ok(standing),
        }
    }

    /// May something be made there? A new place is claimed.
    pub(crate) async fn to_write(&self, path: &StoragePath, claim: Claim<'_>) -> Result<Standing> {
        let real = self.shared.storage.real(path).map_err(failure)?;
        let standing = self.to_change(&real).await?;
        let (Standing::Free(place), Claim::For(user)) = (&standing, claim) else {
            return Ok(standing);
        };
        if self.shared.storage.exists(place).await.map_err(failure)? {
            return Ok(standing);
        }
        let owner = self.shared.storage.claim(place, user).await.map_err(failure)?;
        if owner != *user && !self.is(&owner) {
            return Err(forbidden(path, &owner));
        }
        Ok(Standing::Of(owner))
    }

    /// Claims again what was written to: it may have been removed and given up meanwhile.
    pub(crate) async fn still_owned(&self, path: &StoragePath, standing: &Standing) -> Result<()> {
        let Standing::Of(owner) = standing else { return Ok(()) };
        let real = self.shared.storage.real(path).map_err(failure)?;
        let Whose::Claim(places) = self.whose(&real).await? else { return Ok(()) };
        let mut place = None;
        for candidate in &places {
            match self.shared.storage.owner(candidate).await.map_err(failure)? {
                Some(found) if found == *owner => return Ok(()),
                Some(_) | None => place = Some(candidate),
            }
        }
        let Some(place) = place else { return Ok(()) };
        let now = self.shared.storage.claim(place, owner).await.map_err(failure)?;
        if now == *owner {
            return Ok(());
        }
        self.shared.storage.remove(&real, false).await.map_err(failure)?;
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
        let users = database::users::list(self.shared.database.read()).await.map_err(database)?;
        let users: HashSet<UserName> = users.into_iter().map(|user| user.name).collect();
        let users = &users;
        let looked_at = futures::stream::iter(entries).map(async |entry| {
            let Some(path) = folder.child(&entry.name) else { return Ok(None) };
            let real = match self.shared.storage.real(&path) {
                Ok(real) => real,
                Err(_) => return Ok(None),
            };
            let standing = self.settle(rights::whose(&real, |name| users.contains(name))).await?;
            let hidden = standing.owner().is_some_and(|owner| !self.is(owner));
            Ok(if hidden { None } else { Some((entry, standing)) })
        });
        let seen: Vec<Option<_>> = looked_at.buffered(AT_ONCE).try_collect().await?;
        Ok(seen.into_iter().flatten().collect())
    }

    /// Gives up the claim to a place that is gone.
    pub(crate) async fn release(&self, path: &StoragePath) -> Result<()> {
        if path.parts().count() > 2 {
            return Ok(());
        }
        self.shared.storage.release(path).await.map_err(failure)
    }

    /// Gives up all claims to what is in a folder that is to be removed.
    pub(crate) async fn release_within(&self, folder: &StoragePath) -> Result<()> {
        let mut after: Option<String> = None;
        loop {
            let page = self.shared.storage.list(folder, after.as_deref(), PAGE).await;
            let page = match page.map_err(failure) {
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

    async fn standing(&self, real: &StoragePath) -> Result<Standing> {
        let whose = self.whose(real).await?;
        self.settle(whose).await
    }

    async fn whose(&self, real: &StoragePath) -> Result<Whose> {
        let Some(name) = rights::name(real) else { return Ok(rights::whose(real, |_| false)) };
        let is_user = name == self.actor.user || {
            let found = database::users::get(self.shared.database.read(), &name).await;
            found.map_err(database)?.is_some()
        };
        Ok(rights::whose(real, |asked| is_user && *asked == name))
    }

    async fn settle(&self, whose: Whose) -> Result<Standing> {
        let places = match whose {
            Whose::Common => return Ok(Standing::Common),
            Whose::User(user) => return Ok(Standing::Of(user)),
            Whose::Claim(places) => places,
        };
        for place in &places {
            if let Some(owner) = self.shared.storage.owner(place).await.map_err(failure)? {
                return Ok(Standing::Of(owner));
            }
        }
        Ok(places.into_iter().next_back().map_or(Standing::Common, Standing::Free))
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
