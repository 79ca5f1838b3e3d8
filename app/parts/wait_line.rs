use leptos::prelude::*;
use protocol::wait::WaitReason;

use crate::i18n::told;

/// Why a job waits, in one sentence.
#[component]
pub(crate) fn WaitLine(reason: WaitReason) -> impl IntoView {
    view! { <span class="wait-line">{told(move |t| (t.wait)(&reason))}</span> }
}
