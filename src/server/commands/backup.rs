//! `berth backup`: what an installation cannot do without, in one file.

pub(super) mod archive;
pub(super) mod files;
pub(super) mod staging;

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use clap::Args;
use database::copies;
use storage::Storage;

use self::archive::{Made, Manifest};
use self::staging::{Staging, beside};
use super::installation::{Installation, wait};
use super::outcome::Outcome;
use super::text;
use crate::config::Config;

#[derive(Debug, Args)]
pub(super) struct Backup {
    /// What is written; one that is there is replaced when the new one is whole
    file: PathBuf,
    /// Leaves out the list of the users' files
    #[arg(long)]
    without_files: bool,
    #[command(flatten)]
    installation: Installation,
}

impl Backup {
    pub(super) fn run(self) -> Outcome {
        let config = self.installation.read()?;
        let manifest = wait(self.make(&config))?;
        text::say(format_args!("{}: {manifest}", self.file.display()));
        Ok(())
    }

    async fn make(&self, config: &Config) -> anyhow::Result<Manifest> {
        let key = config.key().path();
        if !key.is_file() {
            bail!(
                "{} is missing: is this the data folder (--data) of a server that was ever started?",
                key.display()
            );
        }
        let staging = Staging::new(beside(&self.file, ".unfinished"))?;
        let (url, copy) = (config.database_url(), staging.path(archive::DATABASE));
        let contents = copies::take(&url, &copy).await.context("the database cannot be copied")?;
        keep(&key, &staging.path(archive::KEY))?;
        if let Some(file) = &self.installation.config {
            keep(file, &staging.path(archive::CONFIGURATION))?;
        }
        if !self.without_files
            && let Err(error) = list_files(config, &staging.path(archive::FILES)).await
        {
            // What can be kept is kept: the storage has backups of its own.
            eprintln!("berth: the users' files cannot be listed, and are not: {error:#}");
        }
        let kind = if url.starts_with("sqlite:") { "SQLite" } else { "PostgreSQL" };
        let whole = staging.path("whole");
        let manifest = archive::write(&staging, Made { kind, contents }, &whole)?;
        put(&whole, &self.file).with_context(|| self.file.display().to_string())?;
        Ok(manifest)
    }
}

fn keep(file: &Path, copy: &Path) -> anyhow::Result<()> {
    fs::copy(file, copy).with_context(|| format!("{} cannot be read", file.display()))?;
    Ok(())
}

async fn list_files(config: &Config, list: &Path) -> anyhow::Result<()> {
    let storage = Storage::open_with(config.storage_options())?;
    let listed = files::list(&storage, list).await;
    if listed.is_err() && list.exists() {
        fs::remove_file(list)?;
    }
    listed
}

/// Moves what is whole to its place, and waits for the disk.
fn put(whole: &Path, place: &Path) -> std::io::Result<()> {
    fs::rename(whole, place)?;
    let folder = place.parent().filter(|folder| !folder.as_os_str().is_empty());
    File::open(folder.unwrap_or_else(|| Path::new(".")))?.sync_all()
}
