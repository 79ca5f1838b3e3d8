use leptos::prelude::*;

use crate::i18n::{told, tr};
use crate::pages::submit::availability::Availability;
use crate::pages::submit::problems::Problems;
use crate::pages::submit::state::Editing;
use crate::pages::submit::verdict::Verdict;

/// Beside the text: what would become of it, what is wrong with it, where there is room.
#[component]
pub(crate) fn Rail() -> impl IntoView {
    let editing = Editing::get();
    let busy = editing.submit.pending();
    let words = told(move |t| if busy.get() { t.submit.submitting } else { t.submit.submit });
    view! {
        <aside class="submit__rail stack">
            <section class="card stack submit__verdict">
                <h2>{tr(|t| t.submit.rail.title)}</h2>
                <Verdict/>
                <button
                    type="submit"
                    form="job"
                    class="button button--primary"
                    disabled=move || busy.get()
                >
                    {words}
                    <kbd class="keys">{tr(|t| t.submit.keys)}</kbd>
                </button>
                <Problems/>
            </section>
            <Availability/>
        </aside>
    }
}
