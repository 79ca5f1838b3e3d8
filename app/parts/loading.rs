use leptos::prelude::*;

use crate::i18n::tr;

/// What stands where something will be: nothing for a moment, then so many grey lines.
#[component]
pub(crate) fn Loading(
    /// Lines of the final shape.
    #[prop(default = 4)]
    lines: usize,
) -> impl IntoView {
    view! {
        <div class="loading" role="status">
            <span class="visually-hidden">{tr(|t| t.common.loading)}</span>
            {(0..lines).map(|_| view! { <span class="loading__line"></span> }).collect_view()}
        </div>
    }
}
