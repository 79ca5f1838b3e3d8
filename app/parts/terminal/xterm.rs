//! Bindings to `app/js/terminal.ts`, which is fetched when it is first needed.

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

    #[wasm_bindgen(method)]
    fn upload(
        this: &Module,
        address: &str,
        file: &web_sys::File,
        told: &Closure<dyn FnMut(f64, String)>,
    );

    type Handle;
    #[wasm_bindgen(method, js_name = onState)]
    fn on_state(this: &Handle, listener: &Closure<dyn FnMut(String, String)>);
    #[wasm_bindgen(method)]
    fn paint(this: &Handle);
    #[wasm_bindgen(method)]
    fn show(this: &Handle);
    #[wasm_bindgen(method)]
    fn reopen(this: &Handle);
    #[wasm_bindgen(method)]
    fn close(this: &Handle);
    #[wasm_bindgen(method)]
    fn dispose(this: &Handle);
}

/// What a terminal is opened with; `app/js/terminal/handle.ts` says what each means.
#[derive(Debug, Serialize)]
pub(super) struct Options {
    pub(super) address: String,
    pub(super) memory: String,
    pub(super) label: String,
}

/// Sends a file; `told` hears how far it is, as `app/js/terminal/upload.ts` says. `None`: the script
/// cannot be had.
pub(super) async fn upload(
    address: &str,
    file: &web_sys::File,
    told: impl FnMut(f64, String) + 'static,
) -> Option<()> {
    let module: Module = script::load("js/terminal.js").await?.unchecked_into();
    let told = Closure::new(told);
    module.upload(address, file, &told);
    // It is called until the file is there, however long that takes.
    told.forget();
    Some(())
}

/// An open terminal, left when it is dropped.
pub(super) struct Xterm {
    handle: Handle,
    _told: Closure<dyn FnMut(String, String)>,
}

impl Xterm {
    /// Loads the module and opens a terminal inside the element; `None` when it cannot be had.
    pub(super) async fn open(
        element: &web_sys::HtmlElement,
        options: &Options,
        told: impl FnMut(String, String) + 'static,
    ) -> Option<Self> {
        let module: Module = script::load("js/terminal.js").await?.unchecked_into();
        let handle = module.create(element, &script::value(options)?).await.ok()?;
        let handle: Handle = handle.unchecked_into();
        let told = Closure::new(told);
        handle.on_state(&told);
        Some(Self { handle, _told: told })
    }

    pub(super) fn paint(&self) {
        self.handle.paint();
    }

    pub(super) fn show(&self) {
        self.handle.show();
    }

    pub(super) fn reopen(&self) {
        self.handle.reopen();
    }

    pub(super) fn close(&self) {
        self.handle.close();
    }
}

impl Drop for Xterm {
    fn drop(&mut self) {
        self.handle.dispose();
    }
}
