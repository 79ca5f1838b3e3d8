use api::jobs::DryRun;
use api::queue::{Explanation, Instead};
use leptos::prelude::*;
use protocol::wait::WaitReason;

use crate::document::instead::edits;
use crate::i18n::{told, tr};
use crate::pages::submit::state::Editing;
use crate::part::MakeView;
use crate::parts::alternatives::Alternatives;
use crate::parts::wait_facts::WaitFacts;

/// Why a job would not start now.
#[lazy]
pub(super) fn submit_later() -> MakeView {
    || view! { <Later/> }.into_any()
}

/// Why the job would not start now.
#[component]
pub(crate) fn Later() -> impl IntoView {
    let report = Editing::get().report.get_untracked();
    match report.ok().and_then(|report| report.dry_run?.later()) {
        None | Some(DryRun::FitsNow { .. }) => ().into_any(),
        Some(DryRun::Waits(explanation)) => view! { <Waits explanation=*explanation/> }.into_any(),
        Some(DryRun::Never { reason }) => view! {
            <p class="verdict__line verdict__line--bad">{tr(|t| t.submit.rail.never)}</p>
            <Reason reason=reason/>
        }
        .into_any(),
    }
}

#[component]
fn Reason(reason: WaitReason) -> impl IntoView {
    let also = reason.clone();
    view! {
        <p>{told(move |t| (t.wait)(&reason))}</p>
        <p class="hint">{told(move |t| (t.wait_remedy)(&also))}</p>
    }
}

#[component]
fn Waits(explanation: Explanation) -> impl IntoView {
    let reason = explanation.reason.clone();
    let cluster = explanation.virtual_cluster.to_string();
    let alternatives = explanation.alternatives.clone();
    let editing = Editing::get();
    let link = move |instead: Instead, words: AnyView| {
        let apply = move |_| editing.edit(&editing.read(|tree| edits(tree, &instead)));
        view! {
            <button type="button" class="button button--small" on:click=apply>{words}</button>
        }
        .into_any()
    };
    let place = explanation.place().filter(|place| *place > 1);
    let place = place.map(|place| {
        view! { <p class="hint">{told(move |t| (t.submit.rail.position)(place, &cluster))}</p> }
    });
    view! {
        <p class="verdict__line verdict__line--wait">{tr(|t| t.submit.rail.waits)}</p>
        <Reason reason=reason/>
        {place}
        <WaitFacts explanation=explanation/>
        <Alternatives alternatives=alternatives link=link/>
    }
}
