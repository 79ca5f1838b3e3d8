//! `berth restore`: puts what `berth backup` has kept into an empty place.

use std::fs::{self, DirBuilder, File};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use anyhow::{Context, bail, ensure};
use clap::Args;
use database::copies::{self, CopyError, Place};
use storage::Storage;

use super::backup::archive::{self, Manifest};
use super::backup::files;
use super::backup::staging::{Staging, beside};
use super::installation::{Installation, wait};
use super::outcome::Outcome;
use super::text;
use crate::config::Config;

#[derive(Debug, Args)]
pub(super) struct Restore {
    /// What `berth backup` has written
    file: PathBuf,
    /// Restores into what is not empty: a database file and a key that are there are set aside, a
    /// PostgreSQL database is emptied
    #[arg(long)]
    replace: bool,
    /// Does not look which of the users' files of then are there
    #[arg(long)]
    without_files: bool,
    #[command(flatten)]
    installation: Installation,
}

impl Restore {
    pub(super) fn run(self) -> Outcome {
        let config = self.installation.read()?;
        wait(self.restore(&config))
    }

    async fn restore(&self, config: &Config) -> anyhow::Result<()> {
        let data = &config.data;
        make(data).with_context(|| format!("data = {}", data.display()))?;
        belongs_to_us(data)?;
        let place = Place::open(&config.database_url(), self.replace).await;
        let place = place.map_err(refused)?;
        let staging = Staging::new(folder_of(config).join("restoring"))?;
        let untouched = || format!("{} was not restored: nothing is changed", self.file.display());
        let manifest = archive::read(&self.file, &staging).with_context(untouched)?;
        let copy = staging.path(archive::DATABASE);
        let contents = copies::ready(&copy).await.with_context(untouched)?;
        let kept = staging.path(archive::KEY);
        let key = match &config.key_file {
            None => Some(Key::stage(data, &kept, self.replace).with_context(untouched)?),
            Some(given) => {
                is_given(given, &kept).with_context(untouched)?;
                None
            }
        };
        place.fill(&copy).await.with_context(untouched)?;
        key.as_ref().map_or(Ok(()), Key::put).with_context(|| {
            format!("the database is restored, its key is not: put it to {}", data.display())
        })?;
        text::say(format_args!("Restored what was {manifest}."));
        if contents.tables != manifest.tables {
            text::say(format_args!("Its tables were brought up to {}.", contents.tables));
        }
        self.tell(config, &manifest, &staging).await
    }

    /// What is still to be done by whoever restores.
    async fn tell(
        &self,
        config: &Config,
        manifest: &Manifest,
        staging: &Staging,
    ) -> anyhow::Result<()> {
        if manifest.has(archive::CONFIGURATION) {
            let (file, part) = (self.file.display(), archive::CONFIGURATION);
            text::say(format_args!("The configuration of then: tar -xzOf {file} {part}"));
        }
        if self.without_files || !manifest.has(archive::FILES) {
            return Ok(());
        }
        let storage = Storage::open_with(config.storage_options())?;
        let found = files::compare(&storage, &staging.path(archive::FILES)).await;
        let found = found.context("it is restored, but the users' files cannot be looked at")?;
        text::say(format_args!(
            "Of {} files of users {} are not there, or not as large as they were.",
            found.listed, found.missing
        ));
        for path in &found.examples {
            text::say(format_args!("  {path}"));
        }
        Ok(())
    }
}

fn refused(error: CopyError) -> anyhow::Error {
    let is_taken = matches!(error, CopyError::Taken { .. });
    let error = anyhow::Error::new(error);
    if is_taken {
        return error.context("nothing is changed; --replace restores nevertheless");
    }
    error
}

fn make(data: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(data)
}

/// What root writes into another user's folder, that user's server could not read.
fn belongs_to_us(data: &Path) -> anyhow::Result<()> {
    let owner = fs::metadata(data)?.uid();
    if owner != rustix::process::geteuid().as_raw() {
        bail!(
            "{} belongs to the user {owner}: restore as that user, as by runuser -u berth -- …",
            data.display()
        );
    }
    Ok(())
}

