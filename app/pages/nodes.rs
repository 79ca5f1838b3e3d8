use leptos::prelude::*;

/// Page.
#[component]
pub(crate) fn NodesPage() -> impl IntoView {
    view! { <h1>"Nodes"</h1> }
}
