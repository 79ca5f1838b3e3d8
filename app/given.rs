//! What is in the fields of a page, and how one gets back what it had.

use serde::{Deserialize, Serialize};
use wasm_bindgen::JsCast;
use web_sys::{
    Element, Event, EventInit, HtmlInputElement, HtmlOptionElement, HtmlSelectElement,
    HtmlTextAreaElement, NodeList,
};

/// What people fill in.
pub(crate) const FIELDS: &str = "input, textarea, select";
/// What fields say when they are changed.
pub(crate) const EVENTS: [&str; 2] = ["input", "change"];

/// What a field was given.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Given {
    Text(String),
    Tick(bool),
    /// Files cannot be read or written here, but they are still in the field.
    Files,
}

/// The elements that were found.
pub(crate) fn elements(found: Option<NodeList>) -> Vec<Element> {
    let Some(found) = found else { return Vec::new() };
    (0..found.length()).filter_map(|index| found.item(index)?.dyn_into().ok()).collect()
}

/// What is in a field; nothing for what nobody fills in.
pub(crate) fn given(field: &Element) -> Option<Given> {
    if let Some(input) = field.dyn_ref::<HtmlInputElement>() {
        return match input.type_().as_str() {
            "hidden" | "submit" | "button" | "reset" | "image" => None,
            "checkbox" | "radio" => Some(Given::Tick(input.checked())),
            "file" => (!input.value().is_empty()).then_some(Given::Files),
            _of_text => Some(Given::Text(input.value())),
        };
    }
    if let Some(area) = field.dyn_ref::<HtmlTextAreaElement>() {
        return Some(Given::Text(area.value()));
    }
    field.dyn_ref::<HtmlSelectElement>().map(|select| Given::Text(select.value()))
}

/// What the document says is in a field.
pub(crate) fn default(field: &Element) -> Option<Given> {
    if let Some(input) = field.dyn_ref::<HtmlInputElement>() {
        return match input.type_().as_str() {
            "checkbox" | "radio" => Some(Given::Tick(input.default_checked())),
            _of_text => Some(Given::Text(input.default_value())),
        };
    }
    if let Some(area) = field.dyn_ref::<HtmlTextAreaElement>() {
        return Some(Given::Text(area.default_value().ok()?.replace("\r\n", "\n")));
    }
    let option = |which| field.query_selector(which).ok().flatten()?.dyn_into().ok();
    let chosen: Option<HtmlOptionElement> = option("option[selected]").or_else(|| option("option"));
    chosen.map(|chosen| Given::Text(chosen.value()))
}

/// Puts a value into a field and says so, as if it were typed now.
pub(crate) fn give(field: &Element, given: &Given) {
    match given {
        Given::Text(text) => set_text(field, text),
        Given::Tick(ticked) => {
            if let Some(input) = field.dyn_ref::<HtmlInputElement>() {
                input.set_checked(*ticked);
            }
        }
        Given::Files => {}
    }
    for name in EVENTS {
        let options = EventInit::new();
        options.set_bubbles(true);
        if let Ok(event) = Event::new_with_event_init_dict(name, &options) {
            // Whether somebody prevents what follows does not matter: nothing does.
            let _ = field.dispatch_event(&event);
        }
    }
}

fn set_text(field: &Element, text: &str) {
    if let Some(input) = field.dyn_ref::<HtmlInputElement>() {
        input.set_value(text);
    } else if let Some(area) = field.dyn_ref::<HtmlTextAreaElement>() {
        area.set_value(text);
    } else if let Some(select) = field.dyn_ref::<HtmlSelectElement>() {
        select.set_value(text);
    }
}
