use leptos::prelude::*;

use crate::failed::Failed;
use crate::i18n::{told, tr};
use crate::pages::submit::availability::Availability;
use crate::pages::submit::problems::submit_problems;
use crate::pages::submit::state::{Editing, Way};
use crate::pages::submit::verdict::Verdict;
use crate::part::opened;
use crate::server_fns::checked::Checked;

/// Beside the text: what would become of it, what is wrong with it, where there is room.
#[component]
pub(crate) fn Rail() -> impl IntoView {
    let editing = Editing::get();
    let busy = editing.submit.pending();
    let is_wrong = Signal::derive(move || is_wrong(editing).then_some(()));
    let problems = opened(is_wrong, |()| submit_problems());
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
                    // It can be reached, so that the keyboard can scroll what it stands in.
                    aria-disabled=move || (editing.way.get() == Way::File).then_some("true")
                >
                    {words}
                    <kbd class="keys">{tr(|t| t.submit.keys)}</kbd>
                </button>
                {move || problems.get().map(|problems| problems())}
            </section>
            <Availability/>
        </aside>
    }
}

/// Whether there is something to say of what is wrong, or worth knowing.
fn is_wrong(editing: Editing) -> bool {
    let refused = |answer: &Option<Result<_, Failed>>| matches!(answer, Some(Err(_)));
    let said = |report: &Checked| !report.problems.is_empty() || !report.warnings.is_empty();
    editing.submit.value().with(refused)
        || editing.report.with(|report| report.as_ref().is_ok_and(said))
}
