use api::ErrorCode;
use leptos::prelude::*;

use crate::i18n::tr;
use crate::json::from_word;
use crate::pages::submit::cloned::submit_cloned;
use crate::pages::submit::happened::submit_happened;
use crate::pages::submit::state::Editing;
use crate::part::opened;

/// What the text was cloned from, and what happened to it.
#[component]
pub(crate) fn Notices() -> impl IntoView {
    let editing = Editing::get();
    let is_clone = Signal::derive(move || editing.cloned_from.read().is_some().then_some(()));
    let cloned = opened(is_clone, |()| submit_cloned());
    let has_happened = Signal::derive(move || {
        let any = editing.notice.read().is_some() || editing.drafts.offer.read().is_some();
        any.then_some(())
    });
    let happened = opened(has_happened, |()| submit_happened());
    view! {
        {move || cloned.get().map(|cloned| cloned())}
        <div aria-live="polite" class="submit__notices">
            {move || happened.get().map(|happened| happened())}
        </div>
    }
}

/// That the server refused what a browser without JavaScript posted; the check beside the text
/// says why.
#[component]
pub(crate) fn Refused(refused: Signal<String>) -> impl IntoView {
    // An address may say anything; only words of ours are shown.
    let notice = move || {
        let code = refused.get();
        let known = from_word::<ErrorCode>(code.clone()).is_some();
        known.then(|| {
            let why = view! {
                <p class="notice" role="alert">
                    {tr(|t| t.submit.rail.refused)} " " <code>{code}</code>
                </p>
            };
            why.into_any()
        })
    };
    view! { {move || notice()} }
}
