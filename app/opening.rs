use api::Actor;
use api::changes::Mark;
use api::sign_ins::SignInWays;
use protocol::time::Timestamp;
use serde::{Deserialize, Serialize};

use crate::i18n::language::Language;

/// Light, dark, or as the system says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Theme {
    /// As the system says.
    #[default]
    System,
    /// Light.
    Light,
    /// Dark.
    Dark,
}

impl Theme {
    pub(crate) const ALL: [Theme; 3] = [Theme::System, Theme::Light, Theme::Dark];

    /// The word in the cookie and in `data-theme`.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Theme::System => "system",
            Theme::Light => "light",
            Theme::Dark => "dark",
        }
    }
}

/// What the server knows of a request before any page is rendered. The browser gets the same
/// values with the page, so that its first rendering equals the server's.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Opening {
    pub(crate) actor: Option<Actor>,
    pub(crate) language: Language,
    pub(crate) theme: Theme,
    pub(crate) now: Timestamp,
    /// The address the page was asked for, path and query.
    pub(crate) address: String,
    /// How one signs in here.
    pub(crate) ways: SignInWays,
    /// Up to where the server had told of changes before it read what the page shows.
    pub(crate) mark: Option<Mark>,
}
