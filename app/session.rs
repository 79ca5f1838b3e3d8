use api::Actor;
use api::changes::Mark;
use api::sign_ins::SignInWays;
use leptos::prelude::*;
use leptos::task::spawn_local;
use protocol::time::Timestamp;
use serde::{Deserialize, Serialize};

use crate::edge;
use crate::i18n::Language;
use crate::json::Json;

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

/// Who looks, in which language and theme.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Session {
    actor: StoredValue<Option<Actor>>,
    ways: StoredValue<SignInWays>,
    pub(crate) language: RwSignal<Language>,
    /// The language that was chosen last; its texts may be on their way.
    chosen: StoredValue<Language>,
    pub(crate) theme: RwSignal<Theme>,
}

impl Session {
    /// Provides the session to everything below and returns what the page was opened with.
    pub(crate) fn provide() -> (Self, Opening) {
        let opening = SharedValue::<Opening, Json>::new_with_encoding(edge::opening).into_inner();
        let session = Session {
            actor: StoredValue::new(opening.actor.clone()),
            ways: StoredValue::new(opening.ways.clone()),
            language: RwSignal::new(opening.language),
            chosen: StoredValue::new(opening.language),
            theme: RwSignal::new(opening.theme),
        };
        provide_context(session);
        (session, opening)
    }

    /// The session of this page.
    pub(crate) fn get() -> Self {
        expect_context()
    }

    /// Goes over to a language, as soon as its texts are there.
    pub(crate) fn speak(self, language: Language) {
        self.chosen.set_value(language);
        spawn_local(async move {
            edge::fetch_texts(language).await;
            if self.chosen.try_get_value() == Some(language) {
                self.language.set(language);
            }
        });
    }

    /// Who is signed in. It does not change while a page lives: signing in and out load anew.
    pub(crate) fn actor(self) -> Option<Actor> {
        self.actor.get_value()
    }

    /// How one signs in here.
    pub(crate) fn ways(self) -> SignInWays {
        self.ways.get_value()
    }

    /// What people call a provider; its name where nobody has said.
    pub(crate) fn title_of(self, provider: &str) -> String {
        let ways = self.ways();
        let found = ways.providers.into_iter().find(|way| way.name.as_str() == provider);
        found.map_or_else(|| provider.to_owned(), |way| way.title)
    }

    pub(crate) fn is_admin(self) -> bool {
        self.actor.with_value(|actor| actor.as_ref().is_some_and(|actor| actor.admin))
    }

    /// The signed-in user's name; empty when nobody is.
    pub(crate) fn user_name(self) -> String {
        self.actor.with_value(|actor| {
            actor.as_ref().map(|actor| actor.user.to_string()).unwrap_or_default()
        })
    }
}
