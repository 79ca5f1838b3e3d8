//! Sending one file, with its progress: what `fetch` cannot tell, the older request can.

use api::files::FilePath;
use js_sys::Promise;
use wasm_bindgen::JsCast;
use wasm_bindgen::closure::Closure;
use wasm_bindgen_futures::JsFuture;
use web_sys::{ProgressEvent, XmlHttpRequest};

use super::collect::Chosen;
use crate::address;

/// Why a file was not sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum NotSent {
    /// There is one of that name.
    Exists,
    /// The connection failed, or the page was told to stop.
    Broken,
    /// The server's words.
    Refused(String),
}

/// Sends a file into a folder.
pub(super) async fn send(
    chosen: &Chosen,
    folder: &FilePath,
    replace: bool,
    stopped: impl Fn() -> bool + 'static,
    progress: impl Fn(f64) + 'static,
) -> Result<(), NotSent> {
    let path = folder.child(&chosen.path);
    let address = format!("{}?overwrite={replace}", address::content(&path));
    let broken = |_| NotSent::Broken;
    let request = XmlHttpRequest::new().map_err(broken)?;
    request.open("PUT", &address).map_err(broken)?;
    let watched = request.clone();
    let told = Closure::<dyn Fn(ProgressEvent)>::new(move |event: ProgressEvent| {
        progress(event.loaded());
        if stopped() {
            // A request that has ended meanwhile needs no end.
            let _ = watched.abort();
        }
    });
    let upload = request.upload().map_err(broken)?;
    upload.set_onprogress(Some(told.as_ref().unchecked_ref()));
    let ended = Promise::new(&mut |done, _| request.set_onloadend(Some(&done)));
    request.send_with_opt_blob(Some(&chosen.file)).map_err(broken)?;
    // It ends in any case; how it ended is said by the request itself.
    let _ = JsFuture::from(ended).await;
    upload.set_onprogress(None);
    match request.status().unwrap_or(0) {
        200..300 => Ok(()),
        0 => Err(NotSent::Broken),
        409 => Err(NotSent::Exists),
        _ => Err(NotSent::Refused(words(&request))),
    }
}

/// What the server says.
fn words(request: &XmlHttpRequest) -> String {
    let text = request.response_text().ok().flatten().unwrap_or_default();
    match serde_json::from_str::<api::Error>(&text) {
        Ok(error) => error.message,
        Err(_) => text,
    }
}
