//! Bindings to `app/js/editor.ts`, which is fetched when it is first needed.

use protocol::problem::Problem;
use serde::Serialize;
use wasm_bindgen::JsCast;
use wasm_bindgen::prelude::{Closure, JsValue, wasm_bindgen};

use crate::parts::script;

#[wasm_bindgen]
extern "C" {
    type Module;
    #[wasm_bindgen(method, catch)]
    async fn create(
        this: &Module,
        element: &web_sys::HtmlElement,
        options: &JsValue,
    ) -> Result<JsValue, JsValue>;

    type Handle;
    #[wasm_bindgen(method, js_name = setText)]
    fn set_text(this: &Handle, text: &str);
    #[wasm_bindgen(method, js_name = onChange)]
    fn on_change(this: &Handle, listener: &Closure<dyn FnMut(String)>);
    #[wasm_bindgen(method, js_name = onSubmit)]
    fn on_submit(this: &Handle, listener: &Closure<dyn FnMut()>);
    #[wasm_bindgen(method, js_name = setMarkers)]
    fn set_markers(this: &Handle, markers: &JsValue);
    #[wasm_bindgen(method)]
    fn reveal(this: &Handle, line: u32, column: u32);
    #[wasm_bindgen(method, js_name = setLanguage)]
    fn set_language(this: &Handle, language: &str);
    #[wasm_bindgen(method, js_name = setTheme)]
    fn set_theme(this: &Handle, theme: &str);
    #[wasm_bindgen(method)]
    fn dispose(this: &Handle);
}

/// What an editor is opened with; `app/js/editor/handle.ts` says what each means.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Options {
    pub(super) text: String,
    pub(super) language: &'static str,
    pub(super) theme: &'static str,
    pub(super) locale: &'static str,
    pub(super) label: &'static str,
    pub(super) json_schema: String,
    pub(super) yaml_schema: String,
    pub(super) editor_worker: String,
    pub(super) json_worker: String,
}

/// A place to be underlined, with what is wrong there.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub(super) struct Marker {
    line: u32,
    column: u32,
    message: String,
}

impl Marker {
    pub(super) fn of(problem: &Problem) -> Self {
        let Problem { line, column, message, allowed, path: _ } = problem;
        let message = match allowed.as_str() {
            "" => message.clone(),
            allowed => format!("{message} ({allowed})"),
        };
        Self { line: *line, column: *column, message }
    }
}

/// An open editor, closed when it is dropped.
pub(super) struct Monaco {
    handle: Handle,
    _changed: Closure<dyn FnMut(String)>,
    _submitted: Closure<dyn FnMut()>,
}

impl Monaco {
    /// Loads the module and opens an editor inside the element; `None` when it cannot be had.
    pub(super) async fn open(
        element: &web_sys::HtmlElement,
        options: &Options,
        changed: impl FnMut(String) + 'static,
        submitted: impl FnMut() + 'static,
    ) -> Option<Self> {
        let module: Module = script::load("js/editor.js").await?.unchecked_into();
        let handle = module.create(element, &script::value(options)?).await.ok()?;
        let handle: Handle = handle.unchecked_into();
        let changed = Closure::new(changed);
        let submitted = Closure::new(submitted);
        handle.on_change(&changed);
        handle.on_submit(&submitted);
        Some(Self { handle, _changed: changed, _submitted: submitted })
    }

    pub(super) fn set_text(&self, text: &str) {
        self.handle.set_text(text);
    }

    pub(super) fn set_markers(&self, markers: &[Marker]) {
        if let Some(markers) = script::value(&markers) {
            self.handle.set_markers(&markers);
        }
    }

    pub(super) fn reveal(&self, line: u32, column: u32) {
        self.handle.reveal(line, column);
    }

    pub(super) fn set_language(&self, language: &str) {
        self.handle.set_language(language);
    }

    pub(super) fn set_theme(&self, theme: &str) {
        self.handle.set_theme(theme);
    }
}

impl Drop for Monaco {
    fn drop(&mut self) {
        self.handle.dispose();
    }
}

/// Whether the reader's system is set to dark colours.
pub(super) fn prefers_dark() -> bool {
    let query = leptos::prelude::window().match_media("(prefers-color-scheme: dark)");
    query.ok().flatten().is_some_and(|query| query.matches())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_marker_says_what_is_allowed() {
        let problem = Problem {
            path: "jobName".to_owned(),
            line: 2,
            column: 3,
            message: "jobName is empty".to_owned(),
            allowed: "letters".to_owned(),
        };
        let marker = Marker::of(&problem);
        assert_eq!((marker.line, marker.column), (2, 3));
        assert_eq!(marker.message, "jobName is empty (letters)");
    }
}
