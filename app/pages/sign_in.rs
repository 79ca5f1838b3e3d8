use leptos::prelude::*;

/// Page.
#[component]
pub(crate) fn SignInPage() -> impl IntoView {
    view! { <h1>"SignIn"</h1> }
}
