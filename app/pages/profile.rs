use leptos::prelude::*;

/// Page.
#[component]
pub(crate) fn ProfilePage() -> impl IntoView {
    view! { <h1>"Profile"</h1> }
}
