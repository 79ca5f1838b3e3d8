use leptos::prelude::*;
use protocol::fields::Notation;

use crate::i18n::told;
use crate::pages::submit::declared::says_more;
use crate::pages::submit::declared::sections::submit_form_declared;
use crate::pages::submit::state::Editing;
use crate::part::opened;

/// Secrets, parameters and prerequisites, folded. Their fields are fetched where the text has any, or as soon as
/// somebody comes near the form.
#[component]
pub(crate) fn Declared() -> impl IntoView {
    let editing = Editing::get();
    // Whoever takes the last one out goes on where he is.
    let has_any =
        Memo::new(move |before: Option<&bool>| before == Some(&true) || editing.read(says_more));
    let wanted = Signal::derive(move || (has_any.get() || editing.near.get()).then_some(()));
    let sections = opened(wanted, |()| submit_form_declared());
    let is_v2 = Memo::new(move |_| editing.read(|tree| tree.notation == Notation::V2));
    let title = told(move |t| {
        let words = &t.submit.fields.declared;
        if is_v2.get() { words.title } else { words.secrets }
    });
    view! {
        <details class="card fold declared" open=move || has_any.get()>
            <summary>{title}</summary>
            {move || sections.get().map(|sections| sections())}
        </details>
    }
}
