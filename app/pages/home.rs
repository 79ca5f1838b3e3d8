use leptos::prelude::*;

/// Page.
#[component]
pub(crate) fn HomePage() -> impl IntoView {
    view! { <h1>"Home"</h1> }
}
