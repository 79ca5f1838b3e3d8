//! Whose server this is: the cluster's identity, the key that belongs to its database, the place where
//! that is served, and which of its lives this is.
//!
//! A database that was lost, or restored without its key, or copied, looks like any other one. What
//! tells is stored beside it and in it, and a start in doubt is refused with what to do.

use std::path::{Path, PathBuf};

use database::{Database, settings};
use protocol::epoch::Epoch;

use crate::error::Error;
use crate::secrets::sealing::{Seal, random};

/// The key that seals secrets, in the data folder.
const KEY_FILE: &str = "secret.key";
/// One that is about to become it, once the database knows it.
const STAGED: &str = "secret.key.new";

/// The facts of the database that say whose it is.
const INSTALLATION: &str = "installation";
const KEY: &str = "key";
const PLACE: &str = "place";
const EPOCH: &str = "epoch";

/// Where the key is that seals secrets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeyFile {
    /// In this data folder, where the first start makes it.
    Own(PathBuf),
    /// Where somebody has put it, as a credential of systemd or a secret that is mounted: it is read, and
    /// never made.
    Given(PathBuf),
}

impl KeyFile {
    /// The one that was given, or the data folder's own.
    #[must_use]
    pub fn new(data: &Path, given: Option<PathBuf>) -> Self {
        given.map_or_else(|| Self::Own(data.to_owned()), Self::Given)
    }

    /// The file.
    #[must_use]
    pub fn path(&self) -> PathBuf {
        match self {
            Self::Own(data) => data.join(KEY_FILE),
            Self::Given(path) => path.clone(),
        }
    }

    /// Where a new one is until the database knows it; `None`: none is made.
    fn staged(&self) -> Option<PathBuf> {
        match self {
            Self::Own(data) => Some(data.join(STAGED)),
            Self::Given(_) => None,
        }
    }
}

/// What an administrator says at a start, in so many words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Consent {
    /// The database was served elsewhere, and never will be again.
    pub take_over: bool,
    /// Key and database do not belong together: what one of them alone knew is lost.
    pub begin_anew: bool,
}

/// Makes an empty database a cluster's, or finds whose it is: the label of its containers.
pub(super) async fn establish(
    database: &Database,
    key: &KeyFile,
    consent: Consent,
) -> Result<String, Error> {
    let known = Known::read(database).await?;
    let place = database::place::of(database.read()).await?;
    known.check_place(&place, consent)?;
    let key = Key::find(key, &known, consent)?;
    let chosen = hex::encode(random::<4>());
    let transaction = database.begin().await?;
    let installation = settings::set_once(&transaction, INSTALLATION, &chosen).await?;
    settings::set(&transaction, PLACE, &place).await?;
    if consent.begin_anew {
        settings::set(&transaction, KEY, &key.fingerprint).await?;
    }
    // Another server of this database may have been the first at the same moment.
    let holds = settings::set_once(&transaction, KEY, &key.fingerprint).await?;
    if holds != key.fingerprint {
        return Err(Error::OtherKey(key.path.display().to_string()));
    }
    transaction.commit().await?;
    key.keep()?;
    Ok(installation)
}

/// The key that was found or made by [`establish`].
pub(super) fn seal(key: &KeyFile) -> Result<Seal, Error> {
    Seal::open(&key.path())
}

/// The key that belongs to a database which another server serves.
pub(super) fn shared_seal(key: &KeyFile) -> Result<Seal, Error> {
    let path = key.path();
    let told = || path.display().to_string();
    // None is made: it would be another one.
    match key {
        _ if is_there(&path)? => Seal::open(&path),
        KeyFile::Own(_) => Err(Error::LostKey(told())),
        KeyFile::Given(_) => Err(Error::NoKey(told())),
    }
}

