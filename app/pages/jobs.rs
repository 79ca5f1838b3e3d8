use leptos::prelude::*;

/// Page.
#[component]
pub(crate) fn JobsPage() -> impl IntoView {
    view! { <h1>"Jobs"</h1> }
}
