//! What somebody typed, ticked or chose before the browser's part had taken the page over. Taking over
//! puts the server's values into the fields that follow a signal; here they get back what they had,
//! by the very events that they listen to.

use std::cell::RefCell;
use std::rc::Rc;

use leptos::prelude::document;
use wasm_bindgen::JsCast;
use wasm_bindgen::closure::Closure;
use web_sys::{
    Element, Event, EventInit, HtmlInputElement, HtmlOptionElement, HtmlSelectElement,
    HtmlTextAreaElement, NodeList,
};

const FIELDS: &str = "input, textarea, select";
/// What fields say when they are changed.
const EVENTS: [&str; 2] = ["input", "change"];

/// What a field was given.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Given {
    Text(String),
    Tick(bool),
    /// Files cannot be read or written here, but they are still in the field.
    Files,
}

/// Fields with what they were given.
type Fields = Rc<RefCell<Vec<(Element, Given)>>>;

/// Keeps what fields are given until the page is taken over.
pub(crate) struct Early {
    fields: Fields,
    listener: Closure<dyn FnMut(Event)>,
}

impl Early {
    /// Begins with what has been given already.
    pub(crate) fn keep() -> Self {
        let fields = Fields::default();
        let all = document().query_selector_all(FIELDS).ok();
        let all = (0..all.as_ref().map_or(0, NodeList::length))
            .filter_map(|index| all.as_ref()?.item(index)?.dyn_into::<Element>().ok());
        for field in all {
            if let Some(given) =
                given(&field).filter(|given| default(&field).as_ref() != Some(given))
            {
                fields.borrow_mut().push((field, given));
            }
        }
        let kept = Rc::clone(&fields);
        let listener = Closure::<dyn FnMut(Event)>::new(move |event: Event| {
            let field = event.target().and_then(|target| target.dyn_into::<Element>().ok());
            let Some((field, given)) =
                field.and_then(|field| Some((field.clone(), given(&field)?)))
            else {
                return;
            };
            let mut kept = kept.borrow_mut();
            kept.retain(|(other, _)| *other != field);
            kept.push((field, given));
        });
        for name in EVENTS {
            let heard = listener.as_ref().unchecked_ref();
            // A browser that cannot be listened to loses at most what is typed in this moment.
            let _ = document().add_event_listener_with_callback_and_bool(name, heard, true);
        }
        Self { fields, listener }
    }

    /// Gives every field that is still there what it was given.
    pub(crate) fn give_back(self) {
        for name in EVENTS {
            let heard = self.listener.as_ref().unchecked_ref();
            // Nothing is left to be done about a listener that stays.
            let _ = document().remove_event_listener_with_callback_and_bool(name, heard, true);
        }
        for (field, given) in self.fields.take() {
            if field.is_connected() {
                give(&field, &given);
            }
        }
    }
}

/// What is in a field; nothing for what nobody fills in.
fn given(field: &Element) -> Option<Given> {
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
fn default(field: &Element) -> Option<Given> {
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
fn give(field: &Element, given: &Given) {
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
