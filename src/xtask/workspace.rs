//! Where things are: the checkout and the folder Cargo builds into.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};
use cargo_metadata::MetadataCommand;

use crate::wasm_target::SOURCE_VARIABLE;

/// The paths every task works with.
#[derive(Debug, Clone)]
pub(crate) struct Workspace {
    /// The root of the checkout.
    pub(crate) root: PathBuf,
    /// Cargo's target folder, which may lie outside the checkout.
    pub(crate) target: PathBuf,
}

impl Workspace {
    /// Asks Cargo about the workspace that xtask was started in.
    pub(crate) fn find() -> Result<Self> {
        let metadata = MetadataCommand::new()
            .no_deps()
            .exec()
            .context("cargo cannot tell about the workspace; start `cargo xtask` inside it")?;
        Ok(Self { root: metadata.workspace_root.into(), target: metadata.target_directory.into() })
    }

    /// A command that runs in the root of the checkout.
    pub(crate) fn command(&self, program: impl AsRef<Path>) -> Command {
        let mut command = Command::new(program.as_ref());
        command.current_dir(&self.root).env("CARGO_TARGET_DIR", &self.target);
        // `berth` refuses variables that it does not know, and this one is ours.
        command.env_remove(SOURCE_VARIABLE);
        command
    }

    /// Cargo itself, in the root of the checkout.
    pub(crate) fn cargo(&self) -> Command {
        self.command(
            std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()).to_string_lossy().as_ref(),
        )
    }

    /// The folder of the front end's JavaScript.
    pub(crate) fn javascript(&self) -> PathBuf {
        self.root.join("app/js")
    }

    /// The OpenID provider that the tests sign in by.
    pub(crate) fn test_provider(&self) -> PathBuf {
        self.root.join("src/directory/tests/provider")
    }

    /// The folder that the server serves static files from.
    pub(crate) fn site(&self) -> PathBuf {
        self.target.join("site")
    }

    /// The `berth` binary of a profile (`debug` or `release`).
    pub(crate) fn berth(&self, profile: &str) -> PathBuf {
        self.target.join(profile).join("berth")
    }
}
