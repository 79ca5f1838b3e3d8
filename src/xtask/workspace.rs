//! Where things are: the checkout and the folder Cargo builds into.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};
use cargo_metadata::MetadataCommand;

/// A `library` folder of the compiler's sources, or a `.tar.xz` of one.
pub(crate) const SOURCE_VARIABLE: &str = "BERTH_RUST_SRC";

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

    /// Cargo itself, in the root of the checkout. What the Cargo that started us says of us is kept from
    /// it: some build scripts look at it, and would run anew for each checkout and for whoever calls
    /// Cargo himself, and everything above them with them.
    pub(crate) fn cargo(&self) -> Command {
        let program = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let mut cargo = self.command(program.to_string_lossy().as_ref());
        let of_us = |name: &str| {
            let prefixes = ["CARGO_PKG_", "CARGO_MANIFEST_", "CARGO_BIN_"];
            prefixes.iter().any(|prefix| name.starts_with(prefix))
        };
        for (name, _) in std::env::vars_os() {
            if name.to_str().is_some_and(of_us) {
                cargo.env_remove(name);
            }
        }
        cargo
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
