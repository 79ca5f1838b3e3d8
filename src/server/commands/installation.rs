//! Which installation a command of its machine is about: what `berth serve` is told as well.

use std::path::PathBuf;

use anyhow::Context;
use clap::Args;

use crate::config::{Config, ConfigError, Flags};

#[derive(Debug, Args)]
pub(super) struct Installation {
    /// Folder of the database, the users' files and the logs [default: data]
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    /// Configuration file (TOML)
    #[arg(long, value_name = "FILE", env = "BERTH_CONFIG")]
    pub(super) config: Option<PathBuf>,
}

impl Installation {
    /// What it is configured to be.
    pub(super) fn read(&self) -> Result<Config, ConfigError> {
        let flags = Flags { data: self.data.clone(), ..Flags::default() };
        Config::load(self.config.as_deref(), environment(), &flags)
    }
}

/// The variables of this process. Those that are not text cannot be ours.
pub(super) fn environment() -> impl Iterator<Item = (String, String)> {
    std::env::vars_os()
        .filter_map(|(name, text)| Some((name.into_string().ok()?, text.into_string().ok()?)))
}

/// Does what takes its time to its end.
pub(super) fn wait<T>(work: impl Future<Output = anyhow::Result<T>>) -> anyhow::Result<T> {
    let runtime = tokio::runtime::Runtime::new().context("the runtime cannot be started")?;
    runtime.block_on(work)
}
