use leptos::prelude::*;
use leptos_router::NavigateOptions;
use leptos_router::hooks::use_navigate;
use wasm_bindgen::JsCast;
use wasm_bindgen::closure::Closure;
use web_sys::{Element, HtmlAnchorElement, MouseEvent};

use crate::i18n::{told, tr};
use crate::live::Live;
use crate::parts::duration::Duration;

/// A page that cannot be opened at the moment, and what its link says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Wanted {
    pub(crate) address: String,
    pub(crate) name: String,
}

/// Says over the page that the server does not answer. Whoever wants to go to another page
/// meanwhile is told at once that it opens later, and it does.
#[component]
pub(crate) fn Outage() -> impl IntoView {
    let lost = Live::get().lost();
    let wanted = RwSignal::new(None::<Wanted>);
    hold_links(lost, wanted);
    let navigate = use_navigate();
    Effect::new(move |_| {
        if lost.get().is_none()
            && let Some(page) = wanted.try_update(Option::take).flatten()
        {
            navigate(&page.address, NavigateOptions::default());
        }
    });
    let later = move || {
        let page = wanted.get()?;
        Some(view! { <p>{told(move |t| (t.outage.opens_later)(&page.name))}</p> })
    };
    view! {
        <div class="outage" role="status">
            {move || {
                lost.get().map(|since| {
                    view! {
                        <div class="outage__said">
                            <p>
                                <strong>
                                    {tr(|t| t.outage.since)} " " <span aria-live="off"><Duration from=since to=None/></span> {tr(|t| t.common.stop)}
                                </strong>
                                " " {tr(|t| t.outage.stays)}
                            </p>
                            {move || later()}
                        </div>
                    }
                })
            }}
        </div>
    }
}

/// Takes clicks on links to other pages before anything else does, while nothing answers.
fn hold_links(lost: Signal<Option<protocol::time::Timestamp>>, wanted: RwSignal<Option<Wanted>>) {
    Effect::new(move |_| {
        let clicked = Closure::<dyn FnMut(MouseEvent)>::new(move |event: MouseEvent| {
            if lost.get_untracked().is_none() {
                return;
            }
            if let Some(page) = other_page(&event) {
                event.prevent_default();
                event.stop_propagation();
                wanted.set(Some(page));
            }
        });
        let handler = clicked.as_ref().unchecked_ref();
        // A browser that refuses goes to the page, which says that it could not be loaded.
        let _without = document().add_event_listener_with_callback_and_bool("click", handler, true);
        clicked.forget();
    });
}

/// The page of ours that a click leads to, if it is another one than this.
fn other_page(event: &MouseEvent) -> Option<Wanted> {
    let chord = event.meta_key() || event.ctrl_key() || event.shift_key() || event.alt_key();
    let element: Element = event.target()?.dyn_into().ok()?;
    let link: HtmlAnchorElement = element.closest("a[href]").ok()??.dyn_into().ok()?;
    let leaves = !link.target().is_empty() || link.has_attribute("download");
    let here = window().location();
    let other = link.origin() == here.origin().ok()? && link.pathname() != here.pathname().ok()?;
    let ours = other && !link.pathname().starts_with("/api/");
    (ours && !chord && !leaves && event.button() == 0).then(|| Wanted {
        address: format!("{}{}{}", link.pathname(), link.search(), link.hash()),
        name: link.text_content().unwrap_or_default().trim().to_owned(),
    })
}