/// Where the database is to be, so that it need only be moved.
fn folder_of(config: &Config) -> PathBuf {
    let url = config.database_url();
    let file = url.strip_prefix("sqlite://").map(Path::new);
    let folder = file.and_then(Path::parent).filter(|folder| !folder.as_os_str().is_empty());
    folder.map_or_else(|| config.data.clone(), Path::to_owned)
}

/// A key that others put where it is is theirs to change.
fn is_given(given: &Path, kept: &Path) -> anyhow::Result<()> {
    let is_there = given.exists() && fs::read(given)? == fs::read(kept)?;
    ensure!(
        is_there,
        "key_file = {}: it is not the key of the backup, which has to be there before: tar -xzOf FILE {}",
        given.display(),
        archive::KEY
    );
    Ok(())
}

/// The key, in the data folder but not yet in its place.
struct Key {
    staged: PathBuf,
    place: PathBuf,
}

impl Key {
    fn stage(data: &Path, kept: &Path, replace: bool) -> anyhow::Result<Self> {
        let (place, key) = (data.join(archive::KEY), fs::read(kept)?);
        let is_other = place.exists() && fs::read(&place)? != key;
        ensure!(
            replace || !is_other,
            "{} is the key of another installation; --replace restores nevertheless",
            place.display()
        );
        let staged = beside(&place, ".restoring");
        let file =
            File::options().create(true).truncate(true).write(true).mode(0o600).open(&staged);
        file.and_then(|mut file| file.write_all(&key).and_then(|()| file.sync_all()))
            .with_context(|| format!("{} cannot be written", staged.display()))?;
        Ok(Self { staged, place })
    }

    /// Moves it to its place; another one that is there is set aside.
    fn put(&self) -> io::Result<()> {
        let place = &self.place;
        if place.exists() && fs::read(place)? != fs::read(&self.staged)? {
            let mut names = (1_u32..).map(|number| beside(place, &format!(".replaced-{number}")));
            if let Some(free) = names.find(|name| !name.exists()) {
                fs::rename(place, free)?;
            }
        }
        fs::rename(&self.staged, place)?;
        place.parent().map_or(Ok(()), |folder| File::open(folder)?.sync_all())
    }
}

impl Drop for Key {
    /// Where it was put, it is not there any more.
    fn drop(&mut self) {
        if self.staged.exists()
            && let Err(error) = fs::remove_file(&self.staged)
        {
            eprintln!("berth: {} cannot be removed: {error}", self.staged.display());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_that_is_given_is_the_backups_before_anything_is_restored() {
        let folder = tempfile::tempdir().unwrap();
        let (given, kept) = (folder.path().join("given"), folder.path().join("kept"));
        fs::write(&kept, "k1").unwrap();
        for other in [None, Some("k2")] {
            if let Some(other) = other {
                fs::write(&given, other).unwrap();
            }
            let refused = is_given(&given, &kept).unwrap_err().to_string();
            assert!(refused.contains("key_file") && refused.contains("tar -xzOf"), "{refused}");
        }
        fs::write(&given, "k1").unwrap();
        is_given(&given, &kept).unwrap();
    }

    #[test]
    fn another_key_is_set_aside_only_when_that_is_wanted() {
        let folder = tempfile::tempdir().unwrap();
        let data = folder.path();
        let (kept, place) = (data.join("kept"), data.join(archive::KEY));
        fs::write(&kept, "k1").unwrap();
        Key::stage(data, &kept, false).unwrap().put().unwrap();
        assert_eq!(fs::read_to_string(&place).unwrap(), "k1");
        assert_eq!(fs::metadata(&place).unwrap().mode() & 0o777, 0o600);
        Key::stage(data, &kept, false).unwrap().put().unwrap();

        fs::write(&kept, "k2").unwrap();
        let refused = Key::stage(data, &kept, false).err().unwrap().to_string();
        assert!(refused.contains("another installation"), "{refused}");
        drop(Key::stage(data, &kept, true).unwrap());
        assert_eq!(fs::read_to_string(&place).unwrap(), "k1", "it was not put");
        Key::stage(data, &kept, true).unwrap().put().unwrap();
        assert_eq!(fs::read_to_string(&place).unwrap(), "k2");
        let aside = fs::read_to_string(data.join("secret.key.replaced-1")).unwrap();
        assert_eq!(aside, "k1");
        assert!(!data.join("secret.key.restoring").exists());
    }
}
