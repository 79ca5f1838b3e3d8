use leptos::html;
use leptos::prelude::*;

use crate::i18n::tr;
use crate::pages::submit::menu::{Items, submit_templates};
use crate::part::opened;
use crate::template::Template;

/// The menu of examples. What is in it comes when it is opened.
#[component]
pub(crate) fn Templates(templates: Vec<Template>) -> impl IntoView {
    let menu = NodeRef::<html::Details>::new();
    let close = Callback::new(move |()| {
        if let Some(menu) = menu.get_untracked() {
            menu.set_open(false);
        }
    });
    let asked = RwSignal::new(false);
    Effect::new(move |_| {
        // It may have been opened before the page was alive.
        if menu.get().is_some_and(|menu| menu.open()) {
            asked.set(true);
        }
    });
    let items = opened(Signal::derive(move || asked.get().then_some(())), |()| submit_templates());
    view! {
        <details
            class="menu"
            node_ref=menu
            on:keydown=move |event| {
                if event.key() == "Escape" {
                    close.run(());
                }
            }
        >
            <summary class="button" on:click=move |_| asked.set(true)>
                {tr(|t| t.submit.templates)} " ▾"
            </summary>
            <ul class="menu__items">
                {move || items.get().map(|items: Items| items(templates.clone(), close))}
            </ul>
        </details>
    }
}
