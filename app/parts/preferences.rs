use leptos::prelude::*;

use crate::i18n::{Language, Texts, tr};
use crate::opening::Theme;
use crate::parts::send_form::SendForm;
use crate::sending::Sending;
use crate::server_fns::preferences::{SetLanguage, SetTheme};
use crate::session::Session;

/// Language and theme. Both change at once where there is JavaScript, and by loading the same
/// address anew where there is none.
#[component]
pub(crate) fn Preferences() -> impl IntoView {
    view! {
        <div class="preferences">
            <LanguageSwitch/>
            <ThemeSwitch/>
        </div>
    }
}

#[component]
fn LanguageSwitch() -> impl IntoView {
    let session = Session::get();
    let action = Sending::to::<SetLanguage>();
    let button = move |choice: Language| {
        view! {
            <button
                class="segment"
                name="language"
                value=choice.as_str()
                lang=choice.tag()
                aria-pressed=move || (session.language.get() == choice).to_string()
                on:click=move |_| session.speak(choice)
            >
                {choice.own_name()}
            </button>
        }
    };
    view! {
        <SendForm to=action>
            <div class="segments" role="group" aria-label=tr(|t| t.nav.language)>
                {Language::ALL.map(button)}
            </div>
        </SendForm>
    }
}

#[component]
fn ThemeSwitch() -> impl IntoView {
    let theme = Session::get().theme;
    let action = Sending::to::<SetTheme>();
    let button = move |choice: Theme| {
        view! {
            <button
                class="segment"
                name="theme"
                value=choice.as_str()
                aria-pressed=move || (theme.get() == choice).to_string()
                on:click=move |_| theme.set(choice)
            >
                {tr(word(choice))}
            </button>
        }
    };
    view! {
        <SendForm to=action>
            <div class="segments" role="group" aria-label=tr(|t| t.nav.theme)>
                {Theme::ALL.map(button)}
            </div>
        </SendForm>
    }
}

fn word(theme: Theme) -> fn(&'static Texts) -> &'static str {
    match theme {
        Theme::System => |t| t.nav.theme_system,
        Theme::Light => |t| t.nav.theme_light,
        Theme::Dark => |t| t.nav.theme_dark,
    }
}
