//! Bindings to `app/js/reference.ts`, which is fetched when it is first needed.

use wasm_bindgen::JsCast;
use wasm_bindgen::prelude::{JsValue, wasm_bindgen};

use crate::i18n::zh::VIEWER;
use crate::parts::script;

#[wasm_bindgen]
extern "C" {
    type Module;
    #[wasm_bindgen(method, catch)]
    async fn create(
        this: &Module,
        element: &web_sys::HtmlElement,
        address: &str,
        chinese: &str,
    ) -> Result<JsValue, JsValue>;
}

/// Shows the document at an address inside the element, with the viewer's own words in the page's language;
/// `None`: the viewer cannot be had.
pub(super) async fn show(element: &web_sys::HtmlElement, address: &str) -> Option<()> {
    let module: Module = script::load("js/reference.js").await?.unchecked_into();
    module.create(element, address, VIEWER).await.ok()?;
    Some(())
}
