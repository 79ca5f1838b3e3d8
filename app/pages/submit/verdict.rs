use leptos::prelude::*;
use protocol::ids::NodeName;

use crate::failed::Failed;
use crate::i18n::{told, tr};
use crate::pages::submit::later::submit_later;
use crate::pages::submit::state::{Editing, Way};
use crate::part::opened;
use crate::server_fns::checked::{Checked, Outlook};

/// What the scheduler would do with the job now. While a file is to be chosen nothing is said: one that
/// was chosen is in the editor.
#[component]
pub(crate) fn Verdict() -> impl IntoView {
    let editing = Editing::get();
    let is_later = Signal::derive(move || editing.report.with(waits).then_some(()));
    let later = opened(is_later, |()| submit_later());
    let answer = move || {
        if editing.way.get() == Way::File {
            return None;
        }
        let report = editing.report.read();
        match report.as_ref() {
            Err(failed) => Some(view! { <Unchecked failed=failed.clone()/> }.into_any()),
            Ok(report) => match report.dry_run.as_ref()? {
                Outlook::Fits { nodes, borrowed, place } => {
                    let (nodes, place) = (nodes.clone(), place.clone());
                    Some(view! { <Fits nodes=nodes borrowed=*borrowed place=place/> }.into_any())
                }
                Outlook::Later(_) => later.get().map(|later| later()),
            },
        }
    };
    view! {
        <div
            class="verdict"
            class:verdict--checking=move || editing.checking.get()
            aria-live="polite"
        >
            {move || answer()}
        </div>
    }
}

/// Whether there is more to say than that it starts.
fn waits(report: &Result<Checked, Failed>) -> bool {
    let answer = report.as_ref().ok().and_then(|report| report.dry_run.as_ref());
    matches!(answer, Some(Outlook::Later(_)))
}

#[component]
fn Unchecked(failed: Failed) -> impl IntoView {
    view! {
        <p class="verdict__line verdict__line--bad">{tr(|t| t.submit.rail.check_failed)}</p>
        <p class="hint">{told(move |t| failed.words(t))}</p>
    }
}

#[component]
fn Fits(nodes: Vec<NodeName>, borrowed: bool, place: Option<String>) -> impl IntoView {
    let together = place.map(|place| {
        view! { <p class="hint">{told(move |t| (t.submit.rail.fits_at)(&place))}</p> }
    });
    let lent = borrowed.then(|| view! { <p class="hint">{tr(|t| t.submit.rail.fits_lent)}</p> });
    view! {
        <p class="verdict__line verdict__line--good">
            {told(move |t| (t.submit.rail.fits_now)(&nodes))}
        </p>
        {together}
        {lent}
    }
}
