use leptos::prelude::*;

use crate::Failed;
use crate::i18n::{text, tr};
use crate::parts::loading::Loading;
use crate::parts::page_header::PageHeader;

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
        <PageHeader title=title/>
        <div class="empty">
            <p class="empty__hint">{move || hint.get()}</p>
            {children()}
        </div>
    }
    .into_any()
}

/// A page about something that may not exist: its content once it is known to exist, `nothing`
/// where it does not. The content stays as it is when what is found changes.
#[component]
pub(crate) fn Existing<T>(
    found: Resource<Result<T, Failed>>,
    /// What is shown instead.
    #[prop(into)]
    nothing: ViewFn,
    children: ChildrenFn,
) -> impl IntoView
where
    T: Clone + Send + Sync + 'static,
{
    let is_missing = |answer: &Option<Result<T, Failed>>| match answer {
        Some(Err(failed)) => failed.is_missing(),
        Some(Ok(_)) | None => false,
    };
    view! {
        <Transition fallback=|| view! { <Loading lines=4/> }>
            {move || {
                let (nothing, children) = (nothing.clone(), children.clone());
                let missing = Memo::new(move |_| found.with(is_missing));
                let known = untrack(|| found.into_future());
                Suspend::new(async move {
                    // Only that it has been answered matters here; the memo reads the answer.
                    drop(known.await);
                    move || if missing.get() { nothing.run() } else { children() }
                })
            }}
        </Transition>
    }
    .into_any()
}
