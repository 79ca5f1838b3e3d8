//! Copies texts. Browsers lend pages the clipboard only over HTTPS, and many a cluster is reached without: there
//! they copy what is selected, as by hand.

use std::time::Duration;

use leptos::ev::MouseEvent;
use leptos::prelude::*;
use leptos::task::spawn_local;
use wasm_bindgen::JsCast;
use wasm_bindgen_futures::JsFuture;
use web_sys::{HtmlDocument, HtmlElement, HtmlTextAreaElement};

/// How long it is said that a text was copied.
const SAID: Duration = Duration::from_millis(1500);

/// Copies a text where a button was clicked. `copied` says for a while that it was; where the browser refuses
/// it, nothing is said, and the text can be selected all the same.
pub(crate) fn copy(clicked: &MouseEvent, text: String, copied: RwSignal<bool>) {
    let button = clicked.current_target().and_then(|at| at.dyn_into::<HtmlElement>().ok());
    let Some(button) = button else { return };
    if !window().is_secure_context() {
        tell(copied, copy_selected(&button, &text));
        return;
    }
    let written = JsFuture::from(window().navigator().clipboard().write_text(&text));
    spawn_local(async move {
        let done = written.await.is_ok() || copy_selected(&button, &text).is_some();
        tell(copied, done.then_some(()));
    });
}

fn tell(copied: RwSignal<bool>, done: Option<()>) {
    if done.is_some() {
        // The page may be gone by then.
        copied.try_set(true);
        set_timeout(
            move || {
                copied.try_set(false);
            },
            SAID,
        );
    }
}

/// Selects the text in a field beside the button, where an open dialog has it, too, and copies that.
fn copy_selected(button: &HtmlElement, text: &str) -> Option<()> {
    let field: HtmlTextAreaElement = document().create_element("textarea").ok()?.dyn_into().ok()?;
    field.set_class_name("visually-hidden");
    field.set_value(text);
    button.parent_element()?.append_child(&field).ok()?;
    // A field that cannot take the focus has nothing selected, and nothing is copied.
    let _ = field.focus();
    field.select();
    let page = document().dyn_into::<HtmlDocument>().ok();
    let copied = page.is_some_and(|page| page.exec_command("copy").unwrap_or(false));
    field.remove();
    // Whoever works with keys goes on from the button.
    let _ = button.focus();
    copied.then_some(())
}
