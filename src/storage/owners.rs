//! Who claimed which place: one small file a place, named by a digest of its path, and one more
//! below the owner's name, so that what is somebody's can be found without reading all.

use bytes::Bytes;
use protocol::ids::UserName;
use sha2::{Digest, Sha256};

use crate::error::{Result, StorageError, failed};
use crate::path::{LONGEST_NAME, StoragePath};
use crate::storage::{Place, Storage};

/// What stands for these in a path that is a name.
const SLASH: &str = "%2F";
const PERCENT: &str = "%25";

impl Storage {
    /// Who claimed a place, if anybody did.
    ///
    /// # Errors
    /// [`StorageError::Failed`].
    pub async fn owner(&self, place: &StoragePath) -> Result<Option<UserName>> {
        match self.read(&claim(place)).await {
            Ok(name) => {
                let name = String::from_utf8_lossy(&name);
                let name = UserName::new(name.trim()).map_err(|error| failed(place, error))?;
                Ok(Some(name))
            }
            Err(StorageError::NotFound { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Claims a place for a user, unless somebody has claimed it. Says whose it is from now on: of
    /// several who claim it at the same time all get the same answer.
    ///
    /// # Errors
    /// [`StorageError::Failed`].
    pub async fn claim(&self, place: &StoragePath, user: &UserName) -> Result<UserName> {
        // An entry below the owner's name that is not true is found out by `places_of`.
        self.note_place(place, user).await?;
        match self.say_whose(place, user).await {
            Ok(()) => Ok(user.clone()),
            Err(StorageError::Exists { .. }) => {
                let owner = self.owner(place).await?.unwrap_or_else(|| user.clone());
                if owner != *user {
                    self.forget_place(place, user).await?;
                }
                Ok(owner)
            }
            Err(error) => Err(error),
        }
    }

    /// The same where nothing is; `None`: something is there, and nothing is claimed.
    ///
    /// # Errors
    /// As [`Storage::exists`] and [`Storage::claim`].
    pub async fn claim_new(
        &self,
        place: &StoragePath,
        user: &UserName,
    ) -> Result<Option<UserName>> {
        if self.exists(place).await? {
            return Ok(None);
        }
        self.claim(place, user).await.map(Some)
    }

    /// Claims a place where nothing is, and makes it a folder, all in one step: each job with an output folder
    /// of its own waits for it. `false`: it cannot be done so, or something is there or claimed; the place is
    /// as it was, and is to be claimed and made by itself.
    ///
    /// # Errors
    /// As [`Storage::claim_new`] and [`Storage::create_folder`].
    pub async fn claim_and_make(&self, place: &StoragePath, user: &UserName) -> Result<bool> {
        match (&self.place, named(user, place)) {
            (Place::Folder(folder), Some(entry)) => {
                folder.make_and_link(place, &of_all(user), (&entry, &claim(place))).await
            }
            (Place::Folder(_) | Place::Web(_), _) => Ok(false),
        }
    }

    /// Says of a place whose it is, unless that was said before. In a folder the disk is not waited
    /// for at each place: there it is another name of one file that says it of all the user's places
    /// and was written durably.
    async fn say_whose(&self, place: &StoragePath, user: &UserName) -> Result<()> {
        let name = || Bytes::copy_from_slice(user.as_str().as_bytes());
        if let Place::Folder(folder) = &self.place {
            let of_all = of_all(user);
            if folder.link(&of_all, &claim(place)).await? {
                return Ok(());
            }
            // It is the user's first place, or the file has as many names as one can have.
            match self.create_whole(&of_all, true, name()).await {
                // Another place of the user's was claimed at the same time, and has it written.
                Ok(()) | Err(StorageError::Exists { .. }) => {}
                Err(error) => return Err(error),
            }
            if folder.link(&of_all, &claim(place)).await? {
                return Ok(());
            }
        }
        self.create_whole(&claim(place), false, name()).await
    }

    /// Lists a place below a user's name. In a folder its path is the entry's name: there is nothing
    /// to be written that could be lost.
    async fn note_place(&self, place: &StoragePath, user: &UserName) -> Result<()> {
        if let (Place::Folder(folder), Some(entry)) = (&self.place, named(user, place)) {
            return folder.touch(&entry).await;
        }
        let path = Bytes::copy_from_slice(place.as_str().as_bytes());
        self.write(&listed(user, place), path).await
    }

    async fn forget_place(&self, place: &StoragePath, user: &UserName) -> Result<()> {
        for entry in named(user, place).into_iter().chain([listed(user, place)]) {
            self.remove(&entry, false).await?;
        }
        Ok(())
    }

    /// Gives a place up: it is not there any more.
    ///
    /// # Errors
    /// [`StorageError::Failed`].
    pub async fn release(&self, place: &StoragePath) -> Result<()> {
        if let Some(user) = self.owner(place).await? {
            self.remove(&claim(place), false).await?;
            self.forget_place(place, &user).await?;
        }
        Ok(())
    }

    /// The places that a user has claimed.
    ///
    /// # Errors
    /// [`StorageError::Failed`].
    pub async fn places_of(&self, user: &UserName) -> Result<Vec<StoragePath>> {
        let folder = list_of(user);
        let mut places = Vec::new();
        for name in self.own_names(&folder).await? {
            let Some(path) = self.listed_path(&folder, &name).await? else { continue };
            let Ok(place) = crate::path::resolve("", &path) else { continue };
            if self.owner(&place).await?.as_ref() == Some(user) {
                places.push(place);
            }
        }
        places.sort();
        places.dedup();
        Ok(places)
    }

    /// The path that an entry below a user's name is about, if the entry is still there.
    async fn listed_path(&self, folder: &StoragePath, name: &str) -> Result<Option<String>> {
        if name.starts_with(SLASH) {
            return Ok(Some(name.replace(SLASH, "/").replace(PERCENT, "%")));
        }
        let Some(entry) = folder.child(name) else { return Ok(None) };
        match self.read(&entry).await {
            Ok(path) => Ok(Some(String::from_utf8_lossy(&path).into_owned())),
            Err(StorageError::NotFound { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }
}

fn claim(place: &StoragePath) -> StoragePath {
    StoragePath::own(&format!("owners/{}", digest(place)))
}

/// A file that says who somebody is, of which his claims are further names.
fn of_all(user: &UserName) -> StoragePath {
    StoragePath::own(&format!("users/{}", folder_name(user)))
}

/// The entry of a place whose path is its name, whatever the file has; `None`: no file can be called so.
fn named(user: &UserName, place: &StoragePath) -> Option<StoragePath> {
    let name = place.as_str().replace('%', PERCENT).replace('/', SLASH);
    list_of(user).child(&name).filter(|_| name.len() <= LONGEST_NAME)
}

/// The entry of a place in which its path is written.
fn listed(user: &UserName, place: &StoragePath) -> StoragePath {
    StoragePath::own(&format!("places/{}/{}", folder_name(user), digest(place)))
}

fn list_of(user: &UserName) -> StoragePath {
    StoragePath::own(&format!("places/{}", folder_name(user)))
}

/// Users may be called `..`, folders may not.
fn folder_name(user: &UserName) -> String {
    format!("of-{user}")
}

fn digest(place: &StoragePath) -> String {
    hex::encode(Sha256::digest(place.as_str()))
}
