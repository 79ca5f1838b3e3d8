use leptos::prelude::*;

use crate::i18n::{Texts, text, text_of, told, tr};
use crate::parts::about::{About, AskAbout};
use crate::parts::form_errors::FormAnswer;
use crate::sending::Sending;

type Named = fn(&'static Texts) -> fn(&str) -> String;

/// Removes rows of a table, each once it was asked for a second time.
#[derive(Clone, Copy)]
pub(super) struct Removal {
    pub(super) to: Sending,
    about: About<String>,
    /// What is asked, and what the button that does it says.
    title: Named,
    /// What goes with it.
    effect: fn(&'static Texts) -> &'static str,
    /// Whether the name is typed first: what goes does not come back.
    is_typed: bool,
}

impl Removal {
    pub(super) fn new(
        to: Sending,
        title: Named,
        effect: fn(&'static Texts) -> &'static str,
    ) -> Self {
        Self { to, about: About::new(), title, effect, is_typed: false }
    }

    /// Done only by who has typed the name.
    pub(super) fn typed(self) -> Self {
        Self { is_typed: true, ..self }
    }

    fn name(self) -> String {
        self.about.what().unwrap_or_default()
    }
}

/// Asks whether a row is to be removed.
#[component]
pub(super) fn Remove(name: String, removal: Removal) -> impl IntoView {
    view! {
        <button
            type="button"
            class="button button--small"
            on:click=move |_| removal.about.ask(name.clone())
        >
            {tr(|t| t.common.remove)}
        </button>
    }
    .into_any()
}

/// The question, and that it is done. It stands beside the table.
#[component]
pub(super) fn RemoveDialog(removal: Removal) -> impl IntoView {
    let Removal { to, about, title, effect, is_typed } = removal;
    let named = move || text_of(move |t| title(t)(&removal.name()));
    view! {
        <FormAnswer answer=to.done() done=text(|t| t.common.saved)/>
        <AskAbout
            opener=about.opener
            asked=about.is_asked()
            to=to
            title=named()
            words=text(effect)
            act=named()
        >
            <input type="hidden" name="name" value=move || removal.name()/>
            {is_typed.then(|| view! { <Typed removal=removal/> })}
        </AskAbout>
    }
    .into_any()
}

/// Where the name is typed. It is not sent: the browser compares it.
#[component]
fn Typed(removal: Removal) -> impl IntoView {
    let label = told(move |t| (t.admin.type_name)(&removal.name()));
    view! {
        <div class="field">
            <label class="field__label" for="typed-name">{label.clone()}</label>
            <input
                class="input"
                id="typed-name"
                required=true
                pattern=move || exactly(&removal.name())
                title=label
                autocomplete="off"
                spellcheck="false"
            />
        </div>
    }
    .into_any()
}

/// The pattern that a name alone fits.
fn exactly(name: &str) -> String {
    name.replace('.', "[.]")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dot_of_a_name_is_a_dot() {
        assert_eq!(exactly("ada.l-1_x"), "ada[.]l-1_x");
    }
}
