use leptos::prelude::*;

use crate::Failed;
use crate::i18n::tr;

/// What failed, why, and how to go on.
#[component]
pub(crate) fn Failure(
    failed: Failed,
    /// Tries again.
    #[prop(into)]
    retry: Callback<()>,
) -> impl IntoView {
    let signed_out = failed.is_signed_out();
    let heading = tr(move |t| if signed_out { t.common.no_actor } else { t.common.failed });
    let unanswered = failed.unanswered;
    let sentence = failed.to_string();
    let words = tr(move |t| {
        if unanswered { t.outage.unanswered.to_owned() } else { (t.said)(&sentence) }
    });
    let request = failed.request_id.clone().map(|id| {
        view! { <p class="failure__id">{tr(|t| t.common.request_id)} ": " <code>{id}</code></p> }
    });
    let way_out = if signed_out {
        view! { <a class="button button--primary" href="/sign-in" rel="external">{tr(|t| t.sign_in.title)}</a> }
            .into_any()
    } else {
        view! {
            <button type="button" class="button" on:click=move |_| retry.run(())>
                {tr(|t| t.common.retry)}
            </button>
        }
        .into_any()
    };
    view! {
        <div class="failure" role="alert">
            <h2 class="failure__title">{heading}</h2>
            <p>{words}</p>
            {request}
            {way_out}
        </div>
    }
}
