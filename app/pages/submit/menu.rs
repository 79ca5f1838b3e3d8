//! What is in the menu of examples.

use leptos::prelude::*;
use leptos::task::spawn_local;

use crate::pages::submit::template::Item;
use crate::server_fns::templates::list_shared;
use crate::template::Template;

/// Makes the items of the menu, and closes it by the callback.
pub(crate) type Items = fn(Vec<Template>, Callback<()>) -> AnyView;

/// The examples, and below them what people share.
#[lazy]
pub(super) fn submit_templates() -> Items {
    |templates, close| {
        let item = |template| view! { <Item template=template close=close/> };
        let examples = templates.into_iter().map(item).collect_view();
        view! {
            {examples}
            <Shared close=close/>
        }
        .into_any()
    }
}

/// What people share. Nobody waits for it: the examples come without.
#[component]
pub(crate) fn Shared(close: Callback<()>) -> impl IntoView {
    let shared = RwSignal::new(Vec::new());
    Effect::new(move |_| {
        spawn_local(async move {
            shared.try_set(list_shared().await.unwrap_or_default());
        });
    });
    let item = move |template| view! { <Item template=template close=close/> };
    move || shared.get().into_iter().map(item).collect_view()
}
