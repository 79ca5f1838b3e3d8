use leptos::prelude::*;

/// Page.
#[component]
pub(crate) fn JobPage() -> impl IntoView {
    view! { <h1>"Job"</h1> }
}
