use leptos::prelude::*;

/// Page.
#[component]
pub(crate) fn NodePage() -> impl IntoView {
    view! { <h1>"Node"</h1> }
}
