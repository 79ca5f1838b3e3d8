//! One request with its progress: what `fetch` cannot tell, the older way of asking can.

use api::ErrorCode;
use js_sys::Promise;
use wasm_bindgen::JsCast;
use wasm_bindgen::closure::Closure;
use wasm_bindgen_futures::JsFuture;
use web_sys::{Blob, ProgressEvent, XmlHttpRequest};

use super::Watcher;
use crate::json::from_json;

/// What the server said.
pub(super) struct Answer {
    /// 0: nothing came.
    pub(super) status: u16,
    text: String,
}

impl Answer {
    pub(super) fn nothing() -> Self {
        Self { status: 0, text: String::new() }
    }

    /// How many bytes have arrived.
    pub(super) fn arrived(&self) -> Option<f64> {
        from_json::<serde_json::Value>(&self.text).ok()?.get("arrived")?.as_f64()
    }

    /// The file does not go on where the part began.
    pub(super) fn goes_on_elsewhere(&self) -> bool {
        self.error().is_some_and(|error| error.code == ErrorCode::ConflictUploadError)
    }

    /// The server's words.
    pub(super) fn words(&self) -> String {
        self.error().map_or_else(|| self.text.clone(), |error| error.message)
    }

    fn error(&self) -> Option<api::Error> {
        from_json(&self.text).ok()
    }
}

pub(super) async fn request(
    method: &str,
    address: &str,
    content: Option<&Blob>,
    watcher: &Watcher,
    moved: impl Fn(f64) + 'static,
) -> Answer {
    let asked = ask(method, address, content, watcher, moved).await;
    // What a browser refuses to do is as if the connection had failed.
    asked.unwrap_or_else(|_| Answer::nothing())
}

async fn ask(
    method: &str,
    address: &str,
    content: Option<&Blob>,
    watcher: &Watcher,
    moved: impl Fn(f64) + 'static,
) -> Result<Answer, wasm_bindgen::JsValue> {
    let request = XmlHttpRequest::new()?;
    request.open(method, address)?;
    let (watched, stopped) = (request.clone(), watcher.stopped.clone());
    let told = Closure::<dyn Fn(ProgressEvent)>::new(move |event: ProgressEvent| {
        moved(event.loaded());
        if stopped() {
            // A request that has ended meanwhile needs no end.
            let _ = watched.abort();
        }
    });
    let upload = request.upload()?;
    upload.set_onprogress(Some(told.as_ref().unchecked_ref()));
    let ended = Promise::new(&mut |done, _| request.set_onloadend(Some(&done)));
    match content {
        Some(content) => request.send_with_opt_blob(Some(content))?,
        None => request.send()?,
    }
    // It ends in any case; how it ended is said by the request itself.
    let _ = JsFuture::from(ended).await;
    upload.set_onprogress(None);
    let text = request.response_text().ok().flatten().unwrap_or_default();
    Ok(Answer { status: request.status().unwrap_or(0), text })
}