/// Begins another life of the database. All that it gives from now on says so.
pub(super) async fn begin_life(database: &Database) -> Result<Epoch, Error> {
    let mark = u32::from_be_bytes(random::<4>());
    let transaction = database.begin().await?;
    let last = settings::get(&transaction, EPOCH).await?;
    let epoch = Epoch::of_label(last.as_deref()).next(mark);
    settings::set(&transaction, EPOCH, &epoch.to_string()).await?;
    transaction.commit().await?;
    Ok(epoch)
}

/// What the database says of itself.
struct Known {
    is_founded: bool,
    key: Option<String>,
    place: Option<String>,
}

impl Known {
    async fn read(database: &Database) -> Result<Self, Error> {
        let read = database.read();
        Ok(Self {
            is_founded: settings::get(read, INSTALLATION).await?.is_some(),
            key: settings::get(read, KEY).await?,
            place: settings::get(read, PLACE).await?,
        })
    }

    /// A database that was moved and one that was copied look the same: only a person knows whether
    /// the other one is still served.
    fn check_place(&self, now: &str, consent: Consent) -> Result<(), Error> {
        match &self.place {
            Some(before) if before != now && !consent.take_over => {
                Err(Error::Elsewhere { before: before.clone(), now: now.to_owned() })
            }
            Some(_) | None => Ok(()),
        }
    }
}

/// The key of this start.
struct Key {
    path: PathBuf,
    fingerprint: String,
    /// Where it is until the database knows it.
    staged: Option<PathBuf>,
}

impl Key {
    /// The key that belongs to the database; a new one where neither was there before.
    fn find(key: &KeyFile, known: &Known, consent: Consent) -> Result<Self, Error> {
        let path = key.path();
        let told = path.display().to_string();
        if is_there(&path)? {
            if !known.is_founded && !consent.begin_anew {
                return Err(Error::LostDatabase(told));
            }
            let fingerprint = Seal::open(&path)?.fingerprint();
            let is_another = known.key.as_ref().is_some_and(|known| *known != fingerprint);
            if is_another && !consent.begin_anew {
                return Err(Error::OtherKey(told));
            }
            return Ok(Self { path, fingerprint, staged: None });
        }
        let Some(staged) = key.staged() else { return Err(Error::NoKey(told)) };
        if known.is_founded && is_there(&staged)? {
            // A first start ended between the database and the file.
            let fingerprint = Seal::open(&staged)?.fingerprint();
            if known.key.as_ref() == Some(&fingerprint) {
                return Ok(Self { path, fingerprint, staged: Some(staged) });
            }
        }
        if known.is_founded && !consent.begin_anew {
            return Err(Error::LostKey(told));
        }
        if is_there(&staged)? {
            std::fs::remove_file(&staged).map_err(|source| of_file(&staged, source))?;
        }
        let fingerprint = Seal::open(&staged)?.fingerprint();
        Ok(Self { path, fingerprint, staged: Some(staged) })
    }

    /// Puts it where it belongs, now that the database knows it.
    fn keep(self) -> Result<(), Error> {
        let Self { path, staged: Some(staged), .. } = self else { return Ok(()) };
        std::fs::rename(&staged, &path).map_err(|source| of_file(&path, source))?;
        let folder = path.parent().unwrap_or(&path);
        let folder = std::fs::File::open(folder).and_then(|folder| folder.sync_all());
        folder.map_err(|source| of_file(&path, source))
    }
}

fn is_there(path: &Path) -> Result<bool, Error> {
    path.try_exists().map_err(|source| of_file(path, source))
}

