use leptos::prelude::*;

use crate::i18n::{Texts, text, text_of, told, tr};
use crate::parts::confirm::{Confirm, Opener};
use crate::parts::send_form::SendForm;
use crate::sending::Sending;

type Named = fn(&'static Texts) -> fn(&str) -> String;

/// Removes a row of a table, once it was asked for a second time.
#[component]
pub(super) fn Remove(
    name: String,
    to: Sending,
    /// What is asked, and what the button that does it says.
    title: Named,
    /// What goes with it.
    effect: fn(&'static Texts) -> &'static str,
) -> impl IntoView {
    let opener = Opener::new();
    let (of_title, of_button) = (name.clone(), name.clone());
    view! {
        <button type="button" class="button button--small" on:click=move |_| opener.open()>
            {tr(|t| t.common.remove)}
        </button>
        <Confirm
            opener=opener
            title=text_of(move |t| title(t)(&of_title))
            text=text(effect)
        >
            <SendForm to=to on:submit=move |_| opener.close()>
                <input type="hidden" name="name" value=name/>
                <button class="button button--danger" type="submit">
                    {told(move |t| title(t)(&of_button))}
                </button>
            </SendForm>
        </Confirm>
    }
    .into_any()
}
