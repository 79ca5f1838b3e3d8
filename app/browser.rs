//! What only the browser does in places where the server does something else.

use std::sync::OnceLock;

use leptos::lazy;
use protocol::time::Timestamp;

use crate::Failed;
use crate::i18n::{self, Language, Texts};
use crate::session::{Opening, Theme};

/// What the page is opened with. The server sends these values with the page, so this is only
/// asked when there was no server.
pub(crate) fn opening() -> Opening {
    Opening {
        actor: None,
        language: Language::English,
        theme: Theme::System,
        now: now(),
        address: "/".to_owned(),
        ways: api::sign_ins::SignInWays::default(),
        mark: None,
    }
}

/// The Chinese catalogue, once it has been fetched.
static CHINESE: OnceLock<&'static Texts> = OnceLock::new();

/// The Chinese catalogue; the English one where it has not been fetched.
pub(crate) fn chinese() -> &'static Texts {
    CHINESE.get().copied().unwrap_or_else(|| Language::English.texts())
}

/// Fetches the catalogue of a language, where it is not there yet.
pub(crate) async fn fetch_texts(language: Language) {
    match language {
        Language::English => {}
        Language::Chinese => {
            let texts = chinese_texts().await;
            CHINESE.get_or_init(|| texts);
        }
    }
}

// What only this function names is fetched when it is called for the first time.
#[lazy]
fn chinese_texts() -> &'static Texts {
    i18n::chinese()
}

/// What is shown follows what changes.
pub(crate) const RENDERS_ONCE: bool = false;

/// Nothing is dropped of what a script writes into a field.
pub(crate) const BEFORE_TEXT: &str = "";

/// A script sets the title as a text.
pub(crate) fn title(text: String) -> String {
    text
}

/// Only the server answers with a status.
pub(crate) fn failed(error: api::Error) -> Failed {
    error.into()
}

/// The browser's clock.
pub(crate) fn now() -> Timestamp {
    #[expect(clippy::cast_possible_truncation, reason = "milliseconds of our time fit by far")]
    Timestamp(js_sys::Date::now() as i64)
}

/// How many minutes the reader's clocks are ahead of UTC at a moment.
pub(crate) fn zone(at: Timestamp) -> Option<i32> {
    #[expect(clippy::cast_precision_loss, reason = "milliseconds of our time fit by far")]
    let date = js_sys::Date::new(&wasm_bindgen::JsValue::from_f64(at.0 as f64));
    #[expect(clippy::cast_possible_truncation, reason = "a day has 1440 minutes")]
    Some(-(date.get_timezone_offset() as i32))
}

/// Whether the page, as the server sent it, shows what a selector finds: its code is needed to take the
/// page over.
pub(crate) fn shows(selector: &str) -> bool {
    let found = leptos::prelude::document().query_selector(selector);
    found.is_ok_and(|found| found.is_some())
}

/// Only the server answers with a status and with headers.
pub(crate) fn set_not_found() {}

/// Only the server answers with headers.
pub(crate) fn guard_scripts() {}

/// The server's page has its scripts already.
pub(crate) fn nonce() -> Option<String> {
    None
}

/// Goes to the page for signing in.
pub(crate) fn go_to_sign_in(from: &str) {
    let address = format!("/sign-in?next={}", crate::address::encode(from));
    // A browser that refuses stays on a page that says what to do.
    let _ = leptos::prelude::window().location().set_href(&address);
}
