use leptos::prelude::*;

use crate::i18n::tr;

/// By which id a failed request is found in the server's log, where it has one.
#[component]
pub(crate) fn RequestId(id: Option<String>) -> impl IntoView {
    id.map(|id| {
        view! {
            <p class="failure__id">
                {tr(|t| t.common.request_id)} {tr(|t| t.common.colon)} <code>{id}</code>
            </p>
        }
    })
}
