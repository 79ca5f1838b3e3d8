use api::Actor;
use api::sign_ins::SignInWays;
use leptos::prelude::*;
use leptos::task::spawn_local;

use crate::edge;
use crate::i18n::language::Language;
use crate::json::Json;
use crate::opening::{Opening, Theme};

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
