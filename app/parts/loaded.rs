use std::sync::Arc;

use leptos::prelude::*;
use protocol::time::Timestamp;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::edge;
use crate::i18n::tr;
use crate::parts::failure::Failure;
use crate::parts::loading::Loading;
use crate::parts::relative_time::RelativeTime;
use crate::reading::Reading;

/// Shows what a resource brings: a skeleton first, then the content, which stays while it is read
/// again. When that fails because something is out of order, the content stays as well, dimmed and
/// with the time at which it was read; every other failure takes its place.
#[component]
pub(crate) fn Loaded<T, F, V>(
    /// What is read.
    resource: Reading<T>,
    /// Makes the content.
    content: F,
    /// Lines of the skeleton.
    #[prop(default = 4)]
    lines: usize,
) -> impl IntoView
where
    T: Clone + Serialize + DeserializeOwned + Send + Sync + 'static,
    F: Fn(T) -> V + Send + Sync + 'static,
    V: IntoView + 'static,
{
    let content = Arc::new(content);
    let retry = Callback::new(move |()| resource.refetch());
    let last = StoredValue::new(None::<(T, Timestamp)>);
    view! {
        <Transition fallback=move || view! { <Loading lines=lines/> }>
            {move || {
                let content = Arc::clone(&content);
                Suspend::new(async move {
                    let (value, read_at) = match resource.await {
                        Ok(value) => {
                            last.set_value(Some((value.clone(), edge::now())));
                            (value, None)
                        }
                        Err(failed) => match last.get_value().filter(|_| failed.is_outage()) {
                            Some((value, at)) => (value, Some(at)),
                            None => {
                                return view! { <Failure failed=failed retry=retry/> }.into_any();
                            }
                        },
                    };
                    shown(content(value).into_any(), read_at, retry)
                })
            }}
        </Transition>
    }
}

/// The content, and over it what is to be said of one that is old.
fn shown(content: AnyView, read_at: Option<Timestamp>, retry: Callback<()>) -> AnyView {
    let notice = read_at.map(|at| view! { <Old at=at retry=retry/> });
    view! {
        <div class="loaded" class:loaded--old=read_at.is_some()>
            {notice}
            {content}
        </div>
    }
    .into_any()
}

#[component]
fn Old(at: Timestamp, retry: Callback<()>) -> impl IntoView {
    view! {
        <p class="loaded__notice" role="status">
            {tr(|t| t.outage.read_at)} " " <span aria-live="off"><RelativeTime at=at/></span> " "
            <button type="button" class="button button--quiet" on:click=move |_| retry.run(())>
                {tr(|t| t.common.retry)}
            </button>
        </p>
    }
    .into_any()
}
