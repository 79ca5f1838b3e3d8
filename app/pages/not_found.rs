use leptos::prelude::*;

use crate::i18n::{text, tr};
use crate::parts::page_header::PageHeader;
use crate::reading::Reading;

/// An address that leads nowhere.
#[component]
pub(crate) fn NotFoundPage() -> impl IntoView {
    view! {
        <NothingHere title=text(|t| t.common.not_found) hint=text(|t| t.common.not_found_hint)>
            <a class="button button--primary" href="/">{tr(|t| t.common.go_home)}</a>
        </NothingHere>
    }
}

/// The whole of a page whose subject does not exist: what is missing, and the way on.
#[component]
pub(crate) fn NothingHere(
    #[prop(into)] title: Signal<String>,
    #[prop(into)] hint: Signal<String>,
    /// The way on.
    children: Children,
) -> impl IntoView {
    crate::edge::set_not_found();
    view! {
        <div class="nothing">
            <PageHeader title=title/>
            <div class="empty">
                <p class="empty__hint">{move || hint.get()}</p>
                {children()}
            </div>
        </div>
    }
    .into_any()
}

/// A page about something that may not exist. Where it does not, `nothing` follows the content, and
/// the style sheet shows that alone: the content is there in any case, so that the browser finds the
/// elements that the server sent, and what is open in it outlives each reading of `found`.
#[component]
pub(crate) fn Existing<T>(
    found: Reading<T>,
    /// What is shown instead.
    #[prop(into)]
    nothing: ViewFn,
    children: Children,
) -> impl IntoView
where
    T: Clone + Send + Sync + 'static,
{
    view! {
        <div class="subject">{children()}</div>
        <Transition>
            {move || {
                let nothing = nothing.clone();
                Suspend::new(async move {
                    match found.await {
                        Err(failed) if failed.is_missing() => nothing.run(),
                        Ok(_) | Err(_) => ().into_any(),
                    }
                })
            }}
        </Transition>
    }
    .into_any()
}
