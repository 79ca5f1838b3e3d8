use leptos::prelude::*;

/// Page.
#[component]
pub(crate) fn AdminPage() -> impl IntoView {
    view! { <h1>"Admin"</h1> }
}
