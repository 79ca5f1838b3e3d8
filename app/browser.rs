//! What only the browser does in places where the server does something else.

use std::sync::{LazyLock, Once, OnceLock};

use leptos::lazy;
use leptos::prelude::{ArcTrigger, Notify, Track};
use leptos::task::spawn_local;
use protocol::time::Timestamp;

use crate::failed::Failed;
use crate::i18n::language::Language;
use crate::i18n::words::Texts;
use crate::i18n::{en, zh};
use crate::opening::{Opening, Theme};

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

/// The catalogues, once they have been fetched.
static ENGLISH: OnceLock<&'static Texts> = OnceLock::new();
static CHINESE: OnceLock<&'static Texts> = OnceLock::new();

/// The catalogue of a language; the other one where only that has been fetched.
pub(crate) fn texts(language: Language) -> &'static Texts {
    let fetched = match language {
        Language::English => ENGLISH.get().or_else(|| CHINESE.get()),
        Language::Chinese => CHINESE.get().or_else(|| ENGLISH.get()),
    };
    fetched.copied().expect("a page is taken over once a catalogue is there")
}

/// Fetches the catalogue of a language, where it is not there yet.
pub(crate) async fn fetch_texts(language: Language) {
    let (place, texts) = match language {
        Language::English => (&ENGLISH, english_texts().await),
        Language::Chinese => (&CHINESE, chinese_texts().await),
    };
    place.get_or_init(|| texts);
}

/// Says sentences of the server in another language.
type Sayings = fn(&str) -> String;

// What only one of these functions names is fetched when that is called for the first time.

#[lazy]
fn english_texts() -> &'static Texts {
    &en::TEXTS
}

#[lazy]
fn chinese_texts() -> &'static Texts {
    &zh::TEXTS
}

#[lazy]
fn chinese_texts_said() -> Sayings {
    zh::said
}

/// What says the server's sentences in Chinese, once it has been fetched, and the news of that.
static SAYINGS: OnceLock<Sayings> = OnceLock::new();
static ARRIVED: LazyLock<ArcTrigger> = LazyLock::new(ArcTrigger::new);
static FETCH: Once = Once::new();

/// A sentence of the server in Chinese. What says it is fetched for the first sentence, which is as it
/// came until then: what shows it follows.
pub(crate) fn said_in_chinese(sentence: &str) -> String {
    if let Some(said) = SAYINGS.get() {
        return said(sentence);
    }
    ARRIVED.track();
    FETCH.call_once(|| {
        spawn_local(async {
            let said = chinese_texts_said().await;
            SAYINGS.get_or_init(|| said);
            ARRIVED.notify();
        });
    });
    sentence.to_owned()
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