fn of_file(path: &Path, source: std::io::Error) -> Error {
    Error::File { path: path.display().to_string(), source }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ANEW: Consent = Consent { take_over: false, begin_anew: true };

    async fn open(folder: &Path) -> Database {
        let file = folder.join("berth.db");
        Database::open(&format!("sqlite://{}", file.display())).await.unwrap()
    }

    async fn establish_in(folder: &Path, consent: Consent) -> Result<String, Error> {
        let database = open(folder).await;
        let key = KeyFile::Own(folder.to_owned());
        let established = establish(&database, &key, consent).await;
        database.close().await.unwrap();
        established
    }

    fn remove_database(folder: &Path) {
        for name in ["berth.db", "berth.db-wal", "berth.db-shm"] {
            let _may_be_none = std::fs::remove_file(folder.join(name));
        }
    }

    #[tokio::test]
    async fn a_cluster_stays_who_it_is() {
        let folder = tempfile::tempdir().unwrap();
        let usual = Consent::default();
        let first = establish_in(folder.path(), usual).await.unwrap();
        assert_eq!(establish_in(folder.path(), usual).await.unwrap(), first);
        assert!(!folder.path().join(STAGED).exists());
        let database = open(folder.path()).await;
        let lives = [begin_life(&database).await.unwrap(), begin_life(&database).await.unwrap()];
        assert!(lives[0] < lives[1] && !lives[0].is_none(), "{lives:?}");
    }

    #[tokio::test]
    async fn a_lost_database_beside_its_key_is_not_a_new_cluster() {
        let folder = tempfile::tempdir().unwrap();
        let first = establish_in(folder.path(), Consent::default()).await.unwrap();
        let key = std::fs::read(folder.path().join(KEY_FILE)).unwrap();
        remove_database(folder.path());
        let refused = establish_in(folder.path(), Consent::default()).await.unwrap_err();
        assert!(matches!(refused, Error::LostDatabase(_)), "{refused}");
        assert!(refused.to_string().contains("--begin-anew"), "{refused}");
        let other = establish_in(folder.path(), ANEW).await.unwrap();
        assert_ne!(other, first);
        assert_eq!(std::fs::read(folder.path().join(KEY_FILE)).unwrap(), key);
        assert_eq!(establish_in(folder.path(), Consent::default()).await.unwrap(), other);
    }

    #[tokio::test]
    async fn a_database_without_its_key_or_with_another_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let first = establish_in(folder.path(), Consent::default()).await.unwrap();
        let file = folder.path().join(KEY_FILE);
        let key = std::fs::read(&file).unwrap();
        std::fs::remove_file(&file).unwrap();
        let refused = establish_in(folder.path(), Consent::default()).await.unwrap_err();
        assert!(matches!(refused, Error::LostKey(_)), "{refused}");
        assert!(!file.exists(), "no other one is made");
        std::fs::write(&file, [7_u8; 32]).unwrap();
        let refused = establish_in(folder.path(), Consent::default()).await.unwrap_err();
        assert!(matches!(refused, Error::OtherKey(_)), "{refused}");
        assert_eq!(establish_in(folder.path(), ANEW).await.unwrap(), first);
        std::fs::write(&file, key).unwrap();
        let refused = establish_in(folder.path(), Consent::default()).await.unwrap_err();
        assert!(matches!(refused, Error::OtherKey(_)), "the other one belongs to it now");
    }

    #[tokio::test]
    async fn a_first_start_that_was_cut_off_is_gone_on_with() {
        let folder = tempfile::tempdir().unwrap();
        // The key was made, and nothing was stored.
        std::fs::write(folder.path().join(STAGED), [1_u8; 5]).unwrap();
        let first = establish_in(folder.path(), Consent::default()).await.unwrap();
        // It was stored, and the key was not put into place.
        std::fs::rename(folder.path().join(KEY_FILE), folder.path().join(STAGED)).unwrap();
        assert_eq!(establish_in(folder.path(), Consent::default()).await.unwrap(), first);
        assert!(folder.path().join(KEY_FILE).exists());
    }

    #[tokio::test]
    async fn a_key_that_is_given_is_read_and_never_made() {
        let (folder, secrets) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let given = secrets.path().join("berth");
        let key = KeyFile::new(folder.path(), Some(given.clone()));
        let establish = async |consent| {
            let database = open(folder.path()).await;
            let established = establish(&database, &key, consent).await;
            database.close().await.unwrap();
            established
        };
        for consent in [Consent::default(), ANEW] {
            let refused = establish(consent).await.unwrap_err();
            assert!(matches!(refused, Error::NoKey(_)), "{refused}");
            assert!(refused.to_string().contains(given.to_str().unwrap()), "{refused}");
        }
        assert!(matches!(shared_seal(&key).unwrap_err(), Error::NoKey(_)));
        assert!(!given.exists());
        std::fs::write(&given, [5_u8; 32]).unwrap();
        // Whoever has a key may have lost its database.
        let refused = establish(Consent::default()).await.unwrap_err();
        assert!(matches!(refused, Error::LostDatabase(_)), "{refused}");
        let first = establish(ANEW).await.unwrap();
        assert_eq!(establish(Consent::default()).await.unwrap(), first);
        assert_eq!(
            shared_seal(&key).unwrap().fingerprint(),
            Seal::open(&given).unwrap().fingerprint()
        );
        assert!(!folder.path().join(KEY_FILE).exists(), "there is one alone");
        std::fs::write(&given, [6_u8; 32]).unwrap();
        let refused = establish(Consent::default()).await.unwrap_err();
        assert!(matches!(refused, Error::OtherKey(_)), "{refused}");
        assert_eq!(KeyFile::new(folder.path(), None), KeyFile::Own(folder.path().to_owned()));
    }

    #[test]
    fn a_server_that_only_follows_makes_no_key() {
        let folder = tempfile::tempdir().unwrap();
        let key = KeyFile::Own(folder.path().to_owned());
        let missing = shared_seal(&key).unwrap_err();
        assert!(matches!(missing, Error::LostKey(_)), "{missing}");
        assert!(!folder.path().join(KEY_FILE).exists());
        std::fs::write(folder.path().join(KEY_FILE), [3_u8; 32]).unwrap();
        shared_seal(&key).unwrap();
    }

    /// Clusters of before have neither the key's fingerprint nor a place.
    #[tokio::test]
    async fn what_was_there_before_goes_on() {
        let folder = tempfile::tempdir().unwrap();
        let database = open(folder.path()).await;
        let transaction = database.begin().await.unwrap();
        settings::set(&transaction, INSTALLATION, "0a1b2c3d").await.unwrap();
        transaction.commit().await.unwrap();
        database.close().await.unwrap();
        std::fs::write(folder.path().join(KEY_FILE), [3_u8; 32]).unwrap();
        let goes_on = establish_in(folder.path(), Consent::default()).await.unwrap();
        assert_eq!(goes_on, "0a1b2c3d");
        std::fs::write(folder.path().join(KEY_FILE), [4_u8; 32]).unwrap();
        let refused = establish_in(folder.path(), Consent::default()).await.unwrap_err();
        assert!(matches!(refused, Error::OtherKey(_)), "{refused}");
    }

    #[tokio::test]
    async fn a_copy_is_not_served_before_somebody_says_that_the_other_one_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let (original, copy) = (folder.path().join("original"), folder.path().join("copy"));
        for place in [&original, &copy] {
            std::fs::create_dir(place).unwrap();
        }
        let first = establish_in(&original, Consent::default()).await.unwrap();
        for name in ["berth.db", KEY_FILE] {
            std::fs::copy(original.join(name), copy.join(name)).unwrap();
        }
        let refused = establish_in(&copy, Consent::default()).await.unwrap_err();
        assert!(matches!(refused, Error::Elsewhere { .. }), "{refused}");
        let words = refused.to_string();
        assert!(words.contains("original") && words.contains("--take-over"), "{words}");
        let taken = Consent { take_over: true, ..Consent::default() };
        assert_eq!(establish_in(&copy, taken).await.unwrap(), first);
        assert_eq!(establish_in(&copy, Consent::default()).await.unwrap(), first);
        establish_in(&original, Consent::default()).await.unwrap();
    }
}
