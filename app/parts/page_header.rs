use leptos::prelude::*;
use leptos_meta::Title;

/// The title of a page, in the document and in the browser's tab, with the page's main actions.
#[component]
pub(crate) fn PageHeader(
    #[prop(into)] title: Signal<String>,
    /// The main actions.
    #[prop(optional)]
    children: Option<Children>,
) -> impl IntoView {
    view! {
        <Title text=move || title.get()/>
        <header class="page-header">
            <h1 class="page-header__title">{move || title.get()}</h1>
            {children.map(|children| view! { <div class="page-header__actions">{children()}</div> })}
        </header>
    }
}
