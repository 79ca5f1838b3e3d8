use leptos::prelude::*;

/// Page.
#[component]
pub(crate) fn SubmitPage() -> impl IntoView {
    view! { <h1>"Submit"</h1> }
}
