//! Whether somebody looks at this tab: what nobody sees is not asked for.

use js_sys::{Function, Promise};
use leptos::prelude::*;
use send_wrapper::SendWrapper;
use wasm_bindgen::JsCast;
use wasm_bindgen::closure::Closure;
use wasm_bindgen_futures::JsFuture;

/// By this a browser says that a tab is hidden, and that it is shown again.
const CHANGED: &str = "visibilitychange";

/// Whether nobody looks at this tab.
pub(crate) fn is_hidden() -> bool {
    document().hidden()
}

/// Waits until somebody looks at it.
pub(crate) async fn looked_at() {
    while is_hidden() {
        let mut listener = None;
        let changed = Promise::new(&mut |done, _| {
            // A browser without the event never hides a tab.
            let _without = document().add_event_listener_with_callback(CHANGED, &done);
            listener = Some(done);
        });
        let _never_fails = JsFuture::from(changed).await;
        if let Some(listener) = listener {
            let _either_way = document().remove_event_listener_with_callback(CHANGED, &listener);
        }
    }
}

/// Does something each time somebody looks at it again, until who asked for that is gone.
pub(crate) fn when_looked_at(work: impl Fn() + 'static) {
    let looked = Closure::<dyn FnMut()>::new(move || {
        if !is_hidden() {
            work();
        }
    });
    let listener = looked.as_ref().unchecked_ref::<Function>().clone();
    let _without = document().add_event_listener_with_callback(CHANGED, &listener);
    let kept = SendWrapper::new((looked, listener));
    on_cleanup(move || {
        let _either_way = document().remove_event_listener_with_callback(CHANGED, &kept.1);
    });
}
