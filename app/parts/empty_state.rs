use leptos::prelude::*;

/// What an empty place says: one sentence, what to do next, and the way there.
#[component]
pub(crate) fn EmptyState(
    #[prop(into)] title: Signal<String>,
    #[prop(into)] hint: Signal<String>,
    /// The way on.
    #[prop(optional)]
    children: Option<Children>,
) -> impl IntoView {
    view! {
        <div class="empty">
            <p class="empty__title">{move || title.get()}</p>
            <p class="empty__hint">{move || hint.get()}</p>
            {children.map(|children| children())}
        </div>
    }
}
