use std::sync::Arc;

use leptos::prelude::*;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::Failed;
use crate::parts::failure::Failure;
use crate::parts::loading::Loading;

/// Shows what a resource brings: a skeleton first, then the content; the old content, dimmed, while
/// it is read again; the failure, when it fails.
#[component]
pub(crate) fn Loaded<T, F, V>(
    /// What is read.
    resource: Resource<Result<T, Failed>>,
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
    view! {
        <Transition fallback=move || view! { <Loading lines=lines/> }>
            {move || {
                let content = Arc::clone(&content);
                Suspend::new(async move {
                    match resource.await {
                        Ok(value) => content(value).into_any(),
                        Err(failed) => view! { <Failure failed=failed retry=retry/> }.into_any(),
                    }
                })
            }}
        </Transition>
    }
}
