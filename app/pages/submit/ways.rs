use leptos::prelude::*;

use crate::i18n::{Texts, told, tr};
use crate::pages::submit::state::{Editing, Way};

/// Form, editor or file.
#[component]
pub(crate) fn Ways() -> impl IntoView {
    let Editing { way, choose, .. } = Editing::get();
    let segment = move |this: Way| {
        view! {
            <button
                type="button"
                class="segment"
                aria-pressed=move || if way.get() == this { "true" } else { "false" }
                on:click=move |_| choose.run(this)
            >
                {told(move |t| name(t, this))}
            </button>
        }
    };
    view! {
        <div class="segments submit__ways" role="group" aria-label=tr(|t| t.submit.ways)>
            {Way::ALL.map(segment).into_iter().collect_view()}
        </div>
    }
}

fn name(texts: &'static Texts, way: Way) -> &'static str {
    match way {
        Way::Form => texts.submit.form,
        Way::Editor => texts.submit.editor,
        Way::File => texts.submit.file,
    }
}
