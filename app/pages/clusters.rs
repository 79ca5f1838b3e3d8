use leptos::prelude::*;

/// Page.
#[component]
pub(crate) fn ClustersPage() -> impl IntoView {
    view! { <h1>"Clusters"</h1> }
}
