//! What somebody typed, ticked or chose before the browser's part had taken the page over. Taking over
//! puts the server's values into the fields that follow a signal; here they get back what they had,
//! by the very events that they listen to.

use std::cell::RefCell;
use std::rc::Rc;

use leptos::prelude::document;
use wasm_bindgen::JsCast;
use wasm_bindgen::closure::Closure;
use web_sys::{Element, Event};

use crate::given::{EVENTS, FIELDS, Given, default, elements, give, given};

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
        for field in elements(document().query_selector_all(FIELDS).ok()) {
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
