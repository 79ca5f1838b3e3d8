mod viewer;

use leptos::html::Div;
use leptos::prelude::*;
use leptos::task::spawn_local;

use crate::i18n::{text, tr};
use crate::parts::page_header::PageHeader;

/// What programs can ask for, by the server's own description.
const DOCUMENT: &str = "/api/openapi.json";

/// What programs can ask for, to read and to try as oneself.
#[component]
pub(crate) fn ReferencePage() -> impl IntoView {
    let place = NodeRef::<Div>::new();
    let missing = RwSignal::new(false);
    show(place, missing);
    view! {
        <PageHeader title=text(|t| t.reference.title)>
            <a class="button" href=DOCUMENT rel="external">{tr(|t| t.reference.document)}</a>
        </PageHeader>
        <p class="hint">{tr(|t| t.reference.about)}</p>
        <Show when=move || missing.get()>
            <p role="alert">{tr(|t| t.reference.missing)}</p>
        </Show>
        <div class="reference" translate="no" node_ref=place></div>
    }
}

/// Shows the document as soon as its place is there.
fn show(place: NodeRef<Div>, missing: RwSignal<bool>) {
    Effect::new(move |begun: Option<bool>| {
        let Some(element) = place.get().filter(|_| begun != Some(true)) else {
            return begun.unwrap_or(false);
        };
        spawn_local(async move {
            let shown = viewer::show(&element, DOCUMENT).await.is_some();
            // The page may have been left meanwhile.
            missing.try_set(!shown);
        });
        true
    });
}
