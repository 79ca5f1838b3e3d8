//! Who claimed which place: one small file a place, named by a digest of its path, and one more
//! below the owner's name, so that what is somebody's can be found without reading all.

use protocol::ids::UserName;
use sha2::{Digest, Sha256};

use crate::error::failed;
use crate::{Result, Storage, StorageError, StoragePath};

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
        let path = bytes::Bytes::copy_from_slice(place.as_str().as_bytes());
        self.write(&listed(user, place), path).await?;
        let name = bytes::Bytes::copy_from_slice(user.as_str().as_bytes());
        match self.create_whole(&claim(place), false, name).await {
            Ok(()) => Ok(user.clone()),
            Err(StorageError::Exists { .. }) => {
                let owner = self.owner(place).await?.unwrap_or_else(|| user.clone());
                if owner != *user {
                    self.remove(&listed(user, place), false).await?;
                }
                Ok(owner)
            }
            Err(error) => Err(error),
        }
    }

    /// Gives a place up: it is not there any more.
    ///
    /// # Errors
    /// [`StorageError::Failed`].
    pub async fn release(&self, place: &StoragePath) -> Result<()> {
        if let Some(user) = self.owner(place).await? {
            self.remove(&claim(place), false).await?;
            self.remove(&listed(&user, place), false).await?;
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
            let Some(file) = folder.child(&name) else { continue };
            let path = match self.read(&file).await {
                Ok(path) => path,
                Err(StorageError::NotFound { .. }) => continue,
                Err(error) => return Err(error),
            };
            let Ok(place) = crate::path::resolve("", &String::from_utf8_lossy(&path)) else {
                continue;
            };
            if self.owner(&place).await?.as_ref() == Some(user) {
                places.push(place);
            }
        }
        places.sort();
        Ok(places)
    }
}

fn claim(place: &StoragePath) -> StoragePath {
    StoragePath::own(&format!("owners/{}", digest(place)))
}

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
