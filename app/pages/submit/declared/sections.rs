use leptos::prelude::*;
use protocol::fields::Notation;

use crate::pages::submit::declared::pairs::{PARAMETERS, Pairs, SECRETS};
use crate::pages::submit::declared::prerequisites::Prerequisites;
use crate::pages::submit::declared::uses::Uses;
use crate::pages::submit::state::Editing;
use crate::part::MakeView;

/// Fields of what the text declares once and refers to by name.
#[lazy]
pub(in crate::pages::submit) fn submit_form_declared() -> MakeView {
    || view! { <Sections/> }.into_any()
}

/// What a file declares. Version 1 has a word for secrets alone.
#[component]
pub(crate) fn Sections() -> impl IntoView {
    let editing = Editing::get();
    let is_v2 = move || editing.read(|tree| tree.notation == Notation::V2);
    view! {
        <div class="stack declared__fields">
            <Pairs manner=&SECRETS/>
            <Show when=is_v2>
                <Pairs manner=&PARAMETERS/>
                <Prerequisites/>
                <Uses/>
            </Show>
        </div>
    }
}
