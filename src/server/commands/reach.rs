//! How the client finds its server.

use std::path::PathBuf;

use app::i18n::Language;
use clap::Args;

use super::words::{self, Words, words};

/// What every command of the client understands.
#[derive(Debug, Clone, Args)]
pub(crate) struct Common {
    /// The server's address [default: the one of `berth login`, else http://127.0.0.1:8080]
    #[arg(long, env = "BERTH_SERVER", value_name = "URL")]
    pub(crate) server: Option<String>,
    /// Prints JSON instead of text
    #[arg(long)]
    pub(crate) json: bool,
    /// The language of what people read: en or zh [default: the one of the locale]
    #[arg(long, env = "BERTH_LANGUAGE", value_name = "LANGUAGE", value_parser = words::named)]
    pub(crate) language: Option<Language>,
}

impl Common {
    /// The language of what people read.
    pub(super) fn language(&self) -> Language {
        self.language.unwrap_or_else(words::of_terminal)
    }

    /// What is said in it.
    pub(super) fn words(&self) -> &'static Words {
        words(self.language())
    }
}

/// The file in which `berth login` remembers where and who.
pub(super) fn login_file() -> Option<PathBuf> {
    let home = std::env::var_os("XDG_CONFIG_HOME").map(PathBuf::from);
    let home = home.or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".config")))?;
    Some(home.join("berth").join("client.toml"))
}
