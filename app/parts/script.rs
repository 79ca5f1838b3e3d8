//! Heavy JavaScript parts, fetched when they are first needed.

use serde::Serialize;
use wasm_bindgen::prelude::{JsValue, wasm_bindgen};

use crate::json::from_json;

#[wasm_bindgen(inline_js = "export function load(address) { return import(address); }")]
extern "C" {
    #[wasm_bindgen(catch, js_name = load)]
    async fn import(address: &str) -> Result<JsValue, JsValue>;
}

/// A module by its logical name; `None` when it cannot be had.
pub(crate) async fn load(name: &str) -> Option<JsValue> {
    import(&asset(name)?).await.ok()
}

/// The address of a file by its logical name, from the list that the server puts into the page.
pub(crate) fn asset(name: &str) -> Option<String> {
    let list = leptos::prelude::document().get_element_by_id("assets")?.text_content()?;
    let list: std::collections::BTreeMap<String, String> = from_json(&list).ok()?;
    list.get(name).cloned()
}

/// A value as JavaScript has it.
pub(crate) fn value<T: Serialize>(value: &T) -> Option<JsValue> {
    js_sys::JSON::parse(&serde_json::to_string(value).ok()?).ok()
}
