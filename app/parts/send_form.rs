use leptos::prelude::*;
use serde::de::DeserializeOwned;
use wasm_bindgen::JsCast;
use web_sys::{FormData, HtmlButtonElement, HtmlFormElement, SubmitEvent, UrlSearchParams};

use crate::sending::Sending;

/// A form that changes something. Where no script runs, the browser sends it.
#[component]
pub(crate) fn SendForm<T>(
    /// Where it is sent to.
    to: Sending<T>,
    children: Children,
) -> impl IntoView
where
    T: DeserializeOwned + Send + Sync + 'static,
{
    form(to.path(), Callback::new(move |filled_in| to.send(filled_in)), children)
}

fn form(action: &'static str, send: Callback<String>, children: Children) -> AnyView {
    let submit = move |event: SubmitEvent| {
        if event.default_prevented() {
            return;
        }
        event.prevent_default();
        if let Some(filled_in) = filled_in(&event) {
            send.run(filled_in);
        }
    };
    view! { <form method="post" action=action on:submit=submit>{children()}</form> }.into_any()
}

/// What the form is filled with, and the button by which it is sent.
fn filled_in(event: &SubmitEvent) -> Option<String> {
    let form = event.target()?.dyn_into::<HtmlFormElement>().ok()?;
    let filled_in = FormData::new_with_form(&form).ok()?;
    let button = event.submitter().and_then(|by| by.dyn_into::<HtmlButtonElement>().ok());
    if let Some(button) = button.filter(|button| !button.name().is_empty()) {
        filled_in.append_with_str(&button.name(), &button.value()).ok()?;
    }
    encoded(&filled_in)
}

/// As it stands in addresses, and in what browsers send.
pub(crate) fn encoded(filled_in: &FormData) -> Option<String> {
    let pairs = UrlSearchParams::new_with_str_sequence_sequence(filled_in).ok()?;
    pairs.to_string().as_string()
}
